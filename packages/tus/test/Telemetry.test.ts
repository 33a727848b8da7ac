/**
 * The spans and metrics of uploads, and that they give no access.
 */
import { Tus, UploadSource } from "@assembly-effect/tus"
import { Effect, Fiber, Metric, Stream, Tracer } from "effect"
import { assert, layer, Clients, type Fault, Scene, Spans, Tests, Upload } from "./utils/index.ts"
import { inspect } from "node:util"

/** An effect, and the spans and metrics that it leaves. */
const observed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { spans, tracer } = Spans.make()
    const registry = new Map()
    yield* effect.pipe(
      Effect.exit,
      Effect.provideService(Tracer.Tracer, tracer),
      Effect.provideService(Metric.MetricRegistry, registry)
    )
    const metrics = yield* Effect.provideService(Metric.snapshot, Metric.MetricRegistry, registry)
    const of = (id: string) => metrics.filter((metric) => metric.id === id)
    return { spans, of }
  })

const count = (metrics: ReadonlyArray<Metric.Metric.Snapshot>) =>
  metrics.map(({ attributes, state }) => [attributes?.["outcome"], "count" in state ? state.count : undefined])

layer(Clients.undici)("An upload", (it) => {
  const source = UploadSource.fromBytes(Scene.content(700_000))
  const lost: Fault = { _tag: "Status", method: "PATCH", status: 503 }

  it.effect("has a span, and one for each request, without anything that gives access", function* () {
    const { server, target } = yield* Scene.make([lost])
    const { spans } = yield* observed(Upload.run(target, source, Scene.options))
    const names = ["Upload", "Tus.create", "Tus.append", "Tus.offset", "Tus.append"]
    assert.deepStrictEqual(Tests.pluck(spans, "name"), names)
    const { hostname, port } = new URL(server.tusUrl)
    const at = { "server.address": hostname, "server.port": Number(port) }
    const code = { "assembly.error_code": "ERR_FAULT" }
    const refused = { "error.type": "ServerFailure", "http.response.status_code": 503, ...code }
    assert.deepStrictEqual(
      spans.slice(0, 3).map(({ attributes }) => Object.fromEntries(attributes)),
      [
        { "upload.source": "Replayable", "upload.size": 700_000, "upload.retries": 1 },
        { "http.request.method": "POST", "url.template": "/resumable/files/", ...at },
        { "http.request.method": "PATCH", "url.template": "/resumable/files/:id", ...at, ...refused }
      ]
    )
    const [upload, , , offset] = spans
    assert.strictEqual(offset?.kind, "client")
    for (const span of spans.slice(1)) {
      assert.strictEqual(span.parent._tag === "Some" ? span.parent.value.spanId : "", upload?.spanId)
    }
    const told = inspect(
      spans.map(({ attributes, status }) => [attributes, status]),
      { depth: Infinity }
    )
    for (const text of [server.created[0]?.id ?? "-", "a.bin"]) assert.notInclude(told, text)
  })

  it.effect("an upload without a tracer adds nothing to the span of its caller", function* () {
    const { target } = yield* Scene.make([lost])
    const program = Effect.andThen(Upload.run(target, source, Scene.options), Effect.currentSpan)
    const span = yield* Effect.withSpan(program, "caller")
    assert.deepStrictEqual([...span.attributes.keys()], [])
  })

  it.effect("counts what ended, its bytes, retries and time", function* () {
    const { target } = yield* Scene.make([lost])
    const { of } = yield* observed(Upload.run(target, source, Scene.options))
    assert.deepStrictEqual(count(of("assembly_uploads")), [["success", 1]])
    assert.deepStrictEqual(count(of("assembly_upload_bytes")), [[undefined, 700_000]])
    assert.deepStrictEqual(count(of("assembly_upload_retries")), [[undefined, 1]])
    assert.deepStrictEqual(count(of("assembly_upload_duration")), [["success", 1]])
    assert.deepStrictEqual(Tests.pluck(of("assembly_uploads_active"), "state"), [{ value: 0 }])

    const small = yield* observed(Upload.run(target, UploadSource.fromBytes(Scene.content(1000)), Scene.options))
    assert.deepStrictEqual(count(small.of("assembly_upload_bytes")), [[undefined, 1000]])
  })

  it.effect("that fails counts under the tag of its error", function* () {
    const { target } = yield* Scene.make([{ _tag: "Status", method: "POST", status: 403 }])
    const { of, spans } = yield* observed(Upload.run(target, source, Scene.options))
    assert.deepStrictEqual(count(of("assembly_uploads")), [["UploadRefused", 1]])
    assert.strictEqual(spans[0]?.attributes.get("error.type"), "UploadRefused")
  })

  it.effect("that is left counts as interrupted, and is not active any more", function* () {
    const { target } = yield* Scene.make()
    const endless = UploadSource.fromStream(Stream.concat(Stream.make(new Uint8Array(1)), Stream.never))
    const { of } = yield* observed(
      Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(Upload.run(target, endless, Scene.options))
        yield* Effect.yieldNow
        const metrics = yield* Metric.snapshot
        assert.deepStrictEqual(metrics.find(({ id }) => id === "assembly_uploads_active")?.state, { value: 1 })
        yield* Fiber.interrupt(fiber)
      })
    )
    assert.deepStrictEqual(count(of("assembly_uploads")), [["interrupted", 1]])
    assert.deepStrictEqual(Tests.pluck(of("assembly_uploads_active"), "state"), [{ value: 0 }])
  })

  it.effect("counts no bytes that an answer made up", function* () {
    const { server, target } = yield* Scene.make()
    const { url } = yield* Tus.create(target, { _tag: "Fixed", length: 3n, metadata: Scene.options.metadata })
    const headers = { "tus-resumable": "1.0.0", "upload-offset": "999" }
    server.faults.push({ _tag: "Status", method: "PATCH", status: 204, headers })
    const { of } = yield* observed(Tus.append(url, { offset: 0n, body: new Uint8Array(3) }))
    assert.deepStrictEqual(count(of("assembly_upload_bytes")), [])
  })
})
