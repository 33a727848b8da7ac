/** Tests that no request blocks other requests. The emulator processes a large Assembly in many short turns. */
import { Dam } from "@assembly-effect/api"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { storeAll } from "./assets.ts"
import { signedForm } from "./notified.ts"
import { call } from "./signedCalls.ts"
import { json, layer as layerEmulator, send } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const processorTime = () => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

/** The longest time for which the event loop was blocked, in milliseconds of processor time. */
const longestStop = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const seen = { last: processorTime(), longest: 0 }
      const timer = setInterval(() => {
        const now = processorTime()
        seen.longest = Math.max(seen.longest, now - seen.last)
        seen.last = now
      }, 2)
      return { seen, timer }
    }),
    ({ seen }) => Effect.as(work, seen),
    ({ timer }) => Effect.sync(() => clearInterval(timer))
  ).pipe(Effect.map(({ longest }) => longest))

const robot = "/upload/handle"

const files = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => new File(["hi"], `${name}${index}.txt`))

const handles = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, { robot }]))

/** A value that JSON writes as the longest Status of an Assembly with results: 8 MiB. */
const longest = Array.from({ length: 21_500 }, (_, size) => ({ name: "n".repeat(350), size, tags: ["a", "b"] }))

/** The time in which this machine writes and reads the longest Status, in milliseconds of processor time. */
const measure = Effect.sync(() => {
  const start = processorTime()
  const text = JSON.stringify(longest)
  assert.strictEqual(JSON.parse(text).length, longest.length)
  assert.isAbove(text.length, 8_388_608)
  return processorTime() - start
})

layer(layerEmulator())("No stop is longer than twice the writing and reading of the longest Status", (it) => {
  // If the code blocks the event loop, it does so in every run. The garbage collector and the compiler block the event
  // loop only in some runs, so the shortest stop counts.
  const stopsNobody = <E, R>(work: Effect.Effect<unknown, E, R>) =>
    Effect.gen(function* () {
      const runs = yield* Effect.replicateEffect(Effect.all([measure, longestStop(work)]), 5)
      const [measures, stops] = [runs.map(([time]) => time), runs.map(([, stop]) => stop)]
      assert.isBelow(Math.min(...stops), 2 * Math.min(...measures))
    })

  it.effect("while Steps make thousands of files, and while their Status is told", () =>
    stopsNobody(
      Effect.gen(function* () {
        const { assembly_id, ok } = json(yield* signedForm("/assemblies", { steps: handles(99) }, files(45, "a")))
        assert.strictEqual(ok, "ASSEMBLY_COMPLETED")
        const { results } = json(yield* send(HttpClientRequest.get(`/assemblies/${assembly_id}`)))
        assert.strictEqual(Object.values(Object(results)).flat().length, 4455)
      })
    )
  )
  it.effect("while a list looks for many keywords in much text", function* () {
    const fields = { first: "first", text: "x".repeat(900_000) }
    for (let count = 0; count < 40; count++) yield* signedForm("/assemblies", { fields })
    const keywords = Array.from({ length: 20 }, () => "x")
    const list = (page: number) =>
      Effect.map(call("GET", "/assemblies", { fromdate: "2020-01-01 00:00:00", keywords, page, pagesize: 30 }), json)
    yield* stopsNobody(
      Effect.gen(function* () {
        const [first, second] = [yield* list(1), yield* list(2)]
        assert.isAtLeast(Number(first["count"]), 40)
        assert.strictEqual(Object(first["items"]).length, 30)
        assert.strictEqual(Object(second["items"]).length, Math.min(30, Number(first["count"]) - 30))
      })
    )
  })
  it.effect("while 500 assets are listed and moved at once", function* () {
    const names = Array.from({ length: 500 }, (_, index) => `${index}.txt`)
    const assetIds = yield* storeAll("many", names)
    yield* stopsNobody(
      Effect.gen(function* () {
        assert.strictEqual((yield* Dam.list({ limit: 500 })).assets.length, 500)
        yield* Dam.moveMany({ assetIds, destinationFolderId: null })
      })
    )
  })
})
