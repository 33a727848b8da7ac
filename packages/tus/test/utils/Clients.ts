/**
 * The three HTTP clients of Node, and wrapped clients that change or keep the body of a request.
 */
import * as PieceMemory from "@assembly-effect/tus/unstable/PieceMemory"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Layer, Stream } from "effect"
import { Headers, HttpBody, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"

export const undici = NodeHttpClient.layerUndici
export const fetch = NodeHttpClient.layerFetch
export const beneath = { undici, "node:http": NodeHttpClient.layerNodeHttp, fetch }

/** A client that is changed. */
export const changed = (under: typeof undici, change: (client: HttpClient.HttpClient) => HttpClient.HttpClient) =>
  Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, change)).pipe(Layer.provide(under))

/** Undici as `@assembly-effect/node` builds and registers it. */
export const registered = Layer.effect(
  HttpClient.HttpClient,
  Effect.tap(NodeHttpClient.makeUndici, (client) => Effect.sync(() => PieceMemory.register(client)))
).pipe(Layer.provide(NodeHttpClient.layerDispatcherOptions({ allowH2: false })))

type Request = HttpClientRequest.HttpClientRequest

/** Holds the given number of pieces in memory. */
export const buffering = (capacity: number | "unbounded") =>
  HttpClient.mapRequest((request: Request) => {
    if (request.body._tag !== "Stream") return request
    const { contentLength, contentType, stream } = request.body
    // The types of `Stream.buffer` have an overload for each kind of capacity.
    const buffered = Stream.buffer(stream, { capacity: capacity as number })
    return HttpClientRequest.setBody(request, HttpBody.stream(buffered, contentType, contentLength))
  })

/** Repeats failed requests by itself. */
export const repeating = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.retryTransient(client, { times: 3 })

const streamOf = ({ body }: Request): Stream.Stream<Uint8Array, unknown> | undefined =>
  body._tag === "Stream" ? body.stream : body._tag === "Uint8Array" ? Stream.succeed(body.body) : undefined

/** As in browsers. The types of Node require other arrays than the runtime accepts. */
const gzip = (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
  const { readable, writable } = new CompressionStream("gzip")
  void body.pipeTo(writable as WritableStream<Uint8Array>).catch(() => undefined)
  return readable
}

/** Compresses every body, with or without a header that says so. */
export const compressing = (header: boolean) =>
  HttpClient.mapRequest((request: Request) => {
    const stream = streamOf(request)
    if (stream === undefined) return request
    const compressed = Stream.fromReadableStream({
      evaluate: () => gzip(Stream.toReadableStream(stream)),
      onError: (cause) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, cause }) })
    })
    const headers = Headers.remove(request.headers, "content-length")
    const bare = HttpClientRequest.make(request.method === "POST" ? "POST" : "PATCH")(request.url, {
      headers: header ? Headers.set(headers, "content-encoding", "gzip") : headers
    })
    return HttpClientRequest.setBody(bare, HttpBody.stream(compressed, headers["content-type"]))
  })

/** A client that changes the text of each response with JSON. */
export const retelling = (client: HttpClient.HttpClient, change: (text: string) => string) =>
  HttpClient.transform(client, (sent, request) =>
    Effect.flatMap(sent, (response) =>
      response.headers["content-type"]?.includes("json") === true
        ? Effect.map(response.text, (text) =>
            HttpClientResponse.fromWeb(request, Response.json(JSON.parse(change(text)), { status: response.status }))
          )
        : Effect.succeed(response)
    )
  )
