import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Growth from "../growth.ts"
import type * as Harness from "../harness.ts"
import * as Service from "../service.ts"

export const row: Harness.Row = {
  id: "P15-statistics",
  work: "statistics by the hour, from the emulator",
  axes: { x: "buckets", y: "time of the request (ms)" },
  run: Effect.gen(function* () {
    const { port } = yield* Service.separate
    const context = yield* Layer.build(Service.layerClient(`http://127.0.0.1:${port}`))
    return yield* Growth.measure({
      sizes: [24, 240, 2184],
      rounds: 9,
      prepare: (hours) =>
        Effect.map(DateTime.now, (now) => {
          // The current hour is a bucket too.
          const since = DateTime.subtract(now, { hours: hours - 1 })
          const request = Assemblies.statistics({ region: "all", since })
          return {
            "Assemblies.statistics": Growth.meanMillis(5)(Service.orFail(Effect.provideContext(request, context)))
          }
        })
    })
  }).pipe(Service.orFail)
}
