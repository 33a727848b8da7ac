import { Assemblies } from "@assembly-effect/api"
import { Emulator, Faults } from "@assembly-effect/emulator"
import { Duration, Effect, Fiber } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { begin, head, json, layer as layerEmulator, patch, send } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const { Fault } = Faults
const inject = (fault: Faults.Fault) => Faults.Faults.use((faults) => faults.inject(fault))
const get = (path: string) => send(HttpClientRequest.get(path))
const unknown = `/assemblies/${"0".repeat(32)}`

const ten = begin({ "upload-length": "10" })

layer(layerEmulator())("A fault", (it) => {
  it.effect("meets as many requests as it is to, on its route only", function* () {
    yield* inject(Fault.Refuse({ method: "GET", path: "/assemblies/:assemblyId", status: 503, times: 2 }))
    assert.strictEqual((yield* get("/elsewhere")).status, 404)
    assert.strictEqual((yield* send(HttpClientRequest.delete(unknown))).status, 404)
    const [first, second, third] = yield* Effect.all([get(unknown), get(unknown), get(unknown)])
    assert.deepStrictEqual([first?.status, second?.status, third?.status], [503, 503, 404])
    assert.deepInclude(json(first), { error: "INJECTED_FAULT", http_code: 503 })
  })

  it.effect("is met in the order of injection, and can be taken back", function* () {
    const faults = yield* Faults.Faults
    yield* inject(Fault.Refuse({ status: 502 }))
    yield* inject(Fault.Refuse({ status: 429, headers: { "retry-after": "7" }, body: "slow down" }))
    assert.strictEqual((yield* get(unknown)).status, 502)
    const limited = yield* get(unknown)
    assert.deepInclude({ ...limited, after: limited.headers["retry-after"] }, { text: "slow down", after: "7" })
    yield* inject(Fault.Refuse({ status: 500, times: Infinity }))
    assert.strictEqual((yield* get(unknown)).status, 500)
    yield* faults.clear
    assert.strictEqual((yield* get(unknown)).status, 404)
  })

  it.effect.each([{ path: "assemblies" }, { times: 0 }, { times: NaN }])(
    "a fault with %o is refused",
    function* (where) {
      const error = yield* Effect.flip(inject(Fault.Delay({ duration: 1, ...where })))
      assert.deepStrictEqual(
        error.issues.map(({ path }) => path),
        [Object.keys(where)]
      )
    }
  )

  it.effect("has the form of an error of its route", function* () {
    const { url } = yield* ten
    yield* inject(Fault.Refuse({ path: "/resumable/files/:uploadId", status: 500 }))
    const refused = yield* patch(url, 0, new Uint8Array(10))
    assert.strictEqual(refused.status, 500)
    assert.match(refused.text, /^ERR_INJECTED_FAULT: .+\n$/)
    assert.strictEqual(refused.headers["tus-resumable"], "1.0.0")
    assert.strictEqual((yield* head(url)).headers["upload-offset"], "0")
  })

  it.effect("can be that the answer is lost, though the work is done", function* () {
    const { url } = yield* ten
    yield* inject(Fault.LoseAnswer({ method: "PATCH" }))
    assert.strictEqual((yield* Effect.exit(patch(url, 0, new Uint8Array(4))))._tag, "Failure")
    assert.strictEqual((yield* head(url)).headers["upload-offset"], "4")
  })

  it.effect("can be half an answer", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    yield* inject(Fault.CutAnswer({ method: "GET", afterBytes: 5 }))
    const { host, port } = new URL(baseUrl)
    const answer = yield* Loopback.exchange(Number(port), `GET ${unknown} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    const [headers = "", body = ""] = answer.split("\r\n\r\n")
    assert.isAbove(Number(/content-length: (\d+)/i.exec(headers)?.[1]), 5)
    assert.strictEqual(body, '{"err')
    yield* inject(Fault.CutAnswer({ method: "GET", afterBytes: 5 }))
    assert.strictEqual((yield* Effect.exit(get(unknown)))._tag, "Failure")
  })

  it.effect("can be a wrong offset", function* () {
    const { url } = yield* ten
    yield* inject(Fault.MoveOffset({ method: "PATCH", by: 3 }))
    assert.strictEqual((yield* patch(url, 0, new Uint8Array(4))).headers["upload-offset"], "7")
    yield* inject(Fault.MoveOffset({ by: -9 }))
    assert.strictEqual((yield* head(url)).headers["upload-offset"], "0")
    assert.strictEqual((yield* head(url)).headers["upload-offset"], "4")
  })

  it.effect("can be an answer that comes while the body is still on its way", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const { url } = yield* ten
    yield* inject(Fault.RefuseEarly({ method: "PATCH", status: 413 }))
    const { host, pathname, port } = new URL(url)
    assert.strictEqual(new URL(baseUrl).host, host)
    // The client sends one of ten bytes. The emulator nevertheless responds, and closes the connection.
    const answer = yield* Loopback.exchange(
      Number(port),
      `PATCH ${pathname} HTTP/1.1\r\nhost: ${host}\r\ntus-resumable: 1.0.0\r\nupload-offset: 0\r\n` +
        "content-type: application/offset+octet-stream\r\ncontent-length: 10\r\n\r\nx"
    )
    assert.match(answer, /^HTTP\/1.1 413 /)
    assert.match(answer, /connection: close/i)
    assert.strictEqual((yield* head(url)).headers["upload-offset"], "0")
  })

  it.effect.each(["Delay", "FinishSlowly"] as const)("can be slow: %s", function* (kind) {
    const { id, url } = yield* ten
    yield* inject(Fault[kind]({ method: "PATCH", duration: "1 hour" }))
    const answering = yield* Effect.forkChild(patch(url, 0, new Uint8Array(10)))
    // Only `FinishSlowly` handles the request.
    if (kind === "FinishSlowly") {
      yield* Effect.repeat(Assemblies.get(id), { until: ({ ok }) => ok === "ASSEMBLY_COMPLETED" })
    }
    // No event tells that nothing happens, so other requests are answered meanwhile.
    yield* Effect.replicateEffect(Assemblies.get(id), 10)
    assert.isUndefined(answering.pollUnsafe())
    if (kind === "Delay") assert.strictEqual((yield* Assemblies.get(id)).ok, "ASSEMBLY_UPLOADING")
    yield* Fiber.interrupt(answering)

    const [elapsed] = yield* Effect.andThen(inject(Fault[kind]({ duration: "30 millis" })), Effect.timed(get(unknown)))
    assert.isAtLeast(Duration.toMillis(elapsed), 29)
  })
})
