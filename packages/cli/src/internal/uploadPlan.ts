/** Which files a command uploads, and under which names. All files are checked before an Assembly is created. */
import { DamAsset } from "@assembly-effect/schema"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { UploadSource } from "@assembly-effect/tus"
import * as Glob from "effect/Glob"
import { fstatSync } from "node:fs"
import { devNull } from "node:os"
import { isatty } from "node:tty"
import type { PlatformError, Schema } from "./effect.ts"
import { Effect, FileSystem, Option, Path, Result, SchemaParser, Stdio } from "./effect.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"
import * as Settings from "./settings.ts"

/**
 * A file of an upload. `name` is its name at the service, which may start with folders. `path` is the path that the user
 * gave, or a path below a given folder or of a pattern. `realPath` is the absolute path without links. For the standard
 * input, both are `-`.
 */
export interface Planned<Source extends UploadSource.UploadSource = UploadSource.UploadSource> {
  readonly path: string
  readonly realPath: string
  readonly name: string
  readonly source: Source
}

/** Why a path cannot be uploaded. A line break in a path must not end the line of the message. */
const problem = (path: string, description: string): Failure.CommandError =>
  Failure.usage(Printable.escape(`${path}: ${description}`))

const refuse = (path: string, description: string) => Effect.fail(problem(path, description))

const unreadable = (path: string) => (error: PlatformError.PlatformError) => {
  // Node replaces bytes of a path that are not valid UTF-8 with this character, and then cannot open the file.
  const isBroken = error.reason._tag === "NotFound" && path.includes("\ufffd")
  return problem(path, isBroken ? "the name is not valid UTF-8; rename the file" : Failure.problemOf(error))
}

/** The type of the file or folder at a path. Follows links. */
const typeOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const { type } = yield* Effect.mapError(fs.stat(path), unreadable(path))
  return type
})

/** Checks that a file can be read, and makes a source of it. Sends nothing. */
const open = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const type = yield* typeOf(path)
  if (type !== "File") return yield* refuse(path, type === "Directory" ? "is a directory" : "is not a file")
  yield* Effect.mapError(fs.access(path, { readable: true }), unreadable(path))
  // Several paths may lead to the same file, so the identity of the source has the path without links.
  const realPath = yield* Effect.mapError(fs.realPath(path), unreadable(path))
  const source = yield* Effect.mapError(UploadSource.fromPath(realPath), ({ description }) =>
    problem(path, description)
  )
  return { path, name: (yield* Path.Path).basename(path), realPath, source }
})

/**
 * The name of a file at the service if `-r` is given. `typed` is the path that the user has typed, and `inside` is the
 * path of the file below it. If the typed path is absolute or starts with `..`, the name begins with its last part.
 */
const keptPath = (path: Path.Path, typed: string, inside = ""): string => {
  const normal = path.normalize(typed).replaceAll(path.sep, "/").replace(/\/$/, "")
  const start = path.isAbsolute(typed) || /^\.\.(?:\/|$)/.test(normal) ? path.basename(path.resolve(typed)) : normal
  return [start === "." ? "" : start, inside.replaceAll(path.sep, "/")].filter((part) => part !== "").join("/")
}

/**
 * The paths of all files below a folder, without those in folders that `isLeft` leaves out. An error names the folder or
 * file that cannot be read; with `skip`, it leaves out only that.
 */
const filesBelow = (
  folder: string,
  isLeft: (path: string) => boolean,
  skip: Options["skip"]
): Effect.Effect<ReadonlyArray<string>, Failure.CommandError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const names = yield* Effect.mapError(fs.readDirectory(folder), unreadable(folder))
    const filesAt = Effect.fnUntraced(function* (at: string) {
      if ((yield* typeOf(at)) !== "Directory") return [at]
      if (!(yield* Effect.isSuccess(fs.readLink(at)))) return yield* filesBelow(at, isLeft, skip)
      // A link may lead to a folder above it, so that the search would not end. If this program skipped the link
      // silently, the upload would be incomplete.
      return yield* refuse(at, "is a link to a folder, which is not followed; remove the link, or upload its target")
    })
    const paths = names.toSorted().map((name) => join(folder, name))
    const found = yield* Effect.forEach(
      paths.filter((at) => !isLeft(at)),
      (at) => filesAt(at).pipe(Effect.catch((error) => (skip ? Effect.as(skip(error), []) : Effect.fail(error))))
    )
    return found.flat()
  })

/**
 * The files that a path names: a file, or with `isRecursive` the files of a folder. `kept` is the name at the service if
 * `-r` is given, see {@link keptPath}.
 */
const expandOne = Effect.fnUntraced(function* (typed: string, { exclude, recursive, skip }: Options) {
  const path = yield* Path.Path
  if ((yield* typeOf(typed)) !== "Directory") return [{ path: typed, kept: keptPath(path, typed) }]
  if (!recursive) return yield* refuse(typed, "is a folder; add -r to upload its files")
  const isWanted = picking({ include: [], exclude })
  const keptOf = (at: string) => keptPath(path, typed, path.relative(typed, at))
  const found = yield* filesBelow(typed, (at) => !isWanted(keptOf(at)), skip)
  return found.map((at) => ({ path: at, kept: keptOf(at) }))
})

/** The files that one argument names: a file, a folder, or a pattern that the shell has not expanded. */
const expand = Effect.fnUntraced(function* (typed: string, options: Options) {
  const fs = yield* FileSystem.FileSystem
  if (!/[*?[{]/.test(typed) || (yield* Effect.isSuccess(fs.stat(typed)))) return yield* expandOne(typed, options)
  const matches = yield* Effect.mapError(fs.glob(typed), unreadable(typed))
  const named = yield* Effect.filter(matches, (match) =>
    Effect.map(typeOf(match), (type) => type === "File" || (options.recursive && type === "Directory"))
  )
  // A folder that matches already contains the matches below it, so these matches are left out.
  const top = named.toSorted().filter((one) => !named.some((other) => one.startsWith(`${other}/`)))
  const found = yield* Effect.forEach(top, (match) => expandOne(match, options))
  return found.length === 0 ? yield* refuse(typed, "no file matches") : found.flat()
})

const standardInputPath = "the standard input (-)"

/**
 * Fails if the standard input is closed, or is a folder or a device, except a terminal. In these cases, Node reads an
 * empty input without an error. Node opens the null device if the standard input is closed.
 */
const checkStandardInput = Effect.gen(function* () {
  const input = yield* Effect.try({
    try: () => fstatSync(0),
    catch: (error) => problem(standardInputPath, `cannot be read: ${Failure.problemOfCause(error, String(error))}`)
  })
  if (input.isDirectory()) return yield* refuse(standardInputPath, "is a folder, not a file or a pipe")
  if ((input.isCharacterDevice() && !isatty(0)) || input.isBlockDevice()) {
    return yield* refuse(
      standardInputPath,
      `is closed, or is a device such as ${devNull}; pipe the content, as cat does`
    )
  }
})

/** The first rule that a value breaks. */
const brokenRule = (schema: Schema.ConstraintDecoder<unknown>, value: string): string | undefined => {
  const decoded = SchemaParser.decodeUnknownResult(schema)(value)
  return Result.isSuccess(decoded) ? undefined : (Input.fromSchemaIssue(decoded.failure)[0]?.message ?? "invalid")
}

/** Why the service would refuse a name: the first rule that a part of the name breaks. */
export const nameProblem = (name: string): string | undefined => {
  if (/\p{Cc}/u.test(name)) return "the service refuses a name with control characters"
  const broken = name.split("/").flatMap((part) => brokenRule(DamAsset.Filename, part) ?? [])
  return broken.length === 0 ? undefined : `the service refuses this name (${broken[0]})`
}

/** The folder of `--path`, without the parts of the path that are empty or `.`. It is empty for the root. */
export const folderOf = (typed: string): string =>
  typed
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")

/** The path of a file in the Workspace. `folder` is the result of {@link folderOf}. */
export const targetOf = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`)

/** Why the service would refuse the path of a file in the Workspace. A folder with variables (`${…}`) is not checked. */
const targetProblem = (folder: string | undefined, name: string): string | undefined => {
  if (folder === undefined || folder.includes("${")) return undefined
  const rule = brokenRule(DamAsset.DestinationPath, targetOf(folder, name))
  return rule && `the service refuses this path in the Workspace (${rule}); shorten --path or the name`
}

/**
 * The rule of a pattern for a path: the pattern matches whole names at the end of the path, or from its start if the
 * pattern begins with `/`, or it matches a folder of the path.
 */
const ruleOf = (pattern: string): Glob.Glob => {
  const start = pattern.startsWith("/") ? "" : "**/"
  const end = pattern.endsWith("/") ? "/**/*" : "/**"
  return Glob.make(start + pattern.normalize("NFC").replaceAll(/^\/|\/$/g, "") + end, { dot: true })
}

/** The problem of patterns of which one is empty. */
export const patternProblem = (patterns: Pick<Options, "include" | "exclude">): string | undefined => {
  const empty = (["include", "exclude"] as const).find((flag) => patterns[flag].some((one) => one.trim() === ""))
  return empty && `--${empty} is empty`
}

/** Makes a function that says whether a file is uploaded: it matches a pattern of `include`, if there is one, and none of `exclude`. */
export const picking = ({ exclude, include }: Pick<Options, "include" | "exclude">): ((path: string) => boolean) => {
  const [wanted, unwanted] = [include.map(ruleOf), exclude.map(ruleOf)]
  return (path) => {
    const matches = Glob.match(path.normalize("NFC"))
    return (wanted.length === 0 || wanted.some(matches)) && !unwanted.some(matches)
  }
}

/**
 * The flags about files, and:
 *
 * - `listed`: more files and folders, whose names are no patterns.
 * - `folder`: where the Workspace stores the files, see {@link folderOf}. Undefined if Steps decide that.
 * - `skip`: gets the problem of a file, which is then left out. Without it, `make` fails.
 */
export interface Options {
  readonly paths: ReadonlyArray<string>
  readonly listed: ReadonlyArray<string>
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
  readonly recursive: boolean
  readonly name: Option.Option<string>
  readonly watch: boolean
  readonly folder: string | undefined
  readonly skip?: (problem: Failure.CommandError) => Effect.Effect<void>
}

/** Fails if the service would refuse the name of a file. */
const checkName = (file: Planned, folder: string | undefined) => {
  const rule = nameProblem(file.name)
  const advice = file.path === "-" ? "give another --name" : "rename the file"
  const broken = rule === undefined ? targetProblem(folder, file.name) : `${rule}; ${advice}`
  return broken === undefined ? Effect.succeed(file) : refuse(file.path, broken)
}

/** Two files with the same name could replace each other at the service, which compares names in NFC. */
const checkNames = Effect.fnUntraced(function* (files: ReadonlyArray<Planned>, { recursive }: Options) {
  const same = [...Map.groupBy(files, ({ name }) => name.normalize("NFC"))].find(([, found]) => found.length > 1)
  if (same === undefined) return files
  const two = same[1].slice(0, 2).map(({ path }) => path)
  const advice = recursive ? "rename one" : "add -r to keep the folders, or rename one"
  return yield* Failure.usage(`${two.join(" and ")} have the same name, ${same[0]}: ${advice}`)
})

const checkInput = ({ name, paths }: Options): string | undefined => {
  const inputs = paths.filter((path) => path === "-").length
  if (inputs > 1) return "the standard input (-) can be uploaded only once"
  if (inputs === 1 && Option.isNone(name)) return "give the standard input (-) a name with --name"
  return inputs === 0 && Option.isSome(name)
    ? "--name is the name of the standard input; add - to the paths"
    : undefined
}

const told = (left: Failure.CommandError) => Output.hint(left.message)

/** The files of the paths, in the order of the paths. With `recursive` the names keep the folders. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const { folder, listed, paths, recursive, skip, watch } = options
  const wrong = checkInput(options)
  if (wrong !== undefined) return yield* Failure.usage(wrong)
  const isPicked = picking(options)
  const mayBeEmpty = watch || options.exclude.length > 0
  const settings = yield* Settings.files
  const filesOf = Effect.fnUntraced(function* (typed: string, isPattern: boolean) {
    if (isPattern && typed === "-") {
      yield* checkStandardInput
      const source = UploadSource.fromStream((yield* Stdio.Stdio).stdin)
      const name = Option.getOrElse(options.name, () => "")
      return [yield* checkName({ path: "-", realPath: "-", name, source }, folder)]
    }
    const found = yield* isPattern ? expand(typed, options) : expandOne(typed, options)
    if (found.length === 0 && !mayBeEmpty) return yield* refuse(typed, "the folder contains no files")
    const opened = yield* Effect.forEach(
      found.filter(({ kept }) => isPicked(kept)),
      ({ kept, path }) =>
        open(path).pipe(
          Effect.flatMap((file) => checkName({ ...file, name: recursive ? kept : file.name }, folder)),
          Effect.catch((error) => (skip === undefined ? Effect.fail(error) : Effect.as(skip(error), undefined)))
        )
    )
    return yield* Effect.filter(
      opened.filter((file) => file !== undefined),
      (file) => {
        if (file.path === typed || !settings.has(file.realPath)) return Effect.succeed(true)
        const left = problem(file.path, "is left out, because this program reads its settings from it")
        return Effect.as((skip ?? told)(left), false)
      }
    )
  })
  const typed = [...paths.map((path) => [path, true] as const), ...listed.map((path) => [path, false] as const)]
  const files = (yield* Effect.forEach(typed, ([path, isPattern]) => filesOf(path, isPattern))).flat()
  if (files.length === 0 && !watch) {
    const patterns = [...options.include, ...options.exclude]
    return yield* Failure.usage(
      patterns.length === 0 ? "there are no files to upload" : "no file is left after --include and --exclude"
    )
  }
  // An argument may name a file again that an earlier argument has named.
  const keys = new Map(files.map((file) => [JSON.stringify([file.realPath, file.name]), file]))
  return yield* checkNames([...keys.values()], options)
})

/** The files, if all of them can be read again. The result is undefined if one of them is the standard input. */
export const replayable = (
  files: ReadonlyArray<Planned>
): ReadonlyArray<Planned<UploadSource.Replayable>> | undefined => {
  const found = files.flatMap(({ source, ...file }) => (source._tag === "Replayable" ? [{ ...file, source }] : []))
  return found.length === files.length ? found : undefined
}

/** The size of all files in bytes. The result is undefined if the size of one file is unknown. */
export const totalSize = (files: ReadonlyArray<Planned>): bigint | undefined =>
  files.reduce<bigint | undefined>(
    (all, { source: { size } }) => (all === undefined || size === undefined ? undefined : all + size),
    0n
  )
