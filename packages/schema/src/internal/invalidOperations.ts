/**
 * Generators of invalid requests for the operations beyond the specification.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Redacted from "effect/Redacted"
import * as AssemblyReplay from "../AssemblyReplay.ts"
import * as AuthKey from "../AuthKey.ts"
import * as Bill from "../Bill.ts"
import * as DamEntries from "../DamEntries.ts"
import * as Notification from "../Notification.ts"
import * as Queue from "../Queue.ts"
import * as Template from "../Template.ts"
import * as TemplateCredential from "../TemplateCredential.ts"
import type { Invalids } from "./invalid.ts"
import {
  field,
  fractions,
  integers,
  invalids,
  listDates,
  missing,
  notText,
  oneOf,
  text,
  values,
  whole
} from "./invalid.ts"

const empty = Arbitrary.Constant("")
const notFilled = oneOf<unknown>(empty, notText)
const notObject = values([], "a", 5, null)
const notBoolean = values(5, "true", null, [])

/** Invalid values of a `Flag`. */
const notFlag = { decoded: values(0, 1, "yes", null), wire: values(2, -1, "1", null) }

/**
 * Invalid params of a replay (`AssemblyReplay.ReplayRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const replayAssembly: Invalids = invalids(AssemblyReplay.ReplayRequest, [
  field("steps", "is an object of Steps", notObject),
  field(
    "steps",
    "holds objects",
    Arbitrary.map(values("b", 5, null), (step) => ({ a: step })),
    ["a"]
  ),
  field("fields", "is an object", notObject),
  field(["notifyUrl", "notify_url"], "is at least 1 character", notFilled),
  field(["templateId", "template_id"], "is at least 1 character", notFilled),
  field(["reparseTemplate", "reparse_template"], "is a flag", notFlag)
])

/**
 * Invalid params of a request to send a notification again (`Notification.ReplayRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const replayNotification: Invalids = invalids(Notification.ReplayRequest, [
  field(["notifyUrl", "notify_url"], "is at least 1 character", notFilled),
  field("wait", "is a boolean", notBoolean)
])

const authKeySettings = [
  field("scope", "is a list", values("dam:write", null, 5)),
  field("scope", "is at least one scope", values([]), [0]),
  field(
    "scope",
    "holds scopes without white space",
    Arbitrary.map(text("^[a-z]{0,4} [a-z]{0,4}$"), (one) => [one]),
    [0]
  ),
  field("description", "is text", notText),
  field(["canShowAuthSecret", "can_show_auth_secret"], "is a boolean", notBoolean),
  field(["isAllowedForSmartCdn", "is_allowed_for_smartcdn"], "is a boolean", notBoolean),
  field(["signatureAlgo", "signature_algo"], "is a known algorithm", oneOf<unknown>(text("^[a-z]{1,4}$"), notText))
]

/**
 * Invalid params of a request to create an Auth Key (`AuthKey.CreateRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const createAuthKey: Invalids = invalids(AuthKey.CreateRequest, [
  missing("scope"),
  field(["authKey", "auth_key"], "is at least 1 character", notFilled),
  ...authKeySettings
])

/**
 * Invalid params of a request to change an Auth Key (`AuthKey.UpdateRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const updateAuthKey: Invalids = invalids(AuthKey.UpdateRequest, authKeySettings)

const notSegment = oneOf<unknown>(
  empty,
  values(".", "..", "a\\b", "a\ud800"),
  text("^[a-z]{256,270}$"),
  text("^[a-z]{0,4}[\\u0001-\\u001f\\u007f-\\u009f][a-z]{0,4}$"),
  notText
)

const idRules = [whole("is text that a path can hold", { decoded: notSegment, wire: notSegment })]
const slashRule = whole("has no slash", { decoded: values("a/b", "/"), wire: values("a/b", "/") })

/**
 * Invalid ids of an Auth Key (`AuthKey.AuthKeyId`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const authKeyId: Invalids = invalids(AuthKey.AuthKeyId, [...idRules, slashRule])

/**
 * Invalid ids of Template Credentials (`TemplateCredential.CredentialId`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const credentialId: Invalids = invalids(TemplateCredential.CredentialId, [...idRules, slashRule])

/**
 * Invalid ids and names of a Template (`Template.IdOrName`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const templateIdOrName: Invalids = invalids(Template.IdOrName, idRules)

const notMonth = oneOf<unknown>(
  text("^\\d{4}-(?:00|1[3-9]|[2-9]\\d)$"),
  text("^\\d{4}-\\d$"),
  text("^\\d{2}-\\d{2}$"),
  text("^\\d{4}-0[1-9]-\\d{2}$"),
  notFilled
)

/**
 * Invalid months (`Bill.Month`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const month: Invalids = invalids(Bill.Month, [
  whole("is a month as YYYY-MM", { decoded: notMonth, wire: notMonth })
])

const robot = "/image/resize"

const contentRules = [
  field("template", "is an object", values("a", 5, null)),
  field(
    "template",
    "has an object of Steps",
    Arbitrary.map(notObject, (steps) => ({ steps })),
    ["steps"]
  ),
  field("template", "names the robot of each Step", values({ steps: { a: {} } }, { steps: { a: { robot: "" } } }), [
    "steps",
    "a",
    "robot"
  ]),
  field("template", "reserves :original for the uploads", values({ steps: { ":original": { robot } } }), [
    "steps",
    ":original",
    "robot"
  ]),
  field(
    "template",
    "uses Steps that exist, and no Step uses itself",
    values(
      { steps: { a: { robot, use: "b" } } },
      { steps: { a: { robot, use: "a" } } },
      { steps: { a: { robot, use: 5 } } }
    ),
    ["steps", "a", "use"]
  ),
  field("template", "uses a list of Steps that exist", values({ steps: { a: { robot, use: [":original", "b"] } } }), [
    "steps",
    "a",
    "use",
    1
  ]),
  field(
    "template",
    "has a boolean allow_steps_override",
    Arbitrary.map(notBoolean, (allow) => ({ allow_steps_override: allow })),
    ["allow_steps_override"]
  ),
  field("template", "has whole bytes as max_size", values({ auth: { max_size: -1 } }, { auth: { max_size: 1.5 } }), [
    "auth",
    "max_size"
  ])
]

const templateSettings = [
  field("name", "is text that a path can hold", notSegment),
  ...contentRules,
  field(["requireSignatureAuth", "require_signature_auth"], "is a flag", notFlag),
  field(["assemblyStatusExpiry", "assembly_status_expiry"], "is one of five", values("2days", "", null, 1)),
  field(["transcodingResultExpiry", "transcoding_result_expiry"], "is 1day or NoSave", values("7days", "", null, 1))
]

/**
 * Invalid params of a request to create a Template (`Template.CreateRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const createTemplate: Invalids = invalids(Template.CreateRequest, [
  missing("name"),
  missing("template"),
  ...templateSettings
])

/**
 * Invalid params of a request to change a Template (`Template.UpdateRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const updateTemplate: Invalids = invalids(Template.UpdateRequest, templateSettings)

const unknownWord = oneOf<unknown>(text("^[b-z]{1,2}$"), notText)

/**
 * Invalid params of a request to list Templates (`Template.Query`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const listTemplates: Invalids = invalids(Template.Query, [
  field("page", "is an integer of at least 1", oneOf<unknown>(integers(-1000, 0), fractions, values("1", null))),
  field(
    ["pageSize", "pagesize"],
    "is an integer of 1 to 5000",
    oneOf<unknown>(integers(-1000, 0), integers(5001, 1e6), fractions, values("50", null))
  ),
  field("sort", "is a known key", unknownWord),
  field("order", "is asc or desc", unknownWord),
  field(["includeBuiltin", "include_builtin"], "is one of five", unknownWord),
  field(["fromDate", "fromdate"], "is a date-time of the years 0000 to 9999", listDates),
  field(["toDate", "todate"], "is a date-time of the years 0000 to 9999", listDates),
  field("keywords", "is an array", values("a", 5, null, {}))
])

const credentialSettings = [
  missing("name"),
  missing("type"),
  field("name", "is at least 1 character", notFilled),
  field("type", "is at least 1 character", notFilled),
  field("content", "is redacted", { decoded: values({ key: "k" }, "text", 5), wire: values(5, null, true) }),
  field(
    "content",
    "is an object or text of at least 1 character",
    {
      decoded: Arbitrary.map(values("", 5, null), (content) => Redacted.make(content))
    },
    ["value"]
  ),
  field("content", "is at least 1 character", { wire: empty })
]

/**
 * Invalid params of a request to create Template Credentials (`TemplateCredential.CreateRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const createCredential: Invalids = invalids(TemplateCredential.CreateRequest, [
  missing("content"),
  ...credentialSettings
])

/**
 * Invalid params of a request to change Template Credentials (`TemplateCredential.UpdateRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const updateCredential: Invalids = invalids(TemplateCredential.UpdateRequest, credentialSettings)

/**
 * Invalid params of a request for the statistics of job slots (`Queue.StatisticsQuery`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const jobSlotStatistics: Invalids = invalids(Queue.StatisticsQuery, [
  missing("region"),
  missing("since"),
  field("region", "is at least 1 character", notFilled),
  field("since", "is at least 1 character or a DateTime", notFilled),
  field("aggregation", "is avg, max or null", values("sum", "", 5, true))
])

const notIdentifier = oneOf<unknown>(
  text("^[A-Za-z0-9_-]{20}[AQgw]$"),
  text("^[A-Za-z0-9_-]{21}[B-PR-Zh-v]$"),
  values("", 5, true)
)

/**
 * Invalid params of a request to get an asset (`DamEntries.GetQuery`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const getAsset: Invalids = invalids(DamEntries.GetQuery, [
  field(["versionId", "version_id"], "is an identifier", notIdentifier)
])

/**
 * Invalid params of a request to list assets (`DamEntries.ListQuery`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const listAssets: Invalids = invalids(DamEntries.ListQuery, [
  field("prefix", "is text", notText),
  field("cursor", "is at least 1 character", notFilled),
  field(
    "limit",
    "is an integer of 1 to 500",
    oneOf<unknown>(integers(-1000, 0), integers(501, 1e6), fractions, values("50", null))
  )
])

const idsOf = (bad: Arbitrary.Arbitrary<unknown>) =>
  field(
    ["assetIds", "asset_ids"],
    "holds identifiers",
    Arbitrary.map(bad, (id) => [id]),
    [0]
  )

const assetIds = [
  missing(["assetIds", "asset_ids"]),
  field(
    ["assetIds", "asset_ids"],
    "is 1 to 500 assets",
    oneOf<unknown>(
      values([]),
      Arbitrary.map(integers(501, 520), (count) => Array.from({ length: count }, () => "AAAAAAAAAAAAAAAAAAAAAA"))
    )
  ),
  field(["assetIds", "asset_ids"], "is a list", values("a", 5, null, {})),
  idsOf(notIdentifier)
]

/**
 * Invalid params of a request to move many assets (`DamEntries.MoveManyRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const moveAssets: Invalids = invalids(DamEntries.MoveManyRequest, [
  ...assetIds,
  missing(["destinationFolderId", "destination_folder_id"]),
  field(["destinationFolderId", "destination_folder_id"], "is an identifier or null", notIdentifier)
])

/**
 * Invalid params of a request to delete many assets (`DamEntries.DeleteManyRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const deleteAssets: Invalids = invalids(DamEntries.DeleteManyRequest, assetIds)

const notPath = oneOf<unknown>(text("^[a-z]{513,600}$"), values("a\ud800"), notFilled)

const notNames = values("/", "//a", "a//b", "a/", ".", "../a", "a/./b", "a/ /b", "a\\b", "a\u0000b", "a/\u007f")

/**
 * Invalid params of a request to move an asset or a folder by its path (`DamEntries.MoveEntryRequest`).
 *
 * @since 0.1.0
 * @category utilities
 */
export const moveEntry: Invalids = invalids(DamEntries.MoveEntryRequest, [
  missing("source"),
  missing("destination"),
  field("source", "is a path within its limits", notPath),
  field("destination", "is a path within its limits", notPath),
  field("source", "has valid names", notNames),
  field("destination", "has valid names", notNames)
])
