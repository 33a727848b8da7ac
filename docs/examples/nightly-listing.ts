/**
 * Every Assembly of the last day, one JSON document a line. Pages are fetched as the file is written, so a day of any
 * size needs the memory of two pages.
 */
import { Assemblies } from "@assembly-effect/api"
import { DateTime, Effect, FileSystem, Stream } from "effect"
import * as Ndjson from "effect/encoding/Ndjson"

export const exportDay = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const now = yield* DateTime.now
    const fromDate = DateTime.subtract(now, { days: 1 })
    yield* Assemblies.listAll({ fromDate, pageSize: 500 }).pipe(
      Stream.pipeThroughChannel(Ndjson.encode()),
      Stream.run(fs.sink(path))
    )
  })
