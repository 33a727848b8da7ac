/** A program is run under every answer that the service may give, without a server. */
import { Dam } from "@assembly-effect/api"
import * as Testing from "@assembly-effect/api/testing"
import { AssetId } from "@assembly-effect/schema/Identifier"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

/** The program under test: says what became of a file. */
const rename = (filename: string) =>
  Dam.move(AssetId.make("abcdefghijklmnopqrstuA"), { filename }).pipe(
    Effect.as("renamed"),
    Effect.catchTags({
      DamResourceNotFound: () => Effect.succeed("gone"),
      DamMutationConflict: () => Effect.succeed("taken"),
      InvalidRequest: () => Effect.succeed("invalid")
    }),
    Effect.orElseSucceed(() => "unknown")
  )

describe("renaming", () => {
  const report = Testing.report()

  it.effect.prop(
    "ends with one of five words",
    [Schema.Int, Schema.String],
    ([seed, filename]) =>
      Effect.map(rename(filename), (word) =>
        assert.include(["renamed", "gone", "taken", "invalid", "unknown"], word)
      ).pipe(Effect.provide(Testing.layerGenerated({ seed, report }))),
    { arbitrary: { runs: 300 } }
  )

  it.effect("met a success and every error", () => report.complete)
})
