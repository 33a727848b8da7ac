/**
 * Runs an upload that was created to its end: one step after the other, each from one state to the next.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadTarget, UploadUrl } from "../UploadTarget.ts"
import * as Append from "./Append.ts"
import type { Seal } from "./Checksum.ts"
import type { Emit } from "./Events.ts"
import type { Body, Outgoing } from "./Outgoing.ts"
import * as Policy from "./Policy.ts"
import * as Receipts from "./Receipts.ts"
import { inTime } from "./Timeout.ts"
import * as Transfer from "../Transfer.ts"

/** What the steps share and nobody changes. */
export interface Job {
  readonly target: UploadTarget
  readonly metadata: Receipts.Sent["metadata"]
  readonly url: UploadUrl
  readonly outgoing: Outgoing
  readonly seal: Seal
  readonly policy: Policy.Policy
  readonly emit: Emit
  /** Compares what the server tells of the upload with what was begun, before bytes are appended to it. */
  readonly verify: (found: { readonly metadata?: string | undefined }) => Effect.Effect<void, TusError.UploadMismatch>
}

/** The length to declare with a body: with the last bytes, unless the server knows it. */
const declaration = (state: Transfer.Sending, body: Body): bigint | undefined =>
  state.length === undefined && body.total === body.end ? body.total : undefined

/** A 413 for less than the largest upload that the server takes is about the size of one request. */
const advise = (job: Job, error: TusError.TooLarge): Effect.Effect<never, TusError.TooLarge, HttpClient.HttpClient> =>
  inTime("discover", job.policy.stallTimeout, Tus.discover(job.target)).pipe(
    Effect.map(({ maxSize }) => maxSize),
    Effect.orElseSucceed(() => undefined),
    Effect.flatMap((maxSize) => Effect.fail(tooLarge(error, maxSize, job.outgoing.size)))
  )

const tooLarge = (error: TusError.TooLarge, maxSize: bigint | undefined, size: bigint | undefined) => {
  return new TusError.TooLarge({
    request: error.request,
    status: error.status,
    message: error.message,
    ...(maxSize === undefined ? undefined : { maxSize }),
    ...(maxSize !== undefined && size !== undefined && size <= maxSize
      ? { advice: "set chunkSize" as const }
      : undefined)
  })
}

type Step<State> = (
  job: Job,
  state: State
) => Effect.Effect<Transfer.Transfer, Policy.RequestError, HttpClient.HttpClient>

/** Sends the next body. */
const send: Step<Transfer.Sending> = (job, state) =>
  Effect.gen(function* () {
    const { body, checksum } = yield* Effect.flatMap(job.outgoing.from(state.acknowledged), job.seal)
    const declare = declaration(state, body)
    const last = body.total === body.end
    let finishing = false
    const offset = yield* Append.append({
      url: job.url,
      body,
      declare,
      checksum,
      policy: job.policy,
      slices: job.outgoing.slices,
      onSent: (count, all) => {
        job.emit(
          UploadEvent.Progress({
            sent: state.acknowledged + count,
            acknowledged: state.acknowledged,
            total: body.total ?? job.outgoing.size
          })
        )
        if (all && last && !finishing && body.total !== undefined) {
          finishing = true
          job.emit(UploadEvent.Finishing({ total: body.total }))
        }
      }
    }).pipe(Effect.catchTag("TooLarge", (error) => advise(job, error)))
    const next = yield* Effect.fromResult(Transfer.appended(state, { offset, end: body.end, length: declare }))
    job.emit(UploadEvent.Progress({ sent: offset, acknowledged: offset, total: body.total ?? job.outgoing.size }))
    return next
  })

/** Asks the server after a pause, unless the budget is used up. */
const retry = <E extends Policy.RequestError>(
  job: Job,
  state: Transfer.Sending | Transfer.Asking,
  error: E
): Effect.Effect<Transfer.Transfer, E> =>
  Effect.gen(function* () {
    const next = Transfer.failed(state, job.policy.maxRetries)
    if (Option.isNone(next)) return yield* Effect.fail(error)
    const { failures } = next.value
    const delay = yield* Policy.pause(job.policy, failures, error)
    job.emit(UploadEvent.Retrying({ attempt: failures, delay, reason: error.message }))
    yield* Effect.sleep(delay)
    return next.value
  })

/** Asks the server where it stands. */
const ask: Step<Transfer.Asking> = (job, state) =>
  Effect.gen(function* () {
    const found = yield* inTime("offset", job.policy.stallTimeout, Tus.offset(job.url))
    yield* job.verify(found)
    const next = Transfer.located(state, found, job.outgoing)
    if (Result.isFailure(next)) {
      const problem = next.failure
      return yield* problem._tag === "Doubt" ? retry(job, problem.state, problem.error) : Effect.fail(problem)
    }
    if (next.success._tag !== "Asking") job.emit(UploadEvent.Resumed({ offset: found.offset }))
    return next.success
  })

/** A finished receipt counts where the upload URL is already gone. */
const settleGone = (job: Job, error: TusError.UploadGone) =>
  Effect.flatMap(
    Receipts.finished(job.target, job.url, { metadata: job.metadata, size: job.outgoing.size }),
    (receipt) =>
      Option.match(receipt, {
        onNone: () => Effect.fail(error),
        onSome: ({ size }): Effect.Effect<Transfer.Transfer, TusError.UploadGone> => {
          const length = job.outgoing.size ?? size
          return length === undefined || (size !== undefined && size !== length)
            ? Effect.fail(error)
            : Effect.succeed({ _tag: "Done", length })
        }
      })
  )

/** One step nearer to the end, or the healing of a failure. */
const step: Step<Transfer.Sending | Transfer.Asking> = (job, state) =>
  (state._tag === "Sending" ? send(job, state) : ask(job, state)).pipe(
    Effect.catch((error): ReturnType<typeof step> => {
      if (error._tag === "UploadGone") return settleGone(job, error)
      return Policy.canHeal(error) ? retry(job, state, error) : Effect.fail(error)
    })
  )

/** All steps. Answers the length of the finished upload. */
export const toEnd = Effect.fnUntraced(function* (job: Job, begun: Transfer.Transfer) {
  let state = begun
  while (state._tag !== "Done") state = yield* step(job, state)
  return state.length
})
