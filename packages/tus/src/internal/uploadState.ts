/**
 * The state of an upload as one value, its pure transitions, and the stores that keep it: in memory, and written by a
 * journal. `engine.ts` performs the next step.
 */
import type * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { UploadUrl } from "../UploadTarget.ts"

/**
 * The response to the creation of an upload: the number of bytes that were `sent` with the request, and the reported
 * `offset`. `offset` is undefined if it has to be requested.
 */
export interface Begun {
  readonly sent: bigint
  readonly offset: bigint | undefined
}

/**
 * An upload at one URL, of the whole source or of one part of it.
 *
 * - `Planned`: the creation (the request that creates the upload) was not sent or created nothing, or the server no
 *   longer has the upload.
 * - `Creating`: the creation may have been sent. The metadata of the creation contains `marker`, so that the upload can
 *   be found in the receipts of the Assembly.
 * - `Created`: the upload is at `url`. `begun` is the response to its creation, if this run has created the upload or
 *   found it complete. Without `begun`, the next step requests the offset from the server.
 */
export type Piece<Url = UploadUrl> = Data.TaggedEnum<{
  readonly Planned: {}
  readonly Creating: { readonly marker: string }
  readonly Created: { readonly marker: string; readonly url: Url; readonly begun?: Begun }
}>

/** The bytes of the source from `start` (inclusive) to `end` (exclusive), and their upload. */
export interface Part<Url = UploadUrl> {
  readonly start: bigint
  readonly end: bigint
  readonly piece: Piece<Url>
}

/**
 * The state of an upload. A state that is a {@link Piece} is the upload of the whole source at one URL. In a journal,
 * `Url` is a text.
 *
 * - `Parts`: the source is uploaded in parts.
 * - `Concatenating`: all `parts` are complete. The creation of the final upload, which concatenates the parts, may have
 *   been sent. The metadata of this creation contains `marker`. `url` is the URL of the final upload, if this run knows
 *   it. `length` is the total length of the parts.
 * - `Completed`: all bytes are stored at `url`.
 * - `Untrusted`: the bytes that the server stored at `urls` may differ from the sent bytes. `urls` contains all known
 *   URLs of the upload. `description` and `mayBeWhole` are the fields of `UploadUntrusted`. An untrusted state never
 *   changes.
 */
export type UploadState<Url = UploadUrl> =
  | Piece<Url>
  | Data.TaggedEnum<{
      readonly Parts: { readonly parts: ReadonlyArray<Part<Url>> }
      readonly Concatenating: {
        readonly marker: string
        readonly parts: ReadonlyArray<Url>
        readonly length: bigint
        readonly url?: Url
      }
      readonly Completed: { readonly url: Url; readonly length: bigint }
      readonly Untrusted: {
        readonly urls: ReadonlyArray<Url>
        readonly description: string
        readonly mayBeWhole: boolean
      }
    }>

/** The states with one of these tags. */
export type Of<Tag extends UploadState["_tag"]> = Extract<UploadState, { readonly _tag: Tag }>

/** A transition of the state. */
export type Change = (state: UploadState) => UploadState

/** The initial state of an upload at one URL. */
export const planned: UploadState = { _tag: "Planned" }

/** The minimum size of a part. A smaller part saves less time than its requests cost. */
const smallestPart = 1024n * 1024n

/**
 * The initial state of an upload in `count` parts. Each part has at least 1 MiB, so a small source has fewer parts. If
 * fewer than two parts remain, the source is uploaded at one URL without parts. The parts cover the source in order,
 * without gaps.
 */
export const inParts = (size: bigint | undefined, count = 1): UploadState => {
  const most = (size ?? 0n) / smallestPart
  const parts = most < BigInt(count) ? most : BigInt(count)
  if (size === undefined || parts <= 1n) return planned
  return {
    _tag: "Parts",
    parts: Array.from({ length: Number(parts) }, (_, index) => ({
      start: (size * BigInt(index)) / parts,
      end: (size * BigInt(index + 1)) / parts,
      piece: { _tag: "Planned" }
    }))
  }
}

/** Replaces one piece in the state of its upload. */
export type Place = (piece: Piece) => Change

/**
 * Replaces the state, for example by an earlier one, or by a planned upload if the server no longer has the upload. Does
 * nothing in an untrusted state: a part may still be running after the bytes of another part became untrusted.
 */
export const replaced =
  (next: UploadState): Change =>
  (state) =>
    state._tag === "Untrusted" ? state : next

/** The {@link Place} of an upload without parts: one piece, which contains the whole source and has one URL. */
export const whole: Place = replaced

/** The {@link Place} of the part with this index. */
export const part =
  (index: number): Place =>
  (piece) =>
  (state) =>
    state._tag === "Parts"
      ? { ...state, parts: state.parts.map((each, at) => (at === index ? { ...each, piece } : each)) }
      : state

/** The creation of the final upload from these parts is sent next. */
export const concatenating = (marker: string, parts: ReadonlyArray<UploadUrl>, length: bigint): Change =>
  replaced({ _tag: "Concatenating", marker, parts, length })

/** The final upload of the parts is at this URL. */
export const concatenated =
  (url: UploadUrl): Change =>
  (state) =>
    state._tag === "Concatenating" ? { ...state, url } : state

/** Every byte is stored. */
export const completed = (url: UploadUrl, length: bigint): Change => replaced({ _tag: "Completed", url, length })

/** The upload URLs in a state. */
export const urlsOf = <Url>(state: UploadState<Url>): ReadonlyArray<Url> => {
  switch (state._tag) {
    case "Parts":
      return state.parts.flatMap(({ piece }) => urlsOf(piece))
    case "Concatenating":
      return state.url === undefined ? state.parts : [state.url, ...state.parts]
    case "Untrusted":
      return state.urls
    default:
      return "url" in state ? [state.url] : []
  }
}

/** The stored bytes may differ from the sent bytes. */
export const untrusted =
  ({ mayBeWhole, description }: Pick<Of<"Untrusted">, "description" | "mayBeWhole">): Change =>
  (state) =>
    replaced({ _tag: "Untrusted", urls: urlsOf(state), description, mayBeWhole })(state)

/**
 * Runs a request that creates an upload, and stores the state of the upload before and after the request. If the caller
 * is interrupted after the request was sent, the response is still awaited for a short time and stored. Without the
 * response, a later run would not know whether the request created an upload.
 *
 * - `sending`: stores that the request may be sent.
 * - `answered`: sends the request, and stores what the response says.
 * - `refused`: stores that the request was not sent.
 */
export type Settle = <A, E, E2, R>(request: {
  readonly sending: Effect.Effect<void, E>
  readonly answered: Effect.Effect<A, E2, R>
  readonly refused: Effect.Effect<void>
}) => Effect.Effect<A, E | E2, R>

/**
 * - `state`: the current state.
 * - `update`: changes the state and stores it. The next step starts after the state is stored, so a crash cannot lose
 *   the change.
 * - `settle`: see {@link Settle}. `settle` is undefined if no later run can find the state: then the parts of a failed
 *   upload are useless. The function is passed as a value, so that a bundle without a journal does not contain it.
 */
export interface StateStore<E> {
  readonly state: () => UploadState
  readonly update: (change: Change) => Effect.Effect<void, E>
  readonly settle?: Settle | undefined
}

/** A store in memory. A crash loses the state. */
export const forgetful = (initial: UploadState): StateStore<never> => {
  let state = initial
  return {
    state: () => state,
    update: (change) =>
      Effect.sync(() => {
        state = change(state)
      })
  }
}

/**
 * A store that calls `write` to save a state. Changes run one after another, each with the state after the change before
 * it. A state that could not be written is written with the next change.
 */
export const written = <E>(
  initial: UploadState,
  settle: Settle,
  write: (state: UploadState) => Effect.Effect<void, E>
): StateStore<E> => {
  const { state, update } = forgetful(initial)
  const changing = Semaphore.makeUnsafe(1)
  let saved: UploadState | undefined = initial
  return {
    state,
    settle,
    update: Effect.fnUntraced(function* (change) {
      yield* update(change)
      if (state() === saved) return
      // A write that fails may have changed the store all the same.
      saved = undefined
      yield* write(state())
      saved = state()
    }, changing.withPermits(1))
  }
}
