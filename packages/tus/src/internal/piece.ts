/**
 * Runs one upload URL, which contains the whole source or a part of it: creates the upload once, and sends its bytes
 * with a sequence of requests. The state after a request determines the next request.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as Append from "./append.ts"
import * as BodySize from "./bodySize.ts"
import type * as Context from "./context.ts"
import * as Creation from "./creation.ts"
import type { Pool } from "./filePieces.ts"
import { hostOf } from "./host.ts"
import * as Outgoing from "./outgoing.ts"
import * as Policy from "./policy.ts"
import * as Receipts from "./receipts.ts"
import { wholeOf, type SourceFailed } from "./source.ts"
import * as Transfer from "./transfer.ts"
import * as PieceMemory from "../unstable/PieceMemory.ts"
import * as UploadState from "./uploadState.ts"
import { inTime } from "./exchange.ts"

/**
 * The context of one upload URL. `emit` gets the events of the piece.
 *
 * - `outgoing`: the bytes of the piece.
 * - `place`: changes the piece in the state of the upload.
 * - `isPart`: whether the piece becomes a part of a later final upload.
 */
export interface Piece<E> extends Context.Upload<E> {
  readonly outgoing: Outgoing.Outgoing
  readonly place: UploadState.Place
  readonly isPart: boolean
}

/** The maximum size in bytes of a source that is sent with the creation, which saves a round trip. */
const smallSize = 256n * 1024n

/**
 * The bytes that are sent with the creation: all bytes of a small source. Undefined if the source is empty, of unknown
 * size, or larger than `smallSize` or `chunkSize`.
 */
const smallBody = <E>({ chunkSize, isPart, outgoing, policy, sendsAlong, source, target }: Piece<E>) => {
  const { size } = outgoing
  if (size === undefined || size === 0n || size > smallSize || isPart || !sendsAlong) return Effect.undefined
  if (chunkSize !== undefined && size > BigInt(chunkSize)) return Effect.undefined
  const whole = source._tag === "Replayable" ? wholeOf(source) : undefined
  if (whole !== undefined) return whole
  const { stallTimeout: after } = policy
  return Effect.flatMap(
    outgoing.from(0n, (left) => left),
    ({ bytes }) =>
      "stream" in bytes
        ? Effect.timeoutOrElse(Outgoing.collect(bytes.stream, bytes.length), {
            duration: after,
            orElse: () => Effect.fail(new TusError.Stalled({ request: "create", host: hostOf(target.tusUrl), after }))
          })
        : Effect.succeed(bytes)
  )
}

/** Creates the upload, and stores its URL. */
const create = <E>(piece: Piece<E>, marker: string) => {
  const { emit, isPart, outgoing, place, source } = piece
  const { size } = outgoing
  const begun = Effect.flatMap(smallBody(piece), (body) => {
    const sent = BigInt(body?.length ?? 0)
    const toState = ({ finished, offset, url }: Creation.Created): UploadState.Created => ({
      _tag: "Created",
      marker,
      url,
      transfer:
        // The receipt counts only if the creation contained all bytes, because otherwise the upload cannot be complete.
        finished && sent === size ? { _tag: "Done", length: size } : Transfer.created({ offset, length: size, sent })
    })
    const created = Creation.create(piece, {
      size,
      body,
      isPart,
      marker,
      ledger: {
        sending: place({ _tag: "Creating", marker }),
        refused: place({ _tag: "Planned" }),
        created: (found) => place(toState(found))
      }
    })
    return Effect.map(created, (found) => {
      if (!isPart) emit(UploadEvent.Created({ url: found.url, length: size }))
      return toState(found)
    })
  })
  // No request asks an empty source for bytes, so this read shows whether the source is still empty.
  return size === 0n && source._tag === "Replayable" ? Effect.andThen(Outgoing.readWhole(source), begun) : begun
}

/**
 * Finds the upload of a creation that an earlier run may have sent. The receipt of a part does not show that the part is
 * complete, so the offset is requested from the server.
 */
const recover = <E>(piece: Piece<E>, marker: string) =>
  Effect.gen(function* () {
    const { isPart, outgoing } = piece
    const { size } = outgoing
    const { finished, url } = yield* Creation.recover(piece, { marker, size }, Creation.ended)
    const done = finished && size !== undefined && !isPart ? { transfer: { _tag: "Done", length: size } as const } : {}
    const created: UploadState.Created = { _tag: "Created", marker, url, ...done }
    yield* piece.store.update(piece.place(created))
    return created
  })

/**
 * Creates the upload of a piece. If the creation may have been sent, no second creation is sent: the upload is searched
 * for in the receipts by its marker. If the receipts do not show the upload, the error is `CreationUnknown`. The same
 * rule applies to a part. A part without a final upload is not an input of the Assembly, but only the service knows
 * whether the part has other effects.
 */
export const begin = <E>(
  piece: Piece<E>,
  state: UploadState.Piece
): Effect.Effect<UploadState.Created, Creation.CreationError | SourceFailed | E, HttpClient.HttpClient> => {
  switch (state._tag) {
    case "Planned":
      return Effect.flatMap(Creation.newMarker, (marker) => create(piece, marker))
    case "Creating":
      return recover(piece, state.marker)
    case "Created":
      return Effect.succeed(state)
  }
}

/** A piece at its URL. `isOwn` is false if an earlier run created the upload. */
interface Sending<E> extends Piece<E> {
  readonly url: UploadUrl
  readonly marker: string
  readonly isOwn: boolean
  readonly pool: Pool | undefined
  readonly bodies: BodySize.BodySize
  readonly pauseAfter: Policy.Retry
}

type Moving = Transfer.Sending | Transfer.Asking

/** A failed step: the state after the step, its error, and the size of the sent body in bytes. */
interface Failed {
  readonly state: Moving
  readonly error: Policy.RequestError
  readonly bytes?: bigint
}

type Step<State extends Moving> = <E>(
  piece: Sending<E>,
  state: State
) => Effect.Effect<Transfer.Transfer, Failed, HttpClient.HttpClient>

const failedAt =
  (state: Moving) =>
  (error: Policy.RequestError): Failed => ({ state, error })

/** Sends the next body. */
const send: Step<Transfer.Sending> = (piece, state) =>
  Effect.gen(function* () {
    const { bodies, emit, outgoing, policy, pool, seal, url } = piece
    const sealed = outgoing.from(state.acknowledged, (left) => bodies.next(left)).pipe(Effect.flatMap(seal))
    const { body, checksum } = yield* Effect.mapError(sealed, failedAt(state))
    const { end, start, total } = body
    const isLast = total === end
    // The length is declared with the last bytes, unless the server already knows the length.
    const declare = isLast && state.length === undefined ? total : undefined
    if (start === end && declare === undefined) {
      // The server knows another length. A PATCH with neither bytes nor a length would be repeated forever.
      const found = state.length === undefined ? "none" : `${state.length}`
      const error = new TusError.UploadMismatch({ field: "upload-length", expected: `${end}`, found })
      return yield* Effect.fail(failedAt(state)(error))
    }
    const progress = (sent: bigint, acknowledged: bigint) =>
      emit(UploadEvent.Progress({ sent, acknowledged, total: total ?? outgoing.size }))
    let finishing = false
    const begun = yield* Clock.currentTimeMillis
    const { answer, handed } = yield* Append.append({
      url,
      body,
      declare,
      checksum,
      policy,
      pool,
      onSent: (count, all) => {
        progress(start + count, start)
        if (all && isLast && !finishing && total !== undefined) {
          finishing = true
          emit(UploadEvent.Finishing({ total }))
        }
      }
    })
    const after = Transfer.handedOver(state, { handed, declared: declare })
    const fail = (error: Policy.RequestError) => Effect.fail<Failed>({ state: after, error, bytes: end - start })
    if (Result.isFailure(answer)) {
      const error = answer.failure
      if (error._tag === "TransportFailure" && error.sent === "maybe") bodies.cut(start, end)
      if (error._tag === "Stalled") bodies.stalled()
      return yield* fail(error)
    }
    const { declaresLength, offset } = answer.success
    const told = Transfer.appended(after, { offset, handed, declaresLength, length: declare, size: outgoing.size })
    if (Result.isFailure(told)) return yield* fail(told.failure)
    if (offset <= start && end > start) {
      const description = `upload-offset is ${offset}, so no byte was stored`
      return yield* fail(
        new TusError.ProtocolViolation({ request: "append", host: hostOf(url), status: 204, description })
      )
    }
    if (offset === end) bodies.passed(end - start, (yield* Clock.currentTimeMillis) - begun)
    progress(offset, offset)
    return told.success
  })

/**
 * The entries of a header `upload-metadata`, each with the canonical Base64 of its value. A missing value is the empty
 * text, because some servers do not distinguish a key without a value from a key with an empty value.
 */
const entriesOf = (header: string): ReadonlyArray<readonly [key: string, value: string | undefined]> =>
  header.split(",").map((entry) => {
    const [key = "", ...value] = entry.trim().split(" ")
    return [key, Result.getOrUndefined(Result.map(Base64.decode(value.join(" ")), Base64.encode))]
  })

/**
 * Checks an upload that an earlier run created. If the server reports metadata, it must contain the entries of the
 * creation before more bytes are sent. Entries that others have added are ignored. `assembly_url` is not compared,
 * because the creation sets its value from the target. The error names the key that differs, without its values.
 */
const verifyMetadata = <E>({ marker, metadataHeader }: Sending<E>, found: string) => {
  const told = entriesOf(found)
  const sent = entriesOf(metadataHeader + (marker === "" ? "" : `,${Receipts.markerKey} ${Base64.encode(marker)}`))
  const differing = sent.find(([key, value]) => {
    const same = told.filter(([name]) => name === key)
    return same.length !== 1 || same[0]?.[1] !== value
  })
  if (differing === undefined) return Effect.void
  const expected = `the ${differing[0]} of the creation`
  return Effect.fail(new TusError.UploadMismatch({ field: "upload-metadata", expected, found: "another" }))
}

/** Requests the offset of the upload from the server. */
const ask: Step<Transfer.Asking> = (piece, state) =>
  Effect.gen(function* () {
    const { emit, isOwn, outgoing, policy, url } = piece
    const found = yield* inTime(policy.stallTimeout, Tus.offset(url))
    if (!isOwn && found.metadata !== undefined) yield* verifyMetadata(piece, found.metadata)
    const next = yield* Effect.fromResult(Transfer.located(state, found, outgoing))
    if (next._tag !== "Asking") emit(UploadEvent.Resumed({ offset: found.offset }))
    return next
  }).pipe(Effect.mapError(failedAt(state)))

/**
 * Decides what follows the response 404 or 410. Fails unless a receipt shows that the upload is complete, and this
 * program does not know that it sent another number of bytes.
 */
const settleGone = <E>(piece: Sending<E>, state: Moving, error: TusError.UploadGone) =>
  Effect.gen(function* () {
    const length = Transfer.lengthOf(state, piece.outgoing.size)
    return length !== undefined && (yield* Receipts.isFinished(piece, piece.url, length))
      ? yield* Effect.fromResult(Transfer.receipted(state, length))
      : yield* error
  })

/**
 * Continues with smaller bodies after the status 413, which a proxy in front of the service sends for a large body.
 * Fails if the whole upload is larger than the server permits, or if the smallest body was refused too.
 */
const shrink = <E>(
  { bodies, emit, outgoing, policy, target }: Sending<E>,
  state: Moving,
  error: TusError.TooLarge,
  bytes: bigint
) =>
  Effect.gen(function* () {
    const capabilities = bodies.tried.length > 0 ? Effect.undefined : inTime(policy.stallTimeout, Tus.discover(target))
    const maxSize = (yield* Effect.orElseSucceed(capabilities, () => undefined))?.maxSize
    const isWithin = maxSize === undefined || (outgoing.size ?? state.acknowledged + bytes) <= maxSize
    if (!isWithin || !bodies.refused(bytes)) {
      return yield* new TusError.TooLarge({
        ...error,
        ...(maxSize === undefined ? undefined : { maxSize }),
        ...(isWithin ? { tried: bodies.tried } : undefined)
      })
    }
    emit(UploadEvent.Retrying({ attempt: state.failures + 1, delay: Duration.zero, reason: error.message }))
    return Transfer.failed(state)
  })

/** Decides what follows a failed step: another step, the completion of the upload, or an error. */
const heal = <E>(
  piece: Sending<E>,
  { bytes, error, state }: Failed
): Effect.Effect<Transfer.Transfer, Policy.RequestError, HttpClient.HttpClient> => {
  if (error._tag === "UploadGone") return settleGone(piece, state, error)
  if (error._tag === "TooLarge" && bytes !== undefined) return shrink(piece, state, error, bytes)
  const next = Transfer.failed(state)
  return Effect.as(piece.pauseAfter(next.failures, error), next)
}

/** Performs all steps. Returns the length of the finished upload. */
const toEnd = <E>(piece: Sending<E>, begun: Transfer.Transfer) =>
  Effect.gen(function* () {
    let state = begun
    while (state._tag !== "Done") {
      const step: Effect.Effect<Transfer.Transfer, Failed, HttpClient.HttpClient> =
        state._tag === "Sending" ? send(piece, state) : ask(piece, state)
      state = yield* step.pipe(Effect.catch((failed) => heal(piece, failed)))
    }
    return state.length
  })

/**
 * Adds the host to an `UploadUntrusted` or `UploadMismatch`, because the function that made the error does not know the
 * host. For an untrusted part, `mayBeWhole` is false, because an untrusted part is never concatenated into a file.
 */
const toOwn =
  <E>({ isPart, url }: Sending<E>) =>
  (error: Policy.RequestError): Policy.RequestError => {
    const host = hostOf(url)
    if (error._tag === "UploadMismatch") return new TusError.UploadMismatch({ ...error, host })
    return error._tag === "UploadUntrusted"
      ? new TusError.UploadUntrusted({ ...error, host, mayBeWhole: error.mayBeWhole && !isPart })
      : error
  }

/** Sends the bytes of a piece that the server does not have, and returns the length of the piece. */
export const finish = <E>(
  piece: Piece<E>,
  { marker, transfer, url }: UploadState.Created
): Effect.Effect<bigint, Policy.RequestError | E, HttpClient.HttpClient> => {
  if (transfer?._tag === "Done") return Effect.succeed(transfer.length)
  return Effect.gen(function* () {
    const { emit, outgoing, policy, store } = piece
    const sending: Sending<E> = {
      ...piece,
      url,
      marker,
      isOwn: transfer !== undefined,
      pool: PieceMemory.poolOf(yield* HttpClient.HttpClient),
      bodies: yield* BodySize.make(Redacted.value(url), piece),
      pauseAfter: Policy.retrying(policy, emit)
    }
    // An HTTP client that has just read a response may need one turn of the event loop before it can use the connection
    // again. Without this turn, the first PATCH would open another connection.
    yield* Effect.yieldNow
    return yield* toEnd(sending, transfer ?? Transfer.reopened(outgoing.size)).pipe(
      Effect.mapError(toOwn(sending)),
      Effect.tapError((error): Effect.Effect<void, E> =>
        error._tag === "UploadUntrusted"
          ? Effect.uninterruptible(store.update(UploadState.untrusted(error)))
          : Effect.void
      )
    )
  })
}
