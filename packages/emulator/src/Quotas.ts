/**
 * The quotas of the public service for an account and for a client, which an emulator rehearses on request. They are
 * beyond the specification: the public documentation of the service describes them.
 */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const number = (byDefault: number) => Rules.whole(1).pipe(Schema.withDecodingDefault(Effect.succeed(byDefault)))

const hours = Rules.duration.pipe(Schema.withDecodingDefault(Effect.succeed("8 hours")))

/**
 * - `created`: Assemblies that a Workspace creates within a rolling minute, replays included; 250 by default.
 * - `running`: Assemblies of a Workspace that run, 250 by default; one that still waits for files does not run. A creation
 *   beyond one of these two is refused with status 413, `RATE_LIMIT_REACHED` and the seconds to wait in `info.retryIn`.
 *   How long Assemblies will run is unknown, so beyond `running` the wait is 1 second.
 * - `requests`, `connections`, `opened`, `errors`: what one client may do within 10 seconds: requests, connections open at
 *   once, connections opened, and responses with a status from 400. Beyond that, a limiter in front refuses every request
 *   with status 429, an `error` that is no code, and no wait. Its refusals count as requests and as errors, so a client
 *   that goes on stays refused. The numbers of the service are not public; the defaults, 5,000, 500, 1,000 and 100, are
 *   the choice of the emulator. A client is an address, and a connection counts from its first request.
 * - `uploading`, `executing`: how long an Assembly waits for its uploads, and how long its Steps run; 8 hours by default.
 *   Then the Assembly fails with `ASSEMBLY_EXPIRED`. The emulator looks at least once a minute.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Settings = Schema.Struct({
  created: number(250),
  running: number(250),
  requests: number(5000),
  connections: number(500),
  opened: number(1000),
  errors: number(100),
  uploading: hours,
  executing: hours
})
