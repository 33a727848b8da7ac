import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Growth from "../growth.ts"
import type * as Harness from "../harness.ts"
import * as Service from "../service.ts"

const create = Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } } })

export const row: Harness.Row = {
  id: "P15-emulator",
  work: "one request to an emulator with many Assemblies",
  axes: { x: "stored Assemblies", y: "time of one request (ms)" },
  run: Effect.gen(function* () {
    const { port } = yield* Service.separate
    const context = yield* Layer.build(Service.layerClient(`http://127.0.0.1:${port}`))
    const since = DateTime.subtract(yield* DateTime.now, { days: 1 })
    const measured = <A, E extends { readonly message: string }>(
      runs: number,
      request: Effect.Effect<A, E, Layer.Success<ReturnType<typeof Service.layerClient>>>
    ) => Growth.meanMillis(runs)(Service.orFail(Effect.provideContext(request, context)))

    let stored = 0
    /** Creates Assemblies until the service has `count` of them. The measurements create only a few more. */
    const fill = (count: number) =>
      Effect.suspend(() => {
        const missing = Math.max(0, count - stored)
        stored += missing
        return Effect.replicateEffect(create, missing, { concurrency: 8, discard: true })
      }).pipe(Effect.provideContext(context), Service.orFail)

    return yield* Growth.measure({
      sizes: [1, 10, 100, 1000, 10_000],
      rounds: 5,
      prepare: (count) =>
        Effect.as(fill(count), {
          create: measured(10, create),
          "list: a page of 50": measured(10, Assemblies.list({ fromDate: since, pageSize: 50 })),
          "list: the last page of 50": measured(
            3,
            Assemblies.list({ fromDate: since, pageSize: 50, page: Math.max(1, Math.floor(count / 50)) })
          ),
          "list: a page of 50 with a keyword": measured(
            3,
            Assemblies.list({ fromDate: since, pageSize: 50, keywords: ["nothing"] })
          ),
          statistics: measured(3, Assemblies.statistics({ region: "all", since }))
        })
    })
  }).pipe(Service.orFail)
}
