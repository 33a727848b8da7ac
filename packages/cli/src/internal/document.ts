/**
 * Reads JSON that a command sends: from a file, or from the standard input. Secrets are read in this way too, because
 * other users of the machine can see the arguments of a program.
 */
import * as Json from "@assembly-effect/schema/Json"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import type * as Stdio from "effect/Stdio"
import * as CommandError from "../CommandError.ts"
import * as TextFile from "./textFile.ts"

interface Options {
  /** Whether the values of the document are secrets, which an error must not repeat. */
  readonly confidential?: boolean | undefined
}

const describe = (issue: SchemaIssue.Issue, { confidential = false }: Options): string =>
  Input.fromSchemaIssue(issue)
    .map(({ message, path }) => {
      const at = path.length === 0 ? "" : path.join(".")
      if (confidential) return `${at || "the content"} is invalid`
      return at === "" ? message : `${at}: ${message}`
    })
    .join("; ")

/** Decodes a value that was read from `path`. */
export const decode = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  path: string,
  value: unknown,
  options: Options = {}
): Effect.Effect<S["Type"], CommandError.InvalidDocument> =>
  Effect.mapError(
    SchemaParser.decodeUnknownEffect(schema, { errors: "all" })(value),
    (issue) => new CommandError.InvalidDocument({ path, description: describe(issue, options) })
  )

/** Reads a file, or the standard input if the path is `-`, and decodes its JSON. */
export const read = Effect.fnUntraced(function* <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  path: string,
  options: Options = {}
) {
  const text = yield* Effect.mapError(
    TextFile.read(path),
    (problem) => new CommandError.InvalidDocument({ path, description: problem })
  )
  const value = yield* Effect.mapError(
    Effect.fromResult(Json.parse(text)),
    (problem) => new CommandError.InvalidDocument({ path, description: problem })
  )
  return yield* decode(schema, path, value, options)
})

/** Reads a document as {@link read} does, if its path was given. */
export const readGiven = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  path: Option.Option<string>,
  options: Options = {}
): Effect.Effect<Option.Option<S["Type"]>, CommandError.InvalidDocument, FileSystem.FileSystem | Stdio.Stdio> =>
  Option.isSome(path) ? Effect.asSome(read(schema, path.value, options)) : Effect.succeedNone
