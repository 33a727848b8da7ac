import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Stream } from "effect"
import * as Results from "@assembly-effect/api/Results"
import { RetryPolicy } from "@assembly-effect/api"
import { clients as all } from "./utils/clients.ts"
import * as FileServer from "./utils/FileServer.ts"
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const clients = all.filter(([name]) => name !== "node:http")

/** Seeds, in parts that take less than the time limit of a test on a busy machine. */
const parts = (process.env["TEST_ALL"] === "1" ? [0, 50, 100, 150] : [0]).map((first) => ({
  first,
  toString: () => `${first} to ${first + 49}`
}))

const seedsOf = ({ first }: { readonly first: number }) => Array.from({ length: 50 }, (_, index) => first + index)

/** A file and the way in which its server breaks, as a seed determines them. */
const draw = (seed: number) => {
  const seeded = new Draw(seed)
  const kind: FileServer.Kind = {
    validator: FileServer.validators[seeded.below(6)] ?? "none",
    hasRanges: seeded.chance(0.8)
  }
  // A few files are empty, and a few are larger than the buffers of the connection.
  const bytes = FileServer.bytesOf(
    [0, 1, seeded.below(2000), seeded.below(30_000), seeded.below(200_000)][seeded.below(5)] ?? 0,
    seed
  )
  const plan = (): Server.Answer => {
    if (seeded.chance(0.1)) return Server.reset
    if (seeded.chance(0.1)) return Server.text(503, "busy")
    return FileServer.answer(bytes, kind, {
      cutAfter: seeded.below(bytes.length + 1),
      most: seeded.chance(0.3) ? 1 + seeded.below(bytes.length) : undefined
    })
  }
  const cuts = Array.from({ length: 1 + seeded.below(6) }, plan)
  const file = {
    name: "file.bin",
    ...(seeded.chance(0.7) ? { size: bytes.length } : {}),
    ...(seeded.chance(0.5) ? { md5hash: FileServer.hash("md5", bytes) } : {})
  }
  const offset = seeded.chance(0.5) ? 0 : seeded.below(bytes.length)
  return { bytes, cuts, file, kind, offset, seeded }
}

const collect = (file: Parameters<typeof Results.download>[0], offset: number) =>
  Results.download(file, { offset }).pipe(
    RetryPolicy.withPolicy(Schedule.recurs(20)),
    Stream.runCollect,
    Effect.map((pieces) => Buffer.concat(pieces))
  )

for (const [name, client] of clients) {
  describe(`a download with ${name}`, () => {
    it.live.each(parts)("returns identical bytes after cuts at random places, for the seeds %s", (part) =>
      Effect.forEach(
        seedsOf(part),
        Effect.fnUntraced(function* (seed) {
          const { bytes, cuts, file, kind, offset } = draw(seed)
          const { server, url } = yield* FileServer.make([...cuts, FileServer.answer(bytes, kind)])
          const read = yield* collect({ ...file, ssl_url: url }, offset)
          const expected = FileServer.hash("sha256", bytes.subarray(offset))
          assert.strictEqual(FileServer.hash("sha256", read), expected, `seed ${seed}`)
          return server.received.length
        }, Effect.scoped),
        { concurrency: 8 }
      ).pipe(
        Effect.map((requests) =>
          // Most seeds really cut a response.
          assert.isAbove(requests.filter((count) => count > 1).length, 30)
        ),
        Effect.provide(client)
      )
    )
  })
}
