/** Lists with a cursor. */
import { Dam, RetryPolicy } from "@assembly-effect/api"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Stream } from "effect"
import * as Service from "./utils/FakeService.ts"

const idOf = (index: number) => `${String(index).padStart(21, "0")}A`

const assetOf = (index: number) => ({
  asset_id: idOf(index),
  version_id: idOf(index),
  workspace: "main",
  path: `/${index}`,
  mime: null,
  size: index
})

type Params = Readonly<Record<string, unknown>>
const paramsOf = (url: URL): Params => JSON.parse(url.searchParams.get("params") ?? "")

/** A list of assets whose cursor is the number of assets before the page. */
const listOf =
  (total: number): Service.Line =>
  (request, url) => {
    const { cursor = "0", limit = 100 } = paramsOf(url)
    const start = Number(cursor)
    const end = Math.min(start + Number(limit), total)
    const assets = Array.from({ length: end - start }, (_, index) => assetOf(start + index))
    const next_cursor = end < total ? String(end) : null
    return Service.json(200, { ok: "DAM_ASSETS_LISTED", workspace: "main", assets, next_cursor })(request, url)
  }

const provide = (service: ReturnType<typeof Service.make>) =>
  Effect.provide(Service.client(service).pipe(Layer.provide(RetryPolicy.layerNone)))

describe("Dam.listAll", () => {
  it.effect("Dam.listAll yields each asset once and in order, with prefix and limit in each request", function* () {
    const service = Service.make(listOf(1234))
    const assets = yield* Stream.runCollect(Dam.listAll({ prefix: "/", limit: 100 })).pipe(provide(service))
    const seen = Array.from(assets, ({ size }) => size)
    assert.deepStrictEqual(
      seen,
      Array.from({ length: 1234 }, (_, index) => index)
    )
    assert.strictEqual(service.requests.length, 13)
    const sent = service.requests.map(paramsOf)
    for (const { limit, prefix } of sent) assert.deepStrictEqual([prefix, limit], ["/", 100])
    const found = sent.slice(0, 3).map(({ cursor }) => cursor)
    assert.deepStrictEqual(found, [undefined, "100", "200"])
  })

  it.effect("Dam.listAll yields nothing after one request if there is no asset", function* () {
    const service = Service.make(listOf(0))
    assert.strictEqual((yield* Stream.runCollect(Dam.listAll()).pipe(provide(service))).length, 0)
    assert.strictEqual(service.requests.length, 1)
  })
})

describe("Dam.listPages", () => {
  it.effect("Dam.listPages sends two requests for two pulled pages, and none before", function* () {
    const service = Service.make(listOf(1000))
    const pages = Dam.listPages({ limit: 10 })
    assert.strictEqual(service.requests.length, 0)
    const taken = yield* Stream.runCollect(Stream.take(pages, 2)).pipe(provide(service))
    assert.strictEqual(taken.length, 2)
    assert.strictEqual(service.requests.length, 2)
  })

  it.effect("Dam.listPages fails with UnexpectedResponse if next_cursor is the cursor of the request", function* () {
    const page = (next_cursor: string) =>
      Service.json(200, { ok: "DAM_ASSETS_LISTED", workspace: "main", assets: [assetOf(1)], next_cursor })
    const service = Service.make(page("a"), page("b"), page("b"), Service.silence)
    let pages = 0
    const error = yield* Dam.listPages().pipe(
      Stream.runForEach(() => Effect.sync(() => pages++)),
      provide(service),
      Effect.flip
    )
    assert.deepInclude(error, { _tag: "UnexpectedResponse", operation: "Dam.list" })
    assert.strictEqual(pages, 2)
  })
})
