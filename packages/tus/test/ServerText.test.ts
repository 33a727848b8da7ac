/**
 * What a server wrote, in the errors and events of uploads and in their spans: an upload URL never.
 */
import { Assemblies } from "@assembly-effect/api"
import { Tus, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Cause, Effect, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { inspect } from "node:util"
import { assert, describe, it, Emulated, Loopback, Scene, ScriptedTus, Spans, Upload } from "./utils/index.ts"

const id = "5d8a7c31f0e94b62a1d3c5e7f9b0a2c4+of~a.cell"
const path = `/resumable/files/${id}`
const assembly = "/assemblies/0123456789abcdef0123456789abcdef"

/** A server whose every answer is an ordinary error page that repeats the request. */
const make = Effect.fnUntraced(function* (status: number, page: (url: string) => string) {
  const baseUrl = yield* Loopback.serve(async (request, response) => {
    for await (const _chunk of request);
    const url = `http://${request.headers.host}${request.url}`
    response.writeHead(status, { "tus-resumable": "1.0.0" }).end(page(url))
  })
  const target = yield* Scene.targetAt(baseUrl, assembly)
  return { target, url: yield* Effect.fromResult(UploadTarget.resolve(target, path)) }
})

/** All that a value shows anywhere. */
const shown = (value: unknown) => `${String(value)} ${JSON.stringify(value)} ${inspect(value, { depth: Infinity })}`

/** Runs an effect, and answers its error and the spans that it made, as an exporter writes them. */
const traced = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { spans, tracer } = Spans.make()
    const error = yield* Effect.flip(Effect.withTracer(effect, tracer))
    const exported = spans.map(({ attributes, events, name, status }) => [
      name,
      shown([[...attributes], events]),
      status._tag === "Ended" && status.exit._tag === "Failure" ? Cause.pretty(status.exit.cause) : ""
    ])
    return { error, exported }
  })

const pages: ReadonlyArray<readonly [name: string, page: (url: string) => string]> = [
  ["as it is", (url) => `Cannot PATCH ${url}`],
  ["as its path", (url) => `<pre>Cannot PATCH ${new URL(url).pathname}</pre>`],
  ["in HTML", (url) => `Cannot PATCH ${url.replaceAll("/", "&#x2F;")}`],
  ["in JSON", (url) => JSON.stringify({ error: "NO", message: `Cannot PATCH ${url}` }).replaceAll("/", "\\/")],
  ["in broken JSON", (url) => `{"url":"${url.replaceAll("/", "\\u002F")}"`],
  ["percent-encoded", (url) => `at=${encodeURIComponent(url).toLowerCase()}`],
  ["as its id alone", (url) => `no upload ${url.slice(url.lastIndexOf("/") + 1)}`],
  ["cut off", (url) => `Cannot PATCH ${url.slice(0, -10)}`]
]

describe.each(pages)("An error page that repeats the upload URL %s", (_, page) => {
  it.effect.each([404, 409, 413, 403, 423, 460, 500, 429])(
    "does not bring it into the error or span of a %d",
    FetchHttpClient.layer,
    function* (status) {
      const { url } = yield* make(status, page)
      const { error, exported } = yield* traced(Tus.append(url, { offset: 0n, body: new Uint8Array(3) }))
      const text = shown(error) + shown(exported)
      for (const part of [id.slice(0, 12), id.slice(10, 22), "of~a"]) assert.notInclude(text, part)
      assert.strictEqual(exported.length, 1)
    }
  )
})

describe("The text of a server", () => {
  const message = (status: number, body: string) =>
    Effect.gen(function* () {
      const { url } = yield* make(status, () => body)
      const error = yield* Effect.flip(Tus.append(url, { offset: 0n, body: new Uint8Array(3) }))
      const where = `append at ${"host" in error ? error.host : ""}: `
      assert.strictEqual(error.message.slice(0, where.length), where)
      return error.message.slice(where.length)
    }).pipe(Effect.provide(FetchHttpClient.layer))

  it.effect.each([
    ['{"error":"NO_MORE","message":"no more uploads"}', "no more uploads"],
    ['{"error":"NO_MORE"}', "NO_MORE"],
    ['{"other":1}', '{"other":1}'],
    ["ERR_UPLOAD_STOPPED: no\n", "ERR_UPLOAD_STOPPED: no"],
    [" \n", "status 403 without an explanation"]
  ] as const)("of a 403 with the body %j: %s", function* ([body, text]) {
    assert.strictEqual(yield* message(403, body), text)
  })

  it.effect("is bounded and printable", function* () {
    const text = yield* message(500, `a\u001b[2J\nb${"z".repeat(7000)}`)
    assert.match(text, /^a\\x1b\[2J bz+…$/)
    assert.isAtMost(text.length, 1001)
  })

  it.effect("does not bring the Auth Secret into an error", FetchHttpClient.layer, function* () {
    const secret = "correct horse battery"
    const baseUrl = yield* Loopback.serve((_, response) => {
      response.writeHead(400).end(JSON.stringify({ error: "NO", message: `not signed with ${secret}` }))
    })
    const client = Emulated.signed({ baseUrl }, { key: "key", secret: Redacted.make(secret) })
    const error = yield* Effect.flip(Effect.provide(Assemblies.create({ steps: {} }), client))
    assert(error._tag === "ServiceFailure", error._tag)
    assert.strictEqual(error.description, "not signed with <redacted>")
  })

  it.effect("does not bring the URL of the Assembly into an error", FetchHttpClient.layer, function* () {
    const baseUrl = yield* Loopback.serve(async (request, response) => {
      for await (const _chunk of request);
      response.writeHead(403).end(`bad header ${String(request.headers["upload-metadata"])}`)
    })
    const target = yield* Scene.targetAt(baseUrl, assembly)
    const metadata = { filename: "a.txt", fieldname: "file" }
    const error = yield* Effect.flip(Tus.create(target, { _tag: "Fixed", length: 3n, metadata }))
    assert.include(error.message, "assembly_url <redacted>")
    assert.notInclude(error.message, btoa(baseUrl + assembly).slice(20, 40))
  })

  it.effect("does not bring the id of a part into an error", FetchHttpClient.layer, function* () {
    const { target, url } = yield* make(403, () => `no upload ${id}, nor ${id.slice(0, 20)}`)
    const metadata = { filename: "a.txt", fieldname: "file" }
    const error = yield* Effect.flip(Tus.create(target, { _tag: "Final", parts: [url, url], metadata }))
    assert.match(error.message, /^create at 127\.0\.0\.1:\d+: no upload <redacted>, nor <redacted>/)
  })

  it.effect("is read up to 8 KiB, of a body that does not end too", function* () {
    const { url } = yield* make(500, () => "")
    let pulled = 0
    const piece = Effect.sync(() => {
      pulled += 1024
      return new Uint8Array(1024).fill(0x78)
    })
    const page = Stream.toReadableStream(Stream.take(Stream.fromEffectRepeat(piece), 1024))
    const http = HttpClient.make((request) =>
      Effect.succeed(HttpClientResponse.fromWeb(request, new Response(page, { status: 500 })))
    )
    const error = yield* Tus.append(url, { offset: 0n, body: new Uint8Array(3) }).pipe(
      Effect.flip,
      Effect.provideService(HttpClient.HttpClient, http)
    )
    assert.strictEqual(error._tag, "ServerFailure")
    assert.isAtMost(pulled, 12 * 1024)
  })

  it.live("does not bring the URL into the reason of an event", FetchHttpClient.layer, function* () {
    const server = yield* ScriptedTus.make
    const page = () => ({ status: 500, body: `Cannot PATCH ${server.origin}/resumable/files/u0` })
    server.meet = ({ method }, go) => (method === "PATCH" && ScriptedTus.count(server, "PATCH") === 1 ? page() : go())
    const source = UploadSource.fromBytes(Scene.content(300_000))
    const events = yield* Stream.runCollect(Upload.events(server.target, source, Scene.options))
    const retrying = events.find(({ _tag }) => _tag === "Retrying")
    assert.deepInclude(retrying, {
      reason: `append at ${new URL(server.origin).host}: Cannot PATCH ${server.origin}/resumable/files/<redacted>`
    })
  })
})
