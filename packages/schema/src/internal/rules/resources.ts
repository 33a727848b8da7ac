/**
 * The rules of the operations beyond the specification.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Redacted from "effect/Redacted"
import * as Assembly from "../../Assembly.ts"
import * as AssemblyReplay from "../../AssemblyReplay.ts"
import * as AuthKey from "../../AuthKey.ts"
import * as Bill from "../../Bill.ts"
import * as DamEntries from "../../DamEntries.ts"
import * as Notification from "../../Notification.ts"
import * as Queue from "../../Queue.ts"
import * as Template from "../../Template.ts"
import * as TemplateCredential from "../../TemplateCredential.ts"
import {
  boolean,
  empty,
  entryPath,
  field,
  filled,
  flag,
  identifier,
  inRange,
  integer,
  json,
  list,
  listDate,
  notText,
  object,
  required,
  segment,
  segmentAt,
  string,
  texts,
  whole,
  word
} from "./fields.ts"
import { coded, type Key, oneOf, type Path, rule, type Rules, text, values } from "./rule.ts"
import { restrictions } from "./specified.ts"
import type { Table } from "./table.ts"

const robot = "/image/resize"

/** Objects as the values of an object. */
const holdsObjects = (key: Key) =>
  field(
    key,
    "holds objects",
    Arbitrary.map(values("b", 5, null), (value) => ({ a: value })),
    { below: ["a"] }
  )

const payloads = [
  "without_params",
  "without_results",
  "without_result_meta_data",
  "without_uploads",
  "without_upload_meta_data"
]

const createAssembly = [
  whole,
  object("steps"),
  holdsObjects("steps"),
  field("steps", "names the robot of each Step", values({ a: {} }, { a: { robot: "" } }, { a: { robot: 5 } }), {
    below: ["a", "robot"]
  }),
  ...filled(["templateId", "template_id"]),
  ...filled(["notifyUrl", "notify_url"]),
  ...filled(["redirectUrl", "redirect_url"]),
  boolean("quiet"),
  boolean(["emitExecutionProgress", "emit_execution_progress"]),
  ...json("fields"),
  list(["notificationPayload", "notification_payload"]),
  field(
    ["notificationPayload", "notification_payload"],
    "holds known parts",
    Arbitrary.map(values("WITHOUT_PARAMS", "", 5, null), (bad) => [bad]),
    { below: [0], edge: values(payloads) }
  ),
  object("auth"),
  ...restrictions(["auth"], ["maxSize", "max_size"])
]

const authKeySettings = [
  whole,
  list("scope"),
  field("scope", "is at least one scope", values([]), { below: [0] }),
  field(
    "scope",
    "holds scopes without white space",
    Arbitrary.map(oneOf<unknown>(text("^[a-z]{0,4} [a-z]{0,4}$"), values("", 5, null)), (one) => [one]),
    { below: [0] }
  ),
  string("description"),
  boolean(["canShowAuthSecret", "can_show_auth_secret"]),
  boolean(["isAllowedForSmartCdn", "is_allowed_for_smartcdn"]),
  ...word(["signatureAlgo", "signature_algo"], ["sha1", "sha256", "sha384"])
]

const month = oneOf(
  text("^\\d{4}-(?:00|1[3-9]|[2-9]\\d)$"),
  text("^\\d{4}-\\d$"),
  text("^\\d{2}-\\d{2}$"),
  text("^\\d{4}-0[1-9]-\\d{2}$"),
  empty
)

/** The content of a Template. `below` is the path of a part inside a bad content. */
const content = (at: ReadonlyArray<Key>): ReadonlyArray<Rules> => {
  const part = (name: string, below: Path, ...bad: ReadonlyArray<unknown>) =>
    rule({ at, name, below, bad: values(...bad) })
  const steps = (name: string, below: Path, ...bad: ReadonlyArray<unknown>) =>
    part(`Steps ${name}`, ["steps", ...below], ...bad.map((one) => ({ steps: one })))
  const option = (name: string, ...bad: ReadonlyArray<object>) =>
    steps(`have a valid ${name}`, ["a", name], ...bad.map((step) => ({ a: step })))
  return [
    rule({ at, name: "is an object", bad: values([], "a", 5, null) }),
    rule({ at, name: "holds JSON values", bad: { decoded: values({ a: NaN }, { a: undefined }) }, below: ["a"] }),
    part("has an object of Steps", ["steps"], ...[[], "a", 5, null].map((bad) => ({ steps: bad }))),
    part(
      "names the robot of each Step",
      ["steps", "a", "robot"],
      { steps: { a: {} } },
      { steps: { a: { robot: "" } } }
    ),
    steps("reserve :original for the uploads", [":original", "robot"], { ":original": { robot } }),
    steps(
      "use Steps that exist, and not themselves",
      ["a", "use"],
      ...["b", "a", 5].map((use) => ({ a: { robot, use } }))
    ),
    steps("use lists of Steps that exist", ["a", "use", 1], { a: { robot, use: [":original", "b"] } }),
    steps(
      "use lists of names in an object",
      ["a", "use", "steps"],
      ...[5, "b"].map((one) => ({ a: { robot, use: { steps: one } } }))
    ),
    steps(
      "do not use each other",
      [],
      { a: { robot, use: "b" }, b: { robot, use: "a" } },
      { a: { robot, use: ["b"] }, b: { robot, use: { steps: "c" } }, c: { robot, use: [{ name: "a" }] } }
    ),
    option("path", { robot: "/transloadit/store", path: "" }, { robot: "/transloadit/store", path: 5 }),
    option("algorithm", { robot: "/file/hash", algorithm: "MD5" }, { robot: "/file/hash", algorithm: 5 }),
    option("seconds", { robot: "/emulator/wait" }, { robot: "/emulator/wait", seconds: -1 }),
    part(
      "has a boolean allow_steps_override",
      ["allow_steps_override"],
      ...[5, "true", null, []].map((allow) => ({ allow_steps_override: allow }))
    ),
    part("has an object of fields", ["fields"], ...[[], "a", 5, null].map((fields) => ({ fields }))),
    rule({
      at,
      name: "has a notify_url of at least 1 character",
      bad: values({ notify_url: "" }, { notify_url: 5 }),
      below: ["notify_url"],
      edge: values({ notify_url: null })
    }),
    part("has an object as auth", ["auth"], { auth: 5 }, { auth: [] }),
    part("has a number as max_size", ["auth", "max_size"], ...["5", null].map((max_size) => ({ auth: { max_size } }))),
    part("has an integer as max_size", ["auth", "max_size"], { auth: { max_size: 1.5 } }),
    rule({
      at,
      name: "has a max_size of at least 0",
      bad: values({ auth: { max_size: -1 } }),
      below: ["auth", "max_size"],
      edge: values({ auth: { max_size: 0 } })
    }),
    part("has a safe integer as max_size", ["auth", "max_size"], { auth: { max_size: Number.MAX_SAFE_INTEGER + 1 } })
  ]
}

const templateSettings = [
  whole,
  ...segmentAt(["name"], true),
  ...content(["template"]),
  flag(["requireSignatureAuth", "require_signature_auth"]),
  ...word(["assemblyStatusExpiry", "assembly_status_expiry"], ["1day", "7days", "30days", "90days", "NoSave"]),
  ...word(["transcodingResultExpiry", "transcoding_result_expiry"], ["1day", "NoSave"])
]

const credentialSettings = [
  whole,
  required("name"),
  required("type"),
  ...filled("name"),
  ...filled("type"),
  field("content", "is redacted", { decoded: values({ key: "k" }, "text", 5) }),
  field(
    "content",
    "is an object or text of at least 1 character",
    {
      decoded: Arbitrary.map(values("", 5, null), (value) => Redacted.make(value))
    },
    { below: ["value"] }
  ),
  field("content", "is an object or text of at least 1 character", { wire: values("", 5, null, true) })
]

const assetId = "AAAAAAAAAAAAAAAAAAAAAA"
const assetIds = ["assetIds", "asset_ids"] as const

const manyAssets = [
  whole,
  required(assetIds),
  field(
    assetIds,
    "is 1 to 500 assets",
    values(
      [],
      Array.from({ length: 501 }, () => assetId)
    ),
    {
      edge: values([assetId])
    }
  ),
  list(assetIds),
  ...identifier([assetIds, 0], false)
]

const files = ["numExpectedUploadFiles", "num_expected_upload_files"] as const

export const resources: Table = [
  [
    Assembly.AssemblyId,
    [
      rule({
        at: [],
        name: "is 32 lowercase hexadecimal digits",
        bad: values("", "0", "../x", "g".repeat(32), "A".repeat(32), "a".repeat(31), "a".repeat(33), 5)
      })
    ]
  ],
  [Assembly.CreateParams, createAssembly],
  [
    Assembly.CreateForm,
    [
      field(files, "is a number", {
        decoded: values("1", null, true),
        // A form has texts, in which an integer has only one form.
        wire: values("one", "01", "1e0", "+1", "1.5", "1.0", " 1", "", "0x1", "NaN", "Infinity", "1e300")
      }),
      ...inRange([files], 0, Number.MAX_SAFE_INTEGER)
    ]
  ],
  [
    AssemblyReplay.ReplayRequest,
    [
      whole,
      object("steps"),
      holdsObjects("steps"),
      ...json("fields"),
      ...filled(["notifyUrl", "notify_url"]),
      ...filled(["templateId", "template_id"]),
      flag(["reparseTemplate", "reparse_template"])
    ]
  ],
  [Notification.ReplayRequest, [whole, ...filled(["notifyUrl", "notify_url"]), boolean("wait")]],
  [
    AuthKey.CreateRequest,
    coded("AUTH_KEY_NOT_CREATED", [required("scope"), ...filled(["authKey", "auth_key"]), ...authKeySettings])
  ],
  [AuthKey.UpdateRequest, coded("AUTH_KEY_NOT_UPDATED", authKeySettings)],
  [AuthKey.AuthKeyId, segment(false)],
  [
    Template.Query,
    coded("TEMPLATE_LIST_ERROR", [
      whole,
      ...integer("page", 1),
      ...integer(["pageSize", "pagesize"], 1, 5000),
      ...word("sort", ["created", "id", "last_used", "modified", "name"]),
      ...word("order", ["asc", "desc"]),
      ...word(
        ["includeBuiltin", "include_builtin"],
        ["all", "exclusively-all", "exclusively-latest", "latest", "none"]
      ),
      ...listDate(["fromDate", "fromdate"]),
      ...listDate(["toDate", "todate"]),
      ...texts("keywords")
    ])
  ],
  [
    Template.CreateRequest,
    coded("TEMPLATE_VALIDATION_ERROR", [required("name"), required("template"), ...templateSettings])
  ],
  [Template.Content, content([])],
  [Template.UpdateRequest, coded("TEMPLATE_VALIDATION_ERROR", templateSettings)],
  [Template.IdOrName, segment(true)],
  [
    TemplateCredential.CreateRequest,
    coded("TEMPLATE_CREDENTIALS_NOT_CREATED", [required("content"), ...credentialSettings])
  ],
  [TemplateCredential.UpdateRequest, coded("TEMPLATE_CREDENTIALS_NOT_UPDATED", credentialSettings)],
  [TemplateCredential.CredentialId, segment(false)],
  [
    Bill.Month,
    [
      rule({ at: [], name: "is a month as YYYY-MM", bad: month, edge: values("2026-01", "2026-12") }),
      rule({ at: [], name: "is text", bad: notText })
    ]
  ],
  [
    Queue.StatisticsQuery,
    [
      whole,
      ...coded("PRIORITY_JOB_SLOT_STATS_MISSING_REGION", [required("region"), ...filled("region")]),
      ...coded("PRIORITY_JOB_SLOT_STATS_INVALID_TIME", [
        required("since"),
        field("since", "is at least 1 character", empty),
        field("since", "is text or a DateTime", notText)
      ]),
      ...coded("PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION", word("aggregation", ["avg", "max"]))
    ]
  ],
  [DamEntries.GetQuery, coded("DAM_INVALID_REQUEST", [whole, ...identifier([["versionId", "version_id"]], false)])],
  [
    DamEntries.ListQuery,
    coded("DAM_INVALID_REQUEST", [whole, string("prefix"), ...filled("cursor"), ...integer("limit", 1, 500)])
  ],
  [
    DamEntries.MoveManyRequest,
    coded("DAM_INVALID_REQUEST", [
      ...manyAssets,
      required(["destinationFolderId", "destination_folder_id"]),
      ...identifier([["destinationFolderId", "destination_folder_id"]], true)
    ])
  ],
  [DamEntries.DeleteManyRequest, coded("DAM_INVALID_REQUEST", manyAssets)],
  [
    DamEntries.MoveEntryRequest,
    coded("DAM_INVALID_REQUEST", [whole, ...entryPath("source"), ...entryPath("destination")])
  ]
]
