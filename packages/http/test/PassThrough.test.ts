import { Assemblies } from "@assembly-effect/api"
import { Faults } from "@assembly-effect/emulator"
import { type PassThrough, Refusal } from "@assembly-effect/http"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Schema } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { after, application, before, chunked, last, live, newUploadId, watch } from "./passing.ts"
import * as Support from "./support.ts"
import { chunk, headOf, open, send, statusIn, until } from "./support.ts"

const MiB = 1024 * 1024

const steps = { ":original": { robot: "/upload/handle" } }

const formOf = (bytes: Uint8Array<ArrayBuffer>, filename = "a.bin") =>
  Support.formOf(bytes, { album: "holidays" }, { filename, type: "video/mp4" })

const upload = (origin: string, body: FormData, uploadId = newUploadId()) =>
  send(`${origin}/assembly-uploads/${uploadId}`, { body })

layer(live)("PassThrough", (it) => {
  it.effect("streams a file into an Assembly, and answers without a capability", function* () {
    const { assemblies, files, origin, states } = yield* application()
    const bytes = randomBytes(3 * MiB + 17)
    const uploadId = newUploadId()
    const { body, status } = yield* upload(origin, formOf(bytes, "é.mp4"), uploadId)
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(body, { uploadId, bytes: bytes.length })
    assert.deepStrictEqual(files, [
      { uploadId, filename: "é.mp4", contentType: "video/mp4", fields: { album: "holidays" } }
    ])
    assert.deepStrictEqual(yield* states, ["Completed"])
    const { uploads } = yield* Assemblies.get(last(assemblies))
    assert.deepStrictEqual(
      uploads?.map(({ md5hash, name, size }) => ({ md5hash, name, size })),
      [{ md5hash: createHash("md5").update(bytes).digest("hex"), name: "é.mp4", size: bytes.length }]
    )
  })

  it.effect("takes an empty file, and one whose bytes look like a boundary", function* () {
    const { assemblies, origin } = yield* application()
    for (const text of ["", "\r\n--", "\r\n----", "--b--\r\n"]) {
      const { status } = yield* upload(origin, formOf(new TextEncoder().encode(text)))
      assert.strictEqual(status, 200)
      const { uploads } = yield* Assemblies.get(last(assemblies))
      assert.strictEqual(uploads?.[0]?.md5hash, createHash("md5").update(text).digest("hex"))
    }
  })

  it.effect("gives an upload whose path has no id a new one, under which a page can watch its end", function* () {
    const { files, origin, port } = yield* application()
    const sent = yield* Effect.all(
      [1, 2].map(() => send(`${origin}/assembly-uploads`, { body: formOf(randomBytes(9)) }))
    )
    const ids = sent.map(({ body }) => (body as PassThrough.Uploaded).uploadId)
    assert.deepStrictEqual(new Set(files.map(({ uploadId }) => uploadId)), new Set(ids))
    assert.strictEqual(files.length, 2)
    for (const id of ids) {
      const watcher = yield* watch(port, id)
      yield* until(() => watcher.tags().includes("Stored"))
    }
  })

  it.effect("decodes the fields before the policy, and names the field and the rule of a wrong one", function* () {
    const fields = Schema.Struct({
      album: Schema.String.check(Schema.isMaxLength(8, { expected: "at most 8 characters" })),
      year: Schema.NumberFromString.check(Schema.isInt({ expected: "a whole number" }))
    })
    const years: Array<number> = []
    const { origin } = yield* application<typeof fields.Type>({
      fields,
      policy: ({ fields: { year } }) => {
        years.push(year)
        return year < 2000
          ? Effect.fail(new Refusal.InvalidInput({ field: "year", description: "This year is closed." }))
          : Effect.succeed({ params: { steps }, maxBytes: 100 })
      }
    })
    const uploadId = newUploadId()
    const invalid = (field: string, description: string) => ({ _tag: "InvalidInput", field, description })
    for (const [album, year, status, body] of [
      ["holidays!", "2001", 400, invalid("album", "Expected at most 8 characters")],
      ["holidays", "2001.5", 400, invalid("year", "Expected a whole number")],
      ["holidays", undefined, 400, invalid("year", "Expected before the file")],
      ["holidays", "1999", 400, invalid("year", "This year is closed.")],
      // What was refused is not stored, so the id is free.
      ["holidays", "2001", 200, { uploadId, bytes: 9 }]
    ] as const) {
      const form = Support.formOf(randomBytes(9), { album, ...(year === undefined ? {} : { year }) })
      const answer = yield* upload(origin, form, uploadId)
      assert.deepStrictEqual([answer.status, answer.body], [status, body])
    }
    assert.deepStrictEqual(years, [1999, 2001])
  })

  it.effect("tells the events to a page that watches, even one that was first", function* () {
    const { assemblies, origin, port } = yield* application()
    const uploadId = newUploadId()
    const first = yield* watch(port, uploadId)
    yield* until(() => first.received().includes("text/event-stream"))
    yield* upload(origin, formOf(randomBytes(2 * MiB)), uploadId)
    yield* until(() => first.tags().includes("Stored"))
    const found = first.tags().filter((tag) => !["FileEvent", "Progress"].includes(tag))
    assert.deepStrictEqual(found, ["AssemblyCreated", "FileCompleted", "Uploaded", "Stored"])
    assert.include(first.tags(), "Progress")
    assert.strictEqual(first.events().at(-1)?.bytes, 2 * MiB)
    assert.notInclude(first.received(), last(assemblies))
    assert.notInclude(first.received(), "/resumable/files/")

    // One that comes later learns the end, and one that saw the end does not connect again.
    const late = yield* watch(port, uploadId)
    yield* until(() => late.tags().includes("Stored"))
    const seen = /id: (\d+)\n[^\n]*"Stored"/.exec(late.received())?.[1]
    const again = yield* watch(port, uploadId, `last-event-id: ${seen}\r\n`)
    yield* until(() => statusIn(again.received()) === 204)
  })

  it.effect("waits for the results if the policy says so, and tells one end", function* () {
    const { assemblies, origin, port } = yield* application({}, { wait: true, filename: "named-by-us.bin" })
    const uploadId = newUploadId()
    const watcher = yield* watch(port, uploadId)
    yield* until(() => watcher.received().includes("\r\n\r\n"))
    const { body } = yield* upload(origin, formOf(randomBytes(1000)), uploadId)
    const { status } = body as PassThrough.Uploaded
    assert.deepStrictEqual([status?.ok, status?.uploads?.[0]?.name], ["ASSEMBLY_COMPLETED", "named-by-us.bin"])
    assert.notInclude(JSON.stringify(body), last(assemblies))
    yield* until(() => watcher.received().endsWith("\r\n0\r\n\r\n"))
    assert.strictEqual(watcher.tags().at(-1), "Completed")
    assert.notInclude(watcher.tags(), "Stored")
  })

  it.effect.each([
    ["refusal", Effect.fail(new Refusal.Forbidden({ description: "It is full." })), 403, "Forbidden", "It is full."],
    ["defect", Effect.die("a secret"), 500, "ApplicationFailed", "The application failed."]
  ] as const)("a %s of the policy is answered and told, and creates nothing", function* ([, decision, ...expected]) {
    const { origin, port } = yield* application({ policy: () => decision })
    const [expectedStatus, _tag, description] = expected
    const uploadId = newUploadId()
    const { body, status } = yield* upload(origin, formOf(randomBytes(9)), uploadId)
    assert.deepStrictEqual([status, body], [expectedStatus, { _tag, description }])
    const watcher = yield* watch(port, uploadId)
    yield* until(() => watcher.tags().length > 0)
    assert.deepStrictEqual(watcher.events(), [{ _tag: "Failed", description }])
  })

  it.effect("answers 502 if the service refuses, and does not repeat what it says", function* () {
    const { origin } = yield* application()
    const faults = yield* Faults.Faults
    yield* faults.inject(
      Faults.Fault.Refuse({ method: "POST", path: "/assemblies/:assemblyId", status: 400, body: "a secret" })
    )
    const { body, status } = yield* upload(origin, formOf(randomBytes(9)))
    const expected = [502, { _tag: "UploadFailed", description: "The service did not take the upload." }]
    assert.deepStrictEqual([status, body], expected)
  })

  it.effect("stores a file once whichever process gets it, and refuses another with its id", function* () {
    const assemblyId = yield* Assemblies.newId
    for (const params of [{ steps }, { steps, assemblyId }]) {
      for (const wait of [false, true]) {
        if (wait && "assemblyId" in params) continue
        const policy = () => Effect.succeed({ maxBytes: 100, params, wait })
        const [one, other] = [yield* application({ policy }), yield* application({ policy })]
        const uploadId = newUploadId()
        const file = randomBytes(9)
        const answers = []
        for (const { origin } of [one, other, one]) {
          answers.push(yield* upload(origin, formOf(file), uploadId))
        }
        for (const { body, status } of answers) {
          assert.strictEqual(status, 200)
          assert.deepInclude(body, { uploadId, bytes: 9 })
          assert.strictEqual((body as PassThrough.Uploaded).status?.ok, wait ? "ASSEMBLY_COMPLETED" : undefined)
        }
        for (const size of [8, 9]) {
          const { body, status } = yield* upload(other.origin, formOf(randomBytes(size)), uploadId)
          const expected = [409, { _tag: "UploadExists", description: "Another file is stored with this id." }]
          assert.deepStrictEqual([status, body], expected)
        }
      }
    }
  })

  it.effect("replaces an upload whose file has not arrived, unless the policy chose its id", function* () {
    const assemblyId = yield* Assemblies.newId
    for (const [params, statuses, description] of [
      [{ steps }, [200, 502], "The service did not take the upload."],
      [{ steps, assemblyId }, [409, 200], "The Assembly of this upload exists already, without its file."]
    ] as const) {
      const policy = () => Effect.succeed({ maxBytes: 100, params })
      const [one, other] = [yield* application({ policy }), yield* application({ policy })]
      const uploadId = newUploadId()
      const raw = yield* open(one.port)
      const watcher = yield* watch(one.port, uploadId)
      yield* raw.write(headOf(`/assembly-uploads/${uploadId}`, chunked) + chunk(`${before()}12345678`))
      yield* until(() => watcher.tags().includes("AssemblyCreated"))
      const { body, status } = yield* upload(other.origin, formOf(randomBytes(9)), uploadId)
      yield* raw.write(chunk(`9${after}`) + chunk(""))
      yield* until(() => statusIn(raw.received()) > 0)
      assert.deepStrictEqual([status, statusIn(raw.received())], [...statuses])
      assert.include(status === 200 ? raw.received() : JSON.stringify(body), description)
    }
  })

  it.effect("lets the user send no faster than the service takes", function* () {
    const { bytesRead, port, states } = yield* application({ chunkSize: MiB, progressInterval: 0 })
    const faults = yield* Faults.Faults
    const request = { method: "PATCH", path: "/resumable/files/:uploadId" } as const
    yield* faults.inject(Faults.Fault.Delay({ ...request, duration: "200 millis", times: Infinity }))
    const uploadId = newUploadId()
    const raw = yield* open(port)
    yield* raw.write(headOf(`/assembly-uploads/${uploadId}`, chunked) + chunk(before()))
    yield* Effect.forkScoped(Effect.forever(raw.write(chunk("x".repeat(MiB)))))
    const watcher = yield* watch(port, uploadId)
    const taken = () => Math.max(0, ...watcher.events().map(({ acknowledged = 0 }) => Number(acknowledged)))
    while (taken() < 2 * MiB) {
      const read = bytesRead()
      yield* Effect.sleep("20 millis")
      assert.isBelow(read, taken() + 4 * MiB)
    }
    // Nobody reads from the user now, so the end of the connection is noticed when the service takes the next bytes.
    yield* raw.destroy
    yield* Effect.repeat(states, { until: ([state]) => state === "Canceled" })
    yield* faults.clear
  })

  it.effect("cancels the Assembly when the user goes away", function* () {
    const { bytesRead, port, sockets, states } = yield* application()
    const uploadId = newUploadId()
    const raw = yield* open(port)
    yield* raw.write(headOf(`/assembly-uploads/${uploadId}`, chunked) + chunk(before() + "x".repeat(1000)))
    const watcher = yield* watch(port, uploadId)
    yield* until(() => watcher.tags().includes("AssemblyCreated"))
    assert.deepStrictEqual(yield* states, ["Busy"])
    yield* raw.destroy
    yield* until(() => watcher.tags().includes("Failed"))
    assert.deepStrictEqual(yield* states, ["Canceled"])
    yield* watcher.destroy
    yield* until(() => sockets.size === 0)
    assert.isAbove(bytesRead(), 1000)
  })
})
