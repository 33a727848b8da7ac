/**
 * Uploads whose state is only in memory, and what every upload does first: it checks its options.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type { UploadError } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import * as Context from "./context.ts"
import * as Engine from "./engine.ts"
import * as Events from "./events.ts"
import * as OptionRules from "./options.ts"
import * as Removal from "./removal.ts"
import type { UploadSource } from "./source.ts"
import * as StateStore from "./stateStore.ts"
import * as Telemetry from "./telemetry.ts"
import * as UploadState from "./uploadState.ts"

interface Options extends OptionRules.UploadOptions {
  readonly progressInterval?: Duration.Input | undefined
}

/** Checks the options, and runs an upload within its span and its scope. */
export const observed = <E extends { readonly _tag: string }, R>(
  source: UploadSource,
  options: Partial<Options>,
  isReplayed: boolean,
  emit: Events.Emit,
  program: (emit: Events.Emit, header: string | undefined) => Effect.Effect<UploadEvent.UploadResult, E, R>
) =>
  Telemetry.observe(source, emit, (tell) =>
    OptionRules.check(source, options, isReplayed).pipe(
      Effect.flatMap((header) =>
        Effect.flatMap(Events.paced(tell, options.progressInterval), (paced) =>
          Budget.telling(program(paced, header), {
            waits: (waiting) => Effect.sync(() => paced(UploadEvent.Waiting(waiting)))
          })
        )
      ),
      Effect.scoped
    )
  )

/**
 * - `existing`: the upload that the server already has, if it is not a new upload.
 * - `isTerminated`: whether an upload that failed or was interrupted is removed from the server.
 */
interface Beginning {
  readonly existing?: UploadState.Created
  readonly isTerminated?: boolean
}

const start = (
  target: UploadTarget,
  source: UploadSource,
  options: OptionRules.UploadOptions,
  emit: Events.Emit,
  { existing, isTerminated = false }: Beginning,
  header?: string
) => {
  const store = StateStore.forgetful(existing ?? UploadState.inParts(source.size, options.parallel ?? 1))
  return Effect.flatMap(Context.make(target, source, options, emit, store, header), (upload) =>
    isTerminated ? Removal.unlessDone(Engine.run(upload), upload) : Engine.run(upload)
  )
}

/** Runs an upload. */
export const run = (
  target: UploadTarget,
  source: UploadSource,
  options: Options,
  emit: Events.Emit,
  beginning: Beginning = {}
): Effect.Effect<UploadEvent.UploadResult, UploadError, HttpClient.HttpClient> =>
  observed(source, options, false, emit, (tell, header) => start(target, source, options, tell, beginning, header))

/** Runs an upload of a job, whose options were checked with those of the job. */
export const runFile = (
  target: UploadTarget,
  source: UploadSource,
  options: OptionRules.UploadOptions,
  emit: Events.Emit
) => Telemetry.observe(source, emit, (tell) => Effect.scoped(start(target, source, options, tell, {})))
