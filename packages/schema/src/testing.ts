/**
 * Generators of invalid requests for property tests. Each generated value breaks one rule, and comes with this rule and
 * the path of the invalid part. For valid requests, use `Arbitrary.schema` of Effect. This module needs no test
 * framework.
 *
 * @example
 * Arbitrary.checkEffect(Testing.move.decoded, ({ input }) => Schema.is(DamAsset.MoveRequest)(input) === false)
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Assembly from "./Assembly.ts"
import * as AssemblyList from "./AssemblyList.ts"
import * as AssemblyStatistics from "./AssemblyStatistics.ts"
import * as Auth from "./Auth.ts"
import * as DamAsset from "./DamAsset.ts"
import type { Invalids, Rule } from "./internal/invalid.ts"
import {
  either,
  encoded,
  field,
  fractions,
  integers,
  invalidDecoded,
  invalids,
  invalidWire,
  listDates,
  missing,
  notText,
  oneOf,
  text,
  unknownKey,
  values,
  whole
} from "./internal/invalid.ts"
import * as TusUpload from "./TusUpload.ts"

export type { Invalid, Invalids } from "./internal/invalid.ts"

// The following generators have a separate module, so that each module stays small.
export {
  authKeyId,
  createAuthKey,
  createCredential,
  createTemplate,
  credentialId,
  deleteAssets,
  getAsset,
  jobSlotStatistics,
  listAssets,
  listTemplates,
  month,
  moveAssets,
  moveEntry,
  replayAssembly,
  replayNotification,
  templateIdOrName,
  updateAuthKey,
  updateCredential,
  updateTemplate
} from "./internal/invalidOperations.ts"

const empty = Arbitrary.Constant("")

/**
 * Invalid params of a statistics request (`AssemblyStatistics.Query`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const statistics: Invalids = invalids(AssemblyStatistics.Query, [
  missing("region"),
  field("region", "is at least 1 character", empty),
  field("region", "is text", notText),
  missing("since"),
  field("since", "is at least 1 character or a DateTime", empty),
  field("since", "is text", notText),
  field(["templateId", "template_id"], "is a Template ID, all or absent", {
    decoded: values("", "no_template", null, 5),
    wire: values(5, true, [], {})
  }),
  unknownKey
])

/**
 * Invalid params of a list request (`AssemblyList.Query`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const list: Invalids = invalids(AssemblyList.Query, [
  missing(["fromDate", "fromdate"]),
  field(["fromDate", "fromdate"], "is a date-time of the years 0000 to 9999", listDates),
  field(["toDate", "todate"], "is a date-time of the years 0000 to 9999", listDates),
  field("page", "is an integer", oneOf<unknown>(fractions, values("1", null))),
  field(
    ["pageSize", "pagesize"],
    "is an integer of 1 to 5000",
    oneOf<unknown>(integers(-1000, 0), integers(5001, 1e6), fractions, values("50", null))
  ),
  field(
    "type",
    "is one of the seven types",
    oneOf<unknown>(text("^[a-z]{1,3}$").pipe(Arbitrary.filter((type) => type !== "all")), notText)
  ),
  field("keywords", "is an array", values("a", 5, null, {})),
  field(
    "keywords",
    "holds texts",
    Arbitrary.map(notText, (keyword) => [keyword]),
    [0]
  )
])

const identifier = "[A-Za-z0-9_-]"

/**
 * Invalid requests to move an asset (`DamAsset.MoveRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const move: Invalids = invalids(DamAsset.MoveRequest, [
  whole("has at least one of its keys", { decoded: values({}), wire: values({}) }),
  field("filename", "is 1 to 255 characters", oneOf(empty, text("^[a-z]{256,270}$"))),
  field("filename", "is not only white space", text("^[ \\u00a0\\u2003]{1,10}$")),
  field("filename", "is not . or ..", values(".", "..")),
  field("filename", "is without slash and backslash", text("^[a-z]{0,8}[/\\\\][a-z]{0,8}$")),
  field("filename", "is without control characters", text("^[a-z]{1,8}[\\u0001-\\u001f\\u007f-\\u009f][a-z]{0,8}$")),
  field("filename", "is valid Unicode", values("a\ud800", "\udc00.pdf", "a\udfffb")),
  field("filename", "is text", notText),
  field(
    ["destinationFolderId", "destination_folder_id"],
    "is an identifier or null",
    oneOf<unknown>(
      text(`^${identifier}{20}[AQgw]$`),
      text(`^${identifier}{22}[AQgw]$`),
      text(`^${identifier}{21}[B-PR-Zh-v]$`),
      text(`^${identifier}{20}[+/=]A$`),
      values("", 5, true)
    )
  ),
  unknownKey
])

const noPath = oneOf<unknown>(
  empty,
  text("^/files/[a-z]{4}$"),
  text("^/resumable/files/(?:\\.\\.?|%2e)$"),
  text("^/resumable/files/a b$")
)

const part = "/resumable/files/"

const badConcat = oneOf(
  text("^final;$"),
  text("^[Ff]inal:?/resumable/files/[a-z]{4}$"),
  text("^final; /resumable/files/[a-z]{4}$"),
  text("^final;/resumable/files/[a-z]{4}  /resumable/files/[a-z]{4}$"),
  text("^final;/files/[a-z]{4}$"),
  text("^final;https://[a-z]{1,8}@example/resumable/files/[a-z]{4}$"),
  Arbitrary.map(integers(8170, 9000), (length) => `final;${part}${"a".repeat(length)}`)
)

/**
 * Invalid texts of `upload-concat` (`TusUpload.Concat`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const concat: Invalids = invalids(TusUpload.Concat, [
  whole("is final; and upload URLs with single spaces, at most 8192 characters", {
    decoded: badConcat,
    wire: badConcat
  })
])

const badMandatory = oneOf<unknown>(empty, values("\ud800", null, 5))

const badMetadataKey = text("^[a-z]{0,4}(?:[ ,]|\\u00e9|\\u0009)[a-z]{1,4}$")

const minimal = "assembly_url YQ==,filename YQ==,fieldname YQ=="

/** `key` generates an entry with an invalid value. `whole` generates headers that are not a valid list of entries. */
const badEntries = {
  key: text("^k (?:[A-Za-z0-9]{2}|[A-Za-z0-9]{3}|[A-Za-z0-9]{5}=|[A-Za-z0-9]{3}-|/w==|gICA)$"),
  whole: values("", ",", `${minimal},`, `,${minimal}`, `${minimal},,a YQ==`, `${minimal}, a YQ==`)
}

/**
 * Invalid metadata of an upload (`TusUpload.Metadata`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const metadata: Invalids = {
  decoded: invalidDecoded(Arbitrary.schema(TusUpload.Metadata), [
    ...["assembly_url", "filename", "fieldname"].flatMap((key) => [
      missing(key),
      field(key, "is text of at least 1 character", badMandatory)
    ]),
    field("k", "is text or null", values(5, true, [], "\udc00")),
    {
      rule: "is a key of printable ASCII without comma and space",
      decoded: Arbitrary.map(badMetadataKey, (key) => ({
        path: [key],
        change: (valid: object) => ({ ...valid, [key]: "a" })
      }))
    }
  ]),
  wire: invalidWire(encoded(TusUpload.Metadata), [
    whole("is padded Base64 of UTF-8", { wire: Arbitrary.map(badEntries.key, (entry) => `${minimal},${entry}`) }, [
      "k"
    ]),
    whole("is there once", { wire: values(`${minimal},filename YQ==`, `filename YQ==,${minimal}`) }, ["filename"]),
    whole(
      "has a value",
      { wire: values(minimal.replace("filename YQ==", "filename"), minimal.replace("filename YQ==", "filename ")) },
      ["filename"]
    ),
    whole("is required", { wire: values(minimal.replace("filename YQ==,", "")) }, ["filename"]),
    whole("is entries separated by single commas", { wire: badEntries.whole })
  ])
}

const creationCases = TusUpload.Creation.to.cases

/** Invalid creations of one kind. Each creation breaks one of `rules`, or one of the rules that all kinds share. */
const creationOf = <T extends TusUpload.Creation>(
  form: Schema.ConstraintCodec<T, unknown>,
  rules: ReadonlyArray<Rule<object, object>>
): Invalids => {
  const valid = Arbitrary.schema(form)
  const wire = Arbitrary.map(valid, (creation) => Schema.encodeSync(TusUpload.Creation)(creation))
  const all = [
    ...rules,
    missing(["metadata", "upload-metadata"]),
    field("upload-metadata", "is metadata", { wire: values(`${minimal},filename YQ==`) }, ["filename"]),
    { ...missing("tus-resumable"), decoded: undefined },
    field("tus-resumable", "is 1.0.0", { wire: text("^(?:0\\.[0-9]|1\\.0|1\\.0\\.[1-9]|2\\.0\\.0)$") })
  ]
  return { decoded: invalidDecoded(valid, all), wire: invalidWire(wire, all) }
}

const badLength = {
  decoded: oneOf<unknown>(Arbitrary.map(integers(-1000, -1), BigInt), values(9_223_372_036_854_775_808n, 5, "5", null)),
  wire: oneOf<unknown>(
    text("^0\\d{1,3}$"),
    text("^[+-]\\d{1,3}$"),
    text("^\\d\\.0$"),
    text("^\\de\\d$"),
    text("^ \\d$"),
    values("", "9223372036854775808", "99999999999999999999", "0x10", "Infinity")
  )
}

const contentType = field("content-type", "is application/offset+octet-stream", {
  wire: values("application/octet-stream", "", "application/offset+octet-stream; charset=utf-8")
})

/**
 * Invalid creations of an upload (`TusUpload.Creation`). On the wire, a creation is a set of headers.
 *
 * @since 0.1.0
 * @category utilities
 */
export const creation: Invalids = either(
  creationOf(creationCases.Fixed, [
    missing(["length", "upload-length"]),
    field(["length", "upload-length"], "is 0 to 9223372036854775807 in canonical form", badLength),
    {
      ...field("upload-length", "is not beside upload-defer-length", {}),
      wire: Arbitrary.Constant({
        path: ["upload-length"],
        change: (valid: object) => ({ ...valid, "upload-defer-length": "1" })
      })
    },
    contentType
  ]),
  creationOf(creationCases.Deferred, [
    field("upload-defer-length", "is 1", { wire: values("0", "true", "", "01") }),
    field("partial", "is a boolean", { decoded: values(1, "partial", null) }),
    contentType
  ]),
  creationOf(creationCases.Final, [
    field("parts", "has a part", { decoded: values([]) }, [0]),
    field("parts", "are upload URLs", { decoded: Arbitrary.map(noPath, (bad) => [bad]) }, [0]),
    field("parts", "are at most 8192 characters", {
      decoded: Arbitrary.map(integers(500, 600), (count) => Array.from({ length: count }, () => `${part}a`))
    }),
    field("upload-concat", "is final; and upload URLs", { wire: badConcat }),
    field("upload-length", "is not in a final creation", { wire: values("5") }),
    field("upload-defer-length", "is not in a final creation", { wire: values("1") }),
    field("content-type", "is not in a final creation", { wire: values(TusUpload.offsetOctetStream) })
  ])
)

const notIsoDateTime = oneOf<unknown>(
  empty,
  text("^2\\d{3}-01-01$"),
  text("^2\\d{3}-01-01T10:00:00$"),
  text("^2\\d{3}-02-3[01]T10:00:00Z$"),
  text("^2\\d{3}-01-01T2[4-9]:00:00Z$"),
  notText
)

/**
 * Invalid `auth` objects of signed params (`Auth.SignedAuthParams`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const signedAuthParams: Invalids = invalids(Auth.SignedAuthParams, [
  missing("key"),
  field("key", "is at least 1 character", empty),
  field("key", "is text", notText),
  missing("expires"),
  field("expires", "is an ISO 8601 date-time", notIsoDateTime),
  field("nonce", "is text or an integer", oneOf<unknown>(fractions, values(null, true, [], {}))),
  field(
    "referer",
    "is a regular expression",
    oneOf<unknown>(text("^[a-z]{0,4}[(\\[]$"), values("*", "a**", "\\", 5, null))
  ),
  field("max_size", "is an integer of at least 0", oneOf<unknown>(integers(-1000, -1), fractions, values("5", null)))
])

/**
 * Invalid token requests (`Auth.TokenRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const tokenRequest: Invalids = invalids(Auth.TokenRequest, [
  missing(["grantType", "grant_type"]),
  field(["grantType", "grant_type"], "is client_credentials", oneOf<unknown>(text("^[a-z]{1,8}$"), notText)),
  missing("aud"),
  field("aud", "is api2", oneOf<unknown>(text("^[a-z]{1,8}$"), notText)),
  missing("scope"),
  field("scope", "is at least one scope", { decoded: values([]) }, [0]),
  field("scope", "is a list of scopes", { decoded: values("dam:write", null), wire: empty }),
  field("scope", "is scopes with single spaces", {
    wire: oneOf<unknown>(text("^[a-z]{1,4}  [a-z]{1,4}$"), text("^ [a-z]{1,4}$"), notText)
  }),
  field(
    "scope",
    "holds scopes without white space",
    { decoded: Arbitrary.map(text("^[a-z]{0,4} [a-z]{0,4}$"), (scope) => [scope]) },
    [0]
  )
])

/**
 * Invalid params of a request to create an Assembly (`Assembly.CreateParams`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const createAssembly: Invalids = invalids(Assembly.CreateParams, [
  field("steps", "is an object of Steps", values([], "a", 5, null)),
  field("steps", "names the robot of each Step", values({ a: {} }, { a: { robot: "" } }, { a: { robot: 5 } }), [
    "a",
    "robot"
  ]),
  field(["templateId", "template_id"], "is at least 1 character", oneOf<unknown>(empty, notText)),
  field(["notifyUrl", "notify_url"], "is at least 1 character", oneOf<unknown>(empty, notText)),
  field(["redirectUrl", "redirect_url"], "is at least 1 character", oneOf<unknown>(empty, notText)),
  field("quiet", "is true or false", values("true", 1)),
  field(["emitExecutionProgress", "emit_execution_progress"], "is true or false", values("true", 1)),
  field("fields", "is an object", values([], "a", 5, null))
])
