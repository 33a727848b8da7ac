/**
 * The headers of tus 1.0.0 as the service uses them (spec.md, "Create a tus upload"), and the bodies of the errors of a
 * tus server (spec.md, "Errors").
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Order from "effect/Order"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { generateFew, NonEmptyString } from "./Field.ts"

/**
 * The version of the tus protocol, which requests and responses contain in the header `tus-resumable`.
 *
 * Clause: spec.md, "Versioning".
 *
 * @since 0.1.0
 * @category utilities
 */
export const tusVersion = "1.0.0"

/**
 * The content type of request bodies that contain bytes of an upload.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category utilities
 */
export const offsetOctetStream = "application/offset+octet-stream"

const maxLength = 9_223_372_036_854_775_807n

/**
 * A number of bytes, 0 to 2^63 - 1. On the wire the number is a canonical decimal integer: no sign, leading zero or
 * exponent.
 *
 * Clause: spec.md, "Create a tus upload" and "Limits".
 *
 * @since 0.1.0
 * @category schemas
 */
export const UploadLength = Schema.String.check(
  Schema.isPattern(/^(?:0|[1-9][0-9]{0,18})$/u, { expected: "an unsigned base-10 integer without leading zeros" })
).pipe(
  Schema.decodeTo(
    Schema.BigInt.check(
      // This check does not use `Schema.isBetweenBigInt`, because that function would add more to a bundle than this
      // whole module.
      Schema.makeFilter<bigint>((length) => length >= 0n && length <= maxLength, {
        expected: "0 to 9223372036854775807 bytes",
        arbitraryConstraint: { minimum: 0n, maximum: maxLength, order: Order.BigInt }
      })
    ),
    { decode: SchemaGetter.transform((text) => BigInt(text)), encode: SchemaGetter.transform(String) }
  )
)
/**
 * @since 0.1.0
 * @category models
 */
export type UploadLength = typeof UploadLength.Type

/**
 * The number of bytes of an upload that the server has stored, in the format of {@link UploadLength}.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Offset = UploadLength
/**
 * @since 0.1.0
 * @category models
 */
export type Offset = typeof Offset.Type

const segment = "[A-Za-z0-9_~+-][A-Za-z0-9._~+-]*"
const path = `/resumable/files/${segment}(?:/${segment})*`
const url = `(?:https?://[A-Za-z0-9._:[\\]-]+)?${path}`

/**
 * The path of an upload URL: `/resumable/files/<id>` and optional further segments (spec.md, "tus upload resource"). No
 * segment starts with a dot or contains a percent sign, because a URL parser could change such a path.
 *
 * @since 0.1.0
 * @category schemas
 */
export const UploadPath = Schema.String.check(
  Schema.isPattern(new RegExp(`^${path}$`, "u"), { expected: "a path /resumable/files/<id>[/…]" })
)

const maxConcat = 8192

/**
 * `upload-concat` of a final upload: the URLs of its parts in the order of their bytes, at most 8192 characters.
 *
 * Clause: spec.md, "Create a tus upload" and "Limits".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Concat = Schema.String.check(
  Schema.isPattern(new RegExp(`^final;${url}(?: ${url})*$`, "u"), {
    expected: "final; and upload URLs separated by single spaces"
  }),
  Schema.makeFilter((text) => text.length <= maxConcat, {
    expected: `at most ${maxConcat} characters`,
    arbitraryConstraint: { maxLength: maxConcat },
    toJsonSchema: () => ({ maxLength: maxConcat })
  })
)
/**
 * @since 0.1.0
 * @category models
 */
export type Concat = typeof Concat.Type

const keyPattern = /^[\x21-\x2b\x2d-\x7e]+$/

const character = "[ -~\\u00a0-\\u024f\\u4e00-\\u9fff\\u{1f300}-\\u{1f64f}]"

// A value with a lone surrogate is refused: the header contains the UTF-8 bytes of the value in Base64, and UTF-8
// cannot encode a lone surrogate.
const isText = (minLength: number) =>
  Schema.makeFilter<string>((value) => value.isWellFormed(), {
    expected: "valid Unicode",
    arbitraryConstraint: { patterns: [{ source: `^${character}{${minLength},24}$`, flags: "u" }] }
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
const MetadataRecord = Schema.make<Schema.Codec<(typeof mandatory)["Type"] & (typeof entries)["Type"]>>(
  Schema.StructWithRest(mandatory, [entries, noOther]).check(generateFew(6)).ast
)

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decodeValue = (value: string): Result.Result<string, string> => {
  const bytes = base64.test(value) ? Base64.decode(value) : undefined
  if (bytes === undefined || Result.isFailure(bytes)) return Result.fail("padded Base64 in the standard alphabet")
  return Result.try({ try: () => utf8.decode(bytes.success), catch: () => "UTF-8 text in Base64" })
}

/**
 * Reads the entries of a header. Reports every entry whose key is empty or repeated, or whose value is not UTF-8 text
 * in padded Base64.
 */
const decode = (header: string, options: SchemaAST.ParseOptions) => {
  const issues: Array<SchemaIssue.Issue> = []
  const broken = (expected: string, at: ReadonlyArray<string>) => {
    const issue = new SchemaIssue.InvalidValue({ expected }, header, options)
    issues.push(at.length === 0 ? issue : new SchemaIssue.Pointer(at, issue))
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
  return Arr.isReadonlyArrayNonEmpty(issues)
    ? Effect.fail(new SchemaIssue.Composite(Schema.String.ast, issues, header, options))
    : // `MetadataRecord` checks which keys are present.
      Effect.succeed(Object.fromEntries(found) as typeof MetadataRecord.Encoded)
}

const encode = (metadata: Readonly<Record<string, string | null>>): string =>
  Object.entries(metadata)
    .map(([key, value]) => (value === null ? key : `${key} ${Base64.encode(value)}`))
    .join(",")

/**
 * `upload-metadata`: comma-separated entries. Each entry is a key of printable ASCII without comma and space,
 * optionally followed by a space and the Base64 of the UTF-8 text of its value. A key without a value decodes to null.
 * Keys are unique. Ordinary, partial and final creations require the keys `assembly_url`, `filename` and `fieldname`,
 * each with a value of at least 1 character.
 *
 * Encoding writes canonical Base64. Decoding ignores the unused bits of the last Base64 digit. The rule for unused bits
 * is our decision, because tus does not define these bits.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @example `{ assembly_url: "https://api2.example.com/assemblies/…", filename: "a.pdf", fieldname: "file", seen: null }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Metadata = Schema.String.pipe(
  Schema.decodeTo(MetadataRecord, {
    decode: SchemaGetter.transformEffect(decode),
    encode: SchemaGetter.transform(encode)
  })
)
/**
 * @since 0.1.0
 * @category models
 */
export type Metadata = typeof Metadata.Type

const absent = (because: string) =>
  Schema.optionalKey(Schema.Never.annotate({ message: `Expected no value ${because}` }))

const shared = { "tus-resumable": Schema.Literal(tusVersion), "upload-metadata": Metadata }
const ordinary = {
  ...shared,
  "upload-concat": Schema.optionalKey(Schema.Literal("partial")),
  "content-type": Schema.optionalKey(Schema.Literal(offsetOctetStream))
}

/**
 * The headers that create an upload of known length.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const FixedHeaders = Schema.Struct({
  ...ordinary,
  "upload-length": UploadLength,
  "upload-defer-length": absent("together with upload-length")
})

/**
 * The headers that create an upload whose length is sent later.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const DeferredHeaders = Schema.Struct({
  ...ordinary,
  "upload-length": absent("together with upload-defer-length"),
  "upload-defer-length": Schema.Literal("1")
})

/**
 * The headers that create a final upload, which concatenates parts.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const FinalHeaders = Schema.Struct({
  ...shared,
  "upload-length": absent("in a final creation"),
  "upload-defer-length": absent("in a final creation"),
  "upload-concat": Concat,
  "content-type": absent("in a final creation")
})

/**
 * The headers of the 201 response to a creation. For `location`, this schema requires only at least one character,
 * because the `UploadTarget` of `@assembly-effect/tus` decides whether the URL in `location` is trusted.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const Created = Schema.Struct({
  location: NonEmptyString,
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Schema.optionalKey(Offset)
})

/**
 * {@link Created} in strict form: `x-content-type-options: nosniff` is required. Other tus servers may omit this
 * header.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreatedStrict = Schema.Struct({ ...Created.fields, "x-content-type-options": Schema.Literal("nosniff") })

/**
 * The headers of a tus creation error in strict form (spec.md, "Errors"). `@assembly-effect/tus` reads the body of an
 * error whatever these headers are.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ErrorHeadersStrict = Schema.Struct({
  "content-type": Schema.Literal("text/plain; charset=utf-8"),
  "tus-resumable": Schema.Literal(tusVersion),
  "x-content-type-options": Schema.Literal("nosniff")
})

/**
 * The headers of a PATCH request that appends bytes. `upload-length` sets a deferred length (tus 1.0.0).
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const AppendHeaders = Schema.Struct({
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Offset,
  "content-type": Schema.Literal(offsetOctetStream),
  "upload-length": Schema.optionalKey(UploadLength)
})

/**
 * The headers of the 204 response to a PATCH request. These headers are beyond the specification, and tus 1.0.0 defines
 * them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Appended = Schema.Struct({ "tus-resumable": Schema.Literal(tusVersion), "upload-offset": Offset })

/**
 * The headers of the response to a HEAD request, which report the offset of an upload. These headers are beyond the
 * specification, and tus 1.0.0 defines them.
 *
 * @since 0.1.0
 * @category schemas
 */
export const OffsetHeaders = Schema.Struct({
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Offset,
  "upload-length": Schema.optionalKey(UploadLength),
  "upload-defer-length": Schema.optionalKey(Schema.Literal("1")),
  "upload-metadata": Schema.optionalKey(Schema.String)
})

/**
 * The text of a tus error. `Line` is a text `ERR_CODE: message` that ends with a line feed. `Hook` is any other text,
 * such as the raw text of a hook of the server, which is not necessarily JSON.
 *
 * Clause: spec.md, "Errors".
 *
 * @since 0.1.0
 * @category models
 */
export type TusError =
  | { readonly _tag: "Line"; readonly code: string; readonly message: string }
  | { readonly _tag: "Hook"; readonly text: string }

/**
 * Parses the body of a tus error response. A text that is not a `Line` is a `Hook`.
 *
 * Clause: spec.md, "Errors".
 *
 * @example `"ERR_UPLOAD_STOPPED: no\n"`, `'{"error":"no "quotes""}'`
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseTusError = (text: string): TusError => {
  const [, code, message] = /^(ERR_[A-Z0-9_]+): (.*)\n$/s.exec(text) ?? []
  return code === undefined || message === undefined ? { _tag: "Hook", text } : { _tag: "Line", code, message }
}
