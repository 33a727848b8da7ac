/**
 * Where the bytes of an upload stand, from its creation to its last byte. It is a part of `UploadState`. All of it is
 * pure: its functions get what the network and the source did, and answer the next state.
 */
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { happened } from "./internal/errorText.ts"
import * as TusError from "./TusError.ts"

/**
 * - `acknowledged`: how many bytes the server said it has stored, the last time it was asked.
 * - `reached`: the most it ever said; only beyond it is there progress, whatever a server says in between.
 * - `handed`: the end of all bytes that were ever handed to the HTTP client; a server cannot have more. Absent where an
 *   earlier process may have sent some.
 * - `length`: what the server was told of the length; absent while it is deferred.
 * - `declared`: a length that was declared, and perhaps not heard.
 * - `failures`: how many requests failed since there was progress.
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
 * Where the bytes of an upload stand. It has a JSON form (`Schema.toCodecJson`).
 *
 * - `Sending`: the server stands at `acknowledged`. The bytes from there are sent next.
 * - `Asking`: where the server stands is not known. It is asked next. `told` is the offset that it told last, where that
 *   has to be told twice. `only` are the offsets that are valid after the server took a request and counted other bytes
 *   than were sent: with any other offset its bytes are not ours. `counted` is the offset that it told then, if any.
 * - `Done`: every byte is stored.
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
 * The state in which the server is at `acknowledged`, and the bytes from there are sent next.
 *
 * @since 0.1.0
 * @category models
 */
export type Sending = Extract<Transfer, { _tag: "Sending" }>
/**
 * The state in which the server is asked next how far it is.
 *
 * @since 0.1.0
 * @category models
 */
export type Asking = Extract<Transfer, { _tag: "Asking" }>

/**
 * A key of the next step. It is the same when the step is replayed.
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
 * After the creation of this run, which brought every byte along (`sent`) or none. Where the server told nothing, or
 * another offset, it is asked. What it answered with a 201 counts as after a PATCH: it has all bytes, or took none.
 *
 * @since 0.1.0
 * @category transitions
 */
export const created = (found: {
  readonly offset: bigint | undefined
  readonly length: bigint | undefined
  readonly sent: bigint
  /** Whether the server answered. Else the upload was found by its receipt, and may have any first part of the bytes. */
  readonly answered: boolean
}): Transfer => {
  const { answered, length, offset, sent } = found
  const begun = beginning(length, sent)
  if (offset === sent) return standing({ ...begun, acknowledged: sent, reached: sent })
  if (sent === 0n || !answered) return { ...begun, _tag: "Asking" }
  const only = offset === undefined || offset === 0n ? [0n, sent] : [sent]
  return { ...begun, _tag: "Asking", only, ...withCounted(offset) }
}

/**
 * An upload of an earlier process: the server has to be asked where it stands.
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
 * A request was sent: its bytes up to `handed` were given to the HTTP client, and perhaps a length declared.
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
 * The server took a PATCH of bytes up to `sent`, and `counted` others, or did not say how many. It is asked once more;
 * if it stands anywhere else, something in between dropped, repeated or changed bytes.
 *
 * @since 0.1.0
 * @category transitions
 */
export const miscounted = (state: Sending, sent: bigint, counted?: bigint): Asking => ({
  ...state,
  _tag: "Asking",
  only: [sent],
  ...withCounted(counted)
})

/**
 * An answer that the next one may refute. `state` asks again; `error` is the error if it does not.
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
 * The server answered a PATCH of the bytes up to `end`, of which those up to `handed` were given to the HTTP client. The
 * only offset it may tell is the end of both.
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
      problem: `upload-offset ${offset} after bytes up to ${handed} were sent`
    })
  })
}

/**
 * What the server tells about an upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
  readonly offset: bigint
  readonly length?: bigint | undefined
}

/**
 * What an answer is compared with: the size of the source, where known, and whether its bytes can be read again.
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
 * The length that the server can know: that of the source, or one that was declared.
 *
 * @since 0.1.0
 * @category transitions
 */
export const lengthOf = (state: Sending | Asking, size: bigint | undefined): bigint | undefined =>
  size ?? state.length ?? state.declared

/**
 * The upload is not to be gone on with: the server has, or may have, other bytes than ours. Whether it may have them all
 * is said by where it told that it stands: at `told` now, and at what it counted before. Where it is not heard now, what
 * it was given says so. A server that does not know the length has no whole upload.
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
  return new TusError.UploadUntrusted({ problem, mayBeWhole })
}

/**
 * The server told where it stands.
 *
 * Another length is another upload, and so is a length that nobody declared. An offset beyond the end is one too, when
 * it was told twice: an answer may be wrong once. One beyond all that was handed over, told twice, is `UploadUntrusted`:
 * its bytes are not ours. One before the end is believed, too low or too high: a PATCH there is a conflict, and nothing
 * is lost as long as the source has the bytes. What would lose bytes if it were wrong has to be told twice: the offset
 * at the end, which finishes the upload, and any offset where the source comes once.
 *
 * After an answer that counted other bytes than were sent, nothing but their end is believed.
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
    const problem = `it stands at ${offset}, after bytes up to ${state.only.at(-1)} were sent`
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
    ? mismatch("upload-offset", isWithin ? `${state.told}, as told before` : `0 to ${end}`, offset)
    : untrusted(state, size, `it stands at ${offset}, and no more than ${state.handed} bytes were sent`, offset)
  return Result.fail(offset === state.told ? error : { _tag: "Doubt", state: again, error })
}

/**
 * The receipt of the upload says that it is finished, with so many bytes.
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
          problem: `it is told to be whole with ${length} bytes, after ${sent} were sent`,
          mayBeWhole: true
        })
      )
}

/**
 * A request failed in a way that can heal: the server is asked next, if the policy allows so many `failures`.
 *
 * @since 0.1.0
 * @category transitions
 */
export const failed = (state: Sending | Asking): Asking => ({ ...state, _tag: "Asking", failures: state.failures + 1 })

/**
 * What an upload fails with that is not gone on with. Where the server counted other bytes than were sent, and nothing
 * has refuted that, a later run must not go on with it either.
 *
 * @since 0.1.0
 * @category transitions
 */
export const abandoned = <E extends { readonly _tag: string; readonly message: string }>(
  state: Sending | Asking,
  error: E,
  size: bigint | undefined
): E | TusError.UploadUntrusted =>
  state._tag === "Asking" && state.only !== undefined && !(error instanceof TusError.UploadUntrusted)
    ? untrusted(
        state,
        size,
        `it counted other bytes than were sent, and then ${happened(error)}`,
        // By another length it may be whole, whatever it was given.
        error instanceof TusError.UploadMismatch ? lengthOf(state, size) : undefined
      )
    : error
