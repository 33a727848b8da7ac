/**
 * Which files a command uploads, and under which names. All files are checked before an Assembly is created.
 */
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import type { Dirent } from "node:fs"
import { glob } from "node:fs/promises"
import * as ExitCode from "./ExitCode.ts"
import * as StandardInput from "./internal/standardInput.ts"
import * as LocalFile from "./LocalFile.ts"

/**
 * A file of an upload. `name` is its name at the service, which may start with folders. `path` is the path that the
 * user gave, or a path below a given folder, or a path that matches a given pattern. `realPath` is the absolute path
 * without links. For the standard input, `path` and `realPath` are `-`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Planned<Source extends UploadSource.UploadSource = UploadSource.UploadSource> {
  readonly path: string
  readonly realPath: string
  readonly name: string
  readonly source: Source
}

/**
 * Two files have the same name, so one could replace the other at the service. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class SameName extends Schema.TaggedError<SameName>()("SameName", {
  name: Schema.String,
  paths: Schema.Array(Schema.String),
  isRecursive: Schema.Boolean
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    const next = this.isRecursive ? "rename one" : "add -r to keep the folders, or rename one"
    return `${this.paths.join(" and ")} have the same name, ${this.name}: ${next}`
  }
}

/**
 * The path `-` is given twice, only one of `-` and `--name` is given, or `--journal` is empty or not a folder. Nothing
 * was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", { description: Schema.String }) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    return this.description
  }
}

/** A file that an argument names. */
interface Found {
  readonly path: string
  /** The name of the file at the service if `-r` is given, see {@link keptPath}. */
  readonly kept: string
}

const refuse = (path: string, problem: string) => Effect.fail(new LocalFile.CannotRead({ path, description: problem }))

/**
 * The name of a file at the service if `-r` is given. `typed` is the path that the user has typed, and `inside` is the
 * path of the file below the typed path. If the typed path is absolute or starts with `..`, the name begins with the
 * last part of its absolute path.
 */
const keptPath = (path: Path.Path, typed: string, inside = ""): string => {
  const normal = path.normalize(typed).replaceAll(path.sep, "/").replace(/\/$/, "")
  const start = path.isAbsolute(typed) || /^\.\.(?:\/|$)/.test(normal) ? path.basename(path.resolve(typed)) : normal
  return [start === "." ? "" : start, inside.replaceAll(path.sep, "/")].filter((part) => part !== "").join("/")
}

/** The paths of all files below a folder. An error names the folder or file that cannot be read. */
const filesBelow = (
  folder: string
): Effect.Effect<ReadonlyArray<string>, LocalFile.CannotRead, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = yield* Effect.mapError(fs.readDirectory(folder), LocalFile.toCannotRead(folder))
    const found: Array<string> = []
    for (const name of names.toSorted()) {
      const at = path.join(folder, name)
      const info = yield* LocalFile.stat(at)
      if (info.type !== "Directory") found.push(at)
      else if (Result.isSuccess(yield* Effect.result(fs.readLink(at)))) {
        // The link is not followed, because it may lead to a folder above it, so that the search would not end. If this
        // program skipped the link silently, the upload would be incomplete.
        return yield* refuse(at, "is a link to a folder, which is not followed; remove the link, or upload its target")
      } else found.push(...(yield* filesBelow(at)))
    }
    return found
  })

const inFolder = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  const found = yield* filesBelow(folder)
  return found.length === 0
    ? yield* refuse(folder, "the folder contains no files")
    : found.map((at): Found => ({ path: at, kept: keptPath(path, folder, path.relative(folder, at)) }))
})

/** Whether the entry is a file or a link to a file, or with `isRecursive` a folder or a link to a folder. */
const isUpload = (at: string, entry: Dirent, isRecursive: boolean) =>
  entry.isSymbolicLink()
    ? Effect.map(LocalFile.stat(at), ({ type }) => type === "File" || (isRecursive && type === "Directory"))
    : Effect.succeed(entry.isFile() || (isRecursive && entry.isDirectory()))

/** The files that match a pattern. With `isRecursive`, the folders that match are included. */
const matching = (pattern: string, isRecursive: boolean) =>
  Stream.fromAsyncIterable(
    glob(pattern, { withFileTypes: true }),
    () => new LocalFile.CannotRead({ path: pattern, description: "the pattern cannot be read" })
  ).pipe(
    Stream.map((entry) => ({ at: `${entry.parentPath}/${entry.name}`, entry })),
    Stream.filterEffect(({ at, entry }) => isUpload(at, entry, isRecursive)),
    Stream.map(({ at }) => at),
    Stream.runCollect
  )

const expandOne = Effect.fnUntraced(function* (typed: string, isRecursive: boolean) {
  const path = yield* Path.Path
  const { type } = yield* LocalFile.stat(typed)
  if (type !== "Directory") return [{ path: typed, kept: keptPath(path, typed) }]
  return isRecursive ? yield* inFolder(typed) : yield* refuse(typed, "is a folder; add -r to upload its files")
})

/** The files that one argument names: a file, a folder, or a pattern that the shell has not expanded. */
const expand = Effect.fnUntraced(function* (typed: string, isRecursive: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!/[*?[{]/.test(typed) || (yield* Effect.isSuccess(fs.stat(typed)))) return yield* expandOne(typed, isRecursive)
  const working = path.resolve(".")
  const matches = yield* matching(typed, isRecursive)
  const named = matches.map((match) => (path.isAbsolute(typed) ? match : path.relative(working, match))).toSorted()
  // A folder that matches already contains the matches below it, so these matches are left out.
  const top = named.filter((one) => !named.some((other) => one.startsWith(other + path.sep)))
  const found = yield* Effect.forEach(top, (match) => expandOne(match, isRecursive))
  return found.length === 0 ? yield* refuse(typed, "no file matches") : found.flat()
})

const decodeName = SchemaParser.decodeUnknownResult(DamAsset.Filename)

const ruleOf = (issue: SchemaIssue.Issue): string => Input.fromSchemaIssue(issue)[0]?.message ?? "invalid"

/**
 * Why the service would refuse a name: the first rule that a part of the name breaks. The result is undefined if no
 * part breaks a rule.
 */
const nameProblem = (name: string): string | undefined => {
  if (/\p{Cc}/u.test(name)) return "the service refuses a name with control characters"
  const broken = name
    .split("/")
    .map((part) => decodeName(part))
    .find(Result.isFailure)
  return broken === undefined ? undefined : `the service refuses this name (${ruleOf(broken.failure)})`
}

/** Removes a file if an earlier argument has named the same file with the same name at the service. */
const onceEach = (files: ReadonlyArray<Planned>): ReadonlyArray<Planned> =>
  [...Map.groupBy(files, ({ name, realPath }) => JSON.stringify([realPath, name])).values()].flatMap(([first]) =>
    first === undefined ? [] : [first]
  )

/**
 * The folder of `--path`, without the parts of the path that are empty or `.`. The result is empty for the root of the
 * Workspace.
 *
 * @example folderOf("/backup//2026/") // "backup/2026"
 *
 * @since 0.1.0
 * @category getters
 */
export const folderOf = (typed: string): string =>
  typed
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")

/**
 * Why the service would refuse the name of a folder. The result is undefined if no part of the folder breaks a rule for
 * names.
 *
 * @since 0.1.0
 * @category getters
 */
export const folderProblem = (folder: string): string | undefined => (folder === "" ? undefined : nameProblem(folder))

/**
 * The path of a file in the Workspace. `folder` is the result of {@link folderOf}.
 *
 * @since 0.1.0
 * @category getters
 */
export const targetOf = (folder: string, name: string): string => (folder === "" ? name : `${folder}/${name}`)

const decodeTarget = SchemaParser.decodeUnknownResult(DamAsset.DestinationPath)

/**
 * Why the service would refuse a target, that is, the path of a file in the Workspace. If `folder` has variables
 * (`${…}`), the target is not checked, because the service replaces the variables and the resulting path is not known.
 */
const targetProblem = (folder: string | undefined, name: string): string | undefined => {
  if (folder === undefined || folder.includes("${")) return undefined
  const decoded = decodeTarget(targetOf(folder, name))
  if (Result.isSuccess(decoded)) return undefined
  return `the service refuses this path in the Workspace (${ruleOf(decoded.failure)}); shorten --path or the name`
}

const checkNames = Effect.fnUntraced(function* (
  files: ReadonlyArray<Planned>,
  { folder, isRecursive }: { readonly folder: string | undefined; readonly isRecursive: boolean }
) {
  for (const { name, path } of files) {
    const rule = nameProblem(name)
    const problem =
      rule === undefined
        ? targetProblem(folder, name)
        : `${rule}; ${path === "-" ? "give another --name" : "rename the file"}`
    if (problem !== undefined) return yield* refuse(path, problem)
  }
  // The service compares names in NFC.
  const same = [...Map.groupBy(files, ({ name }) => name.normalize("NFC"))].find(([, found]) => found.length > 1)
  if (same === undefined) return files
  return yield* new SameName({ name: same[0], paths: same[1].slice(0, 2).map(({ path }) => path), isRecursive })
})

const standardInput = (name: string) =>
  Effect.map(Stdio.Stdio, ({ stdin }): Planned => ({
    path: "-",
    realPath: "-",
    name,
    source: UploadSource.fromStream(stdin)
  }))

/**
 * The files of the paths, in the order of the paths. A path is a file, a folder (with `isRecursive`), a pattern such as
 * `*.jpg`, or `-` for the standard input, whose name is `inputName`. With `isRecursive` the names keep the folders.
 * `folder` is the folder of the Workspace in which the files are stored, see {@link folderOf}. `folder` is undefined if
 * Steps decide where files are stored.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly paths: ReadonlyArray<string>
  readonly isRecursive: boolean
  readonly inputName: string | undefined
  readonly folder?: string | undefined
}) {
  const { folder, inputName, isRecursive, paths } = options
  const inputs = paths.filter((path) => path === "-").length
  if (inputs > 1) return yield* new InvalidInput({ description: "the standard input (-) can be uploaded only once" })
  if (inputs === 1 && inputName === undefined) {
    return yield* new InvalidInput({ description: "give the standard input (-) a name with --name" })
  }
  if (inputs === 0 && inputName !== undefined) {
    return yield* new InvalidInput({ description: "--name is the name of the standard input; add - to the paths" })
  }
  const planned = Effect.fnUntraced(function* (typed: string) {
    if (typed === "-") {
      yield* StandardInput.check
      return [yield* standardInput(inputName ?? "")]
    }
    const found = yield* expand(typed, isRecursive)
    return yield* Effect.forEach(found, ({ kept, path }) =>
      Effect.map(LocalFile.open(path), ({ name, realPath, source }): Planned => ({
        path,
        realPath,
        name: isRecursive ? kept : name,
        source
      }))
    )
  })
  const files = yield* Effect.forEach(paths, planned)
  return yield* checkNames(onceEach(files.flat()), { folder, isRecursive })
})

/**
 * The files, if all of them can be read again. The result is undefined if one of the files is the standard input.
 *
 * @since 0.1.0
 * @category getters
 */
export const replayable = (
  files: ReadonlyArray<Planned>
): ReadonlyArray<Planned<UploadSource.Replayable>> | undefined => {
  const found = files.flatMap(({ source, ...file }) => (source._tag === "Replayable" ? [{ ...file, source }] : []))
  return found.length === files.length ? found : undefined
}

/**
 * The size of all files in bytes. The result is undefined if the size of one file is unknown.
 *
 * @since 0.1.0
 * @category getters
 */
export const totalSize = (files: ReadonlyArray<Planned>): bigint | undefined =>
  files.reduce<bigint | undefined>(
    (all, { source: { size } }) => (all === undefined || size === undefined ? undefined : all + size),
    0n
  )
