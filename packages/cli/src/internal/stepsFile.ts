/**
 * The JSON file of the flag `--steps`: the Steps themselves, or `{"steps": …}` as in a Template.
 */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Stdio from "effect/Stdio"
import * as CommandError from "../CommandError.ts"
import * as Document from "./document.ts"

const JsonObject = Schema.Record(Schema.String, Schema.Json)

type JsonObject = typeof JsonObject.Type

/** The flag `--steps`. `what` says what its file contains. */
export const flag = (what: string): Flag.Flag<Option.Option<string>> =>
  Flag.String("steps").pipe(
    Flag.withDescription(`A JSON file with ${what}, such as {"stored": {"robot": …}}; - is the standard input`),
    Flag.withMetavar("file"),
    Flag.optional
  )

/**
 * Whether the key `steps` of the file contains the Steps. Otherwise the file itself contains the Steps, and one of them
 * may have the name `steps`.
 */
const isWrapped = (file: JsonObject): boolean =>
  Predicate.isObject(file["steps"]) && !Object.hasOwn(file["steps"], "robot")

/**
 * The Steps of the file. Fails if the file has no Steps, or if the key `steps` contains the Steps and the file has
 * other keys.
 */
const stepsOf = (path: string, file: JsonObject) => {
  const fail = (problem: string) => Effect.fail(new CommandError.InvalidDocument({ path, description: problem }))
  const other = Object.keys(file).find((key) => key !== "steps")
  if (isWrapped(file) && other !== undefined) {
    return fail(
      `the file has the key ${other} next to steps, where no other key is permitted; --fields sets fields, a Template sets everything else`
    )
  }
  const steps = isWrapped(file) ? file["steps"] : file
  return Predicate.isObject(steps) && Object.keys(steps).length > 0
    ? Effect.succeed(steps)
    : fail(`the file has no Steps, such as {"stored": {"robot": "/transloadit/store", "use": ":original"}}`)
}

/** Reads the file, if its path was given, and decodes `{ steps }`. */
export const read = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  path: Option.Option<string>
): Effect.Effect<Option.Option<S["Type"]>, CommandError.InvalidDocument, FileSystem.FileSystem | Stdio.Stdio> =>
  Option.isNone(path)
    ? Effect.succeedNone
    : Document.read(JsonObject, path.value).pipe(
        Effect.flatMap((file) => stepsOf(path.value, file)),
        Effect.flatMap((steps) => Document.decode(schema, path.value, { steps })),
        Effect.asSome
      )
