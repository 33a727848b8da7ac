/**
 * Creates an Assembly with its files inside the creating request: one multipart form of at most {@link largest} bytes.
 */
import type * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Creation from "@assembly-effect/api/unstable/Creation"
import * as Gathering from "@assembly-effect/auth/unstable/Gathering"
import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as StreamSender from "@assembly-effect/auth/unstable/StreamSender"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import { UploadBandwidth } from "./bandwidth.ts"
import { CanStream } from "./context.ts"
import type { File } from "./job.ts"
import { collect, tooLong, tooShort } from "./outgoing.ts"
import * as OwnPieces from "./pieces.ts"
import { type Replayable, wholeOf } from "./source.ts"
import { failedWith, type SourceFailed } from "./sourceFailed.ts"

/** The maximum size of all files of a form together, in bytes. */
export const largest = 8 * 1024 * 1024

/** Smaller files are read into memory before the form is sent, which saves calls of the operating system. */
const inMemory = 256 * 1024

type Source = Pick<Replayable, "size" | "bytes">

/** The files of a form. `contents` are in memory, or are read while the form is sent. */
interface Form {
  readonly files: ReadonlyArray<Pick<File, "filename" | "fieldname">>
  readonly contents: ReadonlyArray<Uint8Array | Source>
  readonly size: number
}

const readWhole = (source: Replayable): Effect.Effect<Uint8Array, SourceFailed> =>
  Effect.flatMap(wholeOf(source) ?? collect(source.bytes(0n, source.size), source.size), (bytes) =>
    BigInt(bytes.length) === source.size
      ? Effect.succeed(bytes)
      : Effect.fail(tooShort(BigInt(bytes.length), source.size))
  )

/** Reads small files into memory, and all files if the platform cannot stream a request. */
export const make = (
  files: ReadonlyArray<Pick<File, "filename" | "fieldname">>,
  sources: ReadonlyArray<Replayable>
): Effect.Effect<Form, SourceFailed> =>
  Effect.gen(function* () {
    const size = Number(sources.reduce((sum, source) => sum + source.size, 0n))
    const isStreamed = size > inMemory && (yield* CanStream)
    const contents = isStreamed ? sources : yield* Effect.forEach(sources, readWhole)
    return { files, contents, size }
  })

/**
 * The state of a request.
 *
 * - `isSent`: whether the form may have reached the service.
 * - `failed`: the index of the file whose source failed or died.
 * - `broken`: fails with the cause of that file. HTTP clients report a failing body as a broken connection.
 */
interface Sending {
  isSent: boolean
  failed: number | undefined
  readonly broken: Deferred.Deferred<never, SourceFailed>
}

/** Exactly the bytes of a source, or a failure. */
const exactly = ({ bytes, size }: Source, index: number, sending: Sending): Stream.Stream<Uint8Array, SourceFailed> =>
  Stream.suspend(() => {
    let count = 0n
    return Pieces.mapPieces(
      OwnPieces.owned(bytes(0n, size), failedWith),
      (piece) => {
        count += BigInt(piece.length)
        return count > size ? Effect.fail(tooLong(size)) : Effect.succeed([piece])
      },
      Effect.suspend(() => (count < size ? Effect.fail(tooShort(count, size)) : Effect.void))
    )
  }).pipe(
    // `tapCause` runs if the source itself is interrupted, but not if the reader of the stream is interrupted.
    Stream.tapCause((cause) => {
      sending.failed ??= index
      return Deferred.failCause(sending.broken, cause)
    })
  )

const encoder = new TextEncoder()

/** The parts of a form in their order: its fields, then each file. The names of the files need no escape. */
const partsOf = ({ contents, files }: Form, fields: string, boundary: string): ReadonlyArray<Uint8Array | Source> => [
  encoder.encode(fields),
  ...files.flatMap(({ fieldname = "file", filename }, index) => [
    encoder.encode(
      `--${boundary}\r\nContent-Disposition: form-data; name="${fieldname}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`
    ),
    contents[index] ?? new Uint8Array(0),
    encoder.encode("\r\n")
  ]),
  encoder.encode(`--${boundary}--\r\n`)
]

const isBytes = (part: Uint8Array | Source): part is Uint8Array => "length" in part

/** Sends the form as a stream. Fails with `Late` if the client requests no piece for a while, or at the end of its time. */
const sendStream = (
  parts: ReadonlyArray<Uint8Array | Source>,
  contentType: string,
  sending: Sending,
  onSent: (bytes: number) => void
): StreamSender.FormSender =>
  Effect.fnUntraced(function* (http, { headers, origin, path }, _, { left, maxBytes, millis }) {
    const clock = yield* Clock.Clock
    const bandwidth = yield* UploadBandwidth
    const until = clock.currentTimeMillisUnsafe() + left
    let movedAt = clock.currentTimeMillisUnsafe()
    let file = 0
    let sent = 0
    const [first, ...rest] = parts.map((part) =>
      isBytes(part) ? Stream.succeed(part) : exactly(part, file++, sending)
    )
    const joined = rest.reduce((whole, part) => Stream.concat(whole, part), first ?? Stream.empty)
    const waiting = bandwidth?.stream(joined, () => {
      movedAt = Infinity
    })
    const body = Pieces.mapPieces(waiting ?? joined, (piece) => {
      movedAt = clock.currentTimeMillisUnsafe()
      sent += piece.length
      onSent(sent)
      return Effect.succeed([piece])
    })
    const length = parts.reduce((sum, part) => sum + (isBytes(part) ? part.length : Number(part.size)), 0)
    const request = HttpClientRequest.post(origin + path, { headers })
    const watch: Effect.Effect<never, Gathering.Late> = Effect.suspend(() => {
      const remaining = Math.min(until, movedAt + millis) - clock.currentTimeMillisUnsafe()
      return remaining <= 0
        ? Effect.fail(new Gathering.Late())
        : Effect.andThen(Effect.sleep(Math.min(remaining, millis)), watch)
    })
    const streamed = HttpClientRequest.setBody(request, HttpBody.stream(body, contentType, length))
    return (yield* StreamSender.send(http, streamed, maxBytes, watch)).answer
  })

const senderOf =
  (form: Form, boundary: string, sending: Sending, onSent: (bytes: number) => void): StreamSender.FormSender =>
  (http, request, fields, limits) =>
    Effect.suspend(() => {
      sending.isSent = true
      const parts = partsOf(form, Creation.toFields(fields, boundary), boundary)
      const contentType = `multipart/form-data; boundary=${boundary}`
      if (!parts.every(isBytes)) return sendStream(parts, contentType, sending, onSent)(http, request, fields, limits)
      const content = Bytes.join(parts)
      const sent = Sender.of(http)({ ...request, body: { content, contentType } }, limits)
      return Effect.flatMap(UploadBandwidth, (limit) =>
        limit === undefined ? sent : Effect.andThen(limit.whole(content.length), sent)
      )
    })

type CreationError = Effect.Error<ReturnType<typeof Assemblies.create>>

/** Whether an Assembly with this id exists already. */
export const isConflict = (error: { readonly _tag: string; readonly status?: number | undefined }): boolean =>
  error.status === 409

/**
 * Why a form created no Assembly that this run knows of.
 *
 * - `Refused`: the service did not take the form, or it was not sent.
 * - `Lost`: only the service knows whether the Assembly exists.
 * - `Source`: the source of the file at `index` failed while the form was sent.
 */
export type Failure =
  | { readonly _tag: "Refused"; readonly error: CreationError }
  | { readonly _tag: "Lost"; readonly error: CreationError }
  | { readonly _tag: "Source"; readonly error: SourceFailed; readonly index: number }

/** Sends the form. After a lost response, the Status of the Assembly is the result, if the service knows it. */
export const create = (
  params: Omit<Assemblies.CreateOptions, "numExpectedUploadFiles">,
  assemblyId: Assembly.AssemblyId,
  form: Form,
  boundary: string,
  onSent: (bytes: number) => void
): Effect.Effect<Assembly.Status, Failure, AssemblyClient> =>
  Effect.suspend(() => {
    const sending: Sending = { isSent: false, failed: undefined, broken: Deferred.makeUnsafe() }
    const toFailure = (error: CreationError): Failure => ({
      // The service has refused an id that somebody else uses.
      _tag: sending.isSent && Creation.isLost(error) && !isConflict(error) ? "Lost" : "Refused",
      error
    })
    const broken = Effect.mapError(Deferred.await(sending.broken), (error): Failure => ({
      _tag: "Source",
      error,
      index: sending.failed ?? 0
    }))
    return Creation.createWith({ ...params, assemblyId }, senderOf(form, boundary, sending, onSent)).pipe(
      Effect.mapError(toFailure),
      Effect.raceFirst(broken),
      Effect.catch((failure) => (sending.failed === undefined ? Effect.fail(failure) : broken))
    )
  })
