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
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as DotEnvProblems from "./internal/dotEnvProblems.ts"
import * as SystemProblem from "./internal/systemProblem.ts"

/** The name of the file. */
const name = ".env"

/** The variables that are read from the file. The file may also contain variables of other programs. */
const names = [
  "ASSEMBLY_BASE_URL",
  "ASSEMBLY_AUTH_KEY",
  "ASSEMBLY_AUTH_SECRET",
  "ASSEMBLY_EMULATOR_KEY",
  "ASSEMBLY_EMULATOR_SECRET"
] as const

/**
 * What this program knows about the file `.env`.
 *
 * - `path`: the absolute path of the file.
 * - `has`: the variables of this program that the file sets.
 * - `loaded`: the variables whose values this program takes from the file. If the environment sets a variable too, the
 *   program uses the value of the environment.
 * - `ignored`: why the whole file is ignored, although it sets variables of this program. `ignored` is undefined if the
 *   environment has no Auth Key and no secret, or if the file sets no variable of this program.
 * - `problems`: what is wrong with the file or with its lines. Each problem has the path of the file, and the number of
 *   the line if the problem is in one line. A problem does not quote the line, because the line may contain a secret.
 *
 * @since 0.1.0
 * @category models
 */
export interface Report {
  readonly path: string
  readonly has: ReadonlySet<string>
  readonly loaded: ReadonlySet<string>
  readonly ignored: string | undefined
  readonly problems: ReadonlyArray<string>
}

/**
 * The report about the file `.env`. The report is undefined if the file does not exist.
 *
 * @since 0.1.0
 * @category references
 */
export const Current = Context.Reference<Report | undefined>("@assembly-effect/cli/DotEnv/Current", {
  defaultValue: () => undefined
})

const isSet = (variable: string): Effect.Effect<boolean> =>
  Effect.map(
    Effect.orElseSucceed(Config.option(Config.schema(Schema.NonEmptyString, variable)), Option.none<string>),
    Option.isSome
  )

/** If the environment has one of these variables, the file is not used. */
const credentials = ["ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"] as const

interface Content {
  readonly values: ReadonlyMap<string, string>
  readonly problems: ReadonlyArray<string>
}

const parse = (path: string, text: string): Effect.Effect<Content> =>
  Effect.gen(function* () {
    const provider = ConfigProvider.fromDotEnvContents(text)
    const values = new Map<string, string>()
    for (const variable of names) {
      const found = yield* Effect.orElseSucceed(provider.load([variable]), () => undefined)
      if (found?._tag === "Value") values.set(variable, found.value)
    }
    const problems = DotEnvProblems.of(text, names).map(
      ({ line, description }) => `${path}, line ${line}: ${description}`
    )
    return { values, problems }
  })

/** The content of the file at `path`. The result is undefined if the file does not exist. */
const read = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.gen(function* () {
    const { type } = yield* fs.stat(path)
    // A pipe is not read, because it might never end.
    if (type !== "File" && type !== "Directory") return { values: new Map(), problems: [`${path}: is not a file`] }
    return yield* parse(path, yield* fs.readFileString(path))
  }).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.undefined),
    Effect.catch((error) =>
      Effect.succeed<Content>({ values: new Map(), problems: [`${path}: ${SystemProblem.of(error)}`] })
    )
  )
})

const load = Effect.gen(function* () {
  const path = (yield* Path.Path).resolve(name)
  const content = yield* read(path)
  if (content === undefined) return Layer.empty
  const { problems, values } = content
  const has = new Set(values.keys())
  const report = (loaded: ReadonlySet<string>, ignored?: string) =>
    Layer.succeed(Current, { path, has, loaded, ignored, problems })

  const given = yield* Effect.filter(credentials, isSet)
  if (given.length > 0) {
    const those = given.length === 1 ? "it" : "them"
    const why = `the environment has ${given.join(" and ")}, and the file could send ${those} to another address`
    return report(new Set(), has.size === 0 ? undefined : why)
  }
  const loaded = new Set(yield* Effect.filter([...has], (variable) => Effect.map(isSet(variable), (set) => !set)))
  const provider = ConfigProvider.fromEnv({ env: Object.fromEntries(values) })
  return loaded.size === 0 ? report(loaded) : Layer.merge(ConfigProvider.layerAdd(provider), report(loaded))
})

/**
 * Extends the current `ConfigProvider` by the variables of this program that `.env` contains, and sets {@link Current}.
 * A variable of the environment takes precedence.
 *
 * **Details**
 *
 * If the environment has an Auth Key or a secret, the file is not used at all: otherwise the file of a foreign folder
 * could send the credentials of the environment to another address.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never, never, FileSystem.FileSystem | Path.Path> = Layer.unwrap(load)

/**
 * What to do if the file is not used, although it sets variables of this program.
 *
 * @since 0.1.0
 * @category constants
 */
export const ignoredAdvice = "Set all three variables in the environment, or all three in the file."

/**
 * The variables of the service. The address and the credentials must be for the same service, so {@link notes} says if
 * they come from different places.
 */
const settings: ReadonlyArray<string> = ["ASSEMBLY_BASE_URL", ...credentials]

/** Where the variables of the service come from, if some come from the file and others from the environment. */
const origins = Effect.fnUntraced(function* ({ loaded, path }: Report) {
  const fromFile = settings.filter((variable) => loaded.has(variable))
  const others = settings.filter((variable) => !loaded.has(variable))
  const fromEnvironment = yield* Effect.filter(others, isSet)
  return fromFile.length === 0 || fromEnvironment.length === 0
    ? []
    : [`${fromFile.join(" and ")}: from ${path}; ${fromEnvironment.join(" and ")}: from the environment.`]
})

/**
 * What a user whose settings are missing or refused must know about the file: why the file is not used, which variables
 * come from the file and which come from the environment, and what is wrong with the file. The result is empty if there
 * is nothing to say.
 *
 * @since 0.1.0
 * @category getters
 */
export const notes: Effect.Effect<ReadonlyArray<string>> = Effect.gen(function* () {
  const report = yield* Current
  if (report === undefined) return []
  const { ignored, path, problems } = report
  const unused = ignored === undefined ? [] : [`${path} is not used: ${ignored}. ${ignoredAdvice}`]
  return [...unused, ...(yield* origins(report)), ...problems]
})
