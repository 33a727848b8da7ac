/** Tests with the unmodified `tus-js-client`. */
import { Assemblies } from "@assembly-effect/api"
import { Faults } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { Effect } from "effect"
import { Readable } from "node:stream"
import { Upload, type UploadOptions } from "tus-js-client"
import { bytes as content, layer as layerEmulator, sha256, waiting } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const bytes = Buffer.from(content)

const metadataFor = (assembly: Assembly.Status) => ({
  assembly_url: assembly.assembly_ssl_url ?? "",
  filename: "a file.bin",
  fieldname: "file"
})

const optionsFor = (assembly: Assembly.Status): UploadOptions => ({
  endpoint: assembly.tus_url ?? "",
  metadata: metadataFor(assembly),
  retryDelays: [0, 0, 0]
})

/** Runs an upload to its end. Returns the upload, or fails with the error of the client. */
const run = (source: Buffer | Readable, options: UploadOptions) =>
  Effect.callback<Upload, Error>((resume) => {
    const upload = new Upload(source, {
      ...options,
      onSuccess: () => resume(Effect.succeed(upload)),
      onError: (error) => resume(Effect.fail(error))
    })
    upload.start()
    return Effect.promise(() => upload.abort())
  })

const completed = Effect.fnUntraced(function* ({ assembly_id }: Assembly.Status) {
  const status = yield* Assemblies.get(Assembly.AssemblyId.make(assembly_id))
  assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
  assert.strictEqual(status.uploads?.length, 1)
  assert.deepInclude(status.uploads?.[0], { name: "a file.bin", size: 300_000, sha256 })
  return status
})

layer(layerEmulator())("tus-js-client", (it) => {
  it.effect("uploads, in one request and in chunks", function* () {
    const whole = yield* waiting
    yield* run(bytes, optionsFor(whole))
    yield* completed(whole)
    const chunked = yield* waiting
    yield* run(bytes, { ...optionsFor(chunked), chunkSize: 70_000 })
    yield* completed(chunked)
  })

  it.effect("goes on by itself after a broken connection", function* () {
    const faults = yield* Faults.Faults
    const assembly = yield* waiting
    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 100_000 }))
    yield* run(bytes, optionsFor(assembly))
    yield* completed(assembly)
  })
  it.effect("uploads a stream of unknown length", function* () {
    const assembly = yield* waiting
    const source = Readable.from([bytes.subarray(0, 123_456), bytes.subarray(123_456)])
    yield* run(source, { ...optionsFor(assembly), uploadLengthDeferred: true, chunkSize: 80_000 })
    yield* completed(assembly)
  })

  it.effect("uploads parts in parallel, when each says what it belongs to", function* () {
    const assembly = yield* waiting
    const metadata = metadataFor(assembly)
    yield* run(bytes, { ...optionsFor(assembly), parallelUploads: 3, metadataForPartialUploads: metadata })
    const status = yield* completed(assembly)
    assert.strictEqual(status.finished_tus_uploads, 1)

    // By default, `tus-js-client` sends no metadata with parts.
    const refused = yield* Effect.flip(run(bytes, { ...optionsFor(yield* waiting), parallelUploads: 3 }))
    assert.match(refused.message, /ERR_INVALID_METADATA/)
  })
})
