/**
 * The headers of tus 1.0.0 as the service runs it (spec.md, "Create a tus upload").
 */
import type * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as MetadataCodec from "./internal/metadata.ts"
import { NonEmptyString } from "./Scalar.ts"

/**
 * The version of the tus protocol, sent with every request and response.
 *
 * Clause: spec.md, "Versioning".
 *
 * @since 0.1.0
 * @category utilities
 */
export const tusVersion = "1.0.0"

/**
 * The content type of every body of bytes.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category utilities
 */
export const offsetOctetStream = "application/offset+octet-stream"

const maxLength = 9_223_372_036_854_775_807n

/**
 * A number of bytes, 0 to 2^63 - 1. On the wire a canonical base-10 integer: no sign, no zero in front, no exponent.
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
      // `Schema.isBetweenBigInt` brings more with it than this whole module holds.
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
 * How many bytes of an upload the server has stored; written like a length.
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
 * The path of an upload URL, `/resumable/files/<id>` and perhaps more segments (spec.md, "tus upload resource"). No
 * segment starts with a dot or has a percent sign: such a URL could name another place than it shows.
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
    expected: "final; and upload URLs with a single space between them"
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

/**
 * The URL of a part as it stands in `upload-concat`, with or without scheme and host.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const PartUrl = Schema.String.check(
  Schema.isPattern(new RegExp(`^${url}$`, "u"), { expected: "an upload URL [https://host]/resumable/files/<id>[/…]" })
)

const toConcat = (parts: ReadonlyArray<string>): string => `final;${parts.join(" ")}`

const toParts = (concat: string): Arr.NonEmptyReadonlyArray<string> => {
  const [first = "", ...others] = concat.slice("final;".length).split(" ")
  return [first, ...others]
}

const Parts = Schema.NonEmptyArray(PartUrl).check(
  Schema.makeFilter((parts) => toConcat(parts).length <= maxConcat, {
    expected: `part URLs of at most ${maxConcat} characters in upload-concat`
  })
)

/**
 * `upload-metadata`: comma-separated entries, each a key of printable ASCII and, after a space, its value in Base64 of
 * the UTF-8 text; null is a key without a value. Keys are unique. `assembly_url`, `filename` and `fieldname` are there
 * with every ordinary, partial and final creation, with a value.
 *
 * Base64 is written canonically; what is read may have any bits after its last byte (design: tus does not say).
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @example `{ assembly_url: "https://api2.example.com/assemblies/…", filename: "a.pdf", fieldname: "file", seen: null }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Metadata = MetadataCodec.Metadata
/**
 * @since 0.1.0
 * @category models
 */
export type Metadata = typeof Metadata.Type

const absent = (because: string) =>
  Schema.optionalKey(Schema.Never.annotate({ message: `Expected no such header ${because}` }))

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
  "upload-defer-length": absent("beside upload-length")
})

/**
 * The headers that create an upload whose length is told later.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const DeferredHeaders = Schema.Struct({
  ...ordinary,
  "upload-length": absent("beside upload-defer-length"),
  "upload-defer-length": Schema.Literal("1")
})

/**
 * The headers that put parts together.
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
 * The headers of a creation request in one of their three forms; none mixes with another. {@link Creation} is the
 * form to write and to read them.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreationHeaders = Schema.Union([FixedHeaders, DeferredHeaders, FinalHeaders])
/**
 * @since 0.1.0
 * @category models
 */
export type CreationHeaders = typeof CreationHeaders.Type

const flag = Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false)))

const CreationCases = Schema.TaggedUnion({
  Fixed: { metadata: Schema.toType(Metadata), length: Schema.toType(UploadLength), partial: flag, withBody: flag },
  Deferred: { metadata: Schema.toType(Metadata), partial: flag, withBody: flag },
  Final: { metadata: Schema.toType(Metadata), parts: Parts }
})

const partialHeader = (partial: boolean) => (partial ? { "upload-concat": "partial" as const } : undefined)
const bodyHeader = (withBody: boolean) => (withBody ? ({ "content-type": offsetOctetStream } as const) : undefined)

const Fixed = FixedHeaders.pipe(
  Schema.decodeTo(
    CreationCases.cases.Fixed,
    SchemaTransformation.transform({
      decode: (headers) => ({
        _tag: "Fixed" as const,
        metadata: headers["upload-metadata"],
        length: headers["upload-length"],
        partial: headers["upload-concat"] !== undefined,
        withBody: headers["content-type"] !== undefined
      }),
      encode: ({ length, metadata, partial, withBody }) => ({
        "tus-resumable": tusVersion,
        "upload-metadata": metadata,
        "upload-length": length,
        ...partialHeader(partial),
        ...bodyHeader(withBody)
      })
    })
  )
)

const Deferred = DeferredHeaders.pipe(
  Schema.decodeTo(
    CreationCases.cases.Deferred,
    SchemaTransformation.transform({
      decode: (headers) => ({
        _tag: "Deferred" as const,
        metadata: headers["upload-metadata"],
        partial: headers["upload-concat"] !== undefined,
        withBody: headers["content-type"] !== undefined
      }),
      encode: ({ metadata, partial, withBody }) => ({
        "tus-resumable": tusVersion,
        "upload-metadata": metadata,
        "upload-defer-length": "1" as const,
        ...partialHeader(partial),
        ...bodyHeader(withBody)
      })
    })
  )
)

const Final = FinalHeaders.pipe(
  Schema.decodeTo(
    CreationCases.cases.Final,
    SchemaTransformation.transform({
      decode: (headers) => ({
        _tag: "Final" as const,
        metadata: headers["upload-metadata"],
        parts: toParts(headers["upload-concat"])
      }),
      encode: ({ metadata, parts }) => ({
        "tus-resumable": tusVersion,
        "upload-metadata": metadata,
        "upload-concat": toConcat(parts)
      })
    })
  )
)

const codecs = {
  Fixed: { decode: SchemaParser.decodeUnknownEffect(Fixed), encode: SchemaParser.encodeUnknownEffect(Fixed) },
  Deferred: { decode: SchemaParser.decodeUnknownEffect(Deferred), encode: SchemaParser.encodeUnknownEffect(Deferred) },
  Final: { decode: SchemaParser.decodeUnknownEffect(Final), encode: SchemaParser.encodeUnknownEffect(Final) }
}

const formOf = (headers: Readonly<Record<string, string>>): keyof typeof codecs => {
  if ("upload-concat" in headers && headers["upload-concat"] !== "partial") return "Final"
  return "upload-defer-length" in headers ? "Deferred" : "Fixed"
}

/**
 * A creation request as one of its three forms, so that contradictory headers cannot be written (spec.md, "Create a tus
 * upload"):
 *
 * - `Fixed`: `length` bytes. `partial` makes a part of a later final upload, `withBody` says that the request carries
 *   the first bytes.
 * - `Deferred`: the length is told later.
 * - `Final`: puts `parts` together, in the order of their bytes.
 *
 * Decodes from lowercase headers and ignores those it does not know. The form is chosen first (`upload-concat` other
 * than `partial`, then `upload-defer-length`), so that only its rules are reported.
 *
 * @example `{ _tag: "Fixed", length: 42n, metadata, partial: false, withBody: false }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Creation = Schema.Record(Schema.String, Schema.String).pipe(
  Schema.decodeTo(CreationCases, {
    decode: SchemaGetter.transformEffect(
      (headers, options): Effect.Effect<typeof CreationCases.Encoded, SchemaIssue.Issue> =>
        codecs[formOf(headers)].decode(headers, options)
    ),
    encode: SchemaGetter.transformEffect(
      (creation, options): Effect.Effect<Readonly<Record<string, string>>, SchemaIssue.Issue> =>
        codecs[creation._tag].encode(creation, options)
    )
  })
)
/**
 * @since 0.1.0
 * @category models
 */
export type Creation = typeof Creation.Type

/**
 * The headers of the 201 that answers a creation. `location` is not checked here: that it is a URL to trust is
 * decided by the UploadTarget of `@assembly-effect/tus`.
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
 * {@link Created} without tolerance: `x-content-type-options: nosniff` is there. Independent tus servers omit it.
 *
 * Clause: spec.md, "Create a tus upload".
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreatedStrict = Schema.Struct({ ...Created.fields, "x-content-type-options": Schema.Literal("nosniff") })

/**
 * The headers of a tus creation error without tolerance (spec.md, "Errors"). A client reads the body whatever the
 * headers say.
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
 * The headers of a PATCH that appends bytes. `upload-length` ends a deferred length (tus 1.0.0).
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
 * The headers of the 204 that answers a PATCH. Beyond the specification (tus 1.0.0).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Appended = Schema.Struct({
  "tus-resumable": Schema.Literal(tusVersion),
  "upload-offset": Offset
})

/**
 * The headers that tell how far an upload has come. Beyond the specification (tus 1.0.0).
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
