/**
 * A server that says no while the body is still on its way, and closes the connection. Whether its answer is heard is a
 * matter of chance, and with `fetch` it mostly is not: what was cut off is not repeated as it was.
 */
import { UploadSource } from "@assembly-effect/tus"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import type { IncomingMessage } from "node:http"
import * as Behaviour from "@assembly-effect/testkit/hostile/Behaviour"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { Clients, Scene, Upload } from "./utils/index.ts"

const bytes = Scene.content(1_000_000)
const kibi = 1024

const tus = { "tus-resumable": "1.0.0" }

const sources = {
  "that can be read again": UploadSource.fromBytes(bytes),
  "that comes once": UploadSource.fromStream(Scene.pieces(bytes, 50_000), { size: BigInt(bytes.length) })
}

/** What becomes of a body: it is cut off after so many bytes, or heard to its end and stored, or refused. */
interface Rule {
  readonly most: number
  readonly refusal?: number
}

const refused = "ERR_SIZE_EXCEEDED: too much\n"

/** A server with a rule for the bodies of a method: how many were cut off, and the sizes of those that arrived. */
const make = Effect.fnUntraced(function* (method: string, { most, refusal }: Rule) {
  const seen = { cut: 0, arrived: new Array<number>() }
  let stored = Buffer.alloc(0)

  const read = async (request: IncomingMessage): Promise<Buffer | undefined> => {
    let body = Buffer.alloc(0)
    for await (const chunk of request) {
      body = Buffer.concat([body, chunk as Buffer])
      if (request.method !== method || body.length <= most) continue
      seen.cut++
      request.socket.resetAndDestroy()
      return undefined
    }
    return body
  }

  const baseUrl = yield* Loopback.serve(async (request, response) => {
    const body = await read(request)
    if (body === undefined) return
    if (request.method === method) seen.arrived.push(body.length)
    if (request.method === method && refusal !== undefined) {
      Behaviour.text(refusal, refused, tus)(request, response)
    } else if (request.method === "PATCH") {
      stored = Buffer.concat([stored, body])
      response.writeHead(204, { ...tus, "upload-offset": stored.length }).end()
    } else if (request.method === "HEAD") {
      response.writeHead(200, { ...tus, "upload-offset": stored.length, "upload-length": bytes.length }).end()
    } else response.writeHead(201, { ...tus, location: "/resumable/files/a" }).end()
  })
  return { seen, target: yield* Scene.targetAt(baseUrl), stored: () => stored }
})

/** A server that refuses at the head of a PATCH, and closes at once. */
const makeAbrupt = Effect.gen(function* () {
  let patches = 0
  const baseUrl = yield* Loopback.serve(async (request, response) => {
    if (request.method === "PATCH") {
      patches++
      Behaviour.refuseEarly(413, refused, tus)(request, response)
    } else if (request.method === "HEAD") {
      response.writeHead(200, { ...tus, "upload-offset": 0, "upload-length": bytes.length }).end()
    } else response.writeHead(201, { ...tus, location: "/resumable/files/a" }).end()
  })
  return { target: yield* Scene.targetAt(baseUrl), patches: () => patches }
})

describe.each(Object.entries(Clients.beneath))("with %s", (_, http) => {
  describe.each(Object.entries(sources))("a source %s", (_name, source) => {
    it.live.each([413, 401, 403])("is refused with %s by the answer to a small body", http, function* (status) {
      const { seen, target } = yield* make("PATCH", { most: 16 * kibi, refusal: status })
      const error = yield* Effect.flip(Upload.run(target, source, Scene.options))
      assert.strictEqual(error._tag, status === 413 ? "TooLarge" : "UploadRefused")
      assert.deepInclude(error, { status })
      const tried = status === 413 ? "; refused sizes of a request in bytes: 16384" : ""
      assert.match(error.message, new RegExp(`^append at 127\\.0\\.0\\.1:\\d+: ERR_SIZE_EXCEEDED: too much${tried}$`))
      // The first cut may be the network's.
      assert.deepStrictEqual(seen, { cut: 2, arrived: [16 * kibi] })
    })

    it.live("arrives through a gateway that cuts what is too large for it", http, function* () {
      const { seen, stored, target } = yield* make("PATCH", { most: 300 * kibi })
      yield* Upload.run(target, source, Scene.options)
      assert.isTrue(stored().equals(bytes))
      assert.deepStrictEqual(
        seen.arrived.slice(0, 5).map((length) => length / kibi),
        [16, 32, 64, 128, 256]
      )
    })
  })

  it.live("one that comes at once is told, or found out by the third body", http, function* () {
    const { patches, target } = yield* makeAbrupt
    const source = sources["that can be read again"]
    const error = yield* Effect.flip(Upload.run(target, source, Scene.options))
    assert.deepInclude(error, { _tag: "TooLarge", status: 413 })
    assert.isAtMost(patches(), 3)
  })

  it.live("a creation with a body is never repeated", http, function* () {
    const { seen, target } = yield* make("POST", { most: 10 })
    const small = UploadSource.fromBytes(bytes.subarray(0, 100_000))
    const error = yield* Effect.flip(Upload.run(target, small, Scene.options))
    assert.strictEqual(error._tag, "CreationUnknown")
    assert.deepStrictEqual(seen, { cut: 1, arrived: [] })
  })
})
