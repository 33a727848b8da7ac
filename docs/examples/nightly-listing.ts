/**
 * Writes every Assembly of the last day as one JSON document per line. Pages are requested while the file is written,
 * so the memory of two pages is enough for any number of Assemblies.
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
