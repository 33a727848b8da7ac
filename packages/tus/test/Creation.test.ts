/**
 * What a creation that fails leaves behind: nothing for sure, or perhaps an upload that the receipts have to tell of.
 */
import type { UploadEvent } from "@assembly-effect/tus/UploadEvent"
import { UploadSource } from "@assembly-effect/tus"
import { Effect, Stream } from "effect"
import { assert, layer, Clients, Loopback, Scene, ScriptedTus, Tests, Upload } from "./utils/index.ts"

const bytes = Scene.content(300_000)
const source = UploadSource.fromBytes(bytes)

/** A server that answers creations with this status, having made the upload or not. */
const answering = (status: number, made: boolean) =>
  ScriptedTus.changing("POST", (go) => {
    if (made) go()
    return { status, body: "ERR_FAULT: on purpose\n" }
  })

const run = (server: ScriptedTus.ScriptedTus, more?: Partial<Upload.Options>) =>
  Upload.run(server.target, source, { ...Scene.options, ...more })

const { count } = ScriptedTus

layer(Clients.undici)("A creation", (it) => {
  it.effect.each([400, 401, 403, 404, 405, 410, 412, 413, 415, 422, 431, 460, 501])(
    "answered %s made nothing: the refusal is told, and no receipt is asked for",
    function* (status) {
      const server = yield* answering(status, false)
      const error = yield* Effect.flip(run(server))
      assert.deepInclude(error, { request: "create", status })
      assert.deepStrictEqual(server.requests, ["POST"])
    }
  )

  for (const status of [200, 204, 302, 408, 409, 425, 499, 500, 502, 503, 504, 520]) {
    it.effect(`answered ${status} may have made the upload: its receipt tells, no repetition`, function* () {
      const server = yield* answering(status, true)
      yield* run(server)
      assert.strictEqual(count(server, "POST"), 1)
      assert.strictEqual(server.uploads.size, 1)
    })

    it.effect(`answered ${status} without a receipt is unknown, and never repeated`, function* () {
      const server = yield* answering(status, false)
      const error = yield* Effect.flip(run(server))
      assert.strictEqual(error._tag, "CreationUnknown")
      assert.include(error.message, "shows whether the upload was created")
      assert.strictEqual(count(server, "POST"), 1)
      assert.strictEqual(count(server, "GET"), 5)
    })
  }

  it.effect("that nobody heard of is sent again, and told as what failed, not as a doubt", function* () {
    const origin = yield* Effect.scoped(Loopback.serve(() => Promise.resolve()))
    const target = yield* Scene.targetAt(origin)
    const events: Array<UploadEvent> = []
    const error = yield* Upload.events(target, source, { ...Scene.options, maxRetries: 2 }).pipe(
      Stream.runForEach((event) => Effect.sync(() => events.push(event))),
      Effect.flip
    )
    assert.deepInclude(error, { _tag: "TransportFailure", sent: "no" })
    assert.deepStrictEqual(Tests.pluck(events, "_tag"), ["Retrying", "Retrying"])
  })

  it.effect("without a body, answered with upload-offset 1000: asks before it sends", function* () {
    const server = yield* ScriptedTus.changing("POST", (go) =>
      ScriptedTus.withHeaders(go(), { "upload-offset": "1000" })
    )
    yield* run(server)
    assert.deepStrictEqual(server.requests, ["POST", "HEAD", "PATCH"])
    assert.isTrue(server.uploads.get("u0")?.bytes.equals(bytes))
  })

  it.effect("without a body, lost, with a finished receipt: asks, and sends every byte", function* () {
    const server = yield* ScriptedTus.make
    server.meet = (request, go) => {
      const answer = go()
      if (request.method === "POST") return "cut"
      const finished = `"offset":${bytes.length},"finished":true`
      return { ...answer, body: answer.body?.replace('"offset":0,"finished":false', finished) }
    }
    yield* run(server)
    assert.deepStrictEqual(server.requests, ["POST", "GET", "HEAD", "PATCH"])
    assert.isTrue(server.uploads.get("u0")?.bytes.equals(bytes))
  })
})
