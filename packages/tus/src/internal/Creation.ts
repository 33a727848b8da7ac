/**
 * The one creation of an upload: what was not answered is looked for in the receipts, and never repeated.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UnsafeLocation, UploadTarget, UploadUrl } from "../UploadTarget.ts"
import { inTime } from "./Append.ts"
import type { Emit } from "./Events.ts"
import * as Policy from "./Policy.ts"
import * as Receipts from "./Receipts.ts"

/** What a creation can fail with. */
export type CreationError = Tus.AnswerError | TusError.CreationUnknown | UnsafeLocation | ApiError.InvalidRequest

/**
 * What a creation gave. `answered` says whether by its answer; else it was found by its receipt. `offset` is undefined
 * where it has to be asked for; `finished` uploads need no more.
 */
export interface Created {
  readonly url: UploadUrl
  readonly answered: boolean
  readonly offset: bigint | undefined
  readonly finished: boolean
}

/** A value that no other creation has, from a cryptographic source: it finds an upload again whose URL was lost. */
export const newMarker: Effect.Effect<string> = WebCrypto.use((crypto) => Effect.sync(() => crypto.randomUUID()))

type LostError = ApiError.TransportFailure | TusError.Stalled | TusError.ServerFailure | TusError.ProtocolViolation

/**
 * Whether a failure leaves it open that an upload was made: no answer, one that a gateway may have given, or one that
 * says 201 and not where.
 */
const isLost = (error: { readonly _tag: string }): error is LostError =>
  error._tag === "TransportFailure" ||
  error._tag === "Stalled" ||
  error._tag === "ServerFailure" ||
  (error._tag === "ProtocolViolation" && "status" in error && error.status === 201)

/** Whether the server said that it did not even look at the request, so that another one is the first. */
const isTurnedAway = (error: {
  readonly _tag: string
}): error is ApiError.RateLimited | TusError.UploadLocked | TusError.ServerFailure =>
  error._tag === "RateLimited" ||
  error._tag === "UploadLocked" ||
  (error._tag === "ServerFailure" &&
    "status" in error &&
    error.status === 503 &&
    "retryAfter" in error &&
    error.retryAfter !== undefined)

const refusals: ReadonlySet<string> = new Set([
  "InvalidRequest",
  "UploadGone",
  "UploadRefused",
  "OffsetConflict",
  "TooLarge",
  "UploadLocked",
  "ChecksumMismatch",
  "RateLimited",
  // Turned away to the end: any other failure of the server is `CreationUnknown`.
  "ServerFailure"
] satisfies ReadonlyArray<CreationError["_tag"]>)

/** Whether a creation that failed made nothing for sure: it was not sent, or the server said no. */
export const isRefusal = ({ _tag }: { readonly _tag: string }): boolean => refusals.has(_tag)

/** How often the receipts are read: the server may still be at work on the request whose answer was lost. */
const lookups = 5

/** The receipt of a creation whose answer was lost. */
const lookUp = (
  target: UploadTarget,
  marker: string,
  policy: Policy.Policy,
  left = lookups
): Effect.Effect<Option.Option<Receipts.Receipt>, never, HttpClient.HttpClient> =>
  Effect.flatMap(Receipts.byMarker(target, marker), (found) =>
    Option.isSome(found) || left <= 1
      ? Effect.succeed(found)
      : Effect.flatMap(Effect.sleep(Duration.times(policy.retryDelay, 2 ** (lookups - left))), () =>
          lookUp(target, marker, policy, left - 1)
        )
  )

const fromReceipt = (found: Option.Option<Receipts.Receipt>): Option.Option<Created> =>
  Option.flatMap(found, ({ finished, url }) =>
    url === undefined ? Option.none() : Option.some({ url, answered: false, offset: undefined, finished })
  )

/** The creation of an earlier time, or one whose answer was lost, by the receipts alone. */
export const recover = (
  target: UploadTarget,
  marker: string,
  policy: Policy.Policy,
  problem: string
): Effect.Effect<Created, TusError.CreationUnknown, HttpClient.HttpClient> =>
  Effect.flatMap(lookUp(target, marker, policy), (found) =>
    Option.match(fromReceipt(found), {
      onNone: () => Effect.fail(new TusError.CreationUnknown({ problem })),
      onSome: Effect.succeed
    })
  )

/** Creates an upload, waiting where the server turns the request away unread. */
export const create = (options: {
  readonly target: UploadTarget
  readonly creation: Tus.Creation
  readonly marker: string
  readonly policy: Policy.Policy
  readonly emit: Emit
}): Effect.Effect<Created, CreationError, HttpClient.HttpClient> => {
  const { creation, emit, marker, policy, target } = options
  const hasBody = creation._tag !== "Final" && creation.body !== undefined
  const hasWork = creation._tag === "Final" || hasBody
  const metadata = { ...creation.metadata, [Receipts.markerKey]: marker }

  const attempt = (failures: number): Effect.Effect<Created, CreationError, HttpClient.HttpClient> =>
    inTime(
      "create",
      hasWork ? policy.finishTimeout : policy.stallTimeout,
      Tus.create(target, { ...creation, metadata })
    ).pipe(
      Effect.map(({ offset, url }): Created => ({
        url,
        answered: true,
        // Where nothing was sent nothing is stored; a server that tells another offset is asked again.
        offset: hasBody || offset === 0n ? offset : undefined,
        finished: false
      })),
      Effect.catch((error): Effect.Effect<Created, CreationError, HttpClient.HttpClient> => {
        if (isTurnedAway(error) && failures < policy.maxRetries) {
          return Effect.gen(function* () {
            const delay = yield* Policy.pause(policy, failures + 1, error)
            emit(UploadEvent.Retrying({ attempt: failures + 1, delay, reason: error.message }))
            yield* Effect.sleep(delay)
            return yield* attempt(failures + 1)
          })
        }
        if (isLost(error) && !isTurnedAway(error)) return recover(target, marker, policy, error.message)
        return Effect.fail(error as Exclude<typeof error, ApiError.TransportFailure | TusError.Stalled>)
      })
    )
  return attempt(0)
}
