/**
 * One upload for the whole source.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import * as Transfer from "../Transfer.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { SourceFailed, UploadSource } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as Creation from "./Creation.ts"
import * as Outgoing from "./Outgoing.ts"
import * as Run from "./Run.ts"
import * as Session from "./Session.ts"
import * as Window from "./Window.ts"

/** Up to here the bytes travel with the creation: one round trip. */
const smallSize = 256n * 1024n

const toOutgoing = (
  source: UploadSource,
  { chunkSize, streams }: Session.Session<unknown>
): Effect.Effect<Outgoing.Outgoing, SourceFailed, Scope.Scope> =>
  source._tag === "OneShot"
    ? Outgoing.oneShot(source, { windowSize: chunkSize ?? Window.defaultSize, streams })
    : Effect.succeed(Outgoing.replayable(source, { start: 0n, end: source.size, chunkSize, streams }))

/** The bytes of a small source, to be sent along. */
const smallBody = (
  source: UploadSource,
  outgoing: Outgoing.Outgoing
): Effect.Effect<Uint8Array | Blob | undefined, SourceFailed> =>
  Effect.gen(function* () {
    const { size } = outgoing
    if (size === undefined || size === 0n || size > smallSize) return undefined
    const { bytes, end } = yield* outgoing.from(0n)
    if (end !== size) return undefined
    if (bytes instanceof Uint8Array || !("length" in bytes)) return bytes
    return source._tag === "Replayable" && source.read !== undefined
      ? yield* source.read(0n, size)
      : yield* Outgoing.collect(bytes.stream, bytes.length)
  })

const sizeOf = (body: Uint8Array | Blob): bigint => BigInt(body instanceof Uint8Array ? body.length : body.size)

const complete = <E>(
  session: Session.Session<E>,
  url: UploadUrl,
  outgoing: Outgoing.Outgoing,
  begun: Transfer.Transfer,
  verify: Run.Job["verify"]
) =>
  Effect.gen(function* () {
    const { emit, metadata, policy, recorder, seal, target } = session
    const { untrusted } = recorder
    const length = yield* Run.toEnd({ target, metadata, url, outgoing, seal, policy, emit, verify, untrusted }, begun)
    yield* recorder.completed(url, length)
    emit(UploadEvent.Completed({ url, length }))
  })

/** Creates the upload and sends it. */
export const start = <E>(
  session: Session.Session<E>,
  source: UploadSource
): Effect.Effect<void, Session.UploadError | E, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { emit, metadata, policy, recorder, target } = session
    const outgoing = yield* toOutgoing(source, session)
    const body = session.sendsAlong ? yield* smallBody(source, outgoing) : undefined
    const marker = yield* Creation.newMarker
    yield* recorder.creating(marker)
    const created = yield* Creation.create({
      target,
      creation:
        outgoing.size === undefined
          ? { _tag: "Deferred", metadata }
          : { _tag: "Fixed", length: outgoing.size, metadata, body },
      size: outgoing.size,
      marker,
      policy,
      emit
    })
    yield* recorder.created(marker, created.url)
    emit(UploadEvent.Created({ url: created.url, length: outgoing.size }))
    const sent = body === undefined ? 0n : sizeOf(body)
    const { size: length } = outgoing
    const begun: Transfer.Transfer =
      // A server cannot have finished what it was not given.
      created.finished && sent === length ? { _tag: "Done", length } : Transfer.created({ ...created, length, sent })
    yield* complete(session, created.url, outgoing, begun, Session.trusted)
  })

/** Continues an upload that the program knows by its URL alone. */
export const resumeAt = <E>(
  session: Session.Session<E>,
  source: UploadSource,
  url: UploadUrl
): Effect.Effect<void, Session.UploadError | E, HttpClient.HttpClient | Scope.Scope> =>
  Effect.flatMap(toOutgoing(source, session), (outgoing) =>
    complete(
      session,
      url,
      outgoing,
      Transfer.reopened(outgoing.size),
      Session.verifyMetadata(session.metadata, undefined)
    )
  )

/** Goes on with an upload of an earlier time, whose URL may have been lost. */
export const resume = <E>(
  session: Session.Session<E>,
  source: UploadSource,
  earlier: { readonly marker: string; readonly url: UploadUrl | undefined }
): Effect.Effect<void, Session.UploadError | E, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { metadata, policy, recorder, target } = session
    const outgoing = yield* toOutgoing(source, session)
    const verify = Session.verifyMetadata(metadata, earlier.marker)
    if (earlier.url !== undefined) {
      return yield* complete(session, earlier.url, outgoing, Transfer.reopened(outgoing.size), verify)
    }
    const found = yield* Creation.recover(
      { target, marker: earlier.marker, sent: { metadata, size: outgoing.size }, policy },
      "the process ended before it came"
    )
    yield* recorder.created(earlier.marker, found.url)
    const { size: length } = outgoing
    const begun: Transfer.Transfer =
      found.finished && length !== undefined ? { _tag: "Done", length } : Transfer.reopened(length)
    return yield* complete(session, found.url, outgoing, begun, verify)
  })
