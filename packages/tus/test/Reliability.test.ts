/**
 * R1 and R2 of the targets. `RELIABILITY_UPLOADS` and `RELIABILITY_KILLS` say how many; `pnpm reliability` runs all.
 */
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { fork } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"
import * as Servers from "./utils/Servers.ts"
import * as TusServer from "./utils/TusServer.ts"

const uploads = Number(process.env["RELIABILITY_UPLOADS"] ?? 24)
const kills = Number(process.env["RELIABILITY_KILLS"] ?? 2)

const pick = <A>(items: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.map(Random.nextIntBetween(0, items.length - 1), (index) => items[index]!)

/**
 * A fault of a request after the creation; `size` is that of the upload. A wrong answer may tell the end itself, but only
 * the first: the same lie twice in a row cannot be told from the truth.
 */
const drawFault = (size: number, index: number): Effect.Effect<Fault> =>
  Effect.gen(function* () {
    const method = yield* pick(["PATCH", "PATCH", "PATCH", "HEAD"] as const)
    const bytes = yield* Random.nextIntBetween(0, size)
    const anywhere = yield* Random.nextIntBetween(0, size * 2)
    const offset = String(index === 0 ? yield* pick([size, anywhere]) : anywhere)
    return yield* pick<Fault>([
      { _tag: "Cut", method: "PATCH", bytes },
      { _tag: "Cut", method: "PATCH", bytes },
      { _tag: "Stall", method: "PATCH", bytes },
      { _tag: "Slow", method: "PATCH", bytes: 20_000, millis: 2 },
      { _tag: "NoAnswer", method: "HEAD" },
      { _tag: "LostAnswer", method },
      { _tag: "HalfAnswer", method },
      { _tag: "StatusAfter", method, status: 500 },
      { _tag: "Status", method, status: yield* pick([409, 423, 500, 502, 503]) },
      { _tag: "Status", method, status: 429, headers: { "retry-after": "0" } },
      { _tag: "WrongOffset", method, offset },
      { _tag: "MissingOffset", method },
      { _tag: "SlowAnswer", method, millis: 20 }
    ])
  })

const drawCreationFault: Effect.Effect<ReadonlyArray<Fault>> = Effect.flatMap(Random.nextIntBetween(0, 9), (chance) =>
  chance < 7
    ? Effect.succeed([])
    : pick<ReadonlyArray<Fault>>([
        [{ _tag: "LostAnswer", method: "POST" }],
        [{ _tag: "HalfAnswer", method: "POST" }],
        [{ _tag: "StatusAfter", method: "POST", status: 502 }],
        [{ _tag: "Status", method: "POST", status: 429, headers: { "retry-after": "0" } }],
        [{ _tag: "Status", method: "POST", status: 503, headers: { "retry-after": "0" } }]
      ])
)

const drawSource = (bytes: Uint8Array): Effect.Effect<UploadSource.UploadSource> =>
  Effect.flatMap(Random.nextIntBetween(1, 5000), (size) =>
    pick<UploadSource.UploadSource>([
      UploadSource.fromBytes(bytes),
      UploadSource.make({
        size: BigInt(bytes.length),
        bytes: (offset) => Scene.pieces(bytes.subarray(Number(offset)), size)
      }),
      UploadSource.fromStream(Scene.pieces(bytes, size), { size: BigInt(bytes.length) }),
      UploadSource.fromStream(Scene.pieces(bytes, size))
    ])
  )

/** The Status of the Assembly cannot be had, so that no receipt tells of a creation. */
const noReceipts: ReadonlyArray<Fault> = Array.from({ length: 20 }, () => ({
  _tag: "Status",
  method: "GET",
  status: 503
}))

const oneUpload = Effect.gen(function* () {
  const size = yield* Random.nextIntBetween(0, 400_000)
  const bytes = Scene.content(size)
  const count = yield* Random.nextIntBetween(0, 6)
  const { faults, ...place } = yield* yield* pick(Object.values(yield* Servers.Both).map((server) => server.place))
  faults.push(
    ...(yield* drawCreationFault),
    ...(yield* Effect.forEach(Array.from({ length: count }), (_, index) => drawFault(size, index))),
    ...((yield* Random.nextIntBetween(0, 3)) > 0 ? [] : noReceipts)
  )
  const drawn = [...faults]
  const chunkSize = yield* pick([undefined, 50_000, 100_000])
  const outcome = yield* Upload.run(place.target, yield* drawSource(bytes), {
    ...Scene.options,
    stallTimeout: "1 second",
    finishTimeout: "1 second",
    chunkSize
  }).pipe(Effect.result)
  assert.isAtMost(yield* place.created, 1)
  if (outcome._tag === "Success") {
    assert.strictEqual(yield* place.sha256, TusServer.sha256(bytes))
    return "complete"
  }
  // The one thing that cannot heal: nobody tells what became of the creation.
  assert.strictEqual(outcome.failure._tag, "CreationUnknown", `${outcome.failure.message} ${JSON.stringify(drawn)}`)
  assert.isTrue(drawn.some(({ method }) => method === "POST") && drawn.some(({ method }) => method === "GET"))
  return outcome.failure._tag
}).pipe(Effect.scoped)

layer(Layer.merge(Servers.Both.layer, NodeHttpClient.layerUndici), { excludeTestServices: true })("R1", (it) => {
  it.effect(
    `${uploads} uploads, each under its own schedule of faults, end whole or with an error that says why`,
    () =>
      Effect.gen(function* () {
        const ends = yield* Effect.forEach(
          Array.from({ length: uploads }, (_, seed) => seed),
          (seed) =>
            oneUpload.pipe(
              Random.withSeed(seed),
              Effect.timeout("30 seconds"),
              Effect.catchCause((cause) => Effect.die(new Error(`seed ${seed}`, { cause })))
            ),
          { concurrency: 6 }
        )
        const counts = Object.groupBy(ends, (end) => end)
        // The ends are the result of the run.
        console.log(
          `R1: ${Object.entries(counts)
            .map(([end, list]) => `${end} ${list?.length}`)
            .join(", ")}`
        )
        assert.isAtLeast(counts["complete"]?.length ?? 0, uploads * 0.8)
      }),
    { timeout: 600_000 }
  )
})

/** Runs the uploading process; kills it after so many milliseconds, or not at all. */
const runChild = (args: ReadonlyArray<string>, killAfter: number | undefined): Promise<string> =>
  new Promise((resolve) => {
    const child = fork(new URL("utils/killed.ts", import.meta.url), [...args], { execArgv: [] })
    let end = "killed"
    child.on("message", (message) => {
      if (message === "begin") {
        if (killAfter !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfter)
      } else end = String(message)
    })
    child.on("exit", () => resolve(end))
  })

layer(NodeHttpClient.layerUndici, { excludeTestServices: true })("R2", (it) => {
  it.effect(
    `a process killed at ${kills} moments goes on with its upload and never begins a second one`,
    () =>
      Effect.gen(function* () {
        const folder = yield* Effect.acquireRelease(
          Effect.promise(() => mkdtemp(join(tmpdir(), "killed-"))),
          (path) => Effect.promise(() => rm(path, { recursive: true }))
        )
        const bytes = Scene.content(8 * 1024 * 1024)
        const path = join(folder, "file")
        yield* Effect.promise(() => writeFile(path, bytes))
        const ends: Array<string> = []
        // About as long as an upload takes that nobody kills, in milliseconds.
        const longest = 300
        for (let kill = 0; kill < kills; kill++) {
          const parallel = kill % 3 === 2 ? 3 : 1
          const { server } = yield* Scene.make()
          const args = [server.tusUrl, server.assemblySslUrl, path, join(folder, `journal-${kill}`), String(parallel)]
          const moment = yield* Random.nextIntBetween(0, longest)
          const first = yield* Effect.promise(() => runChild(args, moment))
          const second = first === "complete" ? first : yield* Effect.promise(() => runChild(args, undefined))
          ends.push(`${first}, ${second}`)
          assert.include(["complete", "CreationUnknown"], second)
          assert.isAtMost(server.created.length, parallel === 1 ? 1 : 4)
          if (second === "complete") assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
        }
        const counts = Object.groupBy(ends, (end) => end)
        console.log(
          `R2: ${Object.entries(counts)
            .map(([end, list]) => `${end}: ${list?.length}`)
            .join("; ")}`
        )
      }).pipe(Random.withSeed("kills")),
    { timeout: 600_000 }
  )
})
