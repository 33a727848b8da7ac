/**
 * One HTTP exchange under the rules that hold for every request to the service, whoever makes it.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/**
 * What went wrong on the way, in words. It never tells where: the URL may be a capability, and the message of an
 * `HttpClientError` holds it.
 */
export const problem = ({ reason }: HttpClientError.HttpClientError): string => {
  switch (reason._tag) {
    case "TransportError":
      // A guard in front of the client says itself why it let nothing through.
      return reason.description ?? "the connection failed"
    case "DecodeError":
      return "the connection failed in the middle of the answer"
    default:
      return `the request failed (${reason._tag})`
  }
}

const rules = (redirect: RequestRedirect) =>
  Context.make(FetchHttpClient.RequestInit, { redirect }).pipe(Context.add(HttpClient.TracerDisabledWhen, () => true))

const whole = rules("manual")
const streaming = rules("error")

/**
 * Sends a request, in a scope that frees its connection.
 *
 * - A redirect is not followed: it would take the credential or the bytes elsewhere. `streaming` requests fail at one,
 *   which also keeps `fetch` from holding a copy of the body; others see its status.
 * - The HTTP client's own span is off, since it would record the signed URL or the capability.
 *
 * The error holds the request with its credential: map it with {@link problem}, and let it go no further.
 */
export const send = (
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  options?: { readonly streaming?: boolean | undefined }
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError, Scope.Scope> =>
  HttpClient.withScope(http)
    .execute(request)
    .pipe(Effect.provideContext(options?.streaming === true ? streaming : whole))

/**
 * Whether a status is a redirect. 0 is how a browser shows one that it did not follow.
 */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/**
 * Whether a status is a success: any 2xx, since the specification shows none (spec.md, "Endpoints").
 */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Statuses below 500 that leave open whether the request was carried out. */
const openBelow500: ReadonlySet<number> = new Set([408, 409, 423, 425, 429, 499])

/**
 * Whether a status says for sure that a request was not carried out: 501, and every 4xx except 408, 409, 423, 425, 429
 * and 499. Any other failure leaves it open, whatever its body says.
 */
export const isRefusal = (status: number): boolean =>
  status === 501 || (status >= 400 && status < 500 && !openBelow500.has(status))

/**
 * The value of a JSON text; none where it is not JSON.
 */
export const parseJson = (text: string): Option.Option<unknown> => {
  try {
    return Option.some(JSON.parse(text))
  } catch {
    return Option.none()
  }
}

/**
 * A body that is too large or not UTF-8; `start` is what was read of it, and may repeat a credential.
 */
export class UnreadableBody extends Data.TaggedError("UnreadableBody")<{
  readonly problem: string
  readonly start: Uint8Array
}> {}

const empty = new Uint8Array(0)

const concat = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  if (chunks.length === 1 && chunks[0] !== undefined) return chunks[0]
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/** The length that HTTP itself holds the body to; none where it is unknown or counts compressed bytes. */
const framedLength = (response: HttpClientResponse.HttpClientResponse): number | undefined => {
  const { headers } = response
  const length = headers["content-length"]
  return length !== undefined && /^\d+$/.test(length) && headers["content-encoding"] === undefined
    ? Number(length)
    : undefined
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const toText = (bytes: Uint8Array): Effect.Effect<string, UnreadableBody> => {
  try {
    return Effect.succeed(utf8.decode(bytes))
  } catch {
    return Effect.fail(new UnreadableBody({ problem: "a body that is not UTF-8", start: bytes }))
  }
}

/** Some clients have no stream for an answer without a body. */
const orEmpty = (error: HttpClientError.HttpClientError) =>
  error.reason._tag === "EmptyBodyError" ? Effect.succeed(empty) : Effect.fail(error)

/**
 * The body as text: at most `maxBytes`, and strict UTF-8. A length that HTTP enforces is checked before anything is
 * read; else the stream is left at the first byte too many.
 */
export const readText = (
  response: HttpClientResponse.HttpClientResponse,
  { maxBytes }: { readonly maxBytes: number }
): Effect.Effect<string, HttpClientError.HttpClientError | UnreadableBody> => {
  const tooLarge = (start: Uint8Array) =>
    Effect.fail(new UnreadableBody({ problem: `a body of more than ${maxBytes} bytes`, start }))

  const length = framedLength(response)
  if (length !== undefined) {
    if (length > maxBytes) return tooLarge(empty)
    return response.arrayBuffer.pipe(
      Effect.map((buffer) => new Uint8Array(buffer)),
      Effect.catch(orEmpty),
      Effect.flatMap(toText)
    )
  }

  return Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return response.stream.pipe(
      Stream.runForEachArray((pieces) => {
        for (const chunk of pieces) {
          size += chunk.length
          if (size > maxBytes) return tooLarge(chunks[0] ?? chunk)
          chunks.push(chunk)
        }
        return Effect.void
      }),
      Effect.map(() => concat(chunks, size)),
      Effect.catchTag("HttpClientError", orEmpty),
      Effect.flatMap(toText)
    )
  })
}
