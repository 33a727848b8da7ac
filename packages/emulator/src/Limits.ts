/**
 * What one request, one Assembly and one connection may cost an emulator. Beyond the specification, which names only
 * `auth.max_size` and the limits of single fields ("Limits").
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"

/**
 * Sizes are bytes.
 *
 * A request that goes beyond is refused with status 413 and the code `SERVER_413`, unless another answer is named:
 *
 * - `headers`: the request line and all headers together; 431 `SERVER_431`.
 * - `headersTime`: how long they may take to arrive; 408 `SERVER_408`.
 * - `connections`: those that are open at the same time. More are closed.
 * - `idleTime`: how long the body of a request may pause. Then its connection is closed.
 * - `formFields`: the number of fields of a form or query.
 * - `formBytes`: the names and values of these fields together, `params` among them.
 * - `formTime`: how long the fields before the first file may take to arrive; 408 `SERVER_408`.
 * - `jsonDepth`: how deep `params` are nested; the answer of the operation to an invalid field.
 * - `steps`: the Steps of an Assembly, and how many others each of them uses; 400 `ASSEMBLY_INVALID_STEPS`.
 * - `files`: the uploads of an Assembly. A further tus upload is refused; a form with more fails its Assembly
 *   (`MAX_NUMBER_OF_FILES_EXCEEDED`).
 * - `fileBytes`: the bytes of one upload. It holds as an `auth.max_size` does; by default there is none.
 * - `signatures`: the used signatures that are remembered until they expire. With more, the one that was used first is
 *   forgotten, and could be used again.
 * - `notifications`: those that are under way at the same time. Others wait in the database.
 * - `results`: the files that all Steps of an Assembly make together (`MAX_NUMBER_OF_FILES_EXCEEDED`).
 * - `resultBytes`: the sizes of these files together (`ASSEMBLY_MEMORY_LIMIT_EXCEEDED`).
 * - `resultText`: what the Status says of these files, in characters of JSON (`ASSEMBLY_MEMORY_LIMIT_EXCEEDED`).
 *
 * The last three fail an Assembly that is already executing.
 */
export interface Values {
  readonly headers: number
  readonly headersTime: Duration.Input
  readonly connections: number
  readonly idleTime: Duration.Input
  readonly formFields: number
  readonly formBytes: number
  readonly formTime: Duration.Input
  readonly jsonDepth: number
  readonly steps: number
  readonly files: number
  readonly fileBytes: number | undefined
  readonly signatures: number
  readonly notifications: number
  readonly results: number
  readonly resultBytes: number
  readonly resultText: number
}

/** What holds where nothing else is said. */
export const defaults: Values = {
  headers: 16_384,
  headersTime: "1 minute",
  connections: 1024,
  idleTime: "2 minutes",
  formFields: 1000,
  formBytes: 1_048_576,
  formTime: "1 minute",
  jsonDepth: 100,
  steps: 100,
  files: 5000,
  fileBytes: undefined,
  signatures: 100_000,
  notifications: 16,
  results: 5000,
  resultBytes: 1_099_511_627_776,
  resultText: 8_388_608
}

/** The limits of an emulator, {@link defaults} unless it is given others. */
export const Limits = Context.Reference<Values>("@assembly-effect/emulator/Limits", { defaultValue: () => defaults })
