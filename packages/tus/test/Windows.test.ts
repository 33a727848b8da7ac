/**
 * The windows of a one-shot stream, on a platform that can stream request bodies.
 */
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Link from "./utils/Link.ts"
import * as Scene from "./utils/Scene.ts"
import * as TusServer from "./utils/TusServer.ts"

const mebi = 1024 * 1024

/** The sizes in MiB of the requests that upload a stream of `size` MiB. */
const requests = Effect.fnUntraced(function* (
  link: ReturnType<typeof Link.make>,
  size: number,
  chunkSize?: number | undefined
) {
  const bytes = Scene.content(size * mebi)
  const { server, target } = yield* Scene.make()
  const { client, sent } = yield* link
  const source = UploadSource.fromStream(Scene.pieces(bytes, 50_000))
  yield* Upload.run(target, source, { metadata: Scene.options.metadata, chunkSize }).pipe(
    Effect.provideService(HttpClient.HttpClient, client)
  )
  assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
  return sent.map((count) => count / mebi)
})

layer(NodeHttpClient.layerFetch)("Windows", (it) => {
  it.effect("stay small if responses come at once", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* requests(
          Link.make(() => 0),
          13
        ),
        [2, 2, 2, 2, 2, 2, 1]
      )
    })
  )

  it.effect("grow up to 8 MiB if the connection waits for responses", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* requests(
          Link.make(() => 0, 1),
          31
        ),
        [2, 4, 8, 8, 8, 1]
      )
    })
  )

  it.effect("grow only if the wait takes more than a tenth of a request", () =>
    Effect.gen(function* () {
      const sizes = (seconds: number) =>
        requests(
          Link.make(() => seconds, 1),
          13
        )
      assert.deepStrictEqual(yield* sizes(9), [2, 2, 2, 2, 2, 2, 1])
      assert.deepStrictEqual(yield* sizes(8), [2, 4, 7])
    })
  )

  it.effect("contain the whole stream if it ends within 8 MiB", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* requests(
          Link.make(() => 0),
          7
        ),
        [7]
      )
    })
  )

  it.effect("have the given chunkSize", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* requests(
          Link.make(() => 0, 1),
          13,
          5 * mebi
        ),
        [5, 5, 3]
      )
    })
  )
})
