/**
 * Creates an upload exactly once. A creation that was not answered is looked for in the receipts, and never repeated.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Transport from "@assembly-effect/api/unstable/Transport"
import { WebCrypto } from "effect/crypto/WebCrypto"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UnsafeLocation, UploadTarget, UploadUrl } from "../UploadTarget.ts"
import type { Emit } from "./events.ts"
import { happened } from "./errorText.ts"
import { hostOf } from "./host.ts"
import * as Policy from "./policy.ts"
import * as Receipts from "./receipts.ts"
import { inTime } from "./timeout.ts"

/** What a creation can fail with. A `TransportFailure` is one that sent nothing. */
export type CreationError =
  | Tus.AnswerError
  | TusError.CreationUnknown
  | UnsafeLocation
  | ApiError.InvalidRequest
  | ApiError.TransportFailure

/**
 * The upload that a creation made.
 *
 * - `answered`: whether the server answered the creation. Else the upload was found by its receipt.
 * - `offset`: how many bytes the server has stored; undefined where it has to be asked.
 * - `finished`: whether the receipt says that every byte is stored.
 */
export interface Created {
  readonly url: UploadUrl
  readonly answered: boolean
  readonly offset: bigint | undefined
  readonly finished: boolean
}

/** A random value that no other creation has. It finds the upload again when the answer with its URL is lost. */
export const newMarker: Effect.Effect<string> = WebCrypto.use((crypto) => Effect.sync(() => crypto.randomUUID()))

/** An error of a creation, as far as it tells what became of the request. */
interface Failure {
  readonly _tag: string
  readonly status?: number
  readonly retryAfter?: Duration.Duration
  readonly sent?: "no" | "maybe"
  readonly permanent?: boolean
}

/**
 * What a failed creation did. The status decides; without one, how far the request came.
 *
 * - `Refused`: it created nothing, and another request would be refused as well.
 * - `TurnedAway`: it created nothing, since the server did not look at it or never got it. It is safe to send again.
 * - `Open`: an upload may exist. There was no answer, or one that a gateway may have given, or an invalid one.
 */
const outcome = (error: Failure): "Refused" | "TurnedAway" | "Open" => {
  const { status } = error
  switch (error._tag) {
    case "InvalidRequest":
      return "Refused"
    case "TransportFailure":
      if (error.sent !== "no") return "Open"
      return error.permanent === true ? "Refused" : "TurnedAway"
    case "RateLimited":
    case "UploadLocked":
      return "TurnedAway"
    default:
      if (status === 503 && error.retryAfter !== undefined) return "TurnedAway"
      return status !== undefined && Transport.isRefusal(status) ? "Refused" : "Open"
  }
}

/** Whether a creation that failed surely created nothing: it was not sent, or the server refused it. */
export const isRefusal = (error: Failure): boolean => outcome(error) !== "Open"

/** How often the receipts are read: the server may still be at work on the request whose answer was lost. */
const lookups = 5

/** A creation that was sent, or may have been: its target, its marker, and what it told of the upload. */
export interface Lost {
  readonly target: UploadTarget
  readonly marker: string
  readonly sent: Receipts.Sent
  readonly policy: Policy.Policy
}

const lookUp = ({
  marker,
  policy,
  sent,
  target
}: Lost): Effect.Effect<Option.Option<Receipts.Receipt>, never, HttpClient.HttpClient> =>
  Receipts.byMarker(target, marker, sent).pipe(
    Effect.repeat({
      until: Option.isSome,
      times: lookups - 1,
      schedule: Schedule.exponential(policy.retryDelay)
    })
  )

const fromReceipt = (found: Option.Option<Receipts.Receipt>): Option.Option<Created> =>
  Option.flatMap(found, ({ finished, url }) =>
    url === undefined ? Option.none() : Option.some({ url, answered: false, offset: undefined, finished })
  )

/** Finds the upload of a creation by the receipts alone: one of an earlier process, or one whose answer was lost. */
export const recover = (
  lost: Lost,
  why: Pick<TusError.CreationUnknown, "problem" | "cause">
): Effect.Effect<Created, TusError.CreationUnknown, HttpClient.HttpClient> =>
  Effect.flatMap(lookUp(lost), (found) =>
    Option.match(fromReceipt(found), {
      onNone: () => Effect.fail(new TusError.CreationUnknown({ host: hostOf(lost.target.tusUrl), ...why })),
      onSome: Effect.succeed
    })
  )

/**
 * Creates an upload. Where the server turns the request away unread, it is sent again after a pause. `size` is that of
 * the upload, where it is known.
 */
export const create = (options: {
  readonly target: UploadTarget
  readonly creation: Tus.Creation
  readonly size: bigint | undefined
  readonly marker: string
  readonly policy: Policy.Policy
  readonly emit: Emit
}): Effect.Effect<Created, CreationError, HttpClient.HttpClient> => {
  const { creation, emit, marker, policy, size, target } = options
  const hasBody = creation._tag !== "Final" && creation.body !== undefined
  const hasWork = creation._tag === "Final" || hasBody
  const metadata = { ...creation.metadata, [Receipts.markerKey]: marker }
  const pauseAfter = Policy.retrying(policy)

  const attempt = (failures: number): Effect.Effect<Created, CreationError, HttpClient.HttpClient> =>
    inTime(
      { request: "create", url: target.tusUrl },
      hasWork ? policy.finishTimeout : policy.stallTimeout,
      Tus.create(target, { ...creation, metadata })
    ).pipe(
      Effect.map(({ offset, url }): Created => ({
        url,
        answered: true,
        // Without a body the server has stored nothing. If it tells another offset, it is asked again.
        offset: hasBody || offset === 0n ? offset : undefined,
        finished: false
      })),
      Effect.catch((error): Effect.Effect<Created, CreationError, HttpClient.HttpClient> => {
        if (error._tag === "UnsafeLocation" || error._tag === "InvalidRequest") return Effect.fail(error)
        const did = outcome(error)
        if (error._tag === "Stalled" || did === "Open") {
          return recover(
            { target, marker, policy, sent: { metadata, size } },
            { problem: happened(error), cause: error }
          )
        }
        if (did === "Refused") return Effect.fail(error)
        return Effect.gen(function* () {
          const pause = yield* pauseAfter(failures, error)
          if (Option.isNone(pause)) return yield* Effect.fail(error)
          emit(UploadEvent.Retrying({ attempt: failures, delay: pause.value, reason: error.message }))
          yield* Effect.sleep(pause.value)
          return yield* attempt(failures + 1)
        })
      })
    )
  return attempt(1)
}
