import { Assemblies } from "@assembly-effect/api"
import * as Results from "@assembly-effect/api/Results"
import { Emulator, Faults } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { DeliveryProof, UploadJournal, UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { createHash } from "node:crypto"
import { assert, effect, layer, AssemblyUpload, Clients, Draw, Emulated, Scene, Tests } from "./utils/index.ts"

const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest("hex")

const params = {
  steps: {
    ":original": { robot: "/upload/handle" },
    stored: { use: ":original", robot: "/transloadit/store", path: "${assembly.id}/${file.name}" }
  }
}
const upload = { retryDelay: "1 millis", maxRetries: 3 } as const
const wait = { interval: "10 millis", timeout: "20 seconds" } as const
const verify = DeliveryProof.md5

for (const [name, http] of Object.entries({ undici: Clients.undici, fetch: FetchHttpClient.layer })) {
  const platform = Layer.mergeAll(Emulator.layer(), http, NodeFileSystem.layer)

  layer(Layer.provideMerge(Emulated.client, platform))(`verify with ${name}`, (it) => {
    it.effect("accepts files of every kind, and their results have the same SHA-256", function* () {
      const status = yield* AssemblyUpload.run({
        params,
        files: [
          UploadSource.fromBytes(Scene.content(700_000)),
          yield* Draw.file(Scene.content(900_000)),
          UploadSource.fromStream(Scene.pieces(Scene.content(500_000), 1000)),
          UploadSource.fromBlob(new Blob([Scene.content(300_000)])),
          UploadSource.fromBytes(new Uint8Array(0)),
          UploadSource.fromBytes(Scene.content(10))
        ].map((source, index) => ({ source, filename: `${index}`, fieldname: `field ${index}` })),
        upload,
        wait,
        verify
      })
      const sizes: Array<number> = []
      for (const file of Results.of(status).get("stored") ?? []) {
        const read = Buffer.concat(yield* Stream.runCollect(Results.download(file)))
        sizes[Number(file.name)] = read.length
        assert.strictEqual(hash("sha256", read), hash("sha256", Scene.content(read.length)), file.name ?? "")
      }
      assert.deepStrictEqual(sizes, [700_000, 900_000, 500_000, 300_000, 0, 10])
    })

    it.effect("accepts files of the same name, parallel parts, and a connection that breaks", function* () {
      const faults = yield* Faults.Faults
      yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 200_000, times: 2 }))
      const one = (size: number) => ({ source: UploadSource.fromBytes(Scene.content(size)), filename: "same" })
      yield* AssemblyUpload.run({ params, files: [one(600_000), one(700_000), one(600_000)], upload, wait, verify })
      yield* AssemblyUpload.run({ params, files: [one(800_000)], upload: { ...upload, parallel: 3 }, wait, verify })
    })

    it.effect("fails if the Status says other bytes than those that were read", function* () {
      const faults = yield* Faults.Faults
      const assemblyId = yield* Assemblies.newId
      const size = 900_000
      const damaged = { name: "damaged.bin", field: "file", size, md5hash: "0".repeat(32) }
      const body = JSON.stringify({ ok: "ASSEMBLY_COMPLETED", assembly_id: assemblyId, uploads: [damaged] })
      const fault = { method: "GET", path: "/assemblies/:assemblyId", status: 200, times: Infinity } as const
      yield* faults.inject(Faults.Fault.Refuse({ ...fault, body }))
      const events: Array<string> = []
      const error = yield* AssemblyUpload.events({
        params: { ...params, assemblyId },
        files: [{ source: UploadSource.fromBytes(Scene.content(size)), filename: "damaged.bin" }],
        upload,
        wait,
        verify
      }).pipe(
        Stream.runForEach((event) => Effect.sync(() => events.push(event._tag))),
        Effect.flip,
        Effect.ensuring(faults.clear)
      )
      const md5hash = hash("md5", Scene.content(size))
      assert.deepInclude(error, { _tag: "DeliveryMismatch", field: "md5hash", expected: md5hash })
      const message = `damaged.bin: the md5hash of the bytes that were read is ${md5hash}, but the Status says ${"0".repeat(32)}`
      assert.strictEqual(error.message, message)
      assert.include(events, "Uploaded")
      assert.notInclude(events, "Completed")
    })
  })
}

const platform = Layer.mergeAll(Emulator.layer(), Clients.undici, NodeFileSystem.layer, UploadJournal.layerMemory())

layer(Layer.provideMerge(Emulated.client, platform))("verify of a resumed job", (it) => {
  it.effect("reads the source again if an earlier run has sent its bytes", function* () {
    const source = UploadSource.fromBytes(Scene.content(600_000))
    const options = {
      params,
      files: [{ source, filename: "resumed.bin" }],
      upload: { ...upload, chunkSize: 100_000 },
      wait,
      verify
    }
    // The first run ends when a part of the file is stored.
    yield* AssemblyUpload.journaled.events(options).pipe(
      Stream.takeUntil((event) => event._tag === "Progress" && event.acknowledged > 0n),
      Stream.runDrain
    )
    const status = yield* AssemblyUpload.journaled.run(options)
    assert.strictEqual(status.uploads?.[0]?.md5hash, hash("md5", Scene.content(600_000)))
    // A run after the end compares too.
    const again = yield* Stream.runCollect(AssemblyUpload.journaled.events(options))
    assert.deepStrictEqual(Tests.pluck(again, "_tag"), ["AssemblyResumed", "Completed"])
    const oneByte = UploadSource.fromBytes(new Uint8Array(1))
    const other = { ...options, files: [{ filename: "resumed.bin", source: { ...source, bytes: oneByte.bytes } }] }
    const error = yield* Effect.flip(AssemblyUpload.journaled.run(other))
    assert.deepInclude(error, { _tag: "DeliveryMismatch", field: "size", expected: "1", actual: "600000" })
    // After a mismatch, the next run starts a new job.
    const [first] = yield* Stream.runCollect(AssemblyUpload.journaled.events(options))
    assert.strictEqual(first?._tag, "AssemblyCreated")
  })
})

const assemblyId = Assembly.AssemblyId.make("0".repeat(32))
const abc = { size: 3, md5hash: "900150983cd24fb0d6963f7d28e17f72" }
const uploadUrl = (id: string, host = "api2-a.example.com") => `https://${host}/resumable/files/${id}`

const a = { name: "a", field: "file", ...abc }
// The upload URL decides, on whichever host, and not the name.
const [mine, other] = [uploadUrl("1", "api2-b.example.com"), uploadUrl("2")]
const renamed = { ...a, name: "renamed", tus_upload_url: mine }

effect.each([
  [[a], "equal"],
  [[{ ...a, md5hash: abc.md5hash.toUpperCase() }], "equal"],
  [null, "upload"],
  [[{ ...a, name: "b" }], "upload"],
  [[{ ...a, field: "other" }], "upload"],
  [[{ ...a, size: 4 }], "size"],
  [[{ ...a, size: null }], "size"],
  [[{ ...a, md5hash: "0".repeat(32) }], "md5hash"],
  [[{ name: "a", field: "file", size: 3 }], "md5hash"],
  [[{ ...a, size: 4, tus_upload_url: other }, renamed], "equal", uploadUrl("1")],
  [[{ ...a, tus_upload_url: other }], "upload", uploadUrl("1")]
] as ReadonlyArray<readonly [ReadonlyArray<Assembly.File> | null, string, string?]>)(
  "check of %j names what differs: %s",
  function* ([uploads, expected, url]) {
    const read = { filename: "a", url: url === undefined ? undefined : Redacted.make(url), ...abc }
    const checked = yield* Effect.result(DeliveryProof.check({ assembly_id: assemblyId, uploads }, [read]))
    assert.strictEqual(checked._tag === "Failure" ? checked.failure.field : "equal", expected)
  }
)

effect("check counts each file of the Status once", function* () {
  const twice = [
    { filename: "a", ...abc },
    { filename: "a", ...abc }
  ]
  const one = { name: "a", field: "file", ...abc }
  yield* DeliveryProof.check({ assembly_id: assemblyId, uploads: [one, one] }, twice)
  const error = yield* Effect.flip(DeliveryProof.check({ assembly_id: assemblyId, uploads: [one] }, twice))
  assert.strictEqual(error.field, "upload")
  assert.match(error.message, /: the Status does not list the file that was uploaded$/u)
})

effect("check finds files of the same name by their bytes, in whatever order the Status has them", function* () {
  const files = ["a", "b", "c"].map((text) => {
    const bytes = new TextEncoder().encode(text)
    return { filename: "same", name: "same", field: "file", size: bytes.length, md5hash: hash("md5", bytes) }
  })
  for (const order of ["012", "021", "102", "120", "201", "210"]) {
    const uploads = Array.from(order, Number).flatMap((index) => files.slice(index, index + 1))
    yield* DeliveryProof.check({ assembly_id: assemblyId, uploads }, files)
  }
})

// The second range repeats bytes of the first, as after a broken connection; or there is a gap, or the order is another.
effect.each([
  ["0-300, 100-500", 0],
  ["300-500, 0-200", 1],
  ["250-500, 0-250, 250-500", 0]
] as const)("summed, after the ranges %s in KB, reads the source %d times more", function* ([ranges, more]) {
  const bytes = Scene.content(500_000)
  const inner = UploadSource.fromBytes(bytes)
  let reads = 0
  const counted: UploadSource.Replayable = {
    ...inner,
    bytes: (start, end) => {
      reads++
      return inner.bytes(start, end)
    }
  }
  const { source, total } = yield* DeliveryProof.summed(counted)
  const read = ranges.split(", ").map((range) => range.split("-").map((kilobytes) => BigInt(kilobytes) * 1000n))
  for (const [start = 0n, end = 0n] of read) yield* Stream.runDrain(source.bytes(start, end))
  assert.deepStrictEqual(yield* total, { size: bytes.length, md5hash: hash("md5", bytes) })
  assert.strictEqual(reads, read.length + more)
})
