/**
 * The state of one upload after its creation, and every step from one state to the next. All of it is pure: what the
 * network and the source do is told to it.
 */
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TusError from "./TusError.ts"

/**
 * - `acknowledged`: how many bytes the server said it has stored, the last time it was asked.
 * - `reached`: the most it ever said; only beyond it is there progress, whatever a server says in between.
 * - `length`: what the server was told of the length; absent while it is deferred.
 * - `failures`: how many requests failed since there was progress.
 */
const progress = {
  acknowledged: TusUpload.Offset,
  reached: TusUpload.Offset,
  length: Schema.optionalKey(TusUpload.UploadLength),
  failures: Schema.Int
}

/**
 * Where an upload stands. It has a JSON form (`Schema.toCodecJson`), so that a durable workflow can keep it.
 *
 * - `Sending`: the server stands at `acknowledged`, the bytes from there are next.
 * - `Asking`: where the server stands is not known; it is asked next. `told` is what it said last, where that was not
 *   enough to go by.
 * - `Done`: every byte is stored.
 */
export const Transfer = Schema.TaggedUnion({
  Sending: progress,
  Asking: { ...progress, told: Schema.optionalKey(TusUpload.Offset) },
  Done: { length: TusUpload.UploadLength }
})
export type Transfer = typeof Transfer.Type
export type Sending = Extract<Transfer, { _tag: "Sending" }>
export type Asking = Extract<Transfer, { _tag: "Asking" }>

/** The step that comes next, as a key that a replay finds again. */
export const stepKey = (state: Transfer): string => {
  switch (state._tag) {
    case "Sending":
      return `append@${state.acknowledged}#${state.failures}`
    case "Asking":
      return `offset@${state.acknowledged}#${state.failures}${state.told === undefined ? "" : `?${state.told}`}`
    case "Done":
      return "done"
  }
}

const standing = (state: Omit<Sending, "_tag">): Transfer =>
  state.length !== undefined && state.acknowledged === state.length
    ? { _tag: "Done", length: state.length }
    : { ...state, _tag: "Sending" }

const withLength = (length: bigint | undefined) => (length === undefined ? undefined : { length })

/**
 * After the creation, which brought every byte along or none. Where the server told nothing, or an offset in between,
 * it is asked.
 */
export const created = (found: {
  readonly offset: bigint | undefined
  readonly length: bigint | undefined
}): Transfer => {
  const { length, offset } = found
  if (offset !== 0n && (offset === undefined || offset !== length)) return reopened(length)
  return standing({ acknowledged: offset, reached: offset, failures: 0, ...withLength(length) })
}

/** An upload of an earlier time: where it stands has to be asked. */
export const reopened = (length: bigint | undefined): Asking => ({
  _tag: "Asking",
  acknowledged: 0n,
  reached: 0n,
  failures: 0,
  ...withLength(length)
})

const moveTo = (state: Sending | Asking, offset: bigint, length: bigint | undefined): Transfer =>
  standing({
    acknowledged: offset,
    reached: offset > state.reached ? offset : state.reached,
    failures: offset > state.reached ? 0 : state.failures,
    ...withLength(length)
  })

/**
 * The server answered a PATCH. The offset it may tell is the one after the last byte; with another one it has taken
 * less, or counts otherwise, and is asked again.
 */
export const appended = (
  state: Sending,
  answer: { readonly offset: bigint; readonly end: bigint; readonly length: bigint | undefined }
): Result.Result<Transfer, TusError.ProtocolViolation> =>
  answer.offset === answer.end
    ? Result.succeed(moveTo(state, answer.offset, answer.length ?? state.length))
    : Result.fail(
        new TusError.ProtocolViolation({
          request: "append",
          status: 204,
          problem: `upload-offset ${answer.offset} after bytes up to ${answer.end} were sent`
        })
      )

/** What the server tells about an upload. */
export interface Found {
  readonly offset: bigint
  readonly length?: bigint | undefined
}

/** What an answer is held against: the size of the source, where known, and whether its bytes can be read again. */
export interface Expected {
  readonly size: bigint | undefined
  readonly replayable: boolean
}

/** An answer that one more may refute: `state` asks again. */
export interface Doubt {
  readonly _tag: "Doubt"
  readonly state: Asking
  readonly error: TusError.UploadMismatch
}

const mismatch = (field: "upload-length" | "upload-offset", expected: string, found: bigint) =>
  new TusError.UploadMismatch({ field, expected, found: `${found}` })

/**
 * The server told where it stands.
 *
 * Another length is another upload. An offset beyond the end is one too, when it was told twice: an answer may be wrong
 * once. One before the end is believed, too low or too high: a PATCH there is a conflict, and nothing is lost as long as
 * the source has the bytes. What would lose bytes if it were wrong has to be told twice: the offset at the end, which
 * finishes the upload, and any offset where the source comes once.
 */
export const located = (
  state: Asking,
  found: Found,
  { replayable, size }: Expected
): Result.Result<Transfer, TusError.UploadMismatch | Doubt> => {
  const { offset } = found
  if (found.length !== undefined && size !== undefined && found.length !== size) {
    return Result.fail(mismatch("upload-length", `${size}`, found.length))
  }
  const length = found.length ?? state.length
  const end = length ?? size
  const isWithin = end === undefined || offset <= end
  const isHarmless = replayable && offset !== end
  if (isWithin && (isHarmless || offset === state.told)) return Result.succeed(moveTo(state, offset, length))

  const again: Asking = { ...state, told: offset }
  if (isWithin && state.told === undefined) return Result.succeed(again)
  const error = mismatch("upload-offset", isWithin ? `${state.told}, as told before` : `0 to ${end}`, offset)
  return Result.fail(offset === state.told ? error : { _tag: "Doubt", state: again, error })
}

/** A request failed in a way that can heal: the server is asked next, unless the budget is used up. */
export const failed = (state: Sending | Asking, maxRetries: number): Option.Option<Asking> =>
  state.failures >= maxRetries ? Option.none() : Option.some({ ...state, _tag: "Asking", failures: state.failures + 1 })
