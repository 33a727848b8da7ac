/**
 * Where the settings of the service come from. A command gets all of them from one place: a named profile, else the
 * environment, else the file `.env` of the current folder, else the profile `default`, else the official names.
 */
import { Flag, GlobalFlag } from "effect/cli"
import { Config, ConfigProvider, Context, Effect, FileSystem, Layer, Option, Path, Result, Schema } from "./effect.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"

/** The variables of the service that decide whether a file is used: a foreign file must not redirect credentials. */
const credentials = ["ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"] as const

/** The variables that must be for the same service. */
export const variables = ["ASSEMBLY_BASE_URL", ...credentials] as const

/** The variables that are read from a file. The file may also contain variables of other programs. */
const names = [...variables, "ASSEMBLY_EMULATOR_KEY", "ASSEMBLY_EMULATOR_SECRET"] as const

/** Where each setting comes from that does not come from the environment. */
export const Sources = Context.Reference<ReadonlyMap<string, string>>("@assembly-effect/cli/Settings/Sources", {
  defaultValue: () => new Map()
})

/** Why the file `.env` is not used, although it exists. */
export const Unused = Context.Reference<string | undefined>("@assembly-effect/cli/Settings/Unused", {
  defaultValue: () => undefined
})

/** Settings that take precedence over those of the environment. */
const layerOf = (values: Readonly<Record<string, string>>, source: string) =>
  Layer.merge(
    ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: values }), { asPrimary: true }),
    Layer.succeed(Sources, new Map(Object.keys(values).map((name) => [name, source])))
  )

export const isSet = (variable: string): Effect.Effect<boolean> =>
  Effect.isSuccess(Config.schema(Schema.NonEmptyString, variable))

/**
 * A folder of the user: that of a variable of the XDG Base Directory Specification, else a folder below HOME, else that
 * of LOCALAPPDATA, as is usual on Windows. A variable whose path is relative is ignored, as the specification says.
 */
export const folderOf = Effect.fnUntraced(function* (variable: string, below: string) {
  const path = yield* Path.Path
  const absolute = (name: string) => Effect.map(Config.option(Config.String(name)), Option.filter(path.isAbsolute))
  const home = Option.map(yield* absolute("HOME"), (at) => path.join(at, below))
  return Option.firstSomeOf([yield* absolute(variable), home, yield* absolute("LOCALAPPDATA")])
})

/** The values of the variables of this program in a text. */
const parse = Effect.fnUntraced(function* (text: string) {
  const provider = ConfigProvider.fromDotEnvContents(text)
  const values: Record<string, string> = {}
  for (const variable of names) {
    const found = yield* Effect.orElseSucceed(provider.load([variable]), () => undefined)
    if (found?._tag === "Value") values[variable] = found.value
  }
  return values
})

/** The text of a file, or undefined if it does not exist. Fails with why it cannot be read, or with what `check` says. */
const read = (path: string, check?: (info: FileSystem.File.Info) => Failure.CommandError | undefined) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const info = yield* fs.stat(path)
    const refusal = check?.(info)
    if (refusal !== undefined) return yield* refusal
    // A pipe is not read, because it might never end.
    if (info.type !== "File" && info.type !== "Directory") return yield* Failure.usage(`${path}: is not a file`)
    return yield* fs.readFileString(path)
  }).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.undefined),
    Effect.catchTag("PlatformError", (error) => Effect.fail(Failure.usage(`${path}: ${Failure.problemOf(error)}`)))
  )

const dotEnv = Effect.gen(function* () {
  const path = (yield* Path.Path).resolve(".env")
  const content = yield* Effect.result(read(path))
  if (Result.isFailure(content)) return Layer.succeed(Unused, content.failure.message)
  const values = Object.entries(yield* parse(content.success ?? ""))
  const given = yield* Effect.filter(credentials, isSet)
  if (given.length > 0 && values.length > 0) {
    const those = given.length === 1 ? "it" : "them"
    return Layer.succeed(
      Unused,
      `${path} is not used: the environment has ${given.join(" and ")}, and the file could send ${those} to another address. Set all three variables in the environment, or all three in the file.`
    )
  }
  const unset = yield* Effect.filter(values, ([name]) => Effect.map(isSet(name), (set) => !set))
  return layerOf(Object.fromEntries(unset), ".env")
})

/**
 * Extends the current `ConfigProvider` by the variables of `.env`. A variable of the environment takes precedence. If the
 * environment has an Auth Key or a secret, the file is not used at all.
 */
export const layerDotEnv: Layer.Layer<never, never, FileSystem.FileSystem | Path.Path> = Layer.unwrap(dotEnv)

/**
 * What a user whose settings are missing or refused must know about `.env`: why it is not used, and which variables come
 * from the file and which from the environment, if they come from both.
 */
export const notes: Effect.Effect<ReadonlyArray<string>> = Effect.gen(function* () {
  const sources = yield* Sources
  const unused = yield* Unused
  const set = yield* Effect.filter(variables, isSet)
  const origins = Map.groupBy(set, (name) => sources.get(name) ?? "the environment")
  const told = Array.from(origins, ([source, found]) => `${found.join(" and ")}: from ${source}`).toSorted()
  return [...(unused === undefined ? [] : [unused]), ...(told.length > 1 ? [`${told.join("; ")}.`] : [])]
})

/** The flag `--profile` of every command. */
export const Profile = GlobalFlag.Setting("profile")({
  flag: Flag.optional(Flag.withMetavar(Flag.String("profile"), "name"))
})

/** The file of profiles: below XDG_CONFIG_HOME, else below HOME, else below LOCALAPPDATA. */
const profiles = folderOf("XDG_CONFIG_HOME", ".config").pipe(
  Effect.map(Option.map((folder) => `${folder}/assembly/credentials`))
)

/** The files that may have the secret of the user: `.env` of the current folder, and the file of profiles. */
export const files = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const paths = [".env", ...Option.toArray(yield* Effect.orElseSucceed(profiles, Option.none))]
  return new Set(yield* Effect.forEach(paths, (path) => Effect.orElseSucceed(fs.realPath(path), () => path)))
})

/** The texts of the profiles of the file by their names. */
const sectionsOf = (text: string): ReadonlyMap<string, string> =>
  new Map(
    `[default]\n${text}`
      .split(/^\s*\[(?=.+\]\s*$)/m)
      .slice(1)
      .map((section) => {
        const [, name = "", rest = ""] = /^(.+?)\]\s*\n?([^]*)$/.exec(section) ?? []
        return [name.trim(), rest] as const
      })
  )

/** The text of the file of profiles, or undefined if it does not exist. A file that others can read is refused. */
const readProfiles = (path: string) =>
  read(path, ({ mode }) =>
    process.platform !== "win32" && (mode & 0o077) !== 0
      ? Failure.usage(`${path}: other users can read this file`, `Run chmod 600 ${path}`)
      : undefined
  )

/** The settings of a profile, which must have all three: another file must not redirect the credentials. */
const settingsOf = Effect.fnUntraced(function* (path: string, name: string, text: string) {
  const values = yield* parse(text)
  const missing = variables.filter((variable) => values[variable] === undefined)
  if (missing.length === 0) return values
  return yield* Failure.usage(`${path}: the profile ${name} has no ${missing.join(", ")}`)
})

/** The official names of the credentials, which count if no other place has credentials. */
const official = Effect.gen(function* () {
  const [key, secret] = yield* Effect.all(
    ["TRANSLOADIT_KEY", "TRANSLOADIT_SECRET"].map((name) => Config.option(Config.String(name)))
  )
  const values = { ASSEMBLY_AUTH_KEY: key ?? Option.none(), ASSEMBLY_AUTH_SECRET: secret ?? Option.none() }
  // The address of `.env` is for the credentials of `.env`.
  const isForeign = (yield* Sources).has("ASSEMBLY_BASE_URL")
  const found = Option.all(values)
  if (isForeign || Option.isNone(found)) return Layer.empty
  yield* Output.hint(
    "TRANSLOADIT_KEY and TRANSLOADIT_SECRET are used: ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET are not set."
  )
  return layerOf(found.value, "TRANSLOADIT_KEY and TRANSLOADIT_SECRET")
})

const load = Effect.gen(function* () {
  const typed = Option.flatten(yield* Effect.serviceOption(Profile))
  const variable = yield* Config.option(Config.String("ASSEMBLY_PROFILE"))
  const named = Option.getOrUndefined(Option.orElse(typed, () => variable))
  const given = yield* Effect.filter(credentials, isSet)
  if (named === undefined && given.length > 0) return Layer.empty
  const path = Option.getOrUndefined(yield* profiles)
  const text = path === undefined ? undefined : yield* readProfiles(path)
  const sections = sectionsOf(text ?? "")
  const name = named ?? "default"
  const section = sections.get(name)
  if (path !== undefined && section !== undefined && section.trim() !== "") {
    const isElsewhere = (yield* isSet("ASSEMBLY_BASE_URL")) && !(yield* Sources).has("ASSEMBLY_BASE_URL")
    if (named === undefined && isElsewhere) {
      return yield* Failure.usage(
        `ASSEMBLY_BASE_URL is set without credentials, and ${path} has a profile default with an address of its own`,
        "Set all three variables, unset this one, or name the profile with --profile."
      )
    }
    return layerOf(yield* settingsOf(path, name, section), `profile ${name}`)
  }
  if (named === undefined) return yield* official
  const next =
    path === undefined ? "Set HOME or XDG_CONFIG_HOME." : `Add it to ${path}; assembly help environment shows how.`
  return yield* Failure.usage(`there is no profile ${named}`, next)
})

/** The settings of a command that needs the service. */
export const layer = Layer.unwrap(load)
