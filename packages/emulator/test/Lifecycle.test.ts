import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import type { Assembly } from "@assembly-effect/schema"
import { Effect, Fiber, Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { createHash } from "node:crypto"
import {
  begin,
  createUpload,
  head,
  json,
  layer as layerEmulator,
  patch,
  patchForever,
  send,
  statusOf,
  uploadOne
} from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const wait = { wait: { robot: "/emulator/wait", seconds: 3600 } }

/** Opens the event stream of an Assembly. Returns a fiber that reads the text of the stream to its end. */
const follow = Effect.fnUntraced(function* (status: Assembly.Status) {
  const http = yield* HttpClient.HttpClient
  const response = yield* http.execute(
    HttpClientRequest.get(status.update_stream_url ?? "", { headers: { accept: "text/event-stream" } })
  )
  assert.match(response.headers["content-type"] ?? "", /^text\/event-stream/)
  return yield* response.stream.pipe(Stream.decodeText(), Stream.mkString, Effect.forkChild)
})

const eventsIn = (text: string) =>
  text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: (.*)$/m.exec(block)?.[1] ?? ""
      return event === undefined ? [data] : [event, JSON.parse(data)]
    })

layer(layerEmulator())("An Assembly", (it) => {
  it.effect("passes through uploading, executing and completed, and its followers see it", function* () {
    const steps = {
      ":original": { robot: "/upload/handle" },
      wait: { robot: "/emulator/wait", use: ":original", seconds: 0.05 },
      hash: { robot: "/file/hash", use: "wait", algorithm: "sha1" }
    }
    const status = yield* Assemblies.create({ steps, numExpectedUploadFiles: 1 })
    const following = yield* follow(status)
    const { url } = yield* createUpload(status, { "upload-length": "3" })
    yield* patch(url, 0, new TextEncoder().encode("abc"))
    assert.strictEqual((yield* statusOf(status)).ok, "ASSEMBLY_EXECUTING")

    const events = eventsIn(yield* Fiber.join(following))
    const seen = events.map(([name, data]) => (Array.isArray(data) ? `${name} ${data[0]}` : name))
    assert.deepStrictEqual(seen, [
      "assembly_upload_finished",
      "assembly_uploading_finished",
      "assembly_upload_meta_data_extracted",
      "assembly_result_finished :original",
      "assembly_result_finished wait",
      "assembly_result_finished hash",
      "assembly_finished"
    ])
    assert.deepInclude(events[0]?.[1], { name: "a file.txt", size: 3 })
    const done = yield* statusOf(status)
    assert.strictEqual(done.ok, "ASSEMBLY_COMPLETED")
    const hash = createHash("sha1").update("abc").digest("hex")
    assert.deepStrictEqual(done.results?.["hash"]?.[0]?.["meta"], { hash })
  })

  it.effect("tells its progress to whoever asked for it", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const steps = {
      first: { robot: "/emulator/wait", seconds: 0.1 },
      second: { robot: "/upload/handle", use: "first" }
    }
    const status = yield* Assemblies.create({ steps, emitExecutionProgress: true, numExpectedUploadFiles: 1 })
    assert.strictEqual(status.update_stream_url, `${baseUrl}/assemblies/${status.assembly_id}/updates`)
    const following = yield* follow(status)
    yield* createUpload(status, { "upload-length": "0" })
    const progress = eventsIn(yield* Fiber.join(following)).flatMap(([name, data]) =>
      name === "assembly_execution_progress" ? [data] : []
    )
    assert.deepStrictEqual(progress, [{ progress_combined: 50 }, { progress_combined: 100 }])
  })

  it.effect("is canceled while it executes, and keeps what it made", function* () {
    const steps = { ":original": { robot: "/upload/handle" }, wait: { ...wait.wait, use: ":original" } }
    const status = yield* uploadOne({ steps }, new Uint8Array(4))
    assert.strictEqual(status.ok, "ASSEMBLY_EXECUTING")
    const following = yield* follow(status)
    const canceled = yield* Assemblies.cancel(status.assembly_id)
    assert.strictEqual(canceled.ok, "ASSEMBLY_CANCELED")
    assert.strictEqual(canceled.results?.[":original"]?.length, 1)
    assert.deepStrictEqual(eventsIn(yield* Fiber.join(following)), [["assembly_finished"]])
    // An ended Assembly does not change.
    assert.deepStrictEqual(yield* Assemblies.cancel(status.assembly_id), canceled)
  })

  it.effect("is canceled while bytes come, which ends their request and the next one", function* () {
    const { assembly: status, url } = yield* begin({ "upload-length": "10" })
    const stuck = yield* Effect.forkChild(patchForever(url, new Uint8Array(3)))
    yield* Effect.repeat(statusOf(status), { until: ({ bytes_received }) => bytes_received === 3 })
    const canceled = yield* Assemblies.cancel(status.assembly_id)
    assert.strictEqual(canceled.ok, "ASSEMBLY_CANCELED")
    assert.strictEqual((yield* Fiber.join(stuck)).status, 423)
    assert.strictEqual((yield* head(url)).status, 200)
    const next = yield* patch(url, 3, new Uint8Array(7))
    assert.strictEqual(next.status, 403)
    assert.match(String(json(next)["error"]), /^ERR_ASSEMBLY_NOT_UPLOADING: /)
  })

  it.effect("that fails says so to its followers", function* () {
    const steps = { fail: { robot: "/emulator/fail", error: "MINE", message: "I did it." } }
    const status = yield* Assemblies.create({ steps, numExpectedUploadFiles: 1 })
    const following = yield* follow(status)
    yield* createUpload(status, { "upload-length": "0" })
    assert.deepStrictEqual(eventsIn(yield* Fiber.join(following)).at(-1), [
      "assembly_error",
      { assembly_id: status.assembly_id, error: "MINE", message: "I did it." }
    ])
    assert.deepInclude(yield* statusOf(status), { error: "MINE", message: "I did it." })
  })

  it.effect("that is over tells its followers how it ended", function* () {
    const failed = yield* Assemblies.create({ steps: { fail: { robot: "/emulator/fail", error: "MINE" } } })
    const [event, ...others] = eventsIn(yield* Fiber.join(yield* follow(failed)))
    assert.deepStrictEqual([event?.[0], others], ["assembly_error", []])
    const status = yield* Assemblies.create({})
    assert.deepStrictEqual(eventsIn(yield* Fiber.join(yield* follow(status))), [["assembly_finished"]])
    const unknown = yield* send(HttpClientRequest.get(`/assemblies/${"0".repeat(32)}/updates`))
    assert.deepInclude(json(unknown), { error: "ASSEMBLY_NOT_FOUND", http_code: 404 })
  })
})
