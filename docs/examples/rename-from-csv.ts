/**
 * Renames the assets in a CSV file with the columns `asset` and `name`. Finished rows are logged to a file, so that the
 * run can be stopped at any time and started again. Failed rows are reported at the end and do not stop the others.
 */
import { Dam } from "@assembly-effect/api"
import { DamAsset, Identifier } from "@assembly-effect/schema"
import { Effect, FileSystem, Schema, Stream } from "effect"
import * as Csv from "effect/encoding/Csv"
import * as KeyValueStore from "effect/persistence/KeyValueStore"

/** Every row is validated before anything is sent. An invalid id or name ends the run with its line number. */
const Row = Schema.Struct({ asset: Identifier.AssetId, name: DamAsset.Filename })

export const renameAll = (csv: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const journal = KeyValueStore.prefix(yield* KeyValueStore.KeyValueStore, "renamed/")

    const rename = ({ asset, name }: typeof Row.Type) =>
      Effect.gen(function* () {
        if ((yield* journal.get(asset)) === name) return "done before" as const
        yield* Dam.move(asset, { filename: name })
        yield* journal.set(asset, name)
        return "renamed" as const
      }).pipe(
        Effect.catchTags({
          DamResourceNotFound: () => Effect.succeed("no such asset" as const),
          DamMutationConflict: () => Effect.succeed("the name is taken" as const)
        }),
        Effect.map((outcome) => ({ asset, outcome }))
      )

    return yield* fs
      .stream(csv)
      .pipe(
        Stream.pipeThroughChannel(Csv.decodeSchema(Row)({ headers: true })),
        Stream.mapEffect(rename, { concurrency: 4 }),
        Stream.runCollect
      )
  })
