import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"

const broken = (field: string, expected: string) =>
  Effect.fail(new SchemaIssue.Pointer([field], new SchemaIssue.InvalidValue({ expected })))

/** Parses the JSON text in a field. A text that is nested deeper than `depth` levels is not parsed. */
const parse = (input: unknown, field: string, depth: number): Effect.Effect<unknown, SchemaIssue.Issue> => {
  if (!Predicate.isObject(input)) return Effect.succeed(input)
  const text = input[field]
  if (typeof text !== "string") return Effect.succeed(input)
  if (!Json.isWithin(text, depth)) return broken(field, `at most ${depth} levels`)
  return Result.match(Json.parse(text), {
    onFailure: () => broken(field, "an object or JSON text"),
    onSuccess: (value) => Effect.succeed({ ...input, [field]: value })
  })
}

/**
 * Returns the schema `params`, in which `field` may also be the JSON text of its value. An issue in the text has the
 * same path as an issue in the value itself.
 */
export const orText = <S extends Schema.Codec<unknown, unknown>>(params: S, field: string, depth: number) =>
  Schema.make<Schema.Codec<S["Type"], unknown>>(
    Schema.Unknown.pipe(
      Schema.decodeTo(params, {
        decode: SchemaGetter.transformEffect((input: unknown) => parse(input, field, depth)),
        encode: SchemaGetter.passthrough<unknown>()
      })
    ).ast
  )
