/**
 * The codec of `upload-metadata` (spec.md, "Create a tus upload").
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { generateFew, NonEmptyString } from "../unstable/Field.ts"

const keyPattern = /^[\x21-\x2b\x2d-\x7e]+$/

const text = "[ -~\\u00a0-\\u024f\\u4e00-\\u9fff\\u{1f300}-\\u{1f64f}]"

// A value with a lone surrogate is refused: the header contains the UTF-8 bytes of the value in Base64, and UTF-8
// cannot encode a lone surrogate.
const isText = (minLength: number) =>
  Schema.makeFilter<string>((value) => value.isWellFormed(), {
    expected: "valid Unicode",
    arbitraryConstraint: { patterns: [{ source: `^${text}{${minLength},24}$`, flags: "u" }] }
  })

const Value = Schema.NullOr(Schema.String.check(isText(0)))

const MandatoryValue = NonEmptyString.check(isText(1))

const mandatory = Schema.Struct({ assembly_url: MandatoryValue, filename: MandatoryValue, fieldname: MandatoryValue })

const OptionalKey = Schema.String.check(
  Schema.makeFilter((key) => keyPattern.test(key) && !Object.hasOwn(mandatory.fields, key), {
    expected: "printable ASCII without comma or space",
    arbitraryConstraint: { patterns: [{ source: "^[!-+\\--~]{1,12}$", flags: "" }] }
  })
)

// A record drops keys that its key schema refuses, so `entries` would drop a key that the header cannot contain. Such a
// key must be an error, so the record `noOther` matches and refuses it.
const ForbiddenKey = Schema.String.check(
  Schema.makeFilter((key) => !keyPattern.test(key), {
    expected: "another key",
    arbitraryConstraint: { patterns: [{ source: "^[a-z]{1,4}[, ]$", flags: "" }] }
  })
)

const entries = Schema.Record(OptionalKey, Value)

const noOther = Schema.Record(
  ForbiddenKey,
  Schema.Never.annotate({ message: "Expected a key of printable ASCII without comma or space" })
)

/**
 * The mandatory keys, which have values, and other keys, whose value may be null.
 */
const MetadataRecord = Schema.make<
  Schema.Codec<
    (typeof mandatory)["Type"] & (typeof entries)["Type"],
    (typeof mandatory)["Encoded"] & (typeof entries)["Encoded"]
  >
>(Schema.StructWithRest(mandatory, [entries, noOther]).check(generateFew(6)).ast)

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decodeValue = (value: string): Result.Result<string, string> => {
  if (!base64.test(value)) return Result.fail("padded Base64 in the standard alphabet")
  const bytes = Base64.decode(value)
  if (Result.isFailure(bytes)) return Result.fail(bytes.failure.message)
  return Result.try({ try: () => utf8.decode(bytes.success), catch: () => "UTF-8 text in Base64" })
}

type Metadata = Readonly<Record<string, string | null>>

/**
 * Reads the entries of a header. Reports every entry whose key is empty or repeated, or whose value is not UTF-8 text
 * in padded Base64.
 */
const decode = (
  header: string,
  options: SchemaAST.ParseOptions
): Result.Result<Metadata, Arr.NonEmptyReadonlyArray<SchemaIssue.Issue>> => {
  const issues: Array<SchemaIssue.Issue> = []
  const broken = (expected: string, path: ReadonlyArray<string>) => {
    const issue = new SchemaIssue.InvalidValue({ expected }, header, options)
    issues.push(path.length === 0 ? issue : new SchemaIssue.Pointer(path, issue))
  }
  const found = new Map<string, string | null>()
  for (const entry of header.split(",")) {
    const space = entry.indexOf(" ")
    const key = space === -1 ? entry : entry.slice(0, space)
    if (key === "") broken("comma-separated pairs of a key and a Base64 value", [])
    else if (found.has(key)) broken("a unique key", [key])
    else {
      const value = space === -1 ? Result.succeed(null) : decodeValue(entry.slice(space + 1))
      if (Result.isFailure(value)) broken(value.failure, [key])
      found.set(key, Result.isSuccess(value) ? value.success : null)
    }
  }
  return Arr.isReadonlyArrayNonEmpty(issues) ? Result.fail(issues) : Result.succeed(Object.fromEntries(found))
}

const encode = (metadata: Metadata): string =>
  Object.entries(metadata)
    .map(([key, value]) => (value === null ? key : `${key} ${Base64.encode(value)}`))
    .join(",")

/** Converts between the value of the header `upload-metadata` and an object with its entries. */
export const Metadata = Schema.String.pipe(
  Schema.decodeTo(MetadataRecord, {
    decode: SchemaGetter.transformEffect((header, options) =>
      Result.match(decode(header, options), {
        // `MetadataRecord` checks which keys are present.
        onSuccess: (metadata) => Effect.succeed(metadata as typeof MetadataRecord.Encoded),
        onFailure: (issues) => Effect.fail(new SchemaIssue.Composite(Schema.String.ast, issues, header, options))
      })
    ),
    encode: SchemaGetter.transform(encode)
  })
)
