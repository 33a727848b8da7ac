/** Reads the variables of this program from the file `.env` of the current folder. */
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Failure from "./failure.ts"

/** The variables of the service that decide whether the file is used: a foreign file must not redirect credentials. */
export const credentials = ["ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"] as const

/** The variables that must be for the same service. */
export const settings = ["ASSEMBLY_BASE_URL", ...credentials] as const

/** The variables that are read from the file. The file may also contain variables of other programs. */
const names = [...settings, "ASSEMBLY_EMULATOR_KEY", "ASSEMBLY_EMULATOR_SECRET"] as const

/**
 * What this program knows about the file.
 *
 * - `has`: the variables of this program that the file sets. `loaded`: those whose values are taken from the file.
 * - `ignored`: why the whole file is ignored, although it sets variables of this program.
 * - `problems`: what is wrong with the file or its lines, without the text of the lines, which may contain a secret.
 */
export interface Report {
  readonly path: string
  readonly has: ReadonlySet<string>
  readonly loaded: ReadonlySet<string>
  readonly ignored: string | undefined
  readonly problems: ReadonlyArray<string>
}

/** The report about the file. It is undefined if the file does not exist. */
export const Current = Context.Reference<Report | undefined>("@assembly-effect/cli/DotEnv", {
  defaultValue: () => undefined
})

export const isSet = (variable: string): Effect.Effect<boolean> =>
  Effect.isSuccess(Config.schema(Schema.NonEmptyString, variable))

/**
 * A folder of the user: that of a variable of the XDG Base Directory Specification, else a folder below HOME, else that
 * of LOCALAPPDATA, as is usual on Windows. A variable whose path is relative is ignored, as the specification says.
 */
export const folderOf = Effect.fnUntraced(function* (variable: string, below: string) {
  const path = yield* Path.Path
  const absolute = (name: string) =>
    Effect.map(
      Config.option(Config.String(name)),
      Option.filter((at) => path.isAbsolute(at))
    )
  const home = Option.map(yield* absolute("HOME"), (at) => path.join(at, below))
  return Option.firstSomeOf([yield* absolute(variable), home, yield* absolute("LOCALAPPDATA")])
})

/** A line that begins with a variable whose name begins with `ASSEMBLY_`. */
const ours = /^[\s\uFEFF]*(?:export\s+)?(ASSEMBLY_\w+)(.*)$/

/** What is wrong with the rest of a line, which follows the name of the variable. */
const problemOf = (name: string, rest: string): string | undefined => {
  const [, value] = /^(?:\s*=|:\s)(.*)$/.exec(rest) ?? []
  if (value === undefined) return `${name} has no value: write ${name}=value`
  const text = value.trim()
  const quote = text[0] ?? ""
  if (text === "" || text.startsWith("#")) return `${name} is empty`
  if (!/['"`]/.test(quote)) return undefined
  const end = text.indexOf(quote, 1)
  if (end === -1) return `the quote of ${name} is not closed`
  return end === 1 ? `${name} is empty` : undefined
}

/** What is wrong in the text of the file. Effect's parser skips lines that it cannot read. */
export const problemsIn = (text: string): ReadonlyArray<string> => {
  if (/[\0\uFFFD]/.test(text)) return ["line 1: the file is not UTF-8 text; save it as UTF-8"]
  const seen = new Map<string, number>()
  return text.split(/\r\n?|\n/).flatMap((content, index) => {
    const [, name = "", rest = ""] = ours.exec(content) ?? []
    if (name === "") return []
    const isKnown = names.some((one) => one === name)
    const before = isKnown ? seen.get(name) : undefined
    seen.set(name, index + 1)
    const found = isKnown
      ? [problemOf(name, rest), before && `${name} is set in line ${before} too; this line is used`]
      : [`there is no variable ${name}; this program reads ${names.join(", ")}`]
    return found.flatMap((problem) => (problem ? [`line ${index + 1}: ${problem}`] : []))
  })
}

interface Content {
  readonly values: Readonly<Record<string, string>>
  readonly problems: ReadonlyArray<string>
}

/** The values of the variables of this program in a text, and what is wrong with its lines. */
export const parse = Effect.fnUntraced(function* (path: string, text: string) {
  const provider = ConfigProvider.fromDotEnvContents(text)
  const values: Record<string, string> = {}
  for (const variable of names) {
    const found = yield* Effect.orElseSucceed(provider.load([variable]), () => undefined)
    if (found?._tag === "Value") values[variable] = found.value
  }
  return { values, problems: problemsIn(text).map((problem) => `${path}, ${problem}`) }
})

/** The content of the file at `path`. The result is undefined if the file does not exist. */
const read = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const unusable = (problem: string): Content => ({ values: {}, problems: [`${path}: ${problem}`] })
  return yield* Effect.gen(function* () {
    const { type } = yield* fs.stat(path)
    // A pipe is not read, because it might never end.
    if (type !== "File" && type !== "Directory") return unusable("is not a file")
    return yield* parse(path, yield* fs.readFileString(path))
  }).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.undefined),
    Effect.catch((error) => Effect.succeed(unusable(Failure.problemOf(error))))
  )
})

const load = Effect.gen(function* () {
  const path = (yield* Path.Path).resolve(".env")
  const content = yield* read(path)
  if (content === undefined) return Layer.empty
  const has = new Set(Object.keys(content.values))
  const report = (loaded: ReadonlySet<string>, ignored?: string) =>
    Layer.succeed(Current, { path, has, loaded, ignored, problems: content.problems })

  const given = yield* Effect.filter(credentials, isSet)
  if (given.length > 0) {
    const those = given.length === 1 ? "it" : "them"
    const why = `the environment has ${given.join(" and ")}, and the file could send ${those} to another address`
    return report(new Set(), has.size === 0 ? undefined : why)
  }
  const loaded = yield* Effect.filter(has, (variable) => Effect.map(isSet(variable), (set) => !set))
  const provider = ConfigProvider.fromEnv({ env: content.values })
  return loaded.length === 0
    ? report(new Set())
    : Layer.merge(ConfigProvider.layerAdd(provider), report(new Set(loaded)))
})

/**
 * Extends the current `ConfigProvider` by the variables of the file, and sets {@link Current}. A variable of the
 * environment takes precedence. If the environment has an Auth Key or a secret, the file is not used at all.
 */
export const layer: Layer.Layer<never, never, FileSystem.FileSystem | Path.Path> = Layer.unwrap(load)

/** What to do if the file is not used, although it sets variables of this program. */
export const ignoredAdvice = "Set all three variables in the environment, or all three in the file."

/**
 * What a user whose settings are missing or refused must know about the file: why it is not used, which variables come
 * from the file and which from the environment, and what is wrong with the file.
 */
export const notes: Effect.Effect<ReadonlyArray<string>> = Effect.gen(function* () {
  const report = yield* Current
  if (report === undefined) return []
  const { ignored, loaded, path, problems } = report
  const unused = ignored === undefined ? [] : [`${path} is not used: ${ignored}. ${ignoredAdvice}`]
  const fromFile = settings.filter((variable) => loaded.has(variable))
  const others = yield* Effect.filter(
    settings.filter((variable) => !loaded.has(variable)),
    isSet
  )
  const origins =
    fromFile.length === 0 || others.length === 0
      ? []
      : [`${fromFile.join(" and ")}: from ${path}; ${others.join(" and ")}: from the environment.`]
  return [...unused, ...origins, ...problems]
})
