/**
 * The headers of tus 1.0.0 as the service runs it (spec.md, "Create a tus upload").
 */
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import { NonEmptyString } from "./Scalar.ts"

/**
 * The version of the tus protocol, sent with every request and response.
 */
export const tusVersion = "1.0.0"

/**
 * The content type of every body of bytes.
 */
export const offsetOctetStream = "application/offset+octet-stream"

const maxLength = 9_223_372_036_854_775_807n

/**
 * A number of bytes, 0 to 2^63 - 1. On the wire a canonical base-10 integer: no sign, no zero in front, no exponent.
 */
export const UploadLength = Schema.String.check(
  Schema.isPattern(/^(?:0|[1-9][0-9]{0,18})$/, { expected: "an unsigned base-10 integer without leading zeros" })
).pipe(
  Schema.decodeTo(
    Schema.BigInt.check(
      Schema.isBetweenBigInt({ minimum: 0n, maximum: maxLength }, { expected: "0 to 9223372036854775807 bytes" })
    ),
    { decode: SchemaGetter.transform((text) => BigInt(text)), encode: SchemaGetter.transform(String) }
  )
)
export type UploadLength = typeof UploadLength.Type

/**
 * How many bytes of an upload the server has stored; written like a length.
 */
export const Offset = UploadLength
export type Offset = typeof Offset.Type

const segment = "[A-Za-z0-9_~+-][A-Za-z0-9._~+-]*"
const path = `/resumable/files/${segment}(?:/${segment})*`
const url = `(?:https?://[A-Za-z0-9.:[\\]-]+)?${path}`

/**
 * The path of an upload URL, `/resumable/files/<id>` and perhaps more segments (spec.md, "tus upload resource"). No
 * segment starts with a dot or has a percent sign: such a URL could name another place than it shows.
 */
export const UploadPath = Schema.String.check(
  Schema.isPattern(new RegExp(`^${path}$`), { expected: "a path /resumable/files/<id>[/…]" })
)

/**
 * `upload-concat` of a final upload: the URLs of its parts in the order of their bytes, at most 8192 characters.
 */
export const Concat = Schema.String.check(
  Schema.isPattern(new RegExp(`^final;${url}(?: ${url})*$`), {
    expected: "final; and upload URLs with a single space between them"
  }),
  Schema.isMaxLength(8192, { expected: "at most 8192 characters" })
)
export type Concat = typeof Concat.Type

const MetadataKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x2b\x2d-\x7e]+$/, { expected: "printable ASCII without comma or space" })
)

/**
 * What is known of an upload: keys of printable ASCII with text values, or null for a key without a value. The
 * service wants the first three with every ordinary, partial and final creation.
 */
export const MetadataRecord = Schema.StructWithRest(
  Schema.Struct({ assembly_url: NonEmptyString, filename: NonEmptyString, fieldname: NonEmptyString }),
  [Schema.Record(MetadataKey, Schema.NullOr(Schema.String))]
)
export type Metadata = typeof MetadataRecord.Type

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const decodeUtf8 = (bytes: Uint8Array): Result.Result<string, string> =>
  Result.try({ try: () => utf8.decode(bytes), catch: () => "a value in UTF-8" })

const decodeValue = (value: string): Result.Result<string, string> =>
  base64.test(value)
    ? Base64.decode(value).pipe(
        Result.mapError(() => "a value in padded Base64"),
        Result.flatMap(decodeUtf8)
      )
    : Result.fail("a value in padded Base64")

const decodeMetadata = (header: string): Result.Result<Record<string, string | null>, string> =>
  Result.gen(function* () {
    const entries = new Map<string, string | null>()
    for (const entry of header.split(",")) {
      const space = entry.indexOf(" ")
      const key = space === -1 ? entry : entry.slice(0, space)
      if (key === "") return yield* Result.fail("entries of a key and a Base64 value, separated by single commas")
      if (entries.has(key)) return yield* Result.fail("unique keys")
      entries.set(key, space === -1 ? null : yield* decodeValue(entry.slice(space + 1)))
    }
    return Object.fromEntries(entries)
  })

const encodeMetadata = (metadata: Readonly<Record<string, string | null>>): string =>
  Object.entries(metadata)
    .map(([key, value]) => (value === null ? key : `${key} ${Base64.encode(value)}`))
    .join(",")

/**
 * `upload-metadata`: comma-separated entries, each a key and, after a space, its value in Base64 of the UTF-8 text.
 */
export const Metadata = Schema.String.pipe(
  Schema.decodeTo(MetadataRecord, {
    decode: SchemaGetter.transformEffect((header, options) =>
      Result.match(decodeMetadata(header), {
        onSuccess: (metadata) => Effect.succeed(metadata as typeof MetadataRecord.Encoded),
        onFailure: (expected) => Effect.fail(new SchemaIssue.InvalidValue({ expected }, header, options))
      })
    ),
    encode: SchemaGetter.transform(encodeMetadata)
  })
)

const absent = Schema.optionalKey(Schema.Never)
const shared = { "tus-resumable": Schema.Literal(tusVersion), "upload-metadata": Metadata }
const ordinary = {
  ...shared,
  "upload-concat": Schema.optionalKey(Schema.Literal("partial")),
  "content-type": Schema.optionalKey(Schema.Literal(offsetOctetStream))
}

/** The headers that create an upload of known length. */
export const FixedHeaders = Schema.Struct({
  ...ordinary,
  "upload-length": UploadLength,
  "upload-defer-length": absent
})

/** The headers that create an upload whose length is told later. */
export const DeferredHeaders = Schema.Struct({
  ...ordinary,
  "upload-length": absent,
  "upload-defer-length": Schema.Literal("1")
})

/** The headers that put parts together. */
export const FinalHeaders = Schema.Struct({
  ...shared,
  "upload-length": absent,
  "upload-defer-length": absent,
  "upload-concat": Concat,
  "content-type": absent
})

/**
 * The headers of a creation request in one of their three forms; none mixes with another.
 */
export const CreationHeaders = Schema.Union([FixedHeaders, DeferredHeaders, FinalHeaders])
export type CreationHeaders = typeof CreationHeaders.Type

/**
 * The headers of the 201 that answers a creation. `location` is not checked here: that it is a URL to trust is
 * decided by the UploadTarget of `@assembly-effect/tus`.
 */
export const Created = Schema.Struct({
  location: NonEmptyString,
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Schema.optionalKey(Offset)
})

/**
 * The headers of a PATCH that appends bytes. `upload-length` ends a deferred length (tus 1.0.0).
 */
export const AppendHeaders = Schema.Struct({
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Offset,
  "content-type": Schema.Literal(offsetOctetStream),
  "upload-length": Schema.optionalKey(UploadLength)
})

/**
 * The headers of the 204 that answers a PATCH. Beyond the specification (tus 1.0.0).
 */
export const Appended = Schema.Struct({
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Offset
})

/**
 * The headers that tell how far an upload has come. Beyond the specification (tus 1.0.0).
 */
export const OffsetHeaders = Schema.Struct({
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Offset,
  "upload-length": Schema.optionalKey(UploadLength),
  "upload-defer-length": Schema.optionalKey(Schema.Literal("1")),
  "upload-metadata": Schema.optionalKey(Schema.String)
})
