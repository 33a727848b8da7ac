/**
 * R1 and R2 of the targets. `RELIABILITY_UPLOADS` and `RELIABILITY_KILLS` say how many; `pnpm reliability` runs all.
 */
import { UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Random } from "effect"
import type { HttpClient } from "effect/http"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer, Clients, Draw, type Fault, Kills, Scene, Servers, TusServer, Upload } from "./utils/index.ts"

const killed = new URL("utils/killed.ts", import.meta.url)
const uploads = Number(process.env["RELIABILITY_UPLOADS"] ?? 24)
const kills = Number(process.env["RELIABILITY_KILLS"] ?? 2)

/**
 * A fault of a request after the creation; `size` is that of the upload. A wrong answer may tell the end itself, but only
 * the first: the same lie twice in a row cannot be told from the truth.
 */
const drawFault = (size: number, index: number): Effect.Effect<Fault> =>
  Effect.gen(function* () {
    const method = yield* Draw.pick(["PATCH", "PATCH", "PATCH", "HEAD"] as const)
    const bytes = yield* Random.nextIntBetween(0, size)
    const anywhere = yield* Random.nextIntBetween(0, size * 2)
    const offset = String(index === 0 ? yield* Draw.pick([size, anywhere]) : anywhere)
    return yield* Draw.pick<Fault>([
      { _tag: "Cut", method: "PATCH", bytes },
      { _tag: "Cut", method: "PATCH", bytes },
      { _tag: "Stall", method: "PATCH", bytes },
      { _tag: "Slow", method: "PATCH", bytes: Math.max(20_000, Math.ceil(size / 20)), millis: 2 },
      { _tag: "NoAnswer", method: "HEAD" },
      { _tag: "LostAnswer", method },
      { _tag: "HalfAnswer", method },
      { _tag: "StatusAfter", method, status: 500 },
      { _tag: "Status", method, status: yield* Draw.pick([409, 423, 500, 502, 503]) },
      { _tag: "Status", method, status: 429, headers: { "retry-after": "0" } },
      { _tag: "WrongOffset", method, offset },
      { _tag: "MissingOffset", method },
      { _tag: "SlowAnswer", method, millis: 20 }
    ])
  })

const drawCreationFault: Effect.Effect<ReadonlyArray<Fault>> = Effect.flatMap(Random.nextIntBetween(0, 9), (chance) =>
  chance < 7
    ? Effect.succeed([])
    : Draw.pick<ReadonlyArray<Fault>>([
        [{ _tag: "LostAnswer", method: "POST" }],
        [{ _tag: "HalfAnswer", method: "POST" }],
        [{ _tag: "StatusAfter", method: "POST", status: 502 }],
        [{ _tag: "Status", method: "POST", status: 429, headers: { "retry-after": "0" } }],
        [{ _tag: "Status", method: "POST", status: 503, headers: { "retry-after": "0" } }]
      ])
)

/** The Status of the Assembly cannot be had, so that no receipt tells of a creation. */
const noReceipts: ReadonlyArray<Fault> = Array.from({ length: 20 }, () => ({
  _tag: "Status",
  method: "GET",
  status: 503
}))

/**
 * A creation must not run out of time because the machine is busy: no schedule would know of it. Parts that were put
 * together are asked for until `finishTimeout`, so that it bears a question that stalls.
 */
const timeouts = { stallTimeout: "5 seconds", finishTimeout: "15 seconds" } as const

const drawPlan = Effect.gen(function* () {
  const isLarge = (yield* Random.nextIntBetween(0, 2)) === 0
  const bytes = Scene.content(isLarge ? yield* Draw.fileSize : yield* Random.nextIntBetween(0, 400_000))
  const piece = yield* Random.nextIntBetween(isLarge ? 5000 : 1, 50_000)
  const size = BigInt(bytes.length)
  const source = yield* Draw.pick<UploadSource.UploadSource>([
    yield* Draw.file(bytes),
    UploadSource.fromBytes(bytes),
    UploadSource.make({ size, bytes: (offset) => Scene.pieces(bytes.subarray(Number(offset)), piece) }),
    UploadSource.fromStream(Scene.pieces(bytes, piece), { size }),
    UploadSource.fromStream(Scene.pieces(bytes, piece))
  ])
  const drawn = yield* Draw.options
  const options = {
    ...timeouts,
    ...drawn,
    chunkSize: isLarge ? drawn.chunkSize : yield* Draw.pick([undefined, 50_000, 100_000]),
    // A stream has no parts.
    parallel: source._tag === "OneShot" ? 1 : drawn.parallel
  }
  const count = yield* Random.nextIntBetween(0, 6)
  const faults: ReadonlyArray<Fault> = [
    ...(yield* drawCreationFault),
    ...(yield* Effect.forEach(Array.from({ length: count }), (_, index) => drawFault(bytes.length, index))),
    ...((yield* Random.nextIntBetween(0, 3)) > 0 ? [] : noReceipts)
  ]
  return { bytes, source, options, faults }
})

/** Everything that a seed decides, but for the server and the client. */
type Plan = Effect.Success<typeof drawPlan>

const mebi = 1024 * 1024

/**
 * What may come out of an upload. It heals from everything but this:
 *
 * - A creation whose answer was lost, where no receipt tells of it, is `CreationUnknown`, and nothing else. The emulator
 *   has no receipts of parts.
 * - An answer that counts more bytes than were sent is `UploadUntrusted`, or `UploadMismatch` beyond the end.
 * - The same lie told twice in a row cannot be told from the truth.
 */
const ends = (server: string, { bytes, faults, options }: Plan): ReadonlyArray<string> => {
  const has = (method: Fault["method"], ...tags: ReadonlyArray<Fault["_tag"]>) =>
    faults.filter((fault) => fault.method === method && tags.includes(fault._tag))
  const inParts = options.parallel !== undefined && options.parallel > 1 && bytes.length >= 2 * mebi
  const isLost = has("POST", "LostAnswer", "HalfAnswer", "StatusAfter").length > 0
  const isFound = !(inParts && server === "the emulator") && !faults.some(({ method }) => method === "GET")
  if (isLost && !isFound) return ["CreationUnknown"]
  const lies = has("HEAD", "WrongOffset").map((fault) => (fault._tag === "WrongOffset" ? fault.offset : ""))
  return [
    "complete",
    ...(has("PATCH", "WrongOffset").length + lies.length > 0 ? ["UploadUntrusted"] : []),
    ...(lies.length > 0 ? ["UploadMismatch"] : []),
    ...(new Set(lies).size < lies.length ? ["SourceFailed"] : [])
  ]
}

type Kind = (client: HttpClient.HttpClient) => HttpClient.HttpClient
const same: Kind = (client) => client
/** What users do to the body of a request on its way, so that it arrives, or so that the upload may be refused. */
const honest = [same, same, Clients.buffering(32), Clients.buffering("unbounded")]
const others = [Clients.repeating, Clients.compressing(true), Clients.compressing(false)]

const oneUpload = Effect.gen(function* () {
  const plan = yield* drawPlan
  const [server, open] = yield* Draw.pick(Object.entries(Servers.places))
  const beneath = yield* Draw.pick([...Object.values(Clients.beneath), Clients.registered])
  const isWhole = (yield* Random.nextIntBetween(0, 2)) > 0
  const kind = yield* Draw.pick(isWhole ? honest : others)
  const { faults, ...place } = yield* open
  faults.push(...plan.faults)
  const outcome = yield* Upload.run(place.target, plan.source, { ...Scene.options, ...plan.options }).pipe(
    Effect.provide(Clients.changed(beneath, kind)),
    Effect.result
  )
  assert.isAtMost(yield* place.created, 1)
  const end = outcome._tag === "Success" ? "complete" : outcome.failure._tag
  if (isWhole) assert.include(ends(server, plan), end, `${server}, ${JSON.stringify(plan.faults.slice(0, 8))}`)
  if (end === "complete") assert.strictEqual(yield* place.sha256, TusServer.sha256(plan.bytes))
  return end
}).pipe(Effect.scoped)

layer(NodeFileSystem.layer)("R1", (it) => {
  it.effect(
    `${uploads} uploads under drawn faults end whole, or with an error that fits`,
    function* () {
      const results = yield* Effect.forEach(
        Array.from({ length: uploads }, (_, seed) => seed),
        (seed) =>
          oneUpload.pipe(
            Random.withSeed(seed),
            Effect.timeout("2 minutes"),
            Effect.catchCause((cause) => Effect.die(new Error(`seed ${seed}`, { cause })))
          ),
        { concurrency: 6 }
      )
      // The ends are the result of the run.
      console.log(`R1: ${Draw.counts(results)}`)
    },
    { timeout: Math.max(600_000, uploads * 3000) }
  )
})

layer(Clients.undici)("R2", (it) => {
  it.effect(`a process killed at ${kills} moments goes on with its upload and never begins a second one`, () =>
    Effect.gen(function* () {
      const folder = yield* Kills.folder
      const bytes = Scene.content(8 * 1024 * 1024)
      const path = join(folder, "file")
      yield* Effect.promise(() => writeFile(path, bytes))
      const results: Array<string> = []
      // About as long as an upload takes that nobody kills, in milliseconds.
      const longest = 300
      for (let kill = 0; kill < kills; kill++) {
        const parallel = kill % 3 === 2 ? 3 : 1
        const { server } = yield* Scene.make()
        const journal = join(folder, `journal-${kill}`)
        const args = [journal, "upload", server.tusUrl, server.assemblySslUrl, path, String(parallel)]
        const moment = yield* Random.nextIntBetween(0, longest)
        const [first = "killed"] = yield* Kills.run<string>(killed, args, moment)
        const [second = "killed"] = first === "complete" ? [first] : yield* Kills.run<string>(killed, args, undefined)
        results.push(`${first} then ${second}`)
        assert.include(["complete", "CreationUnknown"], second)
        assert.isAtMost(server.created.length, parallel === 1 ? 1 : 4)
        if (second === "complete") assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
      }
      console.log(`R2: ${Draw.counts(results)}`)
    }).pipe(Random.withSeed("kills"))
  )
})
