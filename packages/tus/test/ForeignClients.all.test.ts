/**
 * What users do to the body of a request on its way: the server has the same bytes in the end, or the upload says why
 * not. `FOREIGN_SEEDS` says how many uploads of each kind with each client; `pnpm reliability` runs 100.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Random } from "effect"
import { HttpClient } from "effect/http"
import { Clients, Draw, type Fault, Scene, Servers, TusServer, Upload } from "./utils/index.ts"

const seeds = Number(process.env["FOREIGN_SEEDS"] ?? 1)

type Make = (client: HttpClient.HttpClient) => HttpClient.HttpClient

/** How a client is made of another one, and whether its uploads must be whole: else they may be refused. */
interface Kind {
  readonly make: Effect.Effect<Make>
  readonly isWhole: boolean
}

const kinds: Readonly<Record<string, Kind>> = {
  "buffers 1 to 64 pieces": {
    make: Effect.map(Random.nextIntBetween(1, 64), (capacity) => Clients.buffering(capacity)),
    isWhole: true
  },
  "ignores back-pressure": { make: Effect.succeed(Clients.buffering("unbounded")), isWhole: true },
  "reads the body twice": { make: Effect.succeed(Clients.readingTwice), isWhole: false },
  "repeats by itself": { make: Effect.succeed(Clients.repeating), isWhole: false },
  "compresses and says so": { make: Effect.succeed(Clients.compressing(true)), isWhole: false },
  "compresses in silence": { make: Effect.succeed(Clients.compressing(false)), isWhole: false },
  "collects the body": { make: Effect.succeed(Clients.collecting), isWhole: true }
}

/** What a client that repeats by itself repeats. */
const drawFaults = (size: number): Effect.Effect<ReadonlyArray<Fault>> =>
  Effect.gen(function* () {
    const bytes = yield* Random.nextIntBetween(0, size)
    return yield* Draw.pick<ReadonlyArray<Fault>>([
      [],
      [{ _tag: "Cut", method: "PATCH", bytes }],
      [{ _tag: "LostAnswer", method: "PATCH" }],
      [{ _tag: "StatusAfter", method: "PATCH", status: 503 }]
    ])
  })

const oneUpload = ({ isWhole, make }: Kind) =>
  Effect.gen(function* () {
    const bytes = Scene.content(yield* Draw.fileSize)
    const { faults, ...place } = yield* (yield* Draw.pick(Object.values(yield* Servers.Both))).place
    faults.push(...(yield* drawFaults(bytes.length)))
    const client = (yield* make)(yield* HttpClient.HttpClient)
    const options = { ...Scene.options, ...(yield* Draw.options), stallTimeout: "5 seconds", maxRetries: 4 } as const
    const source = yield* Draw.file(bytes)
    const outcome = yield* Upload.run(place.target, source, options).pipe(
      Effect.provideService(HttpClient.HttpClient, client),
      Effect.result
    )
    if (outcome._tag === "Success") {
      assert.strictEqual(yield* place.sha256, TusServer.sha256(bytes))
      return "complete"
    }
    assert.isFalse(isWhole, outcome.failure.message)
    return outcome.failure._tag
  }).pipe(Effect.scoped)

/** The issue that this began with: defaults, a file, and a client that holds 32 pieces. */
const first = Effect.gen(function* () {
  const bytes = Scene.content(24 * 1024 * 1024 + 17)
  const { server, target } = yield* Scene.make()
  yield* Upload.run(target, yield* Draw.file(bytes), { metadata: Scene.options.metadata }).pipe(
    Effect.provideService(HttpClient.HttpClient, Clients.buffering(32)(yield* HttpClient.HttpClient))
  )
  assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
  assert.deepStrictEqual(server.log, ["POST 201", "PATCH 204"])
})

for (const [name, client] of Object.entries(Clients.beneath)) {
  layer(Layer.mergeAll(Servers.Both.layer, NodeFileSystem.layer, client))(`over ${name}`, (it) => {
    it.effect("a file arrives as it is with a client that buffers 32 pieces", () => first)

    for (const [what, kind] of Object.entries(kinds)) {
      it.effect(
        `a client that ${what} never makes a whole upload of other bytes`,
        () =>
          Effect.gen(function* () {
            const ends = yield* Effect.forEach(
              Array.from({ length: seeds }, (_, seed) => seed),
              (seed) =>
                oneUpload(kind).pipe(
                  Random.withSeed(`${what}, over ${name}, ${seed}`),
                  Effect.catchCause((cause) => Effect.die(new Error(`seed ${seed}`, { cause })))
                ),
              { concurrency: 2 }
            )
            console.log(`${what}, over ${name}: ${Draw.counts(ends)}`)
          }),
        { timeout: Math.max(600_000, seeds * 60_000) }
      )
    }
  })
}
