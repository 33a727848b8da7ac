import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { DateTime, Effect, Layer, Schema, Stream } from "effect"
import { Assemblies, RetryPolicy } from "@assembly-effect/api"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Service from "./utils/FakeService.ts"

const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")

const idOf = (index: number) => `${index < 0 ? "f" : "0"}${String(Math.abs(index)).padStart(31, "0")}`

/** A list of Assemblies, newest first. The initial ones count down to 0; later ones get negative numbers. */
const listOf = (total: number) => {
  const ids = Array.from({ length: total }, (_, index) => idOf(index))
  let created = 0
  const page = (url: URL): Readonly<Record<"page" | "pagesize", number>> =>
    JSON.parse(url.searchParams.get("params") ?? "")
  return {
    add: (count: number) => {
      for (; count > 0; count--) ids.unshift(idOf(-++created))
    },
    line:
      (shape: "array" | "counted"): Service.Line =>
      (request, url) => {
        const { page: number, pagesize } = page(url)
        const items = ids
          .slice((number - 1) * pagesize, number * pagesize)
          .map((id) => ({ id, created: "2026/01/01 10:00:00 GMT" }))
        return Service.json(200, shape === "array" ? items : { items, count: ids.length })(request, url)
      }
  }
}

const provide = (service: ReturnType<typeof Service.make>) =>
  Effect.provide(Service.client(service).pipe(Layer.provide(RetryPolicy.layerNone)))

describe("listAll", () => {
  it.effect.prop(
    "listAll yields each old entry once and in order if fewer than a page are added between two requests",
    {
      total: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
      pageSize: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })),
      added: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 8 }))),
      shape: Schema.Literals(["array", "counted"])
    },
    ({ added, pageSize, shape, total }) =>
      Effect.gen(function* () {
        const list = listOf(total)
        const line = list.line(shape)
        let request = 0
        const service = Service.make((...exchange) => {
          if (request > 0) list.add(Math.min(added[request - 1] ?? 0, pageSize - 1))
          request++
          return line(...exchange)
        })
        const entries = yield* Stream.runCollect(Assemblies.listAll({ fromDate, pageSize })).pipe(provide(service))
        const expected = Array.from({ length: total }, (_, index) => idOf(index))
        assert.deepStrictEqual(entries.map(({ id }) => id).join(), expected.join())
      })
  )
})

describe("listPages", () => {
  it.effect("listPages sends none before the first pull, one page ahead, and none after its end", function* () {
    const service = Service.make(listOf(1000).line("counted"))
    const pages = Assemblies.listPages({ fromDate, pageSize: 10 })
    const requested: Array<number> = []
    const idle = Idle.make()
    assert.strictEqual(service.requests.length, 0)
    yield* pages.pipe(
      Stream.tap(() => Effect.map(idle.settled, () => requested.push(service.requests.length))),
      Stream.take(3),
      Stream.runDrain,
      provide(service),
      idle.within
    )
    assert.deepStrictEqual(requested, [2, 3, 4])
    yield* idle.settled
    assert.isAtMost(service.requests.length, 4)
  })

  it.effect("listPages starts at the page of the query, keeps its filters, and returns the total", function* () {
    const service = Service.make(listOf(30).line("counted"))
    const pages = Assemblies.listPages({ fromDate, page: 2, pageSize: 10, type: "failed" })
    const found = Array.from(yield* Stream.runCollect(pages).pipe(provide(service)))
    assert.deepStrictEqual(found.map(({ count, items }) => `${items.length} of ${count}`).join(), "10 of 30,10 of 30")
    const sent = service.requests.map((url) => JSON.parse(url.searchParams.get("params") ?? ""))
    assert.deepStrictEqual(sent.map(({ page, type }) => `${page} ${type}`).join(), "2 failed,3 failed")
  })

  it.effect("listPages ends with a page that is not full if the service does not report the total", function* () {
    const service = Service.make(listOf(25).line("array"))
    yield* Stream.runDrain(Assemblies.listPages({ fromDate, pageSize: 10 })).pipe(provide(service))
    assert.strictEqual(service.requests.length, 3)
  })

  it.effect("listPages fails with AssemblyListFailed after the pages before the error", function* () {
    const list = listOf(30).line("counted")
    const service = Service.make(list, list, Service.json(400, { error: "ASSEMBLY_LIST_ERROR" }))
    let pages = 0
    const error = yield* Assemblies.listPages({ fromDate, pageSize: 10 }).pipe(
      Stream.runForEach(() => Effect.sync(() => pages++)),
      provide(service),
      Effect.flip
    )
    assert.deepInclude(error, { _tag: "AssemblyListFailed" })
    assert.strictEqual(pages, 2)
  })
})
