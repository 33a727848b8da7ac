/**
 * Runs one upload, which has one URL and contains the whole source or a part of it: creates the upload once, and sends
 * its bytes.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Transfer from "../Transfer.ts"
import { UploadUntrusted } from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import type { SourceFailed, UploadSource } from "../UploadSource.ts"
import * as UploadState from "../UploadState.ts"
import * as Creation from "./creation.ts"
import type { Emit } from "./events.ts"
import { ignored } from "./ignored.ts"
import * as Outgoing from "./outgoing.ts"
import type { RequestError } from "./policy.ts"
import * as Run from "./run.ts"
import * as Session from "./session.ts"

/**
 * - `outgoing`: the bytes of the piece.
 * - `place`: reads and changes the piece in the state of the upload.
 * - `isPart`: whether the piece becomes a part of a later final upload.
 * - `emit`: called with the events of the piece.
 */
export interface Job<E> {
  readonly session: Session.Session<E>
  readonly source: UploadSource
  readonly outgoing: Outgoing.Outgoing
  readonly place: UploadState.Place
  readonly isPart: boolean
  readonly emit: Emit
}

/** The maximum size in bytes of a source that is sent with the creation, which saves a round trip. */
const smallSize = 256n * 1024n

/**
 * The bytes that are sent with the creation: all bytes of a small source. Undefined if the source is empty, of unknown
 * size, or larger than `smallSize` or `chunkSize`.
 */
const smallBody = (
  source: UploadSource,
  outgoing: Outgoing.Outgoing
): Effect.Effect<Uint8Array | undefined, SourceFailed> =>
  Effect.gen(function* () {
    const { size } = outgoing
    if (size === undefined || size === 0n || size > smallSize) return undefined
    const { bytes, end } = yield* outgoing.from(0n)
    if (end !== size) return undefined
    if (!("stream" in bytes)) return bytes
    return source._tag === "Replayable" && source.read !== undefined
      ? yield* source.read(0n, size)
      : yield* Outgoing.collect(bytes.stream, bytes.length)
  })

const keep = <E>({ place, session }: Job<E>, piece: UploadState.Piece) => session.store.update(place.set(piece))

/** Creates the upload, and stores its URL. */
const create = <E>(job: Job<E>, marker: string) =>
  Effect.gen(function* () {
    const { isPart, outgoing, session, source } = job
    const { emit, metadata } = session
    const { size } = outgoing
    // No request asks an empty source for bytes, so this read shows whether the source is still empty.
    if (size === 0n && source._tag === "Replayable") yield* Outgoing.collect(source.bytes(0n, 0n), 0n)
    const body = session.sendsAlong && !isPart ? yield* smallBody(source, outgoing) : undefined
    const sent = BigInt(body?.length ?? 0)
    const toState = (found: Creation.Created): UploadState.Created => ({
      _tag: "Created",
      marker,
      url: found.url,
      transfer:
        // The receipt counts only if the creation contained all bytes, because otherwise the upload cannot be complete.
        found.finished && sent === size
          ? { _tag: "Done", length: size }
          : Transfer.created({ ...found, length: size, sent })
    })
    const created = yield* Creation.create(session, {
      creation:
        size === undefined
          ? { _tag: "Deferred", metadata }
          : { _tag: "Fixed", length: size, metadata, body, partial: isPart },
      size,
      marker,
      ledger: {
        sending: keep(job, { _tag: "Creating", marker }),
        refused: ignored(keep(job, { _tag: "Planned" })),
        created: (found) => keep(job, toState(found))
      }
    }).pipe(Effect.map(toState))
    if (!isPart) emit(UploadEvent.Created({ url: created.url, length: size }))
    return created
  })

/** Finds the upload of a creation that an earlier run may have sent. */
const recover = <E>(job: Job<E>, marker: string) =>
  Effect.gen(function* () {
    const { isPart, outgoing, session } = job
    const { metadata, policy, target } = session
    const { size } = outgoing
    const { finished, url } = yield* Creation.recover(
      { target, marker, sent: { metadata, size }, policy },
      { description: "the process ended before the response arrived" }
    )
    const created: UploadState.Created = {
      _tag: "Created",
      marker,
      url,
      // The receipt of a part does not show that the part is complete, so the offset is requested from the server.
      ...(finished && size !== undefined && !isPart ? { transfer: { _tag: "Done", length: size } } : undefined)
    }
    yield* keep(job, created)
    return created
  })

/**
 * Creates the upload of a piece. If the creation may have been sent, no second creation is sent: the upload is searched
 * for in the receipts by its marker. If the receipts do not show the upload, the error is `CreationUnknown`. The same
 * rule applies to a part. A part without a final upload is not an input of the Assembly, but only the service knows
 * whether the part has other effects.
 */
export const begin = <E>(
  job: Job<E>,
  piece: UploadState.Piece,
  newMarker: Effect.Effect<string> = Creation.newMarker
): Effect.Effect<UploadState.Created, Creation.CreationError | SourceFailed | E, HttpClient.HttpClient> => {
  switch (piece._tag) {
    case "Planned":
      return Effect.flatMap(newMarker, (marker) => create(job, marker))
    case "Creating":
      return recover(job, piece.marker)
    case "Created":
      return Effect.succeed(piece)
  }
}

/**
 * The error of an untrusted part. `mayBeWhole` is false, because an untrusted part is never concatenated into a file.
 */
const ofPart = ({ host, description }: UploadUntrusted) =>
  new UploadUntrusted({ ...(host === undefined ? undefined : { host }), description, mayBeWhole: false })

/** Sends the bytes of a piece that the server does not have, and returns the length of the piece. */
export const send = <E>(
  job: Job<E>,
  { marker, transfer, url }: UploadState.Created
): Effect.Effect<bigint, RequestError | E, HttpClient.HttpClient> => {
  const { emit, isPart, outgoing, place, session } = job
  const { metadata, policy, seal, store, target } = session
  const toOwn = (error: UploadUntrusted) => (isPart ? ofPart(error) : error)
  const moved = (now: Transfer.Transfer) => store.note(place.set({ _tag: "Created", marker, url, transfer: now }))
  // The metadata is compared only if an earlier run created the upload.
  const verify = transfer === undefined ? Session.verifyMetadata(metadata, marker || undefined) : Session.trusted
  const run = { target, metadata, url, outgoing, seal, policy, emit, verify, moved }
  // An HTTP client that has just read a response may need one turn of the event loop before it can use the connection
  // again. Without this turn, the first PATCH would open another connection.
  return Effect.andThen(Effect.yieldNow, Run.toEnd(run, transfer ?? Transfer.reopened(outgoing.size))).pipe(
    Effect.mapError((error) => (error._tag === "UploadUntrusted" ? toOwn(error) : error)),
    Effect.tapError((error): Effect.Effect<void, E> =>
      error._tag === "UploadUntrusted"
        ? Effect.uninterruptible(store.update(UploadState.untrusted(error)))
        : Effect.void
    ),
    Effect.onInterrupt(() => {
      const error = UploadState.leftInDoubt(place.get(store.state()), outgoing.size)
      return error === undefined ? Effect.void : ignored(store.update(UploadState.untrusted(toOwn(error))))
    })
  )
}
