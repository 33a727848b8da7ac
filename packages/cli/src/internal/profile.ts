/**
 * The profiles of a user: a file with the settings of one or several services, and the official names of the
 * credentials. A command gets all settings from one place: a named profile, else the environment, else `.env`, else the
 * profile `default`, else the official names.
 */
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as DotEnv from "./dotEnv.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"

/** The flag `--profile` of every command. Only `assembly help environment` explains it. */
export const Named = GlobalFlag.Setting("profile")({
  flag: Flag.optional(Flag.withMetavar(Flag.String("profile"), "name"))
})

/** Where each setting comes from that comes neither from the environment nor from `.env`. */
export const Sources = Context.Reference<ReadonlyMap<string, string>>("@assembly-effect/cli/Profile/Sources", {
  defaultValue: () => new Map()
})

/** The file: below XDG_CONFIG_HOME, else below HOME, else below LOCALAPPDATA. */
const file = DotEnv.folderOf("XDG_CONFIG_HOME", ".config").pipe(
  Effect.map(Option.map((folder) => `${folder}/assembly/credentials`))
)

/** The sections of the file, with the lines of the other sections emptied, so that problems name the right lines. */
const sectionsOf = (text: string): ReadonlyMap<string, string> => {
  const lines = text.split(/\r\n?|\n/)
  let name = "default"
  const named = lines.map((line) => {
    const [, start] = /^\s*\[(.+)\]\s*$/.exec(line) ?? []
    name = start?.trim() ?? name
    return { name, text: start === undefined ? line : "" }
  })
  const texts = (one: string) => named.map((line) => (line.name === one ? line.text : "")).join("\n")
  return new Map([...new Set(named.map((line) => line.name))].map((one) => [one, texts(one)]))
}

/** The text of the file, or undefined if it does not exist. A file that others can read is refused. */
const read = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const unusable = (problem: string, next?: string) => Failure.usage(`${path}: ${problem}`, next)
  return yield* Effect.gen(function* () {
    const { mode } = yield* fs.stat(path)
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      return yield* unusable("other users can read this file", `Run chmod 600 ${path}`)
    }
    return yield* fs.readFileString(path)
  }).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.undefined),
    Effect.catchTag("PlatformError", (error) => Effect.fail(unusable(Failure.problemOf(error))))
  )
})

/** The settings of a profile, which must have all three: another file must not redirect the credentials. */
const settingsOf = Effect.fnUntraced(function* (path: string, name: string, text: string) {
  const { problems, values } = yield* DotEnv.parse(path, text)
  const missing = DotEnv.settings.filter((variable) => values[variable] === undefined)
  if (missing.length === 0) return values
  const why = [`the profile ${name} has no ${missing.join(", ")}`, ...problems].join("; ")
  return yield* Failure.usage(`${path}: ${why}`)
})

const layerOf = (values: Readonly<Record<string, string>>, source: string) =>
  Layer.merge(
    ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: values }), { asPrimary: true }),
    Layer.succeed(Sources, new Map(Object.keys(values).map((name) => [name, source])))
  )

/** The official names of the credentials, which count if no other place has credentials. */
const official = Effect.gen(function* () {
  const [key, secret] = yield* Effect.all(
    ["TRANSLOADIT_KEY", "TRANSLOADIT_SECRET"].map((name) => Config.option(Config.String(name)))
  )
  const values = { ASSEMBLY_AUTH_KEY: key ?? Option.none(), ASSEMBLY_AUTH_SECRET: secret ?? Option.none() }
  // The address of `.env` is for the credentials of `.env`.
  const isForeign = (yield* DotEnv.Current)?.loaded.has("ASSEMBLY_BASE_URL") === true
  const found = Option.all(values)
  if (isForeign || Option.isNone(found)) return Layer.empty
  yield* Output.hint(
    "TRANSLOADIT_KEY and TRANSLOADIT_SECRET are used: ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET are not set."
  )
  return layerOf(found.value, "TRANSLOADIT_KEY and TRANSLOADIT_SECRET")
})

const load = Effect.gen(function* () {
  const typed = Option.flatten(yield* Effect.serviceOption(Named))
  const variable = yield* Config.option(Config.String("ASSEMBLY_PROFILE"))
  const named = Option.getOrUndefined(Option.orElse(typed, () => variable))
  const given = yield* Effect.filter(DotEnv.credentials, DotEnv.isSet)
  if (named === undefined && given.length > 0) return Layer.empty
  const path = Option.getOrUndefined(yield* file)
  const text = path === undefined ? undefined : yield* read(path)
  const sections = sectionsOf(text ?? "")
  const name = named ?? "default"
  const section = sections.get(name)
  if (path !== undefined && section !== undefined && section.trim() !== "") {
    return layerOf(yield* settingsOf(path, name, section), `profile ${name}`)
  }
  if (named === undefined) return yield* official
  const next =
    path === undefined ? "Set HOME or XDG_CONFIG_HOME." : `Add it to ${path}; assembly help environment shows how.`
  return yield* Failure.usage(`there is no profile ${named}`, next)
})

/** The settings of a command that needs the service. */
export const layer = Layer.unwrap(load)
