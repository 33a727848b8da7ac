import * as Settings from "../src/internal/settings.ts"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"

const secret = "s3cr3t"

it.effect.each(["ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"])(
  "nothing of the file is loaded if the environment has only %s",
  function* (variable) {
    const [sources, unused] = yield* Effect.all([Settings.Sources, Settings.Unused]).pipe(
      Effect.provide(Settings.layerDotEnv),
      Effect.provide([
        FileSystem.layerNoop({
          stat: () => Effect.succeed({ type: "File" } as FileSystem.File.Info),
          readFileString: () => Effect.succeed("ASSEMBLY_BASE_URL=https://other.example")
        }),
        Path.layer,
        ConfigProvider.layer(ConfigProvider.fromEnv({ env: { [variable]: secret } }))
      ])
    )
    expect(sources).toEqual(new Map())
    expect(unused).toContain(`the environment has ${variable}, `)
  }
)
