import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Growth from "../growth.ts"
import * as Harness from "../harness.ts"
import * as Service from "../service.ts"

const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
const sizes = [50, 500, 5000]

const create = Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } } })

export const row: Harness.Row = {
  id: "P15-pages",
  work: "one page of the list of Assemblies",
  axes: { x: "entries of the page", y: "time of the request (ms)" },
  run: Effect.gen(function* () {
    const { port } = yield* Service.separate
    const stored = yield* Layer.build(Service.layerClient(`http://127.0.0.1:${port}`))
    yield* Effect.replicateEffect(create, Math.max(...sizes), { concurrency: 8, discard: true }).pipe(
      Effect.provideContext(stored),
      Service.orFail
    )
    return yield* Growth.measure({
      sizes,
      rounds: 9,
      prepare: (pageSize) =>
        Effect.gen(function* () {
          const memory = yield* Harness.child(new URL("../servers/list.ts", import.meta.url), {
            args: [String(pageSize)]
          })
          const prepared = yield* Layer.build(Service.layerClient(`http://127.0.0.1:${memory.port}`))
          const list = (context: typeof stored) =>
            Growth.meanMillis(3)(
              Service.orFail(Effect.provideContext(Assemblies.list({ fromDate, pageSize }), context))
            )
          return { "a prepared response": list(prepared), "the emulator": list(stored) }
        })
    })
  }).pipe(Service.orFail)
}
