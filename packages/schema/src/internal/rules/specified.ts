/**
 * The rules of the operations of the specification, and of authentication.
 */
import * as AssemblyList from "../../AssemblyList.ts"
import * as AssemblyStatistics from "../../AssemblyStatistics.ts"
import * as Auth from "../../unstable/Auth.ts"
import * as DamAsset from "../../DamAsset.ts"
import * as Identifier from "../../Identifier.ts"
import * as Part from "./parts.ts"
import { oneOf, text, unknownKey, values } from "./rule.ts"

const size = Part.integer(0, Number.MAX_SAFE_INTEGER)

const referer = Part.all(
  Part.is("is a regular expression", oneOf<unknown>(text("^[a-z]{0,4}[(\\[]$"), values("*", "a**", "\\", "[z-a]"))),
  Part.is("is text", values(5, null))
)

/** The rules of `max_size` and `referer`. */
export const restrictions = { maxSize: size, referer }

const expires = Part.all(
  Part.is(
    "is an ISO 8601 date-time with an offset",
    oneOf<unknown>(
      text("^2\\d{3}-01-01$"),
      text("^2\\d{3}-01-01T10:00:00$"),
      text("^2\\d{3}-01-01T2[4-9]:00:00Z$"),
      values("", "tomorrow", "2030-01-01T00:00:00+25:00")
    )
  ),
  Part.is("is a valid date", text("^2\\d{3}-02-3[01]T10:00:00Z$")),
  Part.string
)

const authParams = {
  key: Part.required(Part.filled),
  expires,
  nonce: Part.is("is text or an integer", values(1.5, null, true, [], {})),
  max_size: size,
  referer
}

const noTemplate = values("", "no_template", null)

const tokenScopes = Part.required(
  Part.decoded("is at least one scope", values([]), { below: [0] }),
  Part.is("is a list of scopes", { decoded: values("dam:write", null), wire: Part.notText }),
  Part.wire(
    "is scopes with single spaces",
    oneOf<unknown>(values(""), text("^[a-z]{1,4}  [a-z]{1,4}$"), text("^ [a-z]{1,4}$"))
  ),
  Part.decoded("holds scopes without white space", Part.each(0, text("^[a-z]{0,4} [a-z]{0,4}$")), { below: [0] })
)

export const specified: Part.Table = [
  [
    AssemblyStatistics.Query,
    Part.all(
      Part.struct({
        region: Part.coded("ASSEMBLY_STATS_MISSING_REGION", Part.required(Part.filled)),
        since: Part.coded("ASSEMBLY_STATS_INVALID_TIME", Part.required(Part.since)),
        templateId: Part.all(
          Part.is("is a Template ID, all or absent", { decoded: noTemplate }, { edge: { wire: noTemplate } }),
          Part.is("is text", values(5, true, [], {}))
        )
      }),
      (at) => [unknownKey(at)]
    )
  ],
  Part.request(
    AssemblyList.Query,
    {
      "fromDate/fromdate": Part.required(Part.listDate),
      "toDate/todate": Part.listDate,
      page: Part.integer(),
      "pageSize/pagesize": Part.integer(1, 5000),
      type: Part.word("all", "uploading", "executing", "canceled", "completed", "failed", "request_aborted"),
      keywords: Part.texts
    },
    "ASSEMBLY_LIST_ERROR"
  ),
  [
    DamAsset.MoveRequest,
    Part.coded(
      "DAM_INVALID_REQUEST",
      Part.struct({ filename: Part.filename, destinationFolderId: Part.identifierOrNull }),
      Part.is("has a filename or a folder", values({})),
      (at) => [unknownKey(at)]
    )
  ],
  [Identifier.AssetId, Part.coded("DAM_INVALID_REQUEST", Part.identifier)],
  Part.request(Auth.AuthParams, authParams),
  Part.request(Auth.SignedAuthParams, { ...authParams, expires: Part.required(expires) }),
  Part.request(Auth.TokenRequest, {
    grantType: Part.required(Part.word("client_credentials")),
    aud: Part.required(Part.word("api2")),
    scope: tokenScopes
  })
]
