import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Results from "@assembly-effect/api/Results"
import * as Folder from "@assembly-effect/api/unstable/Folder"
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Advice from "../internal/advice.ts"
import * as Table from "../internal/table.ts"
import * as Text from "../internal/text.ts"
import * as Failure from "../internal/failure.ts"
import * as Output from "../internal/output.ts"
import * as Cli from "../internal/cli.ts"
import * as Shown from "../internal/assembly.ts"

/** The folder for the files, or a path in it, cannot be used. */
const cannotUse = (path: string) => (error: PlatformError.PlatformError) => {
  const isMissing = Failure.systemCodeOf(error) === "ENOENT"
  const problem = isMissing ? "the folder cannot be created here" : Failure.problemOf(error)
  return Failure.failed(`${path}: ${problem}; --output names another folder`)
}

const stepsFlag = Cli.repeated(Cli.text("step", "step"))

/** The results, or the files of the given Steps. Fails if one of the given Steps has no file: it may be mistyped. */
const resultsOf = (status: Assembly.Status, id: string, steps: ReadonlyArray<string>) => {
  const missing = steps.filter((step) => Shown.of(status, [step]).length === 0)
  const others = Shown.stepsOf(status)
  const instead = others.length === 0 ? "" : `; it has results of ${others.join(", ")}`
  return missing.length === 0
    ? Effect.succeed(steps.length === 0 ? Shown.of(status) : Shown.of(status, steps))
    : Effect.fail(Failure.failed(`the Assembly ${id} has no results of ${missing.join(", ")}${instead}`))
}

const Listing = Schema.Record(Schema.String, Schema.Array(Assembly.File))

const list = Cli.command(
  "results list",
  { assemblyId: Cli.assemblyId, steps: stepsFlag, json: Cli.json },
  Effect.fnUntraced(function* ({ assemblyId: id, json, steps }) {
    const status = yield* Assemblies.get(id)
    const files = yield* resultsOf(status, id, steps)
    const byStep = Array.from(
      Map.groupBy(files, ({ step }) => step),
      ([step, found]) => [step, found.map(({ file }) => file)]
    )
    yield* Output.show(json, Listing, Object.fromEntries(byStep), (layout) =>
      Table.list(Shown.columns, files, { ...layout, empty: "no results" })
    )
    // The suggested command downloads the results of all Steps, so it does not fit a list of some Steps.
    if (!json && steps.length === 0) yield* Shown.suggestFor(status)
  })
)

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

/**
 * Fails if one of the folders of a result is a link, because the service decides the path of a result, and the file
 * would be written elsewhere. The folder of `--output` itself may be a link, because the user chose it.
 */
const refuseLinks = Effect.fnUntraced(function* (output: string, { folder, name }: Shown.Placed) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const parts = folder === "" ? [] : folder.split("/")
  for (const index of parts.keys()) {
    const link = paths.join(output, ...parts.slice(0, index + 1))
    const target = yield* Effect.option(fs.readLink(link))
    if (Option.isSome(target)) {
      const path = paths.join(output, folder, name)
      return yield* Failure.failed(
        `${link} is a link to ${target.value}, so ${path} would be written outside of the folder; remove the link, or name another folder with --output`
      )
    }
  }
})

/** The results to save, with their paths. All are checked first, so that a conflict does not leave a part of them. */
const destinations = (placed: ReadonlyArray<Shown.Placed>, output: string, overwrite: boolean) =>
  Effect.forEach(
    placed,
    Effect.fnUntraced(function* (result) {
      const path = (yield* Path.Path).join(output, result.folder, result.name)
      yield* refuseLinks(output, result)
      return { file: result.file, step: result.step, path, isThere: yield* isThere(path, result, overwrite) }
    })
  )

const download = Cli.command(
  "results download",
  {
    assemblyId: Cli.assemblyId,
    // An empty value is refused, because it often comes from an unset variable of a shell.
    output: Cli.text("output", "folder").pipe(
      Flag.withAlias("o"),
      Flag.withSchema(Schema.NonEmptyString),
      Flag.withDefault(".")
    ),
    steps: stepsFlag,
    overwrite: Cli.flag("overwrite"),
    concurrency: Flag.withDefault(Cli.number("concurrency", [1, 32]), 4),
    json: Cli.json
  },
  Effect.fnUntraced(function* ({ assemblyId: id, concurrency, json, output, overwrite, steps }) {
    const paths = yield* Path.Path
    const status = yield* Assemblies.get(id)
    if (!Assembly.isOver(status)) {
      return yield* Failure.failed(`the Assembly ${id} is still running`, `assembly wait ${id} waits for its end.`)
    }
    const found = yield* resultsOf(status, id, steps)
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
    if (hidden.size > 0)
      yield* Output.hint(`left out, because they have no URL: the files of ${[...hidden].join(", ")}`)

    const files = yield* destinations(placed, output, overwrite)
    for (const folder of new Set(files.map(({ path }) => paths.dirname(path)))) {
      yield* Effect.mapError(Folder.make(folder), cannotUse(folder))
    }
    const [, failures] = yield* Effect.partition(
      files,
      Effect.fnUntraced(function* ({ file, isThere: isSaved, path, step }) {
        const saved = isSaved ? undefined : yield* Results.save(file, path)
        const size = saved?.size ?? file.size ?? null
        yield* json
          ? Output.jsonLine({ event: isSaved ? "AlreadyThere" : "Downloaded", step, path, size })
          : Output.lines([isSaved ? `${path} is there already` : `${path} (${Text.bytes(size ?? 0)})`])
      }),
      { concurrency }
    )
    // A file that cannot be saved does not keep the others from being saved.
    const [first, ...others] = failures
    for (const error of others) yield* Output.error(Advice.line(error))
    if (first !== undefined) return yield* first
  })
)

/** `assembly results`: the result files of an Assembly. */
export const results = Cli.group("results", [list, download])
