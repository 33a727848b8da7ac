/**
 * The state of an upload as one value, and the transitions of this state. All functions are pure.
 * `internal/interpreter.ts` performs the next step. `internal/stateStore.ts` keeps the state in memory, and
 * `internal/journalStore.ts` also stores it as an entry of an `UploadJournal`.
 */
import type { UploadUntrusted } from "./TusError.ts"
import * as Transfer from "./Transfer.ts"
import type { UploadUrl } from "./UploadTarget.ts"

/**
 * An upload at one URL, of the whole source or of one part of it.
 *
 * - `Planned`: the creation (the request that creates the upload) was not sent or created nothing, or the server no
 *   longer has the upload.
 * - `Creating`: the creation may have been sent. The metadata of the creation contains `marker`, so that the upload can
 *   be found in the receipts of the Assembly.
 * - `Created`: the upload is at `url`. `transfer` is the state of the transfer of its bytes, if this run knows this
 *   state. Without `transfer`, the next step requests the offset from the server.
 *
 * @since 0.1.0
 * @category models
 */
export type Piece = Planned | Creating | Created

/**
 * An upload that does not exist on the server.
 *
 * @since 0.1.0
 * @category models
 */
export interface Planned {
  readonly _tag: "Planned"
}
/**
 * An upload whose creation may have been sent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Creating {
  readonly _tag: "Creating"
  readonly marker: string
}
/**
 * An upload that the server has created.
 *
 * @since 0.1.0
 * @category models
 */
export interface Created {
  readonly _tag: "Created"
  readonly marker: string
  readonly url: UploadUrl
  readonly transfer?: Transfer.Transfer
}

/**
 * The bytes of the source from `start` (inclusive) to `end` (exclusive), and their upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Part {
  readonly start: bigint
  readonly end: bigint
  readonly piece: Piece
}

/**
 * The source is uploaded in parts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Parts {
  readonly _tag: "Parts"
  readonly parts: ReadonlyArray<Part>
}

/**
 * All `parts` are complete. The creation of the final upload, which concatenates the parts, may have been sent. The
 * metadata of this creation contains `marker`. `url` is the URL of the final upload, if this run knows it. `length` is
 * the total length of the parts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Concatenating {
  readonly _tag: "Concatenating"
  readonly marker: string
  readonly parts: ReadonlyArray<UploadUrl>
  readonly length: bigint
  readonly url?: UploadUrl
}

/**
 * All bytes are stored at `url`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Completed {
  readonly _tag: "Completed"
  readonly url: UploadUrl
  readonly length: bigint
}

/**
 * The bytes that the server stored at `urls` may differ from the sent bytes. `urls` contains all known URLs of the
 * upload: the URL of the whole upload, or the URLs of the parts and of the final upload. `description` and `mayBeWhole` are
 * the fields of `UploadUntrusted`. An untrusted state never changes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Untrusted {
  readonly _tag: "Untrusted"
  readonly urls: ReadonlyArray<UploadUrl>
  readonly description: string
  readonly mayBeWhole: boolean
}

/**
 * An upload that has not ended. A state that is a {@link Piece} is the upload of the whole source at one URL.
 *
 * @since 0.1.0
 * @category models
 */
export type Unfinished = Piece | Parts | Concatenating

/**
 * An upload that has ended.
 *
 * @since 0.1.0
 * @category models
 */
export type Ended = Completed | Untrusted

/**
 * The state of an upload.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadState = Unfinished | Ended

/**
 * Whether an upload has ended.
 *
 * @since 0.1.0
 * @category transitions
 */
export const isEnded = (state: UploadState): state is Ended => state._tag === "Completed" || state._tag === "Untrusted"

/**
 * A transition of the state.
 *
 * @since 0.1.0
 * @category models
 */
export type Change = (state: UploadState) => UploadState

/**
 * The initial state of an upload at one URL.
 *
 * @since 0.1.0
 * @category transitions
 */
export const planned: UploadState = { _tag: "Planned" }

/** The minimum size of a part. A smaller part saves less time than its requests cost. */
const smallestPart = 1024n * 1024n

/**
 * The initial state of an upload in `count` parts. Each part has at least 1 MiB, so a small source has fewer parts. If
 * fewer than two parts remain, the source is uploaded at one URL without parts. The parts cover the source in order,
 * without gaps.
 *
 * @example UploadState.inParts(8n * 1024n * 1024n, 4)
 *
 * @since 0.1.0
 * @category transitions
 */
export const inParts = (size: bigint, count: number): UploadState => {
  const most = size / smallestPart
  const parts = most < BigInt(count) ? most : BigInt(count)
  if (parts <= 1n) return planned
  return {
    _tag: "Parts",
    parts: Array.from({ length: Number(parts) }, (_, index) => ({
      start: (size * BigInt(index)) / parts,
      end: (size * BigInt(index + 1)) / parts,
      piece: { _tag: "Planned" }
    }))
  }
}

/**
 * Makes a change that does nothing in an untrusted state. A part may still be running after the bytes of another part
 * became untrusted.
 */
const unlessUntrusted =
  (change: Change): Change =>
  (state) =>
    state._tag === "Untrusted" ? state : change(state)

/**
 * Reads and replaces one piece in the state of its upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Place {
  readonly get: (state: UploadState) => Piece | undefined
  readonly set: (piece: Piece) => Change
}

/**
 * The {@link Place} of an upload without parts: one piece, which contains the whole source and has one URL.
 *
 * @since 0.1.0
 * @category transitions
 */
export const whole: Place = {
  get: (state) =>
    state._tag === "Planned" || state._tag === "Creating" || state._tag === "Created" ? state : undefined,
  set: (piece) => unlessUntrusted(() => piece)
}

/**
 * The {@link Place} of the part with this index.
 *
 * @since 0.1.0
 * @category transitions
 */
export const part = (index: number): Place => ({
  get: (state) => (state._tag === "Parts" ? state.parts[index]?.piece : undefined),
  set: (piece) =>
    unlessUntrusted((state) => {
      const found = state._tag === "Parts" ? state.parts[index] : undefined
      if (state._tag !== "Parts" || found === undefined) return state
      return { ...state, parts: state.parts.with(index, { ...found, piece }) }
    })
})

/**
 * The server no longer has the upload. The next run starts a new upload.
 *
 * @since 0.1.0
 * @category transitions
 */
export const gone: Change = unlessUntrusted(() => planned)

/**
 * The creation of the final upload from these parts is sent next.
 *
 * @since 0.1.0
 * @category transitions
 */
export const concatenating = (marker: string, parts: ReadonlyArray<UploadUrl>, length: bigint): Change =>
  unlessUntrusted(() => ({ _tag: "Concatenating", marker, parts, length }))

/**
 * The final upload of the parts is at this URL.
 *
 * @since 0.1.0
 * @category transitions
 */
export const concatenated = (url: UploadUrl): Change =>
  unlessUntrusted((state) => (state._tag === "Concatenating" ? { ...state, url } : state))

/**
 * The creation of the final upload was not sent or created nothing. The upload returns to `before`, its state before
 * this creation.
 *
 * @since 0.1.0
 * @category transitions
 */
export const refused = (before: UploadState): Change => unlessUntrusted(() => before)

/**
 * Every byte is stored.
 *
 * @since 0.1.0
 * @category transitions
 */
export const completed = (url: UploadUrl, length: bigint): Change =>
  unlessUntrusted(() => ({ _tag: "Completed", url, length }))

/**
 * The upload URLs in a state.
 *
 * @since 0.1.0
 * @category transitions
 */
export const urlsOf = (state: UploadState): ReadonlyArray<UploadUrl> => {
  switch (state._tag) {
    case "Planned":
    case "Creating":
      return []
    case "Created":
    case "Completed":
      return [state.url]
    case "Parts":
      return state.parts.flatMap(({ piece }) => urlsOf(piece))
    case "Concatenating":
      return state.url === undefined ? state.parts : [state.url, ...state.parts]
    case "Untrusted":
      return state.urls
  }
}

/**
 * The stored bytes may differ from the sent bytes.
 *
 * @since 0.1.0
 * @category transitions
 */
export const untrusted = ({ mayBeWhole, description }: UploadUntrusted): Change =>
  unlessUntrusted((state) => ({ _tag: "Untrusted", urls: urlsOf(state), description, mayBeWhole }))

/**
 * The error of a piece that stops now, or undefined if the next run may continue the piece.
 *
 * If `only` of its transfer is set, the piece must not continue: `only` contains the valid offsets, and a journal entry
 * does not contain them. So the next run could not check the offset that the server reports. `size` is the size of the
 * piece, if known.
 *
 * @since 0.1.0
 * @category transitions
 */
export const leftInDoubt = (piece: Piece | undefined, size: bigint | undefined): UploadUntrusted | undefined => {
  const transfer = piece?._tag === "Created" ? piece.transfer : undefined
  return transfer?._tag === "Asking" && transfer.only !== undefined
    ? Transfer.untrusted(transfer, size, "the upload stopped before the server reported its offset")
    : undefined
}
