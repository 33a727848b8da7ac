/**
 * Every fault of R1 in the targets by its name, made by a TCP proxy on the way to each server. What arrived is checked
 * by its SHA-256 on the server's side.
 */
import { UploadSource } from "@assembly-effect/tus"
import { Effect, Layer, Record, Stream } from "effect"
import { assert, layer, Clients, type Fault, HangClock, Scene, Servers, TusServer, Upload } from "./utils/index.ts"

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
const questions: Readonly<Record<string, Fault>> = {
  "a question whose answer is lost": { _tag: "LostAnswer", method: "HEAD" },
  "a question whose answer is half written": { _tag: "HalfAnswer", method: "HEAD" },
  "a question that is never answered": { _tag: "NoAnswer", method: "HEAD" },
  "a question that is answered late": { _tag: "SlowAnswer", method: "HEAD", millis: 100 },
  "an answer of 0": { _tag: "WrongOffset", method: "HEAD", offset: "0" },
  "an answer below what is acknowledged": { _tag: "WrongOffset", method: "HEAD", offset: "17" },
  "an answer above what is stored": { _tag: "WrongOffset", method: "HEAD", offset: "390000" },
  "an answer without an offset": { _tag: "MissingOffset", method: "HEAD" },
  ...Object.fromEntries(
    [429, 500, 502, 503, 409, 423].map((status) => [
      `a question that meets ${status}`,
      { _tag: "Status", method: "HEAD", status, headers: wait }
    ])
  )
}
const passed: Fault = { _tag: "SlowAnswer", method: "PATCH", millis: 0 }
const cut: Fault = { _tag: "Cut", method: "PATCH", bytes: 100_000 }
const ofAsking: Faults = Record.map(questions, (question) => [passed, cut, question])

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

const sources: Readonly<Record<string, () => UploadSource.UploadSource>> = {
  "a source": () => UploadSource.fromBytes(bytes),
  "a stream of unknown length": () => UploadSource.fromStream(Scene.pieces(bytes, 33_333))
}

const options = { ...Scene.options, chunkSize: 200_000 } as const

/** What only takes time. Anything else that happens to bytes on their way has to be healed. */
const isSlowness = ({ _tag }: Fault) => _tag === "Slow" || _tag === "SlowAnswer"

/** An upload to this place that meets these faults arrives whole, in one creation. */
const arrives = Effect.fnUntraced(function* (
  what: string,
  place: Servers.Place,
  source: UploadSource.UploadSource,
  faults: ReadonlyArray<Fault>
) {
  place.faults.push(...faults)
  const events = yield* Upload.events(place.target, source, options).pipe(
    Stream.runCollect,
    Effect.catch((error) => Effect.die(new Error(what, { cause: error })))
  )
  assert.strictEqual(yield* place.sha256, sha256, what)
  assert.strictEqual(yield* place.created, 1, what)
  assert.deepStrictEqual(place.faults, [], `${what}: every fault was met`)
  // A proxy that did nothing would be no proof.
  if (faults.every(({ method }) => method === "PATCH") && !faults.every(isSlowness)) {
    const hasBroken = events.some(({ _tag }) => _tag === "Retrying" || _tag === "Resumed")
    assert.isTrue(hasBroken, `${what}: something broke`)
  }
})

layer(Clients.undici)("Either server gets a source, and a stream, whole", (it) => {
  it.effect.each(Object.entries({ ...ofAppend, ...ofAsking, ...ofCreation }))("after %s", function* ([, faults]) {
    const uploads = Object.entries(Servers.places).flatMap(([server, place]) =>
      Object.entries(sources).map(([kind, source]) => ({ what: `${kind} to ${server}`, place, source }))
    )
    yield* Effect.forEach(
      uploads,
      ({ place, source, what }) =>
        Effect.flatMap(place, (here) => arrives(what, here, source(), faults)).pipe(
          Effect.provide(HangClock.layer, { local: true })
        ),
      { concurrency: "unbounded", discard: true }
    )
  })
})

for (const client of ["node:http", "fetch"] as const) {
  layer(Layer.merge(Clients.beneath[client], HangClock.layer))(`Sent with ${client}, a source arrives whole`, (it) => {
    for (const [name, faults] of Object.entries(ofAppend)) {
      // Without a declared length of the body, such an offset is not trusted.
      if (client === "fetch" && name === "a wrong offset before the end") continue
      // A client makes no difference between two statuses.
      if (/^(?:502|503|409|423) /.test(name)) continue
      it.effect(`after ${name}`, function* () {
        yield* arrives(client, yield* Servers.places["@tus/server"], UploadSource.fromBytes(bytes), faults)
      })
    }
  })
}
