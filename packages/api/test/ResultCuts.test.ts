import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type { HttpClient } from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Results from "@assembly-effect/api/Results"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as FileServer from "./utils/FileServer.ts"
import * as Server from "../../../test/hostile/HostileServer.ts"

const clients: Readonly<Record<string, Layer.Layer<HttpClient>>> = {
  fetch: FetchHttpClient.layer,
  undici: Undici.layerUndici
}

const seeds = Array.from({ length: 200 }, (_, seed) => seed)

/** A file and the way in which its server breaks, as a seed determines them. */
const draw = (seed: number) => {
  const random = FileServer.randomOf(seed)
  const below = (most: number) => Math.floor(random() * most)
  const kind: FileServer.Kind = {
    validator: FileServer.validators[below(6)] ?? "none",
    hasRanges: random() < 0.8
  }
  // A few files are empty, and a few are larger than the buffers of the connection.
  const bytes = FileServer.bytesOf([0, 1, below(2000), below(100_000), below(400_000)][below(5)] ?? 0, seed)
  const plan = (): Server.Answer => {
    if (random() < 0.1) return Server.reset
    if (random() < 0.1) return Server.text(503, "busy")
    return FileServer.answer(bytes, kind, {
      cutAfter: below(bytes.length + 1),
      most: random() < 0.3 ? 1 + below(bytes.length) : undefined
    })
  }
  const cuts = Array.from({ length: 1 + below(6) }, plan)
  const file = {
    name: "file.bin",
    ...(random() < 0.7 ? { size: bytes.length } : {}),
    ...(random() < 0.5 ? { md5hash: FileServer.hash("md5", bytes) } : {})
  }
  return { bytes, cuts, file, kind, random }
}

const collect = (file: Parameters<typeof Results.download>[0]) =>
  Results.download(file).pipe(
    RetryPolicy.withPolicy(Schedule.recurs(20)),
    Stream.runCollect,
    Effect.map((pieces) => Buffer.concat(pieces))
  )

for (const [name, client] of Object.entries(clients)) {
  describe(`a download with ${name}`, () => {
    it.live("survives cuts at random places with identical bytes, over 200 seeds", () =>
      Effect.forEach(
        seeds,
        Effect.fnUntraced(function* (seed) {
          const { bytes, cuts, file, kind } = draw(seed)
          const { server, url } = yield* FileServer.make([...cuts, FileServer.answer(bytes, kind)])
          const read = yield* collect({ ...file, ssl_url: url })
          assert.strictEqual(FileServer.hash("sha256", read), FileServer.hash("sha256", bytes), `seed ${seed}`)
          return server.received.length
        }, Effect.scoped),
        { concurrency: 8 }
      ).pipe(
        Effect.map((requests) =>
          // Most seeds really cut a response.
          assert.isAbove(requests.filter((count) => count > 1).length, 150)
        ),
        Effect.provide(client)
      )
    )

    it.live("never combines the bytes of two files, over 200 seeds", () =>
      Effect.forEach(
        seeds,
        Effect.fnUntraced(function* (seed) {
          const { bytes, file, kind, random } = draw(seed)
          if (bytes.length < 2) return "skipped"
          // Both sides of the cut change, so that a mixture is neither file. The size stays the same.
          const cutAfter = 1 + Math.floor(random() * (bytes.length - 1))
          const before = Math.floor(random() * cutAfter)
          const after = cutAfter + Math.floor(random() * (bytes.length - cutAfter))
          const other = bytes.map((byte, index) => (index === before || index === after ? byte ^ 1 : byte))
          const { url } = yield* FileServer.make([
            FileServer.answer(bytes, kind, { cutAfter }),
            FileServer.answer(other, kind)
          ])
          const outcome = yield* Effect.result(collect({ ...file, ssl_url: url }))
          if (Result.isFailure(outcome)) return outcome.failure._tag
          // The first response may have been lost as a whole.
          const read = FileServer.hash("sha256", outcome.success)
          const isOneFile = read === FileServer.hash("sha256", bytes) || read === FileServer.hash("sha256", other)
          assert.isTrue(isOneFile, `seed ${seed}`)
          return "one file"
        }, Effect.scoped),
        { concurrency: 8 }
      ).pipe(
        Effect.map((outcomes) => {
          assert.isAbove(outcomes.filter((outcome) => outcome === "ResultChanged").length, 50)
          assert.deepStrictEqual(
            outcomes.filter((outcome) => !["ResultChanged", "ResultMismatch", "one file", "skipped"].includes(outcome)),
            []
          )
        }),
        Effect.provide(client)
      )
    )
  })
}
