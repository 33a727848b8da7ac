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
 * - `Asking`: where the server stands is not known; it is asked next.
 * - `Done`: every byte is stored.
 */
export const Transfer = Schema.TaggedUnion({
  Sending: progress,
  Asking: progress,
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
      return `offset@${state.acknowledged}#${state.failures}`
    case "Done":
      return "done"
  }
}

const standing = (state: Omit<Sending, "_tag">): Transfer =>
  state.length !== undefined && state.acknowledged === state.length
    ? { _tag: "Done", length: state.length }
    : { ...state, _tag: "Sending" }

const withLength = (length: bigint | undefined) => (length === undefined ? undefined : { length })

/** After the creation: the server told an offset, or nothing, and is asked then. */
export const created = (found: {
  readonly offset: bigint | undefined
  readonly length: bigint | undefined
}): Transfer => {
  const state = {
    acknowledged: found.offset ?? 0n,
    reached: found.offset ?? 0n,
    failures: 0,
    ...withLength(found.length)
  }
  return found.offset === undefined ? { ...state, _tag: "Asking" } : standing(state)
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

/**
 * The server told where it stands. Another length, or an offset beyond the end, is another upload. An offset before the
 * acknowledged one is believed: nothing is lost as long as the source has the bytes.
 */
export const located = (
  state: Asking,
  found: { readonly offset: bigint; readonly length?: bigint | undefined },
  size: bigint | undefined
): Result.Result<Transfer, TusError.UploadMismatch> => {
  if (found.length !== undefined && size !== undefined && found.length !== size) {
    return Result.fail(
      new TusError.UploadMismatch({ field: "upload-length", expected: `${size}`, found: `${found.length}` })
    )
  }
  const length = found.length ?? state.length
  const end = length ?? size
  if (end !== undefined && found.offset > end) {
    return Result.fail(
      new TusError.UploadMismatch({ field: "upload-offset", expected: `0 to ${end}`, found: `${found.offset}` })
    )
  }
  return Result.succeed(moveTo(state, found.offset, length))
}

/** A request failed in a way that can heal: the server is asked next, unless the budget is used up. */
export const failed = (state: Sending | Asking, maxRetries: number): Option.Option<Asking> =>
  state.failures >= maxRetries ? Option.none() : Option.some({ ...state, _tag: "Asking", failures: state.failures + 1 })
