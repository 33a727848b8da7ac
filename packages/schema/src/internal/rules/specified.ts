/**
 * The rules of the operations of the specification, and of authentication.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as AssemblyList from "../../AssemblyList.ts"
import * as AssemblyStatistics from "../../AssemblyStatistics.ts"
import * as Auth from "../../unstable/Auth.ts"
import * as DamAsset from "../../DamAsset.ts"
import * as Identifier from "../../Identifier.ts"
import {
  empty,
  field,
  filename,
  filled,
  identifier,
  inRange,
  integer,
  listDate,
  notText,
  required,
  string,
  texts,
  whole,
  word
} from "./fields.ts"
import type { Table } from "./table.ts"
import { coded, type Key, oneOf, rule, text, unknownKey, values } from "./rule.ts"

const missingRegion = "ASSEMBLY_STATS_MISSING_REGION"
const invalidTime = "ASSEMBLY_STATS_INVALID_TIME"

const types = ["all", "uploading", "executing", "canceled", "completed", "failed", "request_aborted"]

const notIsoDateTime = oneOf<unknown>(
  empty,
  text("^2\\d{3}-01-01$"),
  text("^2\\d{3}-01-01T10:00:00$"),
  text("^2\\d{3}-01-01T2[4-9]:00:00Z$"),
  values("tomorrow", "2030-01-01T00:00:00+25:00")
)

/** The rules of `max_size` and `referer`. */
export const restrictions = (below: ReadonlyArray<Key>, maxSize: Key) => [
  rule({
    at: [...below, "referer"],
    name: "is a regular expression",
    bad: oneOf<unknown>(text("^[a-z]{0,4}[(\\[]$"), values("*", "a**", "\\", "[z-a]"))
  }),
  rule({ at: [...below, "referer"], name: "is text", bad: values(5, null) }),
  rule({ at: [...below, maxSize], name: "is a number", bad: values("5", null) }),
  ...inRange([...below, maxSize], 0, Number.MAX_SAFE_INTEGER)
]

const authParams = [
  whole,
  required("key"),
  ...filled("key"),
  field("expires", "is an ISO 8601 date-time with an offset", notIsoDateTime),
  field("expires", "is a valid date", text("^2\\d{3}-02-3[01]T10:00:00Z$")),
  string("expires"),
  field("nonce", "is text or an integer", values(1.5, null, true, [], {})),
  ...restrictions([], "max_size")
]

export const specified: Table = [
  [
    AssemblyStatistics.Query,
    [
      whole,
      ...coded(missingRegion, [required("region"), ...filled("region")]),
      ...coded(invalidTime, [
        required("since"),
        field("since", "is at least 1 character", empty),
        field("since", "is text or a DateTime", notText)
      ]),
      field(
        ["templateId", "template_id"],
        "is a Template ID, all or absent",
        { decoded: values("", "no_template", null) },
        { edge: { wire: values("", "no_template", null) } }
      ),
      field(["templateId", "template_id"], "is text", values(5, true, [], {})),
      unknownKey()
    ]
  ],
  [
    AssemblyList.Query,
    coded("ASSEMBLY_LIST_ERROR", [
      whole,
      required(["fromDate", "fromdate"]),
      ...listDate(["fromDate", "fromdate"]),
      ...listDate(["toDate", "todate"]),
      ...integer("page"),
      ...integer(["pageSize", "pagesize"], 1, 5000),
      ...word("type", types),
      ...texts("keywords")
    ])
  ],
  [
    DamAsset.MoveRequest,
    coded("DAM_INVALID_REQUEST", [
      whole,
      rule({ at: [], name: "has a filename or a folder", bad: values({}) }),
      ...filename("filename"),
      ...identifier([["destinationFolderId", "destination_folder_id"]], true),
      unknownKey()
    ])
  ],
  [Identifier.AssetId, coded("DAM_INVALID_REQUEST", identifier([], false))],
  [Auth.AuthParams, authParams],
  [Auth.SignedAuthParams, [required("expires"), ...authParams]],
  [
    Auth.TokenRequest,
    [
      whole,
      required(["grantType", "grant_type"]),
      ...word(["grantType", "grant_type"], ["client_credentials"]),
      required("aud"),
      ...word("aud", ["api2"]),
      required("scope"),
      field("scope", "is at least one scope", { decoded: values([]) }, { below: [0] }),
      field("scope", "is a list of scopes", { decoded: values("dam:write", null), wire: notText }),
      field("scope", "is scopes with single spaces", {
        wire: oneOf<unknown>(empty, text("^[a-z]{1,4}  [a-z]{1,4}$"), text("^ [a-z]{1,4}$"))
      }),
      field(
        "scope",
        "holds scopes without white space",
        { decoded: Arbitrary.map(text("^[a-z]{0,4} [a-z]{0,4}$"), (scope) => [scope]) },
        { below: [0] }
      )
    ]
  ]
]
