/**
 * Answers that count other bytes than were sent, or a length that nobody declared: never a whole upload.
 */
import { UploadSource } from "@assembly-effect/tus"
import { Effect } from "effect"
import { assert, layer, Clients, Scene, ScriptedTus, Upload } from "./utils/index.ts"

const bytes = Scene.content(600_000)
const small = Scene.content(1000)

/** A piece at a time, so that a request ends where it is cut. */
const stream = () => UploadSource.fromStream(Scene.pieces(bytes, 50_000))

layer(Clients.undici)("an upload", (it) => {
  it.effect("of a small source goes on where the server takes no bytes with a creation", function* () {
    const server = yield* ScriptedTus.make
    server.meet = ({ method }, go) => go(method === "POST" ? Buffer.alloc(0) : undefined)
    yield* Upload.run(server.target, UploadSource.fromBytes(small), Scene.options)
    assert.deepStrictEqual(server.requests, ["POST", "PATCH"])
    const stored = [...server.uploads.values()].map((upload) => upload.bytes)
    assert.deepStrictEqual(stored, [Buffer.from(small)])
  })

  it.effect("of unknown length is not whole because a receipt says so, of a length that nobody declared", function* () {
    const { server, target } = yield* Scene.make([{ _tag: "Cut", method: "PATCH", bytes: 100_000 }])
    server.retell = (receipts) => receipts.map((one) => ({ ...one, size: 5, offset: 5, finished: true }))
    server.faults.push({ _tag: "Status", method: "HEAD", status: 404 })
    const error = yield* Effect.flip(Upload.run(target, stream(), { ...Scene.options, chunkSize: 300_000 }))
    assert.strictEqual(error._tag, "UploadGone")
  })
})

/** A server that stores at most 250,000 bytes of each request, and reports that offset. */
const taking = Effect.map(ScriptedTus.make, (server) => {
  server.meet = (request, go) => go(request.body.subarray(0, 250_000))
  return server
})

for (const [name, client] of Object.entries(Clients.beneath)) {
  layer(client)(`a server that stores the first bytes of a PATCH, over ${name}`, (it) => {
    for (const streams of [true, false]) {
      const declares = !streams || name !== "fetch"
      for (const [kind, source] of Object.entries({
        replayable: () => UploadSource.fromBytes(bytes),
        "one-shot": stream
      })) {
        const bodies = `${streams ? "streamed" : "sliced"} bodies of a ${kind} source`
        const end = declares ? "gets all bytes" : "whose length is not declared, gets no second PATCH"
        it.effect(`${end}, with ${bodies}`, function* () {
          const server = yield* taking
          const run = Upload.run(server.target, source(), { ...Scene.options, chunkSize: 400_000 })
          const done = yield* Effect.result(Effect.provideService(run, Upload.CanStream, streams))
          const [stored] = [...server.uploads.values()]
          if (declares) {
            assert.strictEqual(done._tag, "Success")
            assert.isTrue(stored?.bytes.equals(bytes))
          } else {
            assert.isTrue(done._tag === "Failure" && done.failure._tag === "UploadUntrusted")
            assert.strictEqual(ScriptedTus.count(server, "PATCH"), 1)
          }
        })
      }
    }
  })

  layer(Clients.changed(client, Clients.compressing(false)))(`a client that compresses, over ${name}`, (it) => {
    it.effect("never makes a whole upload of other bytes", function* () {
      for (const content of [bytes, small]) {
        const { server, target } = yield* Scene.make()
        yield* Effect.flip(Upload.run(target, UploadSource.fromBytes(content), { ...Scene.options, maxRetries: 2 }))
        // It is left where it was noticed.
        assert.isAtMost(server.log.filter((line) => line === "PATCH 204").length, 1)
      }
    })
  })
}
