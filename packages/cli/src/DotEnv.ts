/**
 * Reads the variables of this program from the file `.env` of the current folder.
 */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The name of the file. */
const path = ".env"

/** The variables that are read from the file. The file may also contain variables of other programs. */
const names = [
  "ASSEMBLY_BASE_URL",
  "ASSEMBLY_AUTH_KEY",
  "ASSEMBLY_AUTH_SECRET",
  "ASSEMBLY_EMULATOR_KEY",
  "ASSEMBLY_EMULATOR_SECRET"
] as const

/**
 * The names of the variables that this program uses from `.env`. Empty if the file is not used.
 *
 * @since 0.1.0
 * @category references
 */
export const Loaded = Context.Reference<ReadonlySet<string>>("@assembly-effect/cli/DotEnv/Loaded", {
  defaultValue: () => new Set()
})

const isSet = (name: string): Effect.Effect<boolean> =>
  Effect.map(
    Effect.orElseSucceed(Config.option(Config.schema(Schema.NonEmptyString, name)), Option.none<string>),
    Option.isSome
  )

/** The values of the variables in the file. Empty if there is no file that can be read. */
const readFile = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(path))) return new Map<string, string>()
  const provider = yield* ConfigProvider.fromDotEnv({ path })
  const values = new Map<string, string>()
  for (const name of names) {
    const found = yield* provider.load([name])
    if (found?._tag === "Value") values.set(name, found.value)
  }
  return values
}).pipe(Effect.orElseSucceed(() => new Map<string, string>()))

/**
 * Adds the variables of `.env` to the environment. A variable of the environment takes precedence.
 *
 * **Details**
 *
 * If the environment has an Auth Key or a secret, the file is not used at all: otherwise the file of a foreign folder
 * could send the credentials of the environment to another address.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never, never, FileSystem.FileSystem> = Layer.unwrap(
  Effect.gen(function* () {
    if ((yield* isSet("ASSEMBLY_AUTH_KEY")) || (yield* isSet("ASSEMBLY_AUTH_SECRET"))) return Layer.empty
    const values = yield* readFile
    const loaded = new Set<string>()
    for (const name of values.keys()) if (!(yield* isSet(name))) loaded.add(name)
    if (loaded.size === 0) return Layer.empty
    const provider = ConfigProvider.fromEnv({ env: Object.fromEntries(values) })
    return Layer.merge(ConfigProvider.layerAdd(provider), Layer.succeed(Loaded, loaded))
  })
)
