/**
 * The whole job with a service that lies, sources that break, and options that cannot be: what becomes of the Assembly.
 */
import { DeliveryProof, UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Cause, Effect, Exit, Layer, Stream } from "effect"
import { assert, layer, AssemblyUpload, Clients, Emulated, Scene, ScriptedTus, Tests } from "./utils/index.ts"

const params = { steps: { ":original": { robot: "/upload/handle" } } }
const upload = { retryDelay: "1 millis", stallTimeout: "20 seconds", finishTimeout: "20 seconds" } as const
const wait = { interval: "10 millis", timeout: "20 seconds" } as const

type Status = Readonly<Record<string, unknown>>

/** A service whose Assemblies have this Status when they are created, and this state when they are canceled. */
const service = Effect.fnUntraced(function* (
  change: (status: Status) => Status = (status) => status,
  end = "CANCELED"
) {
  const server = yield* ScriptedTus.make
  const calls: Array<string> = []
  let ended: Status = {}
  let meetTus: ScriptedTus.Meet = (_, go) => go()
  server.meet = (request, go) => {
    const id = /^\/assemblies\/([a-f0-9]{32})$/.exec(request.path)?.[1]
    if (id === undefined) return meetTus(request, go)
    calls.push(request.method)
    const url = `${server.origin}/assemblies/${id}`
    const status = change({ assembly_id: id, assembly_ssl_url: url, tus_url: `${server.origin}/resumable/files` })
    const ok = request.method === "DELETE" ? `ASSEMBLY_${end}` : "ASSEMBLY_UPLOADING"
    return {
      status: 200,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...status, ok, ...ended })
    }
  }
  const client = Emulated.signed({ baseUrl: server.origin })
  const run = (options: Partial<AssemblyUpload.Options>) =>
    AssemblyUpload.events({ params, files: [file("a.bin", 10)], upload, wait, ...options }).pipe(
      Stream.runCollect,
      Effect.provide(client)
    )
  return {
    server,
    calls,
    client,
    run,
    tus: (meet: ScriptedTus.Meet) => (meetTus = meet),
    end: (status: Status) => (ended = status)
  }
})

const file = (filename: string, size: number): AssemblyUpload.File => ({
  source: UploadSource.fromBytes(Scene.content(size)),
  filename
})

const oneShot: AssemblyUpload.File = { source: UploadSource.fromStream(Stream.make(new Uint8Array(3))), filename: "s" }

/** A file whose source has a bug. */
const buggy: AssemblyUpload.File = {
  source: { ...UploadSource.fromBytes(Scene.content(10)), bytes: () => Stream.die(new Error("a bug")) },
  filename: "buggy.bin"
}

layer(Layer.merge(Clients.undici, UploadJournal.layerMemory()))("The Assembly of a whole job", (it) => {
  it.effect("is canceled where its Status names no place for uploads", function* () {
    const { calls, run, server } = yield* service((status) => ({ ...status, tus_url: null }))
    const error = yield* Effect.flip(run({}))
    assert.strictEqual(error._tag, "InvalidTarget")
    assert.strictEqual(error.message, "tus_url: missing from the Assembly status, or not a string")
    assert.deepStrictEqual(calls, ["POST", "GET", "DELETE"])
    assert.strictEqual(server.uploads.size, 0)
  })

  it.effect("is kept for the next run of a resumable job where its Status names no place for uploads", function* () {
    let isBroken = true
    const { calls, client, end, tus } = yield* service((status) => (isBroken ? { ...status, tus_url: null } : status))
    tus((_, go) => {
      end({ ok: "ASSEMBLY_COMPLETED" })
      return go()
    })
    const files = [{ source: UploadSource.fromBytes(Scene.content(10)), filename: "a.bin" }]
    const run = AssemblyUpload.journaled.run({ params, files, upload, wait }).pipe(Effect.provide(client))
    assert.strictEqual((yield* Effect.flip(run))._tag, "InvalidTarget")
    isBroken = false
    assert.strictEqual((yield* run).ok, "ASSEMBLY_COMPLETED")
    assert.strictEqual(calls.filter((method) => method === "POST").length, 1)
    assert.notInclude(calls, "DELETE")
  })

  it.effect("is canceled where two files would be one upload", function* () {
    const { run, server, tus } = yield* service()
    tus(({ method }, go) =>
      method === "POST" ? ScriptedTus.withHeaders(go(), { location: "/resumable/files/u0" }) : go()
    )
    const error = yield* Effect.flip(run({ files: [file("a.bin", 10), file("b.bin", 10)], concurrency: 1 }))
    assert.deepInclude(error, { _tag: "FilesFailed", assembly: "canceled" })
    assert.match(error.message, /b\.bin: .*two files have the same Location/)
    assert.isAtMost(server.uploads.size, 2)
  })

  it.effect("tells its own error where it ends while files are uploaded, and is not canceled", function* () {
    const { calls, end, run, tus } = yield* service()
    tus((request, go) => {
      if (request.method !== "PATCH") return go()
      end({ error: "ASSEMBLY_STEP_UNKNOWN_ROBOT", message: "no such robot" })
      return { status: 403, headers: {}, body: "the Assembly takes no more uploads" }
    })
    const error = yield* Effect.flip(run({ files: [file("a.bin", 600_000), file("b.bin", 600_000)] }))
    assert.deepInclude(error, { _tag: "AssemblyFailed", code: "ASSEMBLY_STEP_UNKNOWN_ROBOT" })
    assert.deepStrictEqual(calls, ["POST", "GET"])
  })

  it.effect.each([{}, { assembly_id: "1".repeat(32) }])(
    "gets no file where its Status, with %j, authorizes uploads into another",
    function* (more) {
      const { run, server } = yield* service((status) => ({
        ...status,
        ...more,
        assembly_ssl_url: `${String(status["assembly_ssl_url"]).slice(0, -32)}${"1".repeat(32)}`
      }))
      assert.include(["InvalidTarget", "UnexpectedResponse"], (yield* Effect.flip(run({})))._tag)
      assert.strictEqual(server.uploads.size, 0)
    }
  )

  it.effect.each(["cancel", "keep"] as const)(
    "is canceled after a defect in a source, which stays a defect (%s)",
    function* (onFailure) {
      const { calls, run } = yield* service()
      const exit = yield* Effect.exit(run({ files: [file("a.bin", 10), buggy], onFailure }))
      assert.isTrue(Exit.hasDies(exit))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "a bug")
      assert.strictEqual(calls.at(-1), "DELETE")
    }
  )

  for (const [counted, assembly, outcome] of [
    ["17", "kept", "Completed"],
    ["900000", "canceled", "Stopped"]
  ] as const) {
    it.effect(`is ${assembly} if the server counted ${counted} of 600,000 bytes (keep)`, function* () {
      const { calls, run, tus } = yield* service()
      let wrong: string | undefined
      tus((request, go) => {
        const answer = go()
        if (request.method === "PATCH") wrong ??= request.path
        if (request.path !== wrong) return answer
        return ScriptedTus.withHeaders(answer, { "upload-offset": request.method === "PATCH" ? counted : "17" })
      })
      const error = yield* Effect.flip(
        run({ files: [file("a.bin", 600_000), file("b.bin", 10)], concurrency: 1, onFailure: "keep" })
      )
      assert(error._tag === "FilesFailed", error._tag)
      assert.strictEqual(error.assembly, assembly)
      assert.deepStrictEqual(Tests.pluck(error.files, "outcome"), ["Failed", outcome])
      assert.strictEqual(calls.includes("DELETE"), assembly === "canceled")
      assert.match(error.message, /the server 127\.0\.0\.1:\d+ may have stored wrong bytes|upload-offset/)
    })
  }

  it.effect("is told as canceled only where it is", function* () {
    for (const [end, assembly] of [
      ["CANCELED", "canceled"],
      ["COMPLETED", "not canceled"]
    ] as const) {
      const { run, tus } = yield* service(undefined, end)
      tus((request, go) => (request.method === "POST" ? { status: 403 } : go()))
      assert.deepInclude(yield* Effect.flip(run({})), { _tag: "FilesFailed", assembly })
    }
  })

  const whole = file("a", 1)
  it.effect.each([
    ["files", { files: [] }],
    ...[5, null, "cat.jpg"].map((files) => ["files", { files: files as never }] as const),
    ["files.0", { files: [null as never] }],
    ...[undefined, null, {}, "cat.jpg", new Uint8Array(1), { _tag: "Replayable" }, Effect.succeed("cat.jpg")].map(
      (source) => ["files.0.source", { files: [{ ...whole, source: source as never }] }] as const
    ),
    ["files.0.filename", { files: [file("", 1)] }],
    ["files.0.fieldname", { files: [{ ...whole, fieldname: "" }] }],
    ["files.1.metadata.a b", { files: [whole, { ...file("b", 1), metadata: { "a b": "c" } }] }],
    ["files.0.metadata.assembly_url", { files: [{ ...whole, metadata: { assembly_url: "x" } }] }],
    ["files.0.metadata.upload_marker", { files: [{ ...whole, metadata: { upload_marker: "x" } }] }],
    ["files.1.parallel", { files: [whole, oneShot], upload: { parallel: 2 } }],
    ["progressInterval", { progressInterval: "-1 seconds" }],
    ["concurrency", { concurrency: 0 }],
    ["concurrency", { concurrency: NaN }],
    ["concurrency", { concurrency: 1.5 }],
    ["upload.chunkSize", { upload: { chunkSize: 0 } }],
    ["verify", { verify: DeliveryProof.md5, wait: false }],
    ["verify", { verify: "md5" as never }],
    ["wait.interval", { wait: { interval: -1 } }],
    ["wait.maxInterval", { wait: { maxInterval: NaN } }],
    ["wait.maxWait", { wait: { maxWait: 0 } }],
    ["wait.timeout", { wait: { timeout: "-1 seconds" } }]
  ] satisfies ReadonlyArray<readonly [string, Partial<AssemblyUpload.Options>]>)(
    "is not created with option %#, a wrong %s",
    function* ([path, options]) {
      const { run, server } = yield* service()
      const error = yield* Effect.flip(run(options))
      assert(error._tag === "InvalidRequest", error._tag)
      assert.deepStrictEqual(Tests.pathsOf(error), [path])
      assert.include(error.message, "Expected")
      assert.deepStrictEqual(server.requests, [])
    }
  )
})
