/**
 * Sends the bytes of one upload with a sequence of requests. The state after a request determines the next request.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadTarget, UploadUrl } from "../UploadTarget.ts"
import * as Append from "./append.ts"
import { Caution } from "./caution.ts"
import type { Seal } from "./checksum.ts"
import * as Discovery from "./discovery.ts"
import type { Emit } from "./events.ts"
import * as FilePieces from "./filePieces.ts"
import { hostOf } from "./host.ts"
import type { Body, Outgoing } from "./outgoing.ts"
import * as Policy from "./policy.ts"
import * as Receipts from "./receipts.ts"
import { inTime } from "./timeout.ts"
import * as Transfer from "../Transfer.ts"

/** The constant input of all steps of one upload. */
export interface Job {
  readonly target: UploadTarget
  readonly metadata: Receipts.Sent["metadata"]
  readonly url: UploadUrl
  readonly outgoing: Outgoing
  readonly seal: Seal
  readonly policy: Policy.Policy
  readonly emit: Emit
  /** Called after each request for the offset. Fails if the upload on the server is not the upload that was started. */
  readonly verify: (found: { readonly metadata?: string | undefined }) => Effect.Effect<void, TusError.UploadMismatch>
  /** Called whenever the state changes. */
  readonly moved: (state: Transfer.Transfer) => void
}

/** The input of all steps of one upload, and the mutable values that the steps share. */
interface Shared extends Job {
  readonly pool: FilePieces.Pool
  readonly caution: Caution
  readonly pauseAfter: Policy.Retry
}

/** A failed step: the state after the step, its error, and whether another step may succeed (`heals`). */
interface Failed {
  readonly state: Transfer.Sending | Transfer.Asking
  readonly error: Policy.RequestError
  readonly heals: boolean
}

/**
 * The length that a request declares in `Upload-Length`. The length is undefined if the server already knows the
 * length, or if the body does not end at the end of the source.
 */
const declaration = (state: Transfer.Sending, body: Body): bigint | undefined =>
  state.length === undefined && body.total === body.end ? body.total : undefined

/**
 * Adds the maximum size that the server announces to the error of a 413 response. If the source is not larger than this
 * maximum, the error advises the caller to set `chunkSize`.
 */
const advise = (
  job: Shared,
  error: TusError.TooLarge
): Effect.Effect<never, TusError.TooLarge, HttpClient.HttpClient> =>
  Effect.flatMap(Discovery.guess(job), ({ maxSize }) => Effect.fail(tooLarge(error, maxSize, job.outgoing.size)))

const tooLarge = (error: TusError.TooLarge, maxSize: bigint | undefined, size: bigint | undefined) =>
  new TusError.TooLarge({
    ...error,
    ...(maxSize === undefined ? undefined : { maxSize }),
    ...(maxSize !== undefined && size !== undefined && size <= maxSize
      ? { advice: "set chunkSize" as const }
      : undefined)
  })

type Step<State> = (job: Shared, state: State) => Effect.Effect<Transfer.Transfer, Failed, HttpClient.HttpClient>

const failedAt =
  (state: Transfer.Sending | Transfer.Asking) =>
  (error: Policy.RequestError): Failed => ({ state, error, heals: Policy.canHeal(error) })

const doubted = ({ error, state }: Transfer.Doubt<Policy.RequestError>): Failed => ({ state, error, heals: true })

/** Fails if the PATCH would contain neither bytes nor a length, because such a PATCH would be repeated forever. */
const checkProgress = (state: Transfer.Sending, body: Body, declare: bigint | undefined) =>
  body.start === body.end && declare === undefined
    ? Effect.fail(
        new TusError.UploadMismatch({
          field: "upload-length",
          expected: `${body.end}`,
          found: state.length === undefined ? "none" : `${state.length}`
        })
      )
    : Effect.void

/** Whether the server accepted a request although the response is invalid. */
const isTaken = (error: Policy.RequestError): boolean =>
  error._tag === "ProtocolViolation" && error.status >= 200 && error.status < 300

/** Whether the connection ended without a response, after bytes may have been sent. */
const isCut = (error: Policy.RequestError): boolean =>
  error._tag === "TransportFailure" && error.sent === "maybe" && error.permanent !== true

/** Sends the next body. */
const send: Step<Transfer.Sending> = (job, state) =>
  Effect.gen(function* () {
    const { body, checksum } = yield* Effect.flatMap(job.outgoing.from(state.acknowledged, job.caution.most), job.seal)
    const declare = declaration(state, body)
    yield* checkProgress(state, body, declare)
    const last = body.total === body.end
    let finishing = false
    const { answer, handed } = yield* Append.append({
      url: job.url,
      body,
      declare,
      checksum,
      policy: job.policy,
      slices: job.outgoing.slices,
      pool: job.pool,
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
    })
    const after = Transfer.handedOver(state, { handed, declared: declare })
    if (Result.isFailure(answer)) {
      const error = answer.failure
      if (isCut(error)) job.caution.cut(body.start, body.end)
      return yield* Effect.fail(failedAt(isTaken(error) ? Transfer.miscounted(after, handed) : after)(error))
    }
    const offset = answer.success
    const next = yield* Effect.fromResult(
      Result.mapError(
        Transfer.appended(after, { host: hostOf(job.url), offset, end: body.end, handed, length: declare }),
        doubted
      )
    )
    job.caution.arrived()
    job.emit(UploadEvent.Progress({ sent: offset, acknowledged: offset, total: body.total ?? job.outgoing.size }))
    return next
  }).pipe(Effect.mapError((problem) => ("heals" in problem ? problem : failedAt(state)(problem))))

/** Requests the offset from the server. */
const ask: Step<Transfer.Asking> = (job, state) =>
  Effect.gen(function* () {
    const found = yield* inTime(job.policy.stallTimeout, Tus.offset(job.url))
    yield* job.verify(found)
    const next = yield* Effect.fromResult(
      Result.mapError(Transfer.located(state, found, job.outgoing), (problem) =>
        problem._tag === "Doubt" ? doubted(problem) : failedAt(state)(problem)
      )
    )
    if (next._tag !== "Asking") job.emit(UploadEvent.Resumed({ offset: found.offset }))
    return next
  }).pipe(Effect.mapError((problem) => ("heals" in problem ? problem : failedAt(state)(problem))))

/**
 * Decides what follows when the upload URL is gone. Without a receipt that shows a finished upload of the expected
 * length, the upload fails with `UploadGone`. With this receipt, the upload is complete, unless this program knows that
 * it sent another number of bytes: then the upload fails with `UploadUntrusted`.
 */
const settleGone = (job: Shared, state: Transfer.Sending | Transfer.Asking, error: TusError.UploadGone) =>
  Effect.suspend(() => {
    const length = Transfer.lengthOf(state, job.outgoing.size)
    return Effect.flatMap(Receipts.finished(job.target, job.url, { metadata: job.metadata, size: length }), (receipt) =>
      Option.match(receipt, {
        onNone: () => Effect.fail(error),
        onSome: ({ size }): Effect.Effect<Transfer.Transfer, TusError.UploadGone | TusError.UploadUntrusted> =>
          length === undefined || (size !== undefined && size !== length)
            ? Effect.fail(error)
            : Effect.fromResult(Transfer.receipted(state, length))
      })
    )
  })

/** Pauses, and returns the state that requests the offset next. Fails if the policy gives up. */
const retry = (job: Shared, { error, state }: Failed): Effect.Effect<Transfer.Transfer, Policy.RequestError> =>
  Effect.gen(function* () {
    const next = Transfer.failed(state)
    const { failures } = next
    const pause = yield* job.pauseAfter(failures, error)
    if (Option.isNone(pause)) return yield* Effect.fail(Transfer.abandoned(state, error, job.outgoing.size))
    job.emit(UploadEvent.Retrying({ attempt: failures, delay: pause.value, reason: error.message }))
    // `moved` is called before the pause, so that the kept state is current if the upload is interrupted during the
    // pause.
    job.moved(next)
    yield* Effect.sleep(pause.value)
    return next
  })

/** Decides what follows a failed step: another step, the completion of the upload, or an error. */
const heal = (
  job: Shared,
  failed: Failed
): Effect.Effect<Transfer.Transfer, Policy.RequestError, HttpClient.HttpClient> => {
  const { error, heals, state } = failed
  if (error._tag === "UploadGone") return settleGone(job, state, error)
  if (error._tag === "TooLarge") return advise(job, error)
  return heals ? retry(job, failed) : Effect.fail(Transfer.abandoned(state, error, job.outgoing.size))
}

/** Performs one step, and recovers from its failure if possible. */
const step = (job: Shared, state: Transfer.Sending | Transfer.Asking) =>
  (state._tag === "Sending" ? send(job, state) : ask(job, state)).pipe(Effect.catch((failed) => heal(job, failed)))

/**
 * Adds the host to an `UploadUntrusted` or `UploadMismatch` that has no host, because the function that made the error
 * does not know the host.
 */
const at =
  (url: UploadUrl) =>
  (error: Policy.RequestError): Policy.RequestError => {
    if (error._tag === "UploadUntrusted" && error.host === undefined) {
      return new TusError.UploadUntrusted({ ...error, host: hostOf(url) })
    }
    if (error._tag === "UploadMismatch" && error.host === undefined) {
      return new TusError.UploadMismatch({ ...error, host: hostOf(url) })
    }
    return error
  }

/** Performs all steps. Returns the length of the finished upload. */
export const toEnd = (
  job: Job,
  begun: Transfer.Transfer
): Effect.Effect<bigint, Policy.RequestError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const shared: Shared = {
      ...job,
      pool: new FilePieces.Pool(),
      caution: new Caution(),
      pauseAfter: Policy.retrying(job.policy)
    }
    let state = begun
    while (state._tag !== "Done") {
      state = yield* step(shared, state)
      job.moved(state)
    }
    return state.length
  }).pipe(Effect.mapError(at(job.url)))
