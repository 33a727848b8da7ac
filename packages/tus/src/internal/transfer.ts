/**
 * The state of one transfer: how many bytes of an upload the server has stored, and which request is next. All
 * functions are pure: none of them sends a request.
 */
import * as Result from "effect/Result"
import * as TusError from "../TusError.ts"
import { happened } from "./host.ts"

/**
 * - `acknowledged`: the number of stored bytes, according to the last accepted report of the server; 0 before the first
 * report.
 * - `reached`: the highest value that `acknowledged` has had. Only a higher value counts as progress.
 * - `handed`: the highest offset up to which bytes were given to the HTTP client; the server cannot have more bytes.
 * `handed` is undefined if an earlier run may have sent bytes.
 * - `length`: the length of the upload, if the server knows it; undefined while the length is deferred.
 * - `declared`: the length in the last PATCH that contained a length. The PATCH may not have reached the server.
 * - `failures`: the number of failed requests since the last progress.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress {
  readonly acknowledged: bigint
  readonly reached: bigint
  readonly handed: bigint | undefined
  readonly length: bigint | undefined
  readonly declared: bigint | undefined
  readonly failures: number
}

/**
 * The bytes from the offset `acknowledged` are sent next.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sending extends Progress {
  readonly _tag: "Sending"
}

/**
 * The offset on the server is unknown and is requested next. `told` is the last reported offset, if a second response
 * must confirm it, and `asked` the number of such reports. `only` is set after the server accepted a request, but
 * reported another offset (`counted`) than the end of the sent bytes, or no offset: it contains the valid offsets.
 *
 * @since 0.1.0
 * @category models
 */
export interface Asking extends Progress {
  readonly _tag: "Asking"
  readonly told?: bigint
  readonly asked?: number
  readonly only?: ReadonlyArray<bigint>
  readonly counted?: bigint | undefined
}

/**
 * All bytes are stored.
 *
 * @since 0.1.0
 * @category models
 */
interface Done {
  readonly _tag: "Done"
  readonly length: bigint
}

/** The state of one transfer. */
export type Transfer = Sending | Asking | Done

const standing = (state: Progress): Transfer =>
  state.length !== undefined && state.acknowledged === state.length
    ? { _tag: "Done", length: state.length }
    : { ...state, _tag: "Sending" }

const beginning = (length: bigint | undefined, handed: bigint | undefined): Progress => ({
  acknowledged: 0n,
  reached: 0n,
  failures: 0,
  declared: undefined,
  length,
  handed
})

/**
 * The state after this run created the upload and sent its first `sent` bytes with the creation. If the server did not
 * report the offset `sent`, the offset is requested next: some servers store only the first bytes of a creation, or
 * none (tus 1.0.0). `answered` says whether a valid response to the creation arrived. If none arrived, the upload was
 * found by its receipt, and the server may have stored any of the sent bytes.
 */
export const created = (found: {
  readonly offset: bigint | undefined
  readonly length: bigint | undefined
  readonly sent: bigint
  readonly answered: boolean
}): Transfer => {
  const { answered, length, offset, sent } = found
  const begun = beginning(length, sent)
  if (offset === sent) return standing({ ...begun, acknowledged: sent, reached: sent })
  if (sent === 0n || !answered) return { ...begun, _tag: "Asking" }
  const only = offset === undefined || offset < sent ? [offset ?? 0n, sent] : [sent]
  return { ...begun, _tag: "Asking", only, counted: offset }
}

/** The state of an upload that an earlier run created. The offset of the upload is requested next. */
export const reopened = (length: bigint | undefined): Asking => ({ ...beginning(length, undefined), _tag: "Asking" })

const moveTo = ({ declared, failures, handed, reached }: Progress, offset: bigint, length: bigint | undefined) =>
  standing({
    acknowledged: offset,
    reached: offset > reached ? offset : reached,
    failures: offset > reached ? 0 : failures,
    declared,
    handed,
    length
  })

/** The state after a PATCH whose bytes before the offset `handed` were given to the HTTP client. */
export const handedOver = (
  state: Sending,
  sent: { readonly handed: bigint; readonly declared: bigint | undefined }
): Sending => ({
  ...state,
  declared: sent.declared ?? state.declared,
  handed: state.handed === undefined || state.handed > sent.handed ? state.handed : sent.handed
})

/**
 * The state after the server accepted a PATCH whose bytes end at the offset `handed`, but reported another offset
 * (`counted`) or no offset. A server may store only the first bytes of a PATCH (tus 1.0.0), so a `counted` between the
 * start of the PATCH and `handed` is valid if it is reported again.
 */
export const accepted = (state: Sending, handed: bigint, counted?: bigint): Asking => ({
  ...state,
  _tag: "Asking",
  only: counted !== undefined && counted > state.acknowledged && counted < handed ? [counted, handed] : [handed],
  counted
})

/**
 * The length of the upload: `size` (the number of bytes to upload), else the length that the server knows, else the
 * length that was declared to the server.
 */
export const lengthOf = (state: Sending | Asking, size: bigint | undefined): bigint | undefined =>
  size ?? state.length ?? state.declared

/**
 * The error of an upload that must not continue, because the bytes on the server may differ from the sent bytes.
 * `mayBeWhole` is true if the offset that the server reports now (`told`) or reported before (`counted`) reaches the
 * length, because the upload may then be complete. Without `told`, the number of bytes that the HTTP client got is
 * compared with the length; if this number is unknown too, `mayBeWhole` is true. If no length is known, the server does
 * not know the length either.
 */
const untrusted = (
  state: Sending | Asking,
  size: bigint | undefined,
  description: string,
  told?: bigint
): TusError.UploadUntrusted => {
  const length = lengthOf(state, size)
  const now = told ?? state.handed ?? length
  const counted = (state._tag === "Asking" ? state.counted : undefined) ?? 0n
  const mayBeWhole = length !== undefined && now !== undefined && (now >= length || counted >= length)
  return new TusError.UploadUntrusted({ description, mayBeWhole })
}

/** The bytes to upload, of the whole source or of one part: their number, if known, and whether they can be read again. */
export interface Expected {
  readonly size: bigint | undefined
  readonly replayable: boolean
}

/**
 * The state after a response to a PATCH. The bytes in the PATCH end at the offset `end`, and the HTTP client got the
 * bytes before the offset `handed`.
 */
export const appended = (
  state: Sending,
  answer: {
    readonly offset: bigint
    readonly end: bigint
    readonly handed: bigint
    readonly length: bigint | undefined
  }
): Transfer => {
  const { end, handed, length, offset } = answer
  return offset === end && handed >= end
    ? moveTo(state, offset, length ?? state.length)
    : accepted(state, handed, offset)
}

const mismatch = (field: "upload-length" | "upload-offset", expected: string, found: bigint) =>
  new TusError.UploadMismatch({ field, expected, found: `${found}` })

/** The number of reports that may differ, before the upload fails. */
const mostAsked = 4

/**
 * The state after the server reported the offset of the upload. After an accepted request, an offset that `only` does
 * not contain fails at once, and so does another length than the known one.
 *
 * Some offsets must be reported twice in a row, because one report may be wrong: an offset beyond the sent bytes or
 * beyond the end, which fails then, and an offset whose bytes would be lost if it were wrong. These are the end, which
 * completes the upload, and any offset in the upload of a one-shot source. Any other offset is accepted at once, because
 * the server refuses a PATCH at a wrong offset and the source still has the bytes.
 */
export const located = (
  state: Asking,
  found: { readonly offset: bigint; readonly length?: bigint | undefined },
  { replayable, size }: Expected
): Result.Result<Transfer, TusError.UploadMismatch | TusError.UploadUntrusted> => {
  const { offset } = found
  const known = lengthOf(state, size)
  if (found.length !== undefined && found.length !== known) {
    return Result.fail(mismatch("upload-length", known === undefined ? "none yet" : `${known}`, found.length))
  }
  const sent = state.only?.at(-1) ?? state.handed
  const untrustedAt = () =>
    Result.fail(untrusted(state, size, `upload-offset is ${offset}, but bytes up to ${sent} were sent`, offset))
  if (state.only !== undefined && !state.only.includes(offset)) return untrustedAt()
  const length = found.length ?? state.length
  const end = length ?? size
  const isSent = state.handed === undefined || offset <= state.handed
  const isWithin = isSent && (end === undefined || offset <= end)
  const isConfirmed = offset === state.told
  if (isWithin && (isConfirmed || (replayable && offset !== end))) return Result.succeed(moveTo(state, offset, length))
  const { asked = 1 } = state
  if (!isConfirmed && asked < mostAsked) return Result.succeed({ ...state, told: offset, asked: asked + 1 })
  if (!isSent) return untrustedAt()
  return Result.fail(mismatch("upload-offset", isWithin ? `${state.told}, as reported before` : `0 to ${end}`, offset))
}

/**
 * The state after a receipt of the Assembly reports that the upload is complete, with the given length. Fails with
 * `UploadUntrusted` if the HTTP client got another number of bytes.
 */
export const receipted = (
  state: Sending | Asking,
  length: bigint
): Result.Result<Transfer, TusError.UploadUntrusted> => {
  const sent = state._tag === "Asking" ? (state.only?.at(-1) ?? state.handed) : state.handed
  return sent === undefined || sent === length
    ? Result.succeed({ _tag: "Done", length })
    : Result.fail(
        new TusError.UploadUntrusted({
          description: `the receipt reports a complete upload of ${length} bytes, but ${sent} bytes were sent`,
          mayBeWhole: true
        })
      )
}

/**
 * The state after a temporary failure. The offset is requested next, if the retry policy allows this number of
 * `failures`.
 */
export const failed = (state: Sending | Asking): Asking => ({ ...state, _tag: "Asking", failures: state.failures + 1 })

/**
 * The final error of an upload that is abandoned because of `error`. If `state.only` is set, the stored bytes may be
 * wrong, and the final error is `UploadUntrusted`, so that no later run continues the upload.
 */
export const abandoned = <E extends { readonly _tag: string; readonly message: string }>(
  state: Sending | Asking,
  error: E,
  size: bigint | undefined
): E | TusError.UploadUntrusted =>
  state._tag === "Asking" && state.only !== undefined && error._tag !== "UploadUntrusted"
    ? untrusted(state, size, `upload-offset did not match the sent bytes, and then ${happened(error)}`)
    : error
