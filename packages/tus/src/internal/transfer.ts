/**
 * The state of one transfer: how many bytes of an upload the server has stored, and which request is next. All
 * functions are pure: none of them sends a request.
 */
import * as Result from "effect/Result"
import * as TusError from "../TusError.ts"

/**
 * - `acknowledged`: the number of stored bytes, according to the last accepted report of the server; 0 before the first
 * report.
 * - `reached`: the highest value that `acknowledged` has had. Only a higher value counts as progress.
 * - `handed`: the highest offset up to which bytes were given to the HTTP client; the server cannot have more bytes.
 * `handed` is undefined if an earlier run may have sent bytes.
 * - `length`: the length of the upload, if the server knows it; undefined while the length is deferred.
 * - `declared`: the length in the last PATCH that contained a length. The PATCH may not have reached the server.
 * - `failures`: the number of failed requests since the last progress.
 */
interface Progress {
  readonly acknowledged: bigint
  readonly reached: bigint
  readonly handed: bigint | undefined
  readonly length: bigint | undefined
  readonly declared: bigint | undefined
  readonly failures: number
}

/** The bytes from the offset `acknowledged` are sent next. */
export interface Sending extends Progress {
  readonly _tag: "Sending"
}

/**
 * The offset on the server is unknown and is requested next. `told` is the last reported offset, if a second response
 * must confirm it, and `asked` the number of such reports.
 */
export interface Asking extends Progress {
  readonly _tag: "Asking"
  readonly told?: bigint
  readonly asked?: number
}

/** All bytes are stored. */
interface Done {
  readonly _tag: "Done"
  readonly length: bigint
}

/** The state of one transfer. */
export type Transfer = Sending | Asking | Done

const beginning = (length: bigint | undefined, handed: bigint | undefined): Progress => ({
  acknowledged: 0n,
  reached: 0n,
  failures: 0,
  declared: undefined,
  length,
  handed
})

const moveTo = (progress: Progress, offset: bigint, length: bigint | undefined): Transfer => {
  if (offset === length) return { _tag: "Done", length }
  const { declared, failures, handed, reached } = progress
  const isProgress = offset > reached
  return {
    _tag: "Sending",
    acknowledged: offset,
    reached: isProgress ? offset : reached,
    failures: isProgress ? 0 : failures,
    declared,
    handed,
    length
  }
}

/**
 * The length of the upload: `size` (the number of bytes to upload), else the length that the server knows, else the
 * length that was declared to the server.
 */
export const lengthOf = (state: Sending | Asking, size: bigint | undefined): bigint | undefined =>
  size ?? state.length ?? state.declared

/**
 * The error of an upload whose server reports more bytes than the HTTP client got. `mayBeWhole` is true if the reported
 * offset reaches the length. If no length is known, the server does not know the length either.
 */
const untrusted = (offset: bigint, handed: bigint, length: bigint | undefined) =>
  Result.fail(
    new TusError.UploadUntrusted({
      description: `upload-offset is ${offset}, but bytes up to ${handed} were sent`,
      mayBeWhole: length !== undefined && offset >= length
    })
  )

/**
 * The state after this run created the upload and sent its first `sent` bytes with the creation. Some servers store only
 * the first bytes of a creation, or none (tus 1.0.0). If no offset or an impossible one was reported, the offset is
 * requested next.
 */
export const created = (found: {
  readonly offset: bigint | undefined
  readonly length: bigint | undefined
  readonly sent: bigint
}): Transfer => {
  const { length, offset, sent } = found
  const begun = beginning(length, sent)
  return offset === undefined || offset > sent ? { ...begun, _tag: "Asking" } : moveTo(begun, offset, length)
}

/** The state of an upload that an earlier run created. The offset of the upload is requested next. */
export const reopened = (length: bigint | undefined): Asking => ({ ...beginning(length, undefined), _tag: "Asking" })

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
 * The state after a response to a PATCH, whose bytes before the offset `handed` were given to the HTTP client. A server
 * may store only the first of these bytes (tus 1.0.0), but if the request did not declare the length of its body, other
 * bytes may be missing. `size` is the number of bytes to upload, and `length` the length that the PATCH declared.
 */
export const appended = (
  state: Sending,
  answer: {
    readonly offset: bigint
    readonly handed: bigint
    readonly declaresLength: boolean
    readonly length: bigint | undefined
    readonly size: bigint | undefined
  }
): Result.Result<Transfer, TusError.UploadUntrusted> => {
  const { declaresLength, handed, length, offset, size } = answer
  return offset > handed || (offset < handed && !declaresLength)
    ? untrusted(offset, handed, lengthOf(state, size))
    : Result.succeed(moveTo(state, offset, length ?? state.length))
}

const mismatch = (field: "upload-length" | "upload-offset", expected: string, found: bigint) =>
  Result.fail(new TusError.UploadMismatch({ field, expected, found: `${found}` }))

/** The number of reports that may differ, before the upload fails. */
const mostAsked = 4

/** The bytes to upload, of the whole source or of one part: their number, if known, and whether they can be read again. */
export interface Expected {
  readonly size: bigint | undefined
  readonly replayable: boolean
}

/**
 * The state after the server reported the offset of the upload. An offset beyond the sent bytes or beyond the end, and
 * another length than the known one, fail at once.
 *
 * An offset whose bytes would be lost if it were wrong must be reported twice in a row: the end, which completes the
 * upload, and any offset in the upload of a one-shot source. Any other offset is accepted at once, because the server
 * refuses a PATCH at a wrong offset and the source still has the bytes.
 */
export const located = (
  state: Asking,
  found: { readonly offset: bigint; readonly length?: bigint | undefined },
  { replayable, size }: Expected
): Result.Result<Transfer, TusError.UploadMismatch | TusError.UploadUntrusted> => {
  const { offset } = found
  const { asked = 1, handed, told } = state
  const known = lengthOf(state, size)
  if (found.length !== undefined && found.length !== known) {
    return mismatch("upload-length", known === undefined ? "none yet" : `${known}`, found.length)
  }
  if (handed !== undefined && offset > handed) return untrusted(offset, handed, known)
  const length = found.length ?? state.length
  const end = length ?? size
  if (end !== undefined && offset > end) return mismatch("upload-offset", `0 to ${end}`, offset)
  if (offset === told || (replayable && offset !== end)) return Result.succeed(moveTo(state, offset, length))
  return asked < mostAsked
    ? Result.succeed({ ...state, told: offset, asked: asked + 1 })
    : mismatch("upload-offset", `${told}, as reported before`, offset)
}

/**
 * The state after a receipt of the Assembly reports that the upload is complete, with the given length. Fails with
 * `UploadUntrusted` if the HTTP client got another number of bytes.
 */
export const receipted = (
  { handed }: Sending | Asking,
  length: bigint
): Result.Result<Transfer, TusError.UploadUntrusted> =>
  handed === undefined || handed === length
    ? Result.succeed({ _tag: "Done", length })
    : Result.fail(
        new TusError.UploadUntrusted({
          description: `the receipt reports a complete upload of ${length} bytes, but ${handed} bytes were sent`,
          mayBeWhole: true
        })
      )

/**
 * The state after a temporary failure. The offset is requested next, if the retry policy allows this number of
 * `failures`.
 */
export const failed = (state: Sending | Asking): Asking => ({ ...state, _tag: "Asking", failures: state.failures + 1 })
