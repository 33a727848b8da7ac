/**
 * What a caller sees of a hostile server, over real sockets and with two HTTP clients: the tag, the code and the status
 * of each outcome, and the requests that were sent. Whatever the way from a call to its answer is, it keeps this table.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { AssetId } from "@assembly-effect/schema/Identifier"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Hostile from "@assembly-effect/testkit/hostile/HostileServer"
import * as AssemblyNode from "../src/AssemblyNode.ts"
import { AsyncLocalStorage } from "node:async_hooks"
import { createHmac } from "node:crypto"

const secret = "a-secret-of-the-account"
const credentials = { key: "my-key", secret: Redacted.make(secret) }

type Services = AssemblyClient.AssemblyClient | HttpClient.HttpClient

const clients: ReadonlyArray<readonly [string, (options: AssemblyClient.Options) => Layer.Layer<Services>]> = [
  ["undici", (options) => Layer.orDie(AssemblyNode.layer({ ...options, ...credentials, http: { proxy: "none" } }))],
  [
    "fetch",
    (options) =>
      AssemblyClient.layer(options).pipe(
        Layer.provide(Authenticator.layerSigned()),
        Layer.provide(Credentials.layer(credentials)),
        Layer.provideMerge(FetchHttpClient.layer),
        Layer.orDie
      )
  ]
]

interface Outcome {
  readonly tag: string
  readonly code?: string
  readonly status?: number
  /** The methods of the requests that the server received. */
  readonly sent: string
}

interface Scenario {
  readonly answers: ReadonlyArray<Hostile.Answer>
  readonly run: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }, Services>
  readonly outcome: Outcome
  /** The outcome with `fetch`, if it differs. */
  readonly fetch?: Outcome
  readonly options?: Partial<AssemblyClient.Options>
}

const id = Assembly.AssemblyId.make("0".repeat(32))
const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })
const move = Dam.move(AssetId.make("abcdefghijklmnopqrstuA"), { filename: "a.txt" })
const create = Assemblies.create({ assemblyId: id, steps: { ":original": { robot: "/upload/handle" } } })

const { cut, endless, json, reset, silence, text } = Hostile
const found = json(200, { items: [], count: 0 })
const moved = json(200, {
  ok: "DAM_ASSET_MOVED",
  message: "moved",
  asset: {
    asset_id: "abcdefghijklmnopqrstuA",
    version_id: "abcdefghijklmnopqrstuA",
    workspace: "w",
    path: "a.txt",
    mime: null,
    size: 1
  },
  asset_id: "abcdefghijklmnopqrstuA",
  folder_id: null,
  filename: "a.txt",
  path: "a.txt",
  deleted_at: null,
  updated_at: "2026-01-01T00:00:00Z"
})
const nested = (levels: number) => `${'{"a":['.repeat(levels)}1${"]}".repeat(levels)}`
const limited = (status: number, retryIn: number) =>
  json(status, { error: "RATE_LIMIT_REACHED", http_code: status, info: { retryIn } })
const garbage: Hostile.Answer = (_, response) => response.socket?.end("this is no HTTP\r\n\r\n")
const echo: Hostile.Answer = ({ query }, response) =>
  text(400, `bad request ${query.get("params")} ${query.get("signature")} ${secret} ${btoa(secret)}`)(
    undefined,
    response
  )
const expired = json(400, { error: "AUTH_EXPIRED" }, { date: "Thu, 01 Jan 2026 00:00:00 GMT" })

const operations: Readonly<Record<string, Scenario>> = {
  "a list": { answers: [found], run: list, outcome: { tag: "Success", sent: "GET" } },
  "429, then a list": { answers: [limited(429, 0), found], run: list, outcome: { tag: "Success", sent: "GET GET" } },
  "429 for two hours": {
    answers: [limited(429, 7200)],
    run: list,
    outcome: { tag: "RateLimited", code: "RATE_LIMIT_REACHED", status: 429, sent: "GET" }
  },
  "413 as a limit for two hours": {
    answers: [limited(413, 7200)],
    run: list,
    outcome: { tag: "RateLimited", code: "RATE_LIMIT_REACHED", status: 413, sent: "GET" }
  },
  "500 with an error object": {
    answers: [json(500, { error: "SERVER_500" })],
    run: list,
    outcome: { tag: "ServiceFailure", code: "SERVER_500", status: 500, sent: "GET" }
  },
  "the error of the operation": {
    answers: [json(400, { error: "ASSEMBLY_LIST_ERROR", http_code: 400 })],
    run: list,
    outcome: { tag: "AssemblyListFailed", code: "ASSEMBLY_LIST_ERROR", status: 400, sent: "GET" }
  },
  "a wrong signature": {
    answers: [json(400, { error: "INVALID_SIGNATURE" })],
    run: list,
    outcome: { tag: "AuthenticationFailed", code: "INVALID_SIGNATURE", status: 400, sent: "GET" }
  },
  "HTML with 502, each time": {
    answers: [text(502, "<html>bad gateway</html>")],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 502, sent: "GET GET GET" }
  },
  "HTML with 200": {
    answers: [text(200, "<html>sign in</html>")],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 200, sent: "GET" }
  },
  "half of a JSON text with 200": {
    answers: [text(200, '{"items":[')],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 200, sent: "GET" }
  },
  "JSON of 1,000 levels": {
    answers: [text(200, nested(500))],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 200, sent: "GET" }
  },
  "a list of the wrong shape": {
    answers: [json(200, { items: [{ id: 1 }] })],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 200, sent: "GET" }
  },
  "text that is no UTF-8": {
    answers: [text(200, Uint8Array.of(0x7b, 0xff, 0x7d))],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 200, sent: "GET" }
  },
  "an endless body": {
    answers: [endless(200)],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 200, sent: "GET" },
    options: { maxResponseBytes: 100_000 }
  },
  "an endless body of an error": {
    answers: [endless(403)],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 403, sent: "GET" },
    options: { maxResponseBytes: 100_000 }
  },
  "a redirect": {
    answers: [text(302, "", { location: "/elsewhere" })],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 302, sent: "GET" }
  },
  "a list that is cut, each time": {
    answers: [cut(200, JSON.stringify({ items: [], count: 0 }))],
    run: list,
    outcome: { tag: "TransportFailure", code: "UND_ERR_SOCKET", sent: "GET GET GET" }
  },
  "an error that is cut": {
    answers: [cut(403, JSON.stringify({ error: "INSUFFICIENT_AUTH_SCOPE", message: "x".repeat(100) }))],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 403, sent: "GET" }
  },
  "a connection that is dropped, then a list": {
    answers: [reset, found],
    run: list,
    outcome: { tag: "Success", sent: "GET GET" }
  },
  "a connection that is dropped, each time": {
    answers: [reset],
    run: list,
    outcome: { tag: "TransportFailure", code: "UND_ERR_SOCKET", sent: "GET GET GET" }
  },
  "no answer at all": {
    answers: [silence],
    run: Effect.provide(list, RetryPolicy.layerNone),
    outcome: { tag: "TimedOut", sent: "GET" },
    options: { requestTimeout: "200 millis" }
  },
  "204 without a body": {
    answers: [(_, response) => void response.writeHead(204).end()],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 204, sent: "GET" }
  },
  "an answer that is no HTTP": {
    answers: [garbage],
    run: list,
    outcome: { tag: "TransportFailure", code: "HPE_INVALID_CONSTANT", sent: "GET GET GET" }
  },
  "its own query as text": {
    answers: [echo],
    run: list,
    outcome: { tag: "UnexpectedResponse", status: 400, sent: "GET" }
  },
  "503, then a list": { answers: [text(503, ""), found], run: list, outcome: { tag: "Success", sent: "GET GET" } },
  "an expired signature, each time": {
    answers: [expired],
    run: list,
    outcome: { tag: "AuthenticationFailed", code: "AUTH_EXPIRED", status: 400, sent: "GET" }
  },
  "JSON as text/plain": {
    answers: [text(200, '{"items":[],"count":0}', { "content-type": "text/plain" })],
    run: list,
    outcome: { tag: "Success", sent: "GET" }
  },
  "an error under status 200": {
    answers: [json(200, { error: "ASSEMBLY_LIST_ERROR" })],
    run: list,
    outcome: { tag: "AssemblyListFailed", code: "ASSEMBLY_LIST_ERROR", status: 200, sent: "GET" }
  },
  "an invalid input": {
    answers: [found],
    run: Assemblies.list({ fromDate: DateTime.makeUnsafe(0), pageSize: 0 }),
    outcome: { tag: "InvalidRequest", sent: "" }
  },
  "DAM_MUTATION_FAILED, then a move": {
    answers: [json(500, { error: "DAM_MUTATION_FAILED" }), moved],
    run: move,
    outcome: { tag: "Success", sent: "PATCH PATCH" }
  },
  "a move whose answer is cut": {
    answers: [cut(200, "{}"), moved],
    run: move,
    outcome: { tag: "TransportFailure", code: "UND_ERR_SOCKET", sent: "PATCH" }
  },
  "a creation whose answer is lost": {
    answers: [reset, json(200, { ok: "ASSEMBLY_COMPLETED", assembly_id: id })],
    run: create,
    outcome: { tag: "Success", sent: "POST GET" }
  },
  "the Status of another Assembly": {
    answers: [json(200, { ok: "ASSEMBLY_COMPLETED", assembly_id: "1".repeat(32) })],
    run: Assemblies.get(id),
    outcome: { tag: "UnexpectedResponse", status: 200, sent: "GET" }
  }
}

const tus = { "tus-resumable": "1.0.0" }
const content = "the bytes of a small file"
const upload = (options: object = {}, metadata: Record<string, string> = {}) => ({
  options: { metadata: { filename: "a.txt", fieldname: "file", ...metadata }, maxRetries: 2, retryDelay: 0, ...options }
})
const whole = String(content.length)
const created = text(201, "", { ...tus, location: "/resumable/files/a", "upload-offset": whole })
const at = (offset: number): Hostile.Answer =>
  text(200, "", { ...tus, "upload-offset": String(offset), "upload-length": whole })
const noReceipt = json(200, { ok: "ASSEMBLY_UPLOADING", assembly_id: id, tus_uploads: [] })
const patched = text(204, "", { ...tus, "upload-offset": whole })

const uploads: Readonly<Record<string, Omit<Scenario, "run"> & Partial<ReturnType<typeof upload>>>> = {
  "an upload within its creation": { answers: [created], outcome: { tag: "Success", sent: "POST" } },
  "a creation that stored nothing": {
    answers: [text(201, "", { ...tus, location: "/resumable/files/a", "upload-offset": "0" }), patched],
    outcome: { tag: "Success", sent: "POST PATCH" }
  },
  "a creation without an offset": {
    answers: [text(201, "", { ...tus, location: "/resumable/files/a" }), at(content.length)],
    outcome: { tag: "Success", sent: "POST HEAD HEAD" }
  },
  "a creation with an offset beyond the end": {
    answers: [text(201, "", { ...tus, location: "/resumable/files/a", "upload-offset": "99" }), at(99)],
    outcome: { tag: "UploadUntrusted", sent: "POST HEAD" }
  },
  "a location at another host": {
    answers: [text(201, "", { ...tus, location: "https://evil.example/resumable/files/a", "upload-offset": whole })],
    outcome: { tag: "UnsafeLocation", sent: "POST" }
  },
  "500 for the creation": {
    answers: [text(500, "no", tus), noReceipt],
    outcome: { tag: "CreationUnknown", sent: "POST GET GET GET GET GET" }
  },
  "413 for the creation": {
    answers: [text(413, "ERR_MAX_SIZE_EXCEEDED: too large\n", tus)],
    outcome: { tag: "TooLarge", code: "ERR_MAX_SIZE_EXCEEDED", status: 413, sent: "POST" }
  },
  "429 for the creation, then a creation": {
    answers: [text(429, "", { ...tus, "retry-after": "0" }), created],
    outcome: { tag: "Success", sent: "POST POST" }
  },
  "503 with a pause for the creation, then a creation": {
    answers: [text(503, "", { ...tus, "retry-after": "0" }), created],
    outcome: { tag: "Success", sent: "POST POST" }
  },
  "a dropped creation": {
    answers: [reset, noReceipt],
    outcome: { tag: "CreationUnknown", sent: "POST GET GET GET GET GET" }
  },
  "a creation without tus-resumable": {
    answers: [text(201, "", { location: "/resumable/files/a", "upload-offset": whole }), noReceipt],
    outcome: { tag: "CreationUnknown", sent: "POST GET GET GET GET GET" }
  },
  "a creation with a long body": {
    answers: [text(201, "x".repeat(100_000), { ...tus, location: "/resumable/files/a", "upload-offset": whole })],
    outcome: { tag: "Success", sent: "POST" }
  },
  "a reserved metadata key": {
    ...upload({}, { upload_marker: "a" }),
    answers: [created],
    outcome: { tag: "InvalidRequest", sent: "" }
  },
  "a metadata key with a space": {
    ...upload({}, { "a b": "a" }),
    answers: [created],
    outcome: { tag: "InvalidRequest", sent: "" }
  },
  "a chunkSize of 0": {
    ...upload({ chunkSize: 0 }),
    answers: [created],
    outcome: { tag: "InvalidRequest", sent: "" }
  },
  "a parallel of 0": { ...upload({ parallel: 0 }), answers: [created], outcome: { tag: "InvalidRequest", sent: "" } }
}

const uploading = (baseUrl: string, { options } = upload()) =>
  Effect.gen(function* () {
    const target = yield* UploadTarget.make({
      tusUrl: `${baseUrl}/resumable/files`,
      assemblySslUrl: `${baseUrl}/assemblies/${id}`
    })
    return yield* Upload.run(target, UploadSource.fromBytes(new TextEncoder().encode(content)), options)
  }).pipe(Effect.provide(Upload.layer))

const policy = RetryPolicy.make({ retries: 2, base: "1 millis", maxPause: "1 millis" })

describe.each(clients)("with %s, a caller sees", (client, layer) => {
  const check = (
    { answers, fetch, options, outcome }: Omit<Scenario, "run">,
    program: (baseUrl: string) => Scenario["run"],
    retries: RetryPolicy.Policy | undefined
  ) =>
    Effect.gen(function* () {
      const server = yield* Hostile.make
      server.script(...answers)
      const error = yield* Effect.provide(program(server.baseUrl), layer({ baseUrl: server.baseUrl, ...options })).pipe(
        Effect.provideService(RetryPolicy.RetryPolicy, retries),
        Effect.match({ onSuccess: () => undefined, onFailure: (failure) => failure })
      )
      const { code, status } = { code: undefined, status: undefined, ...error }
      const seen: Outcome = {
        tag: error?._tag ?? "Success",
        ...(code === undefined ? {} : { code: code as string }),
        ...(status === undefined ? {} : { status: status as number }),
        sent: server.received.map(({ method }) => method).join(" ")
      }
      assert.deepStrictEqual(seen, client === "fetch" ? (fetch ?? outcome) : outcome)
      const signature = server.received[0]?.query.get("signature") ?? secret
      for (const hidden of [secret, btoa(secret), signature, signature.slice("sha384:".length)]) {
        assert.notInclude(`${error?.message} ${JSON.stringify(error)}`, hidden)
      }
    }).pipe(Effect.scoped)

  it.live.each(Object.entries(operations))("of %s: one outcome and its requests", ([, scenario]) =>
    check(scenario, () => scenario.run, policy)
  )

  it.live.each(Object.entries(uploads))("of %s: one outcome and its requests", ([, scenario]) =>
    check(scenario, (baseUrl) => uploading(baseUrl, upload(scenario.options)), undefined)
  )

  it.live("an interruption that closes the socket", function* () {
    const server = yield* Hostile.make
    const arrived = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    server.script((_, response) => {
      response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      Deferred.doneUnsafe(arrived, Effect.void)
    })
    const fiber = yield* Effect.forkChild(Effect.provide(list, layer({ baseUrl: server.baseUrl })))
    yield* Deferred.await(arrived)
    yield* Fiber.interrupt(fiber)
    yield* Deferred.await(closed)
    assert.strictEqual(server.received.length, 1)
  })

  it.live("early hints, then a list: the list, and the caller's AsyncLocalStorage", function* () {
    const server = yield* Hostile.make
    server.script((_, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" })
      found(undefined, response)
    })
    const storage = new AsyncLocalStorage<string>()
    const context = yield* Layer.build(layer({ baseUrl: server.baseUrl }))
    const program = Effect.map(Effect.provideContext(list, context), () => storage.getStore())
    assert.strictEqual(yield* Effect.promise(() => storage.run("mine", () => Effect.runPromise(program))), "mine")
  })

  it.live("params of any text: exactly the signed text arrives", function* () {
    const server = yield* Hostile.make
    server.script(found)
    const keywords = ["it's a+b &c=é😀 %41;\u0000"]
    const call = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z"), keywords })
    yield* Effect.provide(call, layer({ baseUrl: `${server.baseUrl}/a%20b//` }))
    const query = server.received[0]?.query ?? new URLSearchParams()
    const params = query.get("params") ?? "{}"
    assert.deepStrictEqual(JSON.parse(params).keywords, keywords)
    assert.strictEqual(query.get("signature"), `sha384:${createHmac("sha384", secret).update(params).digest("hex")}`)
  })
})

describe("one connection", () => {
  it.live("a request that is interrupted in its queue: it is never sent, and the next one is", function* () {
    const server = yield* Hostile.make
    const arrived = yield* Deferred.make<void>()
    server.script(() => Deferred.doneUnsafe(arrived, Effect.void), found)
    const http = { proxy: "none", connections: 1 } as const
    const context = yield* Layer.build(AssemblyNode.layer({ baseUrl: server.baseUrl, ...credentials, http }))
    const call = Effect.provideContext(list, context)
    const first = yield* Effect.forkChild(call)
    yield* Deferred.await(arrived)
    const queued = yield* Effect.forkChild(call, { startImmediately: true })
    yield* Fiber.interrupt(queued)
    yield* Fiber.interrupt(first)
    yield* call
    assert.strictEqual(server.received.length, 2)
  })
})
