/**
 * Runs one upload URL, which contains the whole source or a part of it: creates the upload once, and sends its bytes
 * with a sequence of requests. The state after a request determines the next request.
 */
import * as Unique from "@assembly-effect/auth/unstable/Unique"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as HttpClient from "effect/http/HttpClient"
import * as Pull from "effect/Pull"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as BodySize from "./bodySize.ts"
import * as Context from "./context.ts"
import * as Creation from "./creation.ts"
import type { Pool } from "./filePieces.ts"
import * as Outgoing from "./outgoing.ts"
import { wholeOf, type SourceFailed } from "./source.ts"
import { Transfer } from "./transfer.ts"
import * as PieceMemory from "../unstable/PieceMemory.ts"
import * as UploadState from "./uploadState.ts"
import { type Body, hostOf, inTime, sendAppend } from "./requests.ts"

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
const smallBody = <E>({ checksum, chunkSize, isPart, outgoing, policy, source, target }: Piece<E>) => {
  const { size } = outgoing
  // No request asks an empty source for bytes, so this read shows whether the source is still empty.
  if (size === 0n && source._tag === "Replayable") return Effect.as(Outgoing.readWhole(source), undefined)
  if (size === undefined || size === 0n || size > smallSize || isPart) return Effect.undefined
  // The creation has no checksum.
  if (checksum !== undefined || (chunkSize !== undefined && size > BigInt(chunkSize))) return Effect.undefined
  const whole = source._tag === "Replayable" ? wholeOf(source) : undefined
  if (whole !== undefined) return whole
  const { stallTimeout: after } = policy
  return Effect.flatMap(
    outgoing.from(0n, (left) => left),
    ({ bytes }) =>
      Effect.timeoutOrElse(Outgoing.inMemory(bytes), {
        duration: after,
        orElse: () => Effect.fail(new TusError.Stalled({ request: "create", host: hostOf(target.tusUrl), after }))
      })
  )
}

/** Creates the upload, and stores its URL. */
const create = Effect.fnUntraced(function* <E>(piece: Piece<E>) {
  const { emit, isPart, outgoing, place } = piece
  const { size } = outgoing
  const body = yield* smallBody(piece)
  const marker = yield* Unique.text
  const sent = BigInt(body?.length ?? 0)
  const toState = ({ finished, offset, url }: Creation.Created): UploadState.Of<"Created"> => ({
    _tag: "Created",
    marker,
    url,
    // The receipt counts only if the creation contained all bytes, because otherwise the upload cannot be complete.
    begun: { sent, offset: finished && sent === size ? size : offset }
  })
  const found = yield* Creation.once(piece, {
    size,
    body,
    isPart,
    marker,
    sending: place({ _tag: "Creating", marker }),
    refused: place({ _tag: "Planned" }),
    created: (made) => place(toState(made))
  })
  if (!isPart) emit(UploadEvent.Created({ url: found.url, length: size }))
  return toState(found)
})

/**
 * Finds the upload of a creation that an earlier run may have sent. The receipt of a part does not show that the part is
 * complete, so the offset is requested from the server.
 */
const recover = Effect.fnUntraced(function* <E>(piece: Piece<E>, marker: string) {
  const { isPart, outgoing, place, store } = piece
  const { size } = outgoing
  const { finished, url } = yield* Creation.recover(piece, { marker, size })
  const begun = finished && size !== undefined && !isPart ? { begun: { sent: size, offset: size } } : undefined
  const created: UploadState.Of<"Created"> = { _tag: "Created", marker, url, ...begun }
  yield* store.update(place(created))
  return created
})

/**
 * Creates the upload of a piece. If the creation may have been sent, no second creation is sent: the upload is searched
 * for in the receipts by its marker. If the receipts do not show the upload, the error is `CreationUnknown`. The same
 * rule applies to a part. A part without a final upload is not an input of the Assembly, but only the service knows
 * whether the part has other effects.
 */
export const begin = Effect.fnUntraced(function* <E>(piece: Piece<E>, state: UploadState.Piece) {
  if (state._tag === "Created") return state
  return yield* state._tag === "Creating" ? recover(piece, state.marker) : create(piece)
})

/** A piece at its URL. `isOwn` is false if an earlier run created the upload. */
interface Sending<E> extends Piece<E> {
  readonly url: UploadUrl
  readonly marker: string
  readonly isOwn: boolean
  readonly transfer: Transfer
  readonly pool: Pool | undefined
  readonly bodies: BodySize.BodySize
  readonly pauseAfter: ReturnType<typeof Context.retrying>
}

/**
 * Sends one body. Returns the result of the request, see `sendAppend`, and the offset up to which bytes were given to the
 * HTTP client (`handed`). `onSent` is called with the number of sent bytes, and with whether the whole body was sent. If
 * the platform sends the body as a whole, its progress is unknown, and `onSent` is not called. A source that dies or is
 * interrupted ends the upload, because only a failure of the network can be retried.
 */
const append = <E>(
  { policy, pool, url }: Sending<E>,
  body: Outgoing.Body,
  declare: bigint | undefined,
  onSent: (count: number, isAll: boolean) => void
) =>
  Effect.gen(function* () {
    const { bytes, checksum, end, start, total } = body
    const request = (sent: Body<SourceFailed>, limits: Parameters<typeof sendAppend>[2]) =>
      sendAppend(url, { offset: start, body: sent, length: declare, checksum }, limits)

    if (!("stream" in bytes)) {
      // The platform does not report when the last byte is sent, and the server stores the upload after the last byte.
      const limit = end === total ? Duration.sum(policy.stallTimeout, policy.finishTimeout) : policy.stallTimeout
      return { handed: end, answer: yield* Effect.result(request(bytes, { limit })) }
    }

    const lent = pool?.lend(bytes.stream)
    const moving = yield* Outgoing.moving(lent?.body ?? bytes.stream, onSent, (isAll) =>
      // After the last byte the server may take longer, because it stores the file. A limit that is too short would cause
      // a second request while the server still processes the first request.
      Duration.toMillis(isAll ? policy.finishTimeout : policy.stallTimeout)
    )
    /** Fails with the cause that ended the body. HTTP clients report a failing body as a broken connection. */
    const failed = Deferred.makeUnsafe<never, SourceFailed>()
    // `tapCause` runs if the source itself is interrupted, but not if the reader of the stream is interrupted.
    const stream = Stream.transformPull(moving.stream, (pull) =>
      Effect.succeed(
        Effect.tapCause(pull, (cause) =>
          Pull.isDoneCause(cause) ? Effect.void : Deferred.failCause(failed, cause as Cause.Cause<SourceFailed>)
        )
      )
    )

    const stalled = Effect.flatMap(moving.late, (millis) =>
      Effect.fail(new TusError.Stalled({ request: "append", host: hostOf(url), after: Duration.millis(millis) }))
    )
    const answer = yield* request({ length: bytes.length, stream }, { stalled }).pipe(
      // Without this race, the HTTP client would report a broken connection instead of the error of the source.
      Effect.raceFirst(Deferred.await(failed)),
      Effect.catch((error): Effect.Effect<never, Context.RequestError> =>
        Deferred.isDoneUnsafe(failed) ? Deferred.await(failed) : Effect.fail(error)
      ),
      Effect.result
    )
    const handed = start + BigInt(moving.sent())
    if (Result.isSuccess(answer) && answer.success.offset === end && handed === end) lent?.keep()
    return { handed, answer }
  })

/** Sends the next body, and changes the transfer by the response. */
const send = Effect.fnUntraced(function* <E>(piece: Sending<E>) {
  const { bodies, checksum, emit, outgoing, streams, transfer, url } = piece
  const next = yield* outgoing.from(transfer.acknowledged, (left) => bodies.next(left))
  const body = streams && checksum === undefined ? next : yield* Context.sealed(next, piece)
  const { end, start, total } = body
  const host = hostOf(url)
  const isLast = total === end
  // The length is declared with the last bytes, unless the server already knows the length.
  const declare = isLast && transfer.length === undefined ? total : undefined
  if (start === end && declare === undefined) {
    // The server knows another length. A PATCH with neither bytes nor a length would be repeated forever.
    const found = `${transfer.length ?? "none"}`
    return yield* new TusError.UploadMismatch({ host, field: "upload-length", expected: `${end}`, found })
  }
  const progress = (sent: bigint, acknowledged: bigint) =>
    emit(UploadEvent.Progress({ sent, acknowledged, total: total ?? outgoing.size }))
  const began = yield* Clock.currentTimeMillis
  const { answer, handed } = yield* append(piece, body, declare, (count, isAll) => {
    progress(start + BigInt(count), start)
    if (isAll && isLast && total !== undefined) emit(UploadEvent.Finishing({ total }))
  })
  transfer.handedOver(handed, declare)
  if (Result.isFailure(answer)) {
    const error = answer.failure
    if (error._tag === "TooLarge") return yield* shrink(piece, error, end - start)
    if (error._tag === "TransportFailure" && error.sent === "maybe") bodies.cut(start, end)
    if (error._tag === "Stalled") bodies.stalled()
    return yield* Effect.fail(error)
  }
  const { declaresLength, offset } = answer.success
  const untrusted = transfer.distrust(offset, handed, declaresLength)
  if (untrusted !== undefined) return yield* untrusted
  if (offset <= start && end > start) {
    const description = `upload-offset is ${offset}, so no byte was stored`
    return yield* new TusError.ProtocolViolation({ request: "append", host, status: 204, description })
  }
  if (offset === end) bodies.passed(end - start, (yield* Clock.currentTimeMillis) - began)
  progress(offset, offset)
  transfer.moveTo(offset, declare)
})

/**
 * The entries of a header `upload-metadata`, each with the canonical Base64 of its value. A missing value is the empty
 * text, because some servers do not distinguish a key without a value from a key with an empty value.
 */
const entriesOf = (header: string) =>
  header.split(",").map((entry) => {
    const [key = "", ...value] = entry.trim().split(" ")
    return { key, value: Result.getOrUndefined(Result.map(Base64.decode(value.join(" ")), Base64.encode)) }
  })

/**
 * Checks an upload that an earlier run created. If the server reports metadata, it must contain the entries of the
 * creation before more bytes are sent. Entries that others have added are ignored. `assembly_url` is not compared,
 * because the creation sets its value from the target. The error names the key that differs, without its values.
 */
const verifyMetadata = Effect.fnUntraced(function* <E>({ marker, metadataHeader, url }: Sending<E>, found: string) {
  const told = entriesOf(found)
  const sent = entriesOf(metadataHeader + (marker === "" ? "" : `,${Creation.markerEntry(marker)}`))
  // A key that the server reports twice differs too.
  const toldOf = (key: string) => told.flatMap((entry) => (entry.key === key ? [entry.value] : []))
  const differing = sent.find(({ key, value }) => toldOf(key).length !== 1 || toldOf(key)[0] !== value)
  if (differing === undefined) return
  const expected = `the ${differing.key} of the creation`
  return yield* new TusError.UploadMismatch({ host: hostOf(url), field: "upload-metadata", expected, found: "another" })
})

/** Requests the offset of the upload from the server. */
const ask = Effect.fnUntraced(function* <E>(piece: Sending<E>) {
  const { emit, isOwn, policy, transfer, url } = piece
  const found = yield* inTime(policy.stallTimeout, Tus.offset(url))
  if (!isOwn && found.metadata !== undefined) yield* verifyMetadata(piece, found.metadata)
  const error = transfer.located(found)
  if (error !== undefined) return yield* error
  if (!transfer.isAsking) emit(UploadEvent.Resumed({ offset: found.offset }))
})

/**
 * Continues with smaller bodies after the status 413, which a proxy in front of the service sends for a large body.
 * Fails if the whole upload is larger than the server permits, or if the smallest body was refused too.
 */
const shrink = Effect.fnUntraced(function* <E>(piece: Sending<E>, error: TusError.TooLarge, bytes: bigint) {
  const { bodies, emit, outgoing, policy, target, transfer } = piece
  const capabilities = bodies.tried.length > 0 ? Effect.undefined : inTime(policy.stallTimeout, Tus.discover(target))
  const maxSize = (yield* Effect.orElseSucceed(capabilities, () => undefined))?.maxSize
  const isWithin = maxSize === undefined || (outgoing.size ?? transfer.acknowledged + bytes) <= maxSize
  if (!isWithin || !bodies.refused(bytes)) {
    return yield* new TusError.TooLarge({
      ...error,
      ...(maxSize === undefined ? undefined : { maxSize }),
      ...(isWithin ? { tried: bodies.tried } : undefined)
    })
  }
  transfer.failed()
  emit(UploadEvent.Retrying({ attempt: transfer.failures, delay: Duration.zero, reason: error.message }))
})

/**
 * After a failed step, pauses or completes the upload. Fails if another step cannot help. The response 404 or 410 is a
 * failure unless a receipt shows that the upload is complete, and this program does not know that it sent another number
 * of bytes.
 */
const heal = Effect.fnUntraced(function* <E>(piece: Sending<E>, error: Context.RequestError) {
  const { pauseAfter, transfer, url } = piece
  if (error._tag !== "UploadGone") {
    transfer.failed()
    return yield* pauseAfter(transfer.failures, error)
  }
  const length = transfer.expectedLength
  const isFinished = length !== undefined && (yield* Creation.isFinished(piece, url, length))
  const wrong = isFinished ? transfer.receipted(length) : error
  if (wrong !== undefined) return yield* wrong
})

/** Sends the bytes of a piece that the server does not have, and returns the length of the piece. */
export const finish = Effect.fnUntraced(function* <E>(piece: Piece<E>, created: UploadState.Of<"Created">) {
  const { begun, marker, url } = created
  const transfer = new Transfer(piece, url, begun)
  if (transfer.isDone) return transfer.acknowledged
  const sending: Sending<E> = {
    ...piece,
    url,
    marker,
    transfer,
    isOwn: begun !== undefined,
    pool: PieceMemory.poolOf(yield* HttpClient.HttpClient),
    bodies: yield* BodySize.at(Redacted.value(url), piece),
    pauseAfter: Context.retrying(piece)
  }
  // An HTTP client that has just read a response may need one turn of the event loop before it can use the connection
  // again. Without this turn, the first PATCH would open another connection.
  yield* Effect.yieldNow
  while (!transfer.isDone) {
    const step = transfer.isAsking ? ask(sending) : send(sending)
    yield* step.pipe(
      Effect.catch((error) => heal(sending, error)),
      Effect.tapErrorTag("UploadUntrusted", (error) =>
        Effect.uninterruptible(piece.store.update(UploadState.untrusted(error)))
      )
    )
  }
  return transfer.acknowledged
})
