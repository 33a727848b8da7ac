/**
 * Every fault of R1 in the targets by its name, made by a TCP proxy on the way to each server. What arrived is checked
 * by its SHA-256 on the server's side.
 */
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"
import * as Servers from "./utils/Servers.ts"
import * as TusServer from "./utils/TusServer.ts"

const size = 600_000
const bytes = Scene.content(size)
const sha256 = TusServer.sha256(bytes)

type Faults = Readonly<Record<string, ReadonlyArray<Fault>>>

const wait = { "retry-after": "0" }

/** While bytes are sent. */
const ofAppend: Faults = {
  "a cut before the first byte": [{ _tag: "Cut", method: "PATCH", bytes: 0 }],
  "a cut after n bytes": [{ _tag: "Cut", method: "PATCH", bytes: 123_457 }],
  "a cut before the last byte": [{ _tag: "Cut", method: "PATCH", bytes: 199_999 }],
  "three cuts": [1, 50_000, 150_000].map((count) => ({ _tag: "Cut", method: "PATCH", bytes: count })),
  "a stall": [{ _tag: "Stall", method: "PATCH", bytes: 100_000 }],
  "an answer that is lost after the commit": [{ _tag: "LostAnswer", method: "PATCH" }],
  "an answer that is half written": [{ _tag: "HalfAnswer", method: "PATCH" }],
  "an answer that never comes": [{ _tag: "NoAnswer", method: "PATCH" }],
  "a slow answer": [{ _tag: "SlowAnswer", method: "PATCH", millis: 100 }],
  "a slow way": [{ _tag: "Slow", method: "PATCH", bytes: 50_000, millis: 10 }],
  "a wrong offset before the end": [{ _tag: "WrongOffset", method: "PATCH", offset: "17" }],
  "a wrong offset beyond the end": [{ _tag: "WrongOffset", method: "PATCH", offset: "700000" }],
  "an offset that is none": [{ _tag: "WrongOffset", method: "PATCH", offset: "-1" }],
  "a missing offset": [{ _tag: "MissingOffset", method: "PATCH" }],
  "429 with Retry-After": [{ _tag: "Status", method: "PATCH", status: 429, headers: wait }],
  ...Object.fromEntries(
    [500, 502, 503, 409, 423].flatMap((status) => [
      [`${status} instead of it`, [{ _tag: "Status", method: "PATCH", status }]],
      [`${status} after it was done`, [{ _tag: "StatusAfter", method: "PATCH", status }]]
    ])
  )
}

/** While the server is asked where it stands, since bytes were cut off. */
const ofAsking: Faults = Object.fromEntries(
  Object.entries({
    "a question whose answer is lost": [{ _tag: "LostAnswer", method: "HEAD" }],
    "a question whose answer is half written": [{ _tag: "HalfAnswer", method: "HEAD" }],
    "a question that is never answered": [{ _tag: "NoAnswer", method: "HEAD" }],
    "a question that is answered late": [{ _tag: "SlowAnswer", method: "HEAD", millis: 100 }],
    "an answer of 0": [{ _tag: "WrongOffset", method: "HEAD", offset: "0" }],
    "an answer below what is acknowledged": [{ _tag: "WrongOffset", method: "HEAD", offset: "17" }],
    "an answer above what is stored": [{ _tag: "WrongOffset", method: "HEAD", offset: "390000" }],
    "an answer beyond the end": [{ _tag: "WrongOffset", method: "HEAD", offset: "700000" }],
    "two answers beyond the end": ["700000", "700001"].map((offset) => ({
      _tag: "WrongOffset",
      method: "HEAD",
      offset
    })),
    "an answer without an offset": [{ _tag: "MissingOffset", method: "HEAD" }],
    "a question that meets 429": [{ _tag: "Status", method: "HEAD", status: 429, headers: wait }],
    ...Object.fromEntries(
      [500, 502, 503, 409, 423].map((status) => [
        `a question that meets ${status}`,
        [{ _tag: "Status", method: "HEAD", status }]
      ])
    )
  } satisfies Faults).map(([name, faults]) => [
    name,
    [{ _tag: "SlowAnswer", method: "PATCH", millis: 0 }, { _tag: "Cut", method: "PATCH", bytes: 100_000 }, ...faults]
  ])
)

/** While the upload is created. */
const ofCreation: Faults = {
  "a creation whose answer is lost": [{ _tag: "LostAnswer", method: "POST" }],
  "a creation whose answer is half written": [{ _tag: "HalfAnswer", method: "POST" }],
  "a creation that a gateway answers with 502": [{ _tag: "StatusAfter", method: "POST", status: 502 }],
  "a creation that is answered late": [{ _tag: "SlowAnswer", method: "POST", millis: 100 }],
  "a creation that meets 429": [{ _tag: "Status", method: "POST", status: 429, headers: wait }],
  "a creation that meets 503 with Retry-After": [{ _tag: "Status", method: "POST", status: 503, headers: wait }],
  "a creation that meets 423": [{ _tag: "Status", method: "POST", status: 423 }],
  "a creation that tells a wrong offset": [{ _tag: "WrongOffset", method: "POST", offset: String(size) }],
  "a creation whose receipt comes late": [
    { _tag: "LostAnswer", method: "POST" },
    { _tag: "Status", method: "GET", status: 503 },
    { _tag: "LostAnswer", method: "GET" }
  ]
}

const all = { ...ofAppend, ...ofAsking, ...ofCreation }

const sources: Readonly<Record<string, () => UploadSource.UploadSource>> = {
  "a source": () => UploadSource.fromBytes(bytes),
  "a stream": () => UploadSource.fromStream(Scene.pieces(bytes, 33_333), { size: BigInt(size) }),
  "a stream of unknown length": () => UploadSource.fromStream(Scene.pieces(bytes, 33_333))
}

const options = { ...Scene.options, finishTimeout: "400 millis", chunkSize: 200_000 } as const

const arrives = Effect.fnUntraced(function* (
  source: UploadSource.UploadSource,
  faults: ReadonlyArray<Fault>,
  more?: Partial<Upload.Options>
) {
  const place = yield* Effect.flatMap(Servers.Servers, (servers) => servers.place)
  place.faults.push(...faults)
  yield* Upload.run(place.target, source, { ...options, ...more })
  assert.strictEqual(yield* place.sha256, sha256)
  assert.strictEqual(yield* place.created, 1)
  assert.deepStrictEqual(place.faults, [], "every fault was met")
})

const clients = {
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp,
  fetch: NodeHttpClient.layerFetch
}

for (const [server, servers] of Object.entries(Servers.layers)) {
  layer(Layer.merge(servers, clients.undici), { excludeTestServices: true })(`${server} gets everything`, (it) => {
    for (const [kind, source] of Object.entries(sources)) {
      for (const [name, faults] of Object.entries(all)) {
        it.effect(`of ${kind} after ${name}`, () => arrives(source(), faults))
      }
    }
  })
}

for (const client of ["node:http", "fetch"] as const) {
  layer(Layer.merge(Servers.layers["@tus/server"], clients[client]), { excludeTestServices: true })(
    `sent with ${client}, everything arrives`,
    (it) => {
      for (const [name, faults] of Object.entries(ofAppend)) {
        it.effect(`after ${name}`, () => arrives(UploadSource.fromBytes(bytes), faults))
      }
    }
  )
}
