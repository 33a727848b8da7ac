/**
 * Sources of uploads from the web: HTTP resources, and web streams.
 */
import { type DownloadError, ResultChanged } from "@assembly-effect/api/ResultError"
import * as Results from "@assembly-effect/api/Results"
import * as Download from "@assembly-effect/api/unstable/Download"
import * as Exchange from "@assembly-effect/api/unstable/Exchange"
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import * as Reading from "@assembly-effect/api/unstable/Reading"
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import * as AuthPieces from "@assembly-effect/auth/unstable/Pieces"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as DeliveryProof from "./DeliveryProof.ts"
import * as Outgoing from "./internal/outgoing.ts"
import { RequestTimeout } from "./internal/requests.ts"
import * as Source from "./internal/source.ts"

/**
 * Describes why a value cannot be a source: it is not a `ReadableStream`, or is locked, or bytes were already read from
 * it. Returns undefined for a valid stream.
 */
const problemOf = (readable: ReadableStream<Uint8Array>): string | undefined => {
  // In a JavaScript program, `evaluate` may return any value.
  if (!Predicate.hasProperty(readable, "getReader")) return "evaluate returned no ReadableStream"
  if (readable.locked) return "the ReadableStream is locked"
  const used = "bytes of the ReadableStream were already read"
  try {
    // On every runtime, the constructor of `Response` shows whether bytes of a stream were read: it throws, or sets
    // `bodyUsed`. The constructor itself reads no bytes.
    return new Response(readable).bodyUsed ? used : undefined
  } catch {
    return used
  }
}

/**
 * Makes a source from a web `ReadableStream` of bytes. The source can be read only once. `evaluate` is called when the
 * upload starts to read.
 *
 * **Details**
 *
 * The stream is read only as fast as its bytes are sent. If the upload fails or is interrupted, the stream is canceled.
 * If `evaluate` throws, if the stream is locked, was read before or fails, or if it emits anything but a `Uint8Array`,
 * the error is `SourceFailed`.
 *
 * @example WebSource.fromReadableStream(() => new Blob(["hello"]).stream(), { size: 5n })
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromReadableStream = (
  evaluate: LazyArg<ReadableStream<Uint8Array>>,
  options?: { readonly size?: bigint | undefined }
): Source.OneShot => ({
  _tag: "OneShot",
  size: options?.size,
  stream: Stream.unwrap(
    Effect.gen(function* () {
      const readable = yield* Effect.try({ try: evaluate, catch: Source.failedWith })
      const problem = problemOf(readable)
      if (problem !== undefined) return yield* Source.sourceFailed("Unreadable", problem)
      return Stream.fromReadableStream({ evaluate: () => readable, onError: Source.failedWith })
    })
  )
})

// The text does not contain the URL, because the URL may contain a credential.
const urlRule = "expected a valid http or https URL without user info (pass a credential in headers)"

const toUrl = (text: string | URL): Effect.Effect<URL, Source.SourceFailed> => {
  const url = URL.canParse(String(text)) ? new URL(String(text)) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
    ? Effect.succeed(url)
    : Effect.fail(Source.sourceFailed("Unreadable", urlRule))
}

/**
 * Makes a source from an HTTP resource, such as a file in an object store. The first request asks for one byte of the
 * resource. The response shows the size of the resource, and whether the resource can be read by ranges.
 *
 * - `headers`: the headers that are sent with every request for the resource.
 * - `isPresigned`: whether the query of the URL is a signature that changes. If `isPresigned` is true, the query is not
 *   a part of the identity, so that a later run with another signature continues the upload.
 *
 * **Details**
 *
 * - The source can be read again if the server accepts ranges and reports the size, and the resource has a strong ETag.
 *   Every range must then have the same ETag and size, else the upload fails with `SourceFailed` (`Changed`). After a
 *   lost connection, a timeout, or a status 429 or 5xx, the rest of the range is requested, as by
 *   `Results.download`: if the `RetryPolicy` of the program permits it, by default after up to 4 consecutive failures.
 * - Without ranges, a size or a strong ETag, the source is a one-shot stream, and a lost connection to the resource
 *   ends the upload.
 * - The identity of a source that can be read again is the SHA-256 of the URL and the ETag, so that a journal contains
 *   neither the URL nor the ETag.
 * - `Tus.RequestTimeout` limits the wait for each response and for each piece of its body.
 * - A response with a `content-encoding` other than `identity` is refused, because HTTP clients decode it in different
 *   ways.
 * - No redirect is followed, so that nothing is sent to a host other than the host of the URL.
 *
 * **Gotchas**
 *
 * The function requests any URL that it gets, including an address of a private network. If users choose the URL, your
 * program must check its host, and the addresses to which the host resolves. The `HttpClient` of the context sends the
 * requests, including any credential that this client adds to its requests. Errors contain the host of the URL, but
 * neither its path nor its query.
 *
 * @example
 * WebSource.fromUrl("https://files.example.com/video.mp4", { headers: { authorization: "Bearer token" } })
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromUrl = (
  url: string | URL,
  options?: { readonly headers?: Headers.Input | undefined; readonly isPresigned?: boolean | undefined }
): Effect.Effect<Source.UploadSource, Source.SourceFailed, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const resource = {
      operation: "WebSource.fromUrl",
      http: yield* HttpClient.HttpClient,
      url: yield* toUrl(url),
      headers: options?.headers,
      followsRedirects: false
    }
    const { isRanged, of } = yield* Effect.mapError(describe(resource), fromDownload)
    const { total: size, validator } = of
    if (!isRanged || size === undefined || validator === undefined) {
      return { _tag: "OneShot", size: size === undefined ? undefined : BigInt(size), stream: once(resource, of) }
    }
    const { href, origin, pathname } = resource.url
    const identified = options?.isPresigned === true ? origin + pathname : href
    const read = (start: bigint, end: bigint) =>
      Effect.map(RequestTimeout, (stallTimeout) => {
        const range = { end: Number(end), of }
        return Download.range({ ...resource, stallTimeout, file: named, size, offset: Number(start), range })
      })
    const digest = Digests.sha256(`${identified} ${validator}`)
    return {
      _tag: "Replayable",
      size: BigInt(size),
      bytes: (start, end) =>
        start === end ? Stream.empty : Stream.mapError(Stream.unwrap(read(start, end)), fromDownload),
      identity: Effect.map(digest, (text) => `url ${text}`)
    }
  })

type Resource = Omit<Reading.Resource, "stallTimeout">

const ask = Effect.fnUntraced(function* (resource: Resource, headers: Readonly<Record<string, string>>) {
  const asked = { ...resource, stallTimeout: yield* RequestTimeout }
  const { response, subject } = yield* Reading.send(asked, headers)
  return { asked, response, subject, read: Reading.read(response, 0) }
})

/** Requests the first byte of a resource. The body is not read. */
const describe = (resource: Resource) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { read, response, subject } = yield* ask(resource, { range: "bytes=0-0" })
      const { headers, status } = response
      if (status === 416 && Reading.sizeOfUnsatisfied(headers) === 0) return { isRanged: false, of: { total: 0 } }
      if (status === 416) return yield* Exchange.unexpected(subject, status, "a refused range")
      if (status === 200 && Result.isFailure(read)) return yield* Exchange.unexpected(subject, status, read.failure)
      // Another part than the requested byte says nothing about the resource.
      const isTold = Result.isSuccess(read) && (status === 200 || read.success.end === 1)
      const isOffered = (headers["accept-ranges"] ?? "bytes").trim().toLowerCase() === "bytes"
      return {
        isRanged: status === 206 && isOffered,
        of: isTold ? read.success.representation : { etag: headers["etag"] }
      }
    })
  )

/** Reads the whole resource in one response, which must be of the same resource as the first response. */
const once = (resource: Resource, before: Reading.Representation): Stream.Stream<Uint8Array, Source.SourceFailed> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { asked, read, response, subject } = yield* ask(resource, {})
      if (response.status !== 200 || Result.isFailure(read)) {
        const problem = Result.isFailure(read) ? read.failure : "a part instead of the whole"
        return yield* Exchange.unexpected(subject, response.status, problem)
      }
      const field = Reading.difference(before, read.success.representation)
      if (field !== undefined) return yield* new ResultChanged({ ...subject, file: named, field })
      return Stream.fromPull(Effect.succeed(yield* Reading.pullBody(asked, subject, response)))
    })
  ).pipe(Stream.mapError(fromDownload))

/** The name of a resource in errors. */
const named = "the resource"

/**
 * Makes a source from a result of an Assembly, such as a file of `Results.of`, so that a result becomes a file of the
 * next Assembly without a file on this machine.
 *
 * **Details**
 *
 * - The result is read as by `Results.download`: only as fast as its bytes are sent, with redirects and without
 *   credentials. After a lost connection, and when an upload continues, only the missing bytes are requested.
 * - If the Status has an MD5, it is compared with all bytes of the result before the last bytes are sent. If the upload
 *   has not read all bytes in order, because it has parallel parts or continues an upload of an earlier run, the result
 *   is read once more for this comparison. If the result has changed, the upload fails with `SourceFailed` (`Changed`).
 * - The identity is the MD5 and the size, so another URL of the same result continues the same upload.
 *
 * A result without a size or a URL in the Status fails with `SourceFailed`.
 *
 * @example
 * Effect.forEach(Results.of(assembly).get("resized") ?? [], (file) =>
 *   Effect.map(WebSource.fromResult(file), (source) => ({ source, filename: file.name ?? "result" }))
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromResult = (
  file: Assembly.File,
  options: Omit<Results.DownloadOptions, "offset"> = {}
): Effect.Effect<Source.Replayable, Source.SourceFailed, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const services = yield* Effect.context<HttpClient.HttpClient>()
    const isDownloadable = Results.downloadable({ results: { file: [file] } }).size > 0
    if (!isDownloadable || typeof file.size !== "number") {
      return yield* Source.sourceFailed("Unreadable", "the Status has no URL or no size of the result")
    }
    const size = BigInt(file.size)
    const md5hash = Md5.ofFile(file)
    const plain: Source.Replayable = {
      _tag: "Replayable",
      size,
      bytes: (start, end) => {
        const rest = Results.download(file, { ...options, offset: Number(start) })
        const provided = rest.pipe(Stream.mapError(fromDownload), Stream.provideContext(services))
        return Outgoing.takeBytes(provided, end - start)
      },
      identity: Effect.succeed(md5hash === undefined ? undefined : `md5 ${md5hash} ${size}`)
    }
    if (md5hash === undefined) return plain
    const { source, total } = yield* DeliveryProof.summed(plain)
    const check = Effect.flatMap(total, (read) =>
      read.md5hash === md5hash
        ? Effect.void
        : Effect.fail(Source.sourceFailed("Changed", `the MD5 was ${md5hash}, is ${read.md5hash}`))
    )
    const checked = (start: bigint) =>
      Stream.suspend(() => {
        let at = start
        return AuthPieces.mapPieces(source.bytes(start, size), (piece) => {
          at += BigInt(piece.length)
          return Effect.as(at === size ? check : Effect.void, [piece])
        })
      })
    return { ...source, bytes: (start, end) => (end < size ? source.bytes(start, end) : checked(start)) }
  })

const fromDownload = (problem: DownloadError | Reading.Refused): Source.SourceFailed => {
  const { _tag, message } = "_tag" in problem ? problem : problem.error
  return Source.sourceFailed(_tag === "ResultChanged" || _tag === "ResultMismatch" ? "Changed" : "Unreadable", message)
}
