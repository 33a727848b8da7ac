/**
 * The limits of an emulator for requests, connections, Assemblies, Auth Keys and notifications. These limits are beyond
 * the specification, which defines only `auth.max_size` and the limits of single fields ("Limits").
 */
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const limit = (byDefault: number, most?: number) =>
  Rules.whole(1, most).pipe(Schema.withDecodingDefault(Effect.succeed(byDefault)))

const time = (byDefault: Duration.Input) => Rules.duration.pipe(Schema.withDecodingDefault(Effect.succeed(byDefault)))

/**
 * Sizes are in bytes. A request that exceeds a limit is refused with status 413 and the code `SERVER_413`, unless the
 * limit names another response.
 *
 * - `headers`: the size of the request line and all headers; 431 `SERVER_431`. Over HTTP/2, a request with headers of
 *   more than four times this size (each header counts 32 bytes more), or with more than 128 headers, is reset without
 *   a response.
 * - `headersTime`: the time limit for the headers to arrive; 408 `SERVER_408`. Over TLS, this is also the time limit of
 *   the handshake. A new HTTP/2 connection without a request in this time is closed.
 * - `connections`: the number of open connections. Further connections are closed.
 * - `idleTime`: the longest pause in a request body. After a longer pause, the connection (or the HTTP/2 request) is
 *   closed.
 * - `formFields`: the number of fields in a form or query.
 * - `formBytes`: the size of the names and values of all fields in a multipart form together, including `params`, or
 *   the size of a urlencoded body. `headers` limits the size of a query.
 * - `formTime`: the time within which the fields before the first file must arrive; 408 `SERVER_408`.
 * - `jsonDepth`: the depth of `params`. Deeper params get the same response as an invalid field of the operation.
 * - `steps`: the number of Steps of an Assembly; 400 `ASSEMBLY_INVALID_STEPS`. If the `use` of one Step has more names
 *   than this number, the Assembly fails (`ASSEMBLY_STEP_INVALID_USE`).
 * - `files`: the number of uploads of an Assembly, including partial and terminated uploads; 413
 *   `ERR_MAX_NUMBER_OF_FILES_EXCEEDED` for a further tus upload. A form with more files fails its Assembly
 *   (`MAX_NUMBER_OF_FILES_EXCEEDED`).
 * - `fileBytes`: the size of one upload; 413 `ERR_MAX_SIZE_EXCEEDED` for a larger tus upload. As with `auth.max_size`,
 *   a larger file fails its Assembly (`MAX_SIZE_EXCEEDED`). By default, the size of an upload has no limit.
 * - `signatures`: the number of used signatures that are remembered until they expire. If more signatures are used, the
 *   emulator forgets the oldest signature, so a client could use that signature again.
 * - `authKeys`: the number of Auth Keys of a Workspace; 409 `AUTH_KEY_NOT_CREATED`. The options of an emulator may
 *   contain more Auth Keys.
 * - `results`: the number of result files of an Assembly (`MAX_NUMBER_OF_FILES_EXCEEDED`).
 * - `resultBytes`: the size of all result files of an Assembly together (`ASSEMBLY_MEMORY_LIMIT_EXCEEDED`).
 * - `resultText`: the size of the results in the Status, in characters of JSON (`ASSEMBLY_MEMORY_LIMIT_EXCEEDED`).
 * - `notifications`: the number of notifications that are sent at the same time. The other notifications wait in the
 *   database.
 *
 * An Assembly that exceeds `results`, `resultBytes` or `resultText` during its execution fails.
 *
 * A limit that is absent or undefined has its default. A number is whole and at least 1. A time is above zero and at most
 * 100 years, but every time of more than 24.8 days counts as 24.8 days.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Settings = Schema.Struct({
  // Node doubles this size twice for HTTP/2, and has 32 bits for the result.
  headers: limit(16_384, 2 ** 30 - 1),
  headersTime: time("1 minute"),
  connections: limit(1024),
  idleTime: time("2 minutes"),
  formFields: limit(1000),
  formBytes: limit(1_048_576),
  formTime: time("1 minute"),
  jsonDepth: limit(100, Json.maxDepth),
  steps: limit(100),
  files: limit(5000),
  fileBytes: Schema.optional(Rules.whole(1)),
  signatures: limit(100_000),
  authKeys: limit(1000),
  notifications: limit(16),
  results: limit(5000),
  resultBytes: limit(1_099_511_627_776),
  resultText: limit(8_388_608)
})

/**
 * The default limits.
 *
 * @since 0.1.0
 * @category constants
 */
export const defaults: typeof Settings.Type = Schema.decodeSync(Settings)({})
