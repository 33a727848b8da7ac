/**
 * The state of one transfer: how many bytes of an upload the server has stored, and which request is next. A `Transfer`
 * is a part of `UploadState`. All functions are pure: none of them sends a request.
 */
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { happened } from "./internal/errorText.ts"
import * as TusError from "./TusError.ts"

/**
 * - `acknowledged`: the number of stored bytes, according to the last accepted report of the server; 0 before the first
 *   report.
 * - `reached`: the highest value that `acknowledged` has had. Only a higher value counts as progress.
 * - `handed`: the highest offset up to which bytes were given to the HTTP client; the server cannot have more bytes.
 *   `handed` is absent if an earlier run may have sent bytes.
 * - `length`: the length of the upload, if the server knows it; absent while the length is deferred.
 * - `declared`: the length in the last PATCH that contained a length. The PATCH may not have reached the server.
 * - `failures`: the number of failed requests since the last progress.
 */
const progress = {
  acknowledged: TusUpload.Offset,
  reached: TusUpload.Offset,
  handed: Schema.optionalKey(TusUpload.Offset),
  length: Schema.optionalKey(TusUpload.UploadLength),
  declared: Schema.optionalKey(TusUpload.UploadLength),
  failures: Schema.Int
}

/**
 * The state of one transfer. `Schema.toCodecJson(Transfer)` is the codec for JSON.
 *
 * - `Sending`: the server has stored the bytes before the offset `acknowledged`. The bytes from this offset are sent
 *   next.
 * - `Asking`: the offset on the server is unknown and is requested next. `told` is the last reported offset, if a
 *   second response must confirm it. `only` is set after the server accepted a request, but reported another offset
 *   than the end of the sent bytes, or no offset. `only` contains the valid offsets; if the server reports any other
 *   offset, the upload fails with `UploadUntrusted`. `counted` is the offset in the response to the accepted request,
 *   if this response contained an offset.
 * - `Done`: all bytes are stored.
 *
 * @since 0.1.0
 * @category models
 */
export const Transfer = Schema.TaggedUnion({
  Sending: progress,
  Asking: {
    ...progress,
    told: Schema.optionalKey(TusUpload.Offset),
    only: Schema.optionalKey(Schema.Array(TusUpload.Offset)),
    counted: Schema.optionalKey(TusUpload.Offset)
  },
  Done: { length: TusUpload.UploadLength }
})
/**
 * @since 0.1.0
 * @category models
 */
export type Transfer = typeof Transfer.Type
/**
 * The state in which the server has stored the bytes before the offset `acknowledged`, and the bytes from this offset
 * are sent next.
 *
 * @since 0.1.0
 * @category models
 */
export type Sending = Extract<Transfer, { _tag: "Sending" }>
/**
 * The state in which the offset is requested from the server next.
 *
 * @since 0.1.0
 * @category models
 */
export type Asking = Extract<Transfer, { _tag: "Asking" }>

/**
 * A key that identifies the next request. The same state always has the same key.
 *
 * @since 0.1.0
 * @category transitions
 */
export const stepKey = (state: Transfer): string => {
  switch (state._tag) {
    case "Sending":
      return `append@${state.acknowledged}#${state.failures}`
    case "Asking": {
      const told = state.told === undefined ? "" : `?${state.told}`
      const only = state.only === undefined ? "" : `=${state.only.join(",")}`
      return `offset@${state.acknowledged}#${state.failures}${told}${only}`
    }
    case "Done":
      return "done"
  }
}

const standing = (state: Omit<Sending, "_tag">): Transfer =>
  state.length !== undefined && state.acknowledged === state.length
    ? { _tag: "Done", length: state.length }
    : { ...state, _tag: "Sending" }

const withLength = (length: bigint | undefined) => (length === undefined ? undefined : { length })
const withHanded = (handed: bigint | undefined) => (handed === undefined ? undefined : { handed })
const withCounted = (counted: bigint | undefined) => (counted === undefined ? undefined : { counted })
const withDeclared = (declared: bigint | undefined) => (declared === undefined ? undefined : { declared })

const beginning = (length: bigint | undefined, handed: bigint | undefined): Omit<Sending, "_tag"> => ({
  acknowledged: 0n,
  reached: 0n,
  failures: 0,
  ...withLength(length),
  ...withHanded(handed)
})

/**
 * The state after this run created the upload and sent its first `sent` bytes with the creation. If the server did not
 * report the offset `sent`, the offset is requested next. After a valid response to a creation with bytes, the valid
 * offsets are then `sent` and the reported offset, if it is less than `sent`. Without a reported offset, they are 0 and
 * `sent`.
 *
 * @since 0.1.0
 * @category transitions
 */
export const created = (found: {
  readonly offset: bigint | undefined
  readonly length: bigint | undefined
  readonly sent: bigint
  /**
   * Whether a valid response to the creation arrived. If none arrived, the upload was found by its receipt, and the
   * server may have stored only some of the sent bytes.
   */
  readonly answered: boolean
}): Transfer => {
  const { answered, length, offset, sent } = found
  const begun = beginning(length, sent)
  if (offset === sent) return standing({ ...begun, acknowledged: sent, reached: sent })
  if (sent === 0n || !answered) return { ...begun, _tag: "Asking" }
  const only = offset === undefined || offset < sent ? [offset ?? 0n, sent] : [sent]
  return { ...begun, _tag: "Asking", only, ...withCounted(offset) }
}

/**
 * The state of an upload that an earlier run created. The offset of the upload is requested next.
 *
 * @since 0.1.0
 * @category transitions
 */
export const reopened = (length: bigint | undefined): Asking => ({ ...beginning(length, undefined), _tag: "Asking" })

const moveTo = (state: Sending | Asking, offset: bigint, length: bigint | undefined): Transfer => {
  const { declared, failures, handed, reached } = state
  return standing({
    acknowledged: offset,
    reached: offset > reached ? offset : reached,
    failures: offset > reached ? 0 : failures,
    ...withDeclared(declared),
    ...withHanded(handed),
    ...withLength(length)
  })
}

/**
 * The state after a PATCH was sent. The HTTP client got the bytes before the offset `handed`. `declared` is the length
 * in the PATCH, if the PATCH contained a length.
 *
 * @since 0.1.0
 * @category transitions
 */
export const handedOver = (
  state: Sending,
  sent: { readonly handed: bigint; readonly declared: bigint | undefined }
): Sending => ({
  ...state,
  ...withDeclared(sent.declared),
  ...(state.handed === undefined || state.handed > sent.handed ? undefined : { handed: sent.handed })
})

/**
 * The state after the server accepted a PATCH whose bytes end at the offset `sent`, but reported another offset
 * (`counted`) or no offset. The offset is requested next. A server may store only the first bytes of a PATCH (tus
 * 1.0.0), so a `counted` between the start of the PATCH and `sent` is valid if it is reported again. If the server then
 * reports another offset, the upload fails with `UploadUntrusted`, because the server may have stored wrong bytes.
 *
 * @since 0.1.0
 * @category transitions
 */
export const miscounted = (state: Sending, sent: bigint, counted?: bigint): Asking => ({
  ...state,
  _tag: "Asking",
  only: counted !== undefined && counted > state.acknowledged && counted < sent ? [counted, sent] : [sent],
  ...withCounted(counted)
})

/**
 * A response that contradicts the sent bytes, the length or an earlier response. The response may be wrong. `state` is
 * the next state, in which the offset is requested again. `error` describes the contradiction.
 *
 * @since 0.1.0
 * @category models
 */
export interface Doubt<E> {
  readonly _tag: "Doubt"
  readonly state: Asking
  readonly error: E
}

/**
 * The state after a response to a PATCH. The bytes in the PATCH end at the offset `end`, and the HTTP client got the
 * bytes before the offset `handed`. Fails with a `Doubt` if the reported offset is not `end`, or if `handed` is less
 * than `end`.
 *
 * @since 0.1.0
 * @category transitions
 */
export const appended = (
  state: Sending,
  answer: {
    readonly host: string
    readonly offset: bigint
    readonly end: bigint
    readonly handed: bigint
    readonly length: bigint | undefined
  }
): Result.Result<Transfer, Doubt<TusError.ProtocolViolation>> => {
  const { end, handed, host, length, offset } = answer
  if (offset === end && handed >= end) return Result.succeed(moveTo(state, offset, length ?? state.length))
  return Result.fail({
    _tag: "Doubt",
    state: miscounted(state, handed, offset),
    error: new TusError.ProtocolViolation({
      request: "append",
      host,
      status: 204,
      description: `upload-offset is ${offset}, but bytes up to ${handed} were sent`
    })
  })
}

/**
 * The response of the server to a request for the offset.
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly offset: bigint
  readonly length?: bigint | undefined
}

/**
 * The bytes to upload, of the whole source or of one part: their number, if known, and whether they can be read again.
 *
 * @since 0.1.0
 * @category models
 */
export interface Expected {
  readonly size: bigint | undefined
  readonly replayable: boolean
}

const mismatch = (field: "upload-length" | "upload-offset", expected: string, found: bigint) =>
  new TusError.UploadMismatch({ field, expected, found: `${found}` })

/**
 * The length of the upload: `size` (the number of bytes to upload), else the length that the server knows, else the
 * length that was declared to the server.
 *
 * @since 0.1.0
 * @category transitions
 */
export const lengthOf = (state: Sending | Asking, size: bigint | undefined): bigint | undefined =>
  size ?? state.length ?? state.declared

/**
 * The error of an upload that must not continue, because the bytes on the server may differ from the sent bytes.
 * `mayBeWhole` is true if the offset that the server reports now (`told`) or reported before (`counted`) reaches the
 * length, because the upload may then be complete. Without `told`, the number of bytes that the HTTP client got is
 * compared with the length; if this number is unknown too, `mayBeWhole` is true. If no length is known, `mayBeWhole` is
 * false, because the server does not know the length either.
 *
 * @since 0.1.0
 * @category transitions
 */
export const untrusted = (
  state: Sending | Asking,
  size: bigint | undefined,
  problem: string,
  told?: bigint
): TusError.UploadUntrusted => {
  const length = lengthOf(state, size)
  const counted = state._tag === "Asking" ? (state.counted ?? 0n) : 0n
  const now = told ?? state.handed ?? length
  const mayBeWhole = length !== undefined && now !== undefined && (now >= length || counted >= length)
  return new TusError.UploadUntrusted({ description: problem, mayBeWhole })
}

/**
 * The state after the server reported the offset of the upload.
 *
 * A reported length fails with `UploadMismatch` if it differs from the known length, or if no length is known. An
 * offset beyond all bytes that the HTTP client got fails with `UploadUntrusted`. If an earlier run may have sent bytes,
 * an offset beyond the end fails with `UploadMismatch` instead. One response may be wrong, so the first response with
 * such an offset fails with a `Doubt`, and only a second response with the same offset fails with the error itself.
 *
 * Two kinds of valid offset must also be reported twice, because the upload would lose bytes if the report were wrong:
 * the offset at the end, which completes the upload, and any offset in the upload of a one-shot source. If two such
 * reports in a row differ, the second fails with a `Doubt`. Any other valid offset is accepted at once, because the
 * server refuses a PATCH at a wrong offset and the source still has the bytes.
 *
 * If `state.only` is set, any offset that `state.only` does not contain fails at once with `UploadUntrusted`.
 *
 * @since 0.1.0
 * @category transitions
 */
export const located = (
  state: Asking,
  found: Found,
  { replayable, size }: Expected
): Result.Result<
  Transfer,
  TusError.UploadMismatch | TusError.UploadUntrusted | Doubt<TusError.UploadMismatch | TusError.UploadUntrusted>
> => {
  const { offset } = found
  const known = lengthOf(state, size)
  if (found.length !== undefined && found.length !== known) {
    return Result.fail(mismatch("upload-length", known === undefined ? "none yet" : `${known}`, found.length))
  }
  if (state.only !== undefined && !state.only.includes(offset)) {
    const problem = `upload-offset is ${offset}, but bytes up to ${state.only.at(-1)} were sent`
    return Result.fail(untrusted(state, size, problem, offset))
  }
  const length = found.length ?? state.length
  const end = length ?? size
  const isHanded = state.handed === undefined || offset <= state.handed
  const isWithin = isHanded && (end === undefined || offset <= end)
  const isHarmless = replayable && offset !== end
  if (isWithin && (isHarmless || offset === state.told)) return Result.succeed(moveTo(state, offset, length))

  const again: Asking = { ...state, told: offset }
  if (isWithin && state.told === undefined) return Result.succeed(again)
  const error = isHanded
    ? mismatch("upload-offset", isWithin ? `${state.told}, as reported before` : `0 to ${end}`, offset)
    : untrusted(state, size, `upload-offset is ${offset}, but at most ${state.handed} bytes were sent`, offset)
  return Result.fail(offset === state.told ? error : { _tag: "Doubt", state: again, error })
}

/**
 * The state after a receipt of the Assembly reports that the upload is complete, with the given length. Fails with
 * `UploadUntrusted` if the HTTP client got another number of bytes.
 *
 * @since 0.1.0
 * @category transitions
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
 *
 * @since 0.1.0
 * @category transitions
 */
export const failed = (state: Sending | Asking): Asking => ({ ...state, _tag: "Asking", failures: state.failures + 1 })

/**
 * The final error of an upload that is abandoned because of `error`. If `state.only` is set, the stored bytes may be
 * wrong, and the final error is `UploadUntrusted`, so that no later run continues the upload. If `state.only` is not
 * set, the final error is `error`.
 *
 * @since 0.1.0
 * @category transitions
 */
export const abandoned = <E extends { readonly _tag: string; readonly message: string }>(
  state: Sending | Asking,
  error: E,
  size: bigint | undefined
): E | TusError.UploadUntrusted =>
  state._tag === "Asking" && state.only !== undefined && error._tag !== "UploadUntrusted"
    ? untrusted(
        state,
        size,
        `upload-offset did not match the sent bytes, and then ${happened(error)}`,
        // The server reported another length or other metadata, so it may treat the upload as complete, however many
        // bytes it has stored.
        error._tag === "UploadMismatch" ? lengthOf(state, size) : undefined
      )
    : error
