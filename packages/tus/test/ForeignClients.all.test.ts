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

const kinds: Readonly<Record<string, Effect.Effect<Make>>> = {
  "buffers 1 to 64 pieces": Effect.map(Random.nextIntBetween(1, 64), (capacity) => Clients.buffering(capacity)),
  "ignores back-pressure": Effect.succeed(Clients.buffering("unbounded")),
  "collects the body": Effect.succeed(Clients.collecting),
  "reads the body twice": Effect.succeed(Clients.readingTwice),
  "repeats by itself": Effect.succeed(Clients.repeating),
  "compresses and says so": Effect.succeed(Clients.compressing(true)),
  "compresses in silence": Effect.succeed(Clients.compressing(false))
}

/** The kinds whose uploads must be whole. Those of the others may be refused. */
const isWhole = /^(?:buffers|ignores|collects)/

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

const oneUpload = (what: string, make: Effect.Effect<Make>) =>
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
    assert.notMatch(what, isWhole, outcome.failure.message)
    return outcome.failure._tag
  }).pipe(Effect.scoped)

for (const [name, client] of Object.entries(Clients.beneath)) {
  layer(Layer.mergeAll(Servers.Both.layer, NodeFileSystem.layer, client))(`over ${name}`, (it) => {
    for (const [what, kind] of Object.entries(kinds)) {
      it.effect(
        `a client that ${what} never makes a whole upload of other bytes`,
        () =>
          Effect.gen(function* () {
            const ends = yield* Effect.forEach(
              Array.from({ length: seeds }, (_, seed) => seed),
              (seed) =>
                oneUpload(what, kind).pipe(
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
