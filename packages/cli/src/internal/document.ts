/**
 * Reads what a command sends from a file, or from the standard input: JSON, Steps, fields, certificates. Secrets are read
 * in this way too, because other users of the machine can see the arguments of a program.
 */
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { type Command, Flag } from "effect/cli"
import type { SchemaIssue } from "./effect.ts"
import { ByteSize, Effect, FileSystem, Option, Predicate, Schema, SchemaParser, Stdio, Stream } from "./effect.ts"
import * as Failure from "./failure.ts"
import * as Cli from "./cli.ts"

const maxBytes = ByteSize.mebibytes(16)
const tooLarge = "has more than 16 MiB"

const standardInput = Stdio.Stdio.use(({ stdin }) =>
  stdin.pipe(
    Stream.mapError(Failure.problemOf),
    Stream.limitBytes(maxBytes, () => Stream.fail(tooLarge)),
    Stream.decodeText,
    Stream.mkString
  )
)

/** A pipe is read to its end, as in `--steps <(jq .steps job.json)`. A device may never end. */
const file = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const { size, type } = yield* Effect.mapError(fs.stat(path), Failure.problemOf)
  if (type === "Directory") return yield* Effect.fail("is a folder")
  if (type !== "File" && type !== "FIFO") return yield* Effect.fail("is not a file")
  if (size > maxBytes) return yield* Effect.fail(tooLarge)
  return yield* Effect.mapError(fs.readFileString(path), Failure.problemOf)
})

type Reading<A> = Effect.Effect<A, Failure.CommandError, FileSystem.FileSystem | Stdio.Stdio>

/** Reads a text of at most 16 MiB. The standard input is `-` or `/dev/stdin`. */
export const text = (path: string): Reading<string> => {
  if (path === "") return Effect.fail(Failure.invalidFile(path, "the path of the file is empty"))
  const read: Effect.Effect<string, string, FileSystem.FileSystem | Stdio.Stdio> =
    path === "-" || path === "/dev/stdin" ? standardInput : file(path)
  return Effect.mapError(read, (problem) => Failure.invalidFile(path, problem))
}

/** Refuses an empty path for a folder, which often comes from an unset variable of a shell, and the path of a file. */
export const checkFolder = Effect.fnUntraced(function* (flag: string, path: string, otherwise: string) {
  if (path.trim() === "") return yield* Failure.usage(`${flag} is empty; ${otherwise}`)
  const info = yield* Effect.option((yield* FileSystem.FileSystem).stat(path))
  if (Option.exists(info, ({ type }) => type !== "Directory")) {
    return yield* Failure.usage(`${flag} ${path} is not a folder`)
  }
})

type Decoder = Schema.ConstraintDecoder<unknown>

interface Options {
  /** Whether the values of the document are secrets, which an error must not repeat. */
  readonly confidential?: boolean | undefined
}

const describe = (issue: SchemaIssue.Issue, { confidential = false }: Options): string =>
  Input.fromSchemaIssue(issue)
    .map(({ message, path }) => {
      const at = path.join(".")
      if (confidential) return `${at || "the content"} is invalid`
      return at === "" ? message : `${at}: ${message}`
    })
    .join("; ")

const decode = <S extends Decoder>(schema: S, path: string, value: unknown, options: Options = {}) =>
  Effect.mapError(SchemaParser.decodeUnknownEffect(schema, { errors: "all" })(value), (issue) =>
    Failure.invalidFile(path, describe(issue, options))
  )

/** Reads a file, or the standard input if the path is `-`, and decodes its JSON. */
export const read = <S extends Decoder>(schema: S, path: string, options: Options = {}): Reading<S["Type"]> =>
  text(path).pipe(
    Effect.flatMap((content) =>
      Effect.mapError(Effect.fromResult(Json.parse(content)), (problem) => Failure.invalidFile(path, problem))
    ),
    Effect.flatMap((value) => decode(schema, path, value, options))
  )

/** Reads a document as {@link read} does, if its path was given. */
export const readGiven = <S extends Decoder>(
  schema: S,
  path: Option.Option<string>,
  options: Options = {}
): Reading<Option.Option<S["Type"]>> =>
  Option.isSome(path) ? Effect.asSome(read(schema, path.value, options)) : Effect.succeedNone

/** The flag `--steps`. */
export const stepsFlag = Cli.optional("steps", "file")

const JsonObject = Schema.Record(Schema.String, Schema.Json)

/** The Steps of a file: the file itself, or its only key `steps`, as in a Template. A Step may have the name `steps`. */
const stepsOf = (path: string, found: typeof JsonObject.Type) => {
  const fail = (problem: string) => Effect.fail(Failure.invalidFile(path, problem))
  const isWrapped = Predicate.isObject(found["steps"]) && !Object.hasOwn(found["steps"], "robot")
  const other = Object.keys(found).find((key) => key !== "steps")
  if (isWrapped && other !== undefined) {
    return fail(
      `the file has the key ${other} next to steps, where no other key is permitted; --fields sets fields, a Template sets everything else`
    )
  }
  const inside = isWrapped ? found["steps"] : found
  return Predicate.isObject(inside) && Object.keys(inside).length > 0
    ? Effect.succeed(inside)
    : fail(`the file has no Steps, such as {"stored": {"robot": "/transloadit/store", "use": ":original"}}`)
}

/** Reads the file of `--steps`, if it was given, and decodes `{ steps }`. */
export const steps = <S extends Decoder>(schema: S, path: Option.Option<string>): Reading<Option.Option<S["Type"]>> =>
  Option.isNone(path)
    ? Effect.succeedNone
    : read(JsonObject, path.value).pipe(
        Effect.flatMap((found) => stepsOf(path.value, found)),
        Effect.flatMap((inside) => decode(schema, path.value, { steps: inside })),
        Effect.asSome
      )

/** The flags for the fields of a new Assembly. Of a repeated key, the last value counts. */
export const fieldsFlags = {
  fields: Flag.optional(Flag.KeyValuePair("fields")),
  fieldsFile: Cli.optional("fields-file", "file")
}

/** The fields of `--fields` and `--fields-file`. Fails if both flags have a value for the same field. */
export const fields = Effect.fnUntraced(function* ({
  fields: typed,
  fieldsFile
}: Command.Command.Config.Infer<typeof fieldsFlags>) {
  const ofFile = yield* readGiven(JsonObject, fieldsFile)
  if (Option.isNone(ofFile) || Option.isNone(typed)) return Option.orElse(ofFile, () => typed)
  const twice = Object.keys(typed.value).find((key) => Object.hasOwn(ofFile.value, key))
  if (twice !== undefined) {
    const path = Option.getOrElse(fieldsFile, () => "-")
    return yield* Failure.invalidFile(path, `the field ${twice} has another value in --fields`)
  }
  return Option.some({ ...ofFile.value, ...typed.value })
})
