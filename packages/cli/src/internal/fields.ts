import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as CommandError from "../CommandError.ts"
import * as Document from "./document.ts"

const invalid = (option: string, value: string, expected: string) =>
  Effect.fail(new CliError.InvalidValue({ option, value, expected, kind: "flag" }))

/**
 * A flag that takes a pair of a key and a value. The flag may be repeated. `Flag.KeyValuePair` is not used, because it
 * takes the last value of a repeated key and reports no error.
 */
const pairs = (name: string): Flag.Flag<Readonly<Record<string, string>>> =>
  Flag.String(name).pipe(
    Flag.withMetavar("key=value"),
    Flag.atLeast(1),
    Flag.mapEffect(
      Effect.fnUntraced(function* (given) {
        const fields = new Map<string, string>()
        for (const pair of given) {
          const [, key = "", value = ""] = /^([^=]+)=(.+)$/s.exec(pair) ?? []
          if (key === "") return yield* invalid(name, pair, "key=value, such as name=cat")
          if (fields.has(key)) return yield* invalid(name, pair, `each key once, but ${key} has two values`)
          fields.set(key, value)
        }
        return Object.fromEntries(fields)
      })
    )
  )

/** The flags for the fields of a new Assembly. */
export const flags = {
  fields: pairs("fields").pipe(
    Flag.withDescription("A field of the Assembly, which Steps read as ${fields.key}; may be repeated"),
    Flag.optional
  ),
  fieldsFile: Flag.String("fields-file").pipe(
    Flag.withDescription(
      'A JSON file with fields, such as {"year": 2026}, in addition to --fields; - is the standard input'
    ),
    Flag.withMetavar("file"),
    Flag.optional
  )
}

interface Given {
  readonly fields: Option.Option<Readonly<Record<string, string>>>
  readonly fieldsFile: Option.Option<string>
}

const Fields = Schema.Record(Schema.String, Schema.Json)

/** The fields of `--fields` and `--fields-file`. Fails if both flags have a value for the same field. */
export const read = Effect.fnUntraced(function* ({ fields, fieldsFile }: Given) {
  const ofFile = yield* Document.readGiven(Fields, fieldsFile)
  if (Option.isNone(ofFile) || Option.isNone(fields)) return Option.orElse(ofFile, () => fields)
  const twice = Object.keys(fields.value).find((key) => Object.hasOwn(ofFile.value, key))
  return twice === undefined
    ? Option.some({ ...ofFile.value, ...fields.value })
    : yield* new CommandError.InvalidDocument({
        path: Option.getOrElse(fieldsFile, () => "-"),
        description: `the field ${twice} has another value in --fields`
      })
})
