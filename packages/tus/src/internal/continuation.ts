/**
 * Continues an existing upload at its URL.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Duration from "effect/Duration"
import type { UploadError } from "../UploadError.ts"
import type { UploadSource } from "../UploadSource.ts"
import type * as UploadState from "../UploadState.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import * as Events from "./events.ts"
import * as Interpreter from "./interpreter.ts"
import * as OptionRules from "./options.ts"
import * as Session from "./session.ts"
import * as StateStore from "./stateStore.ts"
import * as Telemetry from "./telemetry.ts"

/**
 * The upload to continue.
 *
 * - `name`: the public module that was called. The span of the upload has the name of this module.
 * - `isReplayed`: whether a later run reads the source again.
 */
export interface Continuation {
  readonly name: "Upload" | "UploadSteps"
  readonly target: UploadTarget
  readonly source: UploadSource
  readonly upload: Omit<UploadState.Created, "_tag">
  readonly isReplayed: boolean
}

/**
 * Sends the bytes that the server does not have. Without `upload.transfer`, `send` first requests the offset from the
 * server.
 */
export const send = (
  { isReplayed, name, source, target, upload }: Continuation,
  options: Session.Options & { readonly progressInterval?: Duration.Input | undefined },
  emit: Events.Emit
): Effect.Effect<void, UploadError, HttpClient.HttpClient> =>
  Telemetry.observe(name, source, emit, (observed) =>
    Effect.gen(function* () {
      yield* OptionRules.check({ ...options, source, isReplayed })
      const tell = yield* Events.paced(observed, options.progressInterval)
      const store = StateStore.forgetful({ ...upload, _tag: "Created" })
      const session = yield* Session.make(target, options, tell, store)
      yield* Interpreter.run({ session, source, concurrency: 1 })
    }).pipe(Effect.scoped)
  )
