/**
 * Creates an Assembly with its files inside the creating request: one multipart form of at most {@link largest} bytes,
 * which is read into memory before it is sent.
 */
import type * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Creation from "@assembly-effect/api/unstable/Creation"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as StreamSender from "@assembly-effect/auth/unstable/StreamSender"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { UploadBandwidth } from "./bandwidth.ts"
import { CanStream } from "./context.ts"
import { moving } from "./outgoing.ts"
import { inPieces } from "./pieces.ts"

/** The maximum size of all files of a form together, in bytes. */
export const largest = 8 * 1024 * 1024

/** A form with more bytes is streamed, if the platform permits it: its progress becomes visible, and a stall too. */
const inMemory = 256 * 1024

/** A file of a form. The names need no escape. */
export interface Part {
  readonly filename: string
  readonly fieldname?: string | undefined
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()

/** The body of a form: its fields, then each file. */
const contentOf = (parts: ReadonlyArray<Part>, fields: string, boundary: string): Uint8Array =>
  Bytes.join([
    encoder.encode(fields),
    ...parts.flatMap(({ bytes, fieldname = "file", filename }) => [
      encoder.encode(
        `--${boundary}\r\nContent-Disposition: form-data; name="${fieldname}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`
      ),
      bytes,
      encoder.encode("\r\n")
    ]),
    encoder.encode(`--${boundary}--\r\n`)
  ])

/** Sends a body as a stream. Fails with `Late` if the client requests no piece for a while, or at the end of its time. */
const sendStream = Effect.fnUntraced(function* (
  http: Parameters<StreamSender.FormSender>[0],
  { headers, origin, path }: Sender.Outgoing,
  { left, maxBytes, millis }: StreamSender.FormLimits,
  { content, contentType }: { readonly content: Uint8Array; readonly contentType: string },
  onSent: (bytes: number) => void
) {
  const { late, stream } = yield* moving(inPieces(content), onSent, () => millis)
  const request = HttpClientRequest.post(origin + path, { headers }).pipe(
    HttpClientRequest.setBody(HttpBody.stream(stream, contentType, content.length))
  )
  const isLate = Effect.andThen(Effect.raceFirst(late, Effect.sleep(left)), Effect.fail(new Outcome.Late()))
  return (yield* StreamSender.send(http, request, maxBytes, isLate)).answer
})

type CreationError = Effect.Error<ReturnType<typeof Assemblies.create>>

/** Whether an Assembly with this id exists already. */
export const isConflict = (error: { readonly _tag: string; readonly status?: number | undefined }): boolean =>
  error.status === 409

/**
 * Sends the form. After a lost response, the Status of the Assembly is the result, if the service knows it. `isLost`
 * says whether only the service knows whether the Assembly exists.
 */
export const sendForm = (
  params: Omit<Assemblies.CreateOptions, "numExpectedUploadFiles">,
  assemblyId: Assembly.AssemblyId,
  parts: ReadonlyArray<Part>,
  boundary: string,
  onSent: (bytes: number) => void
): Effect.Effect<Assembly.Status, { readonly error: CreationError; readonly isLost: boolean }, AssemblyClient> =>
  Effect.suspend(() => {
    let isSent = false
    const send: StreamSender.FormSender = (http, request, fields, limits) =>
      Effect.gen(function* () {
        isSent = true
        const content = contentOf(parts, Creation.toFields(fields, boundary), boundary)
        const body = { content, contentType: `multipart/form-data; boundary=${boundary}` }
        if (content.length > inMemory && (yield* CanStream)) {
          return yield* sendStream(http, request, limits, body, onSent)
        }
        yield* (yield* UploadBandwidth)?.whole(content.length) ?? Effect.void
        return yield* Sender.of(http)({ ...request, body }, limits)
      })
    return Effect.mapError(Creation.createWith({ ...params, assemblyId }, send), (error) => ({
      error,
      // The service has refused an id that somebody else uses.
      isLost: isSent && Creation.isLost(error) && !isConflict(error)
    }))
  })
