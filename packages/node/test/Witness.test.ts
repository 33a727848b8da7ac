/**
 * What a caller of `AssemblyNode.layer` sees of a hostile server, over real sockets: the tag, the code and the status of
 * each outcome, and the requests that were sent. The tests of `api` show the same of operations.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Hostile from "@assembly-effect/testkit/hostile/HostileServer"
import * as AssemblyNode from "../src/AssemblyNode.ts"
import { AsyncLocalStorage } from "node:async_hooks"
import { createHmac } from "node:crypto"

const secret = "a-secret-of-the-account"
const credentials = { key: "my-key", secret: Redacted.make(secret) }

/** The client of a program in Node. */
const at = (options: Omit<AssemblyNode.Options, "key" | "secret">) =>
  AssemblyNode.layer({ http: { proxy: "none" }, ...options, ...credentials })

interface Scenario {
  readonly answers: ReadonlyArray<Hostile.Answer>
  readonly outcome: {
    readonly tag: string
    readonly code?: string
    readonly status?: number
    /** The methods of the requests that the server received. */
    readonly sent: string
  }
}

const id = Assembly.AssemblyId.make("0".repeat(32))
const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })

const { json, reset, text } = Hostile
const found = json(200, { items: [], count: 0 })
const tus = { "tus-resumable": "1.0.0" }
const content = "the bytes of a small file"
const whole = String(content.length)
const created = text(201, "", { ...tus, location: "/resumable/files/a", "upload-offset": whole })
const stored = (offset: number): Hostile.Answer =>
  text(200, "", { ...tus, "upload-offset": String(offset), "upload-length": whole })
const noReceipt = json(200, { ok: "ASSEMBLY_UPLOADING", assembly_id: id, tus_uploads: [] })
const patched = text(204, "", { ...tus, "upload-offset": whole })

const uploads: Readonly<Record<string, Scenario>> = {
  "an upload within its creation": { answers: [created], outcome: { tag: "Success", sent: "POST" } },
  "a creation that stored nothing": {
    answers: [text(201, "", { ...tus, location: "/resumable/files/a", "upload-offset": "0" }), patched],
    outcome: { tag: "Success", sent: "POST PATCH" }
  },
  "a creation without an offset": {
    answers: [text(201, "", { ...tus, location: "/resumable/files/a" }), stored(content.length)],
    outcome: { tag: "Success", sent: "POST HEAD HEAD" }
  },
  "a creation with an offset beyond the end": {
    answers: [text(201, "", { ...tus, location: "/resumable/files/a", "upload-offset": "99" }), stored(99)],
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
  }
}

const uploading = Effect.fnUntraced(function* (baseUrl: string) {
  const target = yield* UploadTarget.make({
    tusUrl: `${baseUrl}/resumable/files`,
    assemblySslUrl: `${baseUrl}/assemblies/${id}`
  })
  const metadata = { filename: "a.txt", fieldname: "file" }
  const source = UploadSource.fromBytes(new TextEncoder().encode(content))
  return yield* Upload.run(target, source, { metadata, maxRetries: 2, retryDelay: 0 })
})

describe("A caller sees", () => {
  it.live.each(Object.entries(uploads))("of %s: one outcome and its requests", function* ([, { answers, outcome }]) {
    const server = yield* Hostile.answering(...answers)
    const error = yield* Effect.provide(uploading(server.baseUrl), at({ baseUrl: server.baseUrl })).pipe(
      Effect.match({ onSuccess: () => undefined, onFailure: (failure) => failure })
    )
    const { code, status } = { code: undefined, status: undefined, ...error }
    const seen: Scenario["outcome"] = {
      tag: error?._tag ?? "Success",
      ...(code === undefined ? {} : { code: code as string }),
      ...(status === undefined ? {} : { status: status as number }),
      sent: server.received.map(({ method }) => method).join(" ")
    }
    assert.deepStrictEqual(seen, outcome)
  })

  it.live("of an answer that is no HTTP: TransportFailure with the code of the parser", function* () {
    const server = yield* Hostile.answering((_, response) => void response.socket?.end("this is no HTTP\r\n\r\n"))
    const error = yield* Effect.flip(Effect.provide(list, at({ baseUrl: server.baseUrl }))).pipe(
      Effect.provide(RetryPolicy.layerNone)
    )
    assert.deepInclude(error, { _tag: "TransportFailure", code: "HPE_INVALID_CONSTANT" })
  })

  it.live("an interruption that closes the socket", function* () {
    const server = yield* Hostile.make
    const arrived = yield* Deferred.make<void>()
    const closed = yield* Deferred.make<void>()
    server.script((_, response) => {
      response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      Deferred.doneUnsafe(arrived, Effect.void)
    })
    const fiber = yield* Effect.forkChild(Effect.provide(list, at({ baseUrl: server.baseUrl })))
    yield* Deferred.await(arrived)
    yield* Fiber.interrupt(fiber)
    yield* Deferred.await(closed)
    assert.strictEqual(server.received.length, 1)
  })

  it.live("early hints, then a list: the list, and the caller's AsyncLocalStorage", function* () {
    const server = yield* Hostile.answering((_, response) => {
      response.writeEarlyHints({ link: "</style.css>; rel=preload" })
      found(undefined, response)
    })
    const storage = new AsyncLocalStorage<string>()
    const context = yield* Layer.build(at({ baseUrl: server.baseUrl }))
    const program = Effect.map(Effect.provideContext(list, context), () => storage.getStore())
    assert.strictEqual(yield* Effect.promise(() => storage.run("mine", () => Effect.runPromise(program))), "mine")
  })

  it.live("params of any text: exactly the signed text arrives", function* () {
    const server = yield* Hostile.answering(found)
    const keywords = ["it's a+b &c=é😀 %41;\u0000"]
    const call = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z"), keywords })
    yield* Effect.provide(call, at({ baseUrl: `${server.baseUrl}/a%20b//` }))
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
    const context = yield* Layer.build(at({ baseUrl: server.baseUrl, http: { proxy: "none", connections: 1 } }))
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
