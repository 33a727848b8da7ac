/**
 * What a caller of `AssemblyNode.layer` sees of a hostile server, over real sockets: the outcome, and the requests that
 * were sent. The tests of `api` and `tus` show more answers.
 */
import { Assemblies } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { DateTime, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import * as Hostile from "@assembly-effect/testkit/hostile/HostileServer"
import * as AssemblyNode from "../src/AssemblyNode.ts"
import { AsyncLocalStorage } from "node:async_hooks"
import { createHmac } from "node:crypto"

const secret = "a-secret-of-the-account"
const credentials = { key: "my-key", secret: Redacted.make(secret) }

/** The client of a program in Node. */
const at = (options: Omit<AssemblyNode.Options, "key" | "secret">) =>
  AssemblyNode.layer({ http: { proxy: "none" }, ...options, ...credentials })

const id = Assembly.AssemblyId.make("0".repeat(32))
const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })

const { json, reset, text } = Hostile
const found = json(200, { items: [], count: 0 })
const tus = { "tus-resumable": "1.0.0" }
const content = "the bytes of a small file"
const whole = String(content.length)
const created = text(201, "", { ...tus, location: "/resumable/files/a", "upload-offset": whole })
const noReceipt = json(200, { ok: "ASSEMBLY_UPLOADING", assembly_id: id, tus_uploads: [] })
const paused = text(503, "", { ...tus, "retry-after": "0" })
const long = text(201, "x".repeat(100_000), { ...tus, location: "/resumable/files/a", "upload-offset": whole })

/** The answers of a server, the outcome of an upload, and the methods of its requests. */
const uploads: ReadonlyArray<readonly [string, ReadonlyArray<Hostile.Answer>, tag: string, sent: string]> = [
  ["an upload within its creation", [created], "Success", "POST"],
  ["a dropped creation", [reset, noReceipt], "CreationUnknown", "POST GET GET GET GET GET"],
  ["503 with a pause for the creation, then a creation", [paused, created], "Success", "POST POST"],
  ["413 for the creation", [text(413, "ERR_MAX_SIZE_EXCEEDED: too large\n", tus)], "TooLarge", "POST"],
  ["a creation with a long body", [long], "Success", "POST"]
]

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
  it.live.each(uploads)("of %s: one outcome and its requests", function* ([, answers, tag, sent]) {
    const server = yield* Hostile.answering(...answers)
    const outcome = yield* Effect.provide(uploading(server.baseUrl), at({ baseUrl: server.baseUrl })).pipe(
      Effect.match({ onSuccess: () => "Success", onFailure: ({ _tag }) => _tag })
    )
    assert.deepStrictEqual([outcome, server.received.map(({ method }) => method).join(" ")], [tag, sent])
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
