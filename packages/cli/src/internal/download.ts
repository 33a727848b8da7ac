/** Saves results in files: nothing is overwritten unasked, and a file that is there already is not downloaded again. */
import * as Results from "@assembly-effect/api/Results"
import * as Folder from "@assembly-effect/api/unstable/Folder"
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import type { Assembly } from "@assembly-effect/schema"
import { Clock, Duration, Effect, FileSystem, Option, Path, type PlatformError, Stream } from "./effect.ts"
import * as Advice from "./advice.ts"
import * as Text from "./text.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"
import * as Shown from "./assembly.ts"

/** Whether a relative path stays inside of the folder. */
export const isInside = (relative: string): boolean => !/^\.\.(?:[\\/]|$)/.test(relative)

/** The folder for the files, or a path in it, cannot be used. */
const cannotUse = (path: string) => (error: PlatformError.PlatformError) => {
  const isMissing = Failure.systemCodeOf(error) === "ENOENT"
  const isFile = Failure.systemCodeOf(error) === "EEXIST"
  const problem = isMissing ? "the folder cannot be created here" : isFile ? "is a file" : Failure.problemOf(error)
  return Failure.failed(`${path}: ${problem}; --output names another folder`)
}

/** Creates the folder for results. Fails if it cannot be created or written. */
export const prepare = (folder: string) =>
  Effect.andThen(
    Folder.make(folder),
    FileSystem.FileSystem.use((fs) => fs.access(folder, { writable: true }))
  ).pipe(Effect.mapError(cannotUse(folder)))

/** Fails if results would be saved into a folder whose files are uploaded: the next upload would have them too. */
export const checkOutside = Effect.fnUntraced(function* (output: string, folders: ReadonlyArray<string>) {
  const paths = yield* Path.Path
  const folder = folders.find((one) => isInside(paths.relative(one, output)))
  if (folder === undefined) return
  return yield* Failure.usage(`--output ${output} is inside of ${folder}, so its files would be uploaded too`)
})

/** The results, or the files of the given Steps. Fails if one of the given Steps has no file: it may be mistyped. */
export const find = (status: Assembly.Status, steps: ReadonlyArray<string>) => {
  const missing = steps.filter((step) => Shown.of(status, [step]).length === 0)
  const others = Shown.stepsOf(status)
  const instead = others.length === 0 ? "" : `; it has results of ${others.join(", ")}`
  return missing.length === 0
    ? Effect.succeed(steps.length === 0 ? Shown.of(status) : Shown.of(status, steps))
    : Effect.fail(
        Failure.failed(`there are no results of ${missing.join(", ")} in the Assembly ${status.assembly_id}${instead}`)
      )
}

/** The MD5 of a file in hexadecimal digits. */
const md5Of = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const sum = yield* Md5.make
  yield* Stream.runForEach(fs.stream(path), (piece) => Effect.sync(() => sum.add(piece)))
  return sum.hex()
})

/**
 * Whether the result is at its destination already. Fails if another file is there, which would be lost. A file that
 * cannot be compared by its MD5 counts as another file.
 */
const isThere = Effect.fnUntraced(function* (path: string, { file }: Shown.ResultFile, overwrite: boolean) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.asSome(fs.stat(path)).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone),
    Effect.mapError(cannotUse(path))
  )
  if (Option.isNone(info)) return false
  const { size, type } = info.value
  const md5hash = Md5.ofFile(file)
  const isComparable = type === "File" && Number(size) === file.size && md5hash !== undefined
  if (isComparable && (yield* md5Of(path)) === md5hash) return true
  if (overwrite) return false
  return yield* Failure.failed(
    `${path} exists and is another file; --overwrite replaces it, --output names another folder`
  )
})

/** The results to save, with their paths. All are checked first, so that a conflict does not leave a part of them. */
const destinations = (placed: ReadonlyArray<Shown.Placed>, output: string, overwrite: boolean) =>
  Effect.forEach(
    placed,
    Effect.fnUntraced(function* (result) {
      const path = (yield* Path.Path).join(output, result.folder, result.name)
      return { file: result.file, step: result.step, path, isThere: yield* isThere(path, result, overwrite) }
    })
  )

/** The path of a folder without links, or of the first folder above it that exists. */
const realOf = (path: string): Effect.Effect<string, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.catchReason(
    FileSystem.FileSystem.use((fs) => fs.realPath(path)),
    "PlatformError",
    "NotFound",
    () => Effect.flatMap(Path.Path, ({ dirname }) => realOf(dirname(path)))
  )

/**
 * Fails if a link leads from a folder of results to outside of `output`, because the service decides the paths of results.
 * `output` itself may be a link, because the user chose it.
 */
const refuseLinks = Effect.fnUntraced(function* (output: string, folder: string) {
  const { relative } = yield* Path.Path
  const [top, real] = yield* Effect.mapError(Effect.all([realOf(output), realOf(folder)]), cannotUse(folder))
  if (isInside(relative(top, real))) return
  return yield* Failure.failed(
    `${folder} leads outside of ${output} by a link; remove the link, or name another folder with --output`
  )
})

/** A file is renamed when it is complete. If a process is killed, its file stays with such a name. */
const partial = /^\.[0-9a-f-]{36}\.part$/

/** A file that is still being written changes more often. */
const abandoned = Duration.minutes(1)

/** Removes the incomplete files that killed processes have left in a folder. */
const tidy = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const now = yield* Clock.currentTimeMillis
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  for (const path of names.filter((name) => partial.test(name)).map((name) => paths.join(folder, name))) {
    const changed = Option.flatMap(yield* Effect.option(fs.stat(path)), ({ mtime }) => mtime)
    const isOld = Option.exists(changed, (at) => now - at.getTime() > Duration.toMillis(abandoned))
    if (isOld) yield* Effect.ignore(fs.remove(path))
  }
})

/** A download that takes longer is told. */
const patience = Duration.seconds(5)

/** Which results to save: those of the given Steps, or of all Steps without `:original`. */
export interface Options {
  readonly steps: ReadonlyArray<string>
  readonly output: string
  readonly overwrite: boolean
  readonly concurrency: number
  readonly json: boolean
}

/** Saves the results of an Assembly that has ended in the folder `output`. */
export const save = Effect.fnUntraced(function* (
  status: Assembly.Status,
  { concurrency, json, output, overwrite, steps }: Options
) {
  const paths = yield* Path.Path
  const id = status.assembly_id ?? ""
  const found = yield* find(status, steps)
  const placed = Shown.place(found.filter(Shown.hasUrl))
  if (placed.length === 0) {
    const of = steps.length === 0 ? "" : ` of ${steps.join(", ")}`
    return yield* Failure.failed(
      found.length === 0
        ? `the Assembly ${id} has no results${of}`
        : `the files${of} of the Assembly ${id} have no URL, because their Steps do not export them`
    )
  }
  const hidden = new Set(found.filter((one) => !Shown.hasUrl(one)).map(({ step }) => step))
  if (hidden.size > 0) yield* Output.hint(`left out, because they have no URL: the files of ${[...hidden].join(", ")}`)

  const files = yield* destinations(placed, output, overwrite)
  const folders = new Set(files.map(({ path }) => paths.dirname(path)))
  for (const folder of folders) yield* refuseLinks(output, folder)
  for (const folder of folders) {
    yield* prepare(folder)
    yield* tidy(folder)
  }
  const [, failures] = yield* Effect.partition(
    files,
    Effect.fnUntraced(function* ({ file, isThere: isSaved, path, step }) {
      const told = Effect.andThen(Effect.delay(Output.hint(`downloading ${path}`), patience), Effect.never)
      const saved = isSaved ? undefined : yield* Effect.raceFirst(Results.save(file, path), told)
      const size = saved?.size ?? file.size ?? null
      yield* json
        ? Output.jsonLine({ event: isSaved ? "AlreadyThere" : "Downloaded", step, path, size })
        : Output.lines([isSaved ? `${path} is there already` : `${path} (${Text.bytes(size ?? 0)})`])
    }),
    { concurrency }
  ).pipe(Effect.onInterrupt(() => Output.error(`interrupted; assembly results download ${id} saves the other results`)))
  // A file that cannot be saved does not keep the others from being saved.
  const [first, ...others] = failures
  for (const error of others) yield* Output.error(Advice.line(error))
  if (first !== undefined) return yield* first
})
