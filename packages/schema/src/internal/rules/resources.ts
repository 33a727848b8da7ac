/**
 * The rules of the operations beyond the specification.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Assembly from "../../Assembly.ts"
import * as AssemblyReplay from "../../AssemblyReplay.ts"
import * as AuthKey from "../../AuthKey.ts"
import * as Bill from "../../Bill.ts"
import * as DamEntries from "../../DamEntries.ts"
import * as Notification from "../../Notification.ts"
import * as Queue from "../../Queue.ts"
import * as Template from "../../Template.ts"
import * as TemplateCredential from "../../TemplateCredential.ts"
import * as Part from "./parts.ts"
import { oneOf, type Path, text, values } from "./rule.ts"
import { restrictions } from "./specified.ts"

const robot = "/image/resize"

const stepObjects = Part.all(
  Part.object,
  Part.is("holds objects", Part.each("a", values("b", 5, null)), { below: ["a"] })
)

const robots = Part.is("names the robot of each Step", values({ a: {} }, { a: { robot: "" } }, { a: { robot: 5 } }), {
  below: ["a", "robot"]
})

const payloads = Assembly.NotificationPayload.literals

const createAssembly = Part.struct({
  steps: Part.all(stepObjects, robots),
  templateId: Part.filled,
  notifyUrl: Part.filled,
  redirectUrl: Part.filled,
  quiet: Part.boolean,
  emitExecutionProgress: Part.boolean,
  fields: Part.json,
  notificationPayload: Part.all(
    Part.list,
    Part.is("holds known parts", Part.each(0, values("WITHOUT_PARAMS", "", 5, null)), {
      below: [0],
      edge: values(payloads)
    })
  ),
  auth: Part.struct(restrictions)
})

const authKeySettings = {
  scope: Part.all(
    Part.list,
    Part.is("is at least one scope", values([]), { below: [0] }),
    Part.is(
      "holds scopes without white space",
      Part.each(0, oneOf<unknown>(text("^[a-z]{0,4} [a-z]{0,4}$"), values("", 5, null))),
      { below: [0] }
    )
  ),
  description: Part.string,
  canShowAuthSecret: Part.boolean,
  "isAllowedForSmartCdn/is_allowed_for_smartcdn": Part.boolean,
  signatureAlgo: Part.word("sha1", "sha256", "sha384")
}

/** A rule of Steps that depend on each other. `below` is the path of a part inside bad Steps. */
const steps = (name: string, below: Path, ...bad: ReadonlyArray<object>) =>
  Part.is(`Steps ${name}`, values(...bad.map((one) => ({ steps: one }))), { below: ["steps", ...below] })

const option = (name: string, ...bad: ReadonlyArray<object>) =>
  steps(`have a valid ${name}`, ["a", name], ...bad.map((step) => ({ a: step })))

const use = (name: string, below: Path, ...bad: ReadonlyArray<Schema.Json>) =>
  steps(`use ${name}`, ["a", "use", ...below], ...bad.map((one) => ({ a: { robot, use: one } })))

const instructions = Part.all(
  steps("reserve :original for the uploads", [":original", "robot"], { ":original": { robot } }),
  use("Steps that exist, and not themselves", [], "b", "a", 5),
  use("lists of Steps that exist", [1], [":original", "b"]),
  use("lists of names in an object", ["steps"], { steps: 5 }, { steps: "b" }),
  steps(
    "do not use each other",
    [],
    { a: { robot, use: "b" }, b: { robot, use: "a" } },
    { a: { robot, use: ["b"] }, b: { robot, use: { steps: "c" } }, c: { robot, use: [{ name: "a" }] } }
  ),
  option("path", { robot: "/transloadit/store", path: "" }, { robot: "/transloadit/store", path: 5 }),
  option("algorithm", { robot: "/file/hash", algorithm: "MD5" }, { robot: "/file/hash", algorithm: 5 }),
  option("seconds", { robot: "/emulator/wait" }, { robot: "/emulator/wait", seconds: -1 })
)

/** The content of a Template. */
const content = Part.all(
  Part.struct({
    steps: Part.all(Part.object, robots),
    allow_steps_override: Part.boolean,
    fields: Part.object,
    notify_url: Part.is("is at least 1 character", values("", 5), { edge: values(null) }),
    auth: Part.struct({ max_size: Part.integer(0, Number.MAX_SAFE_INTEGER) })
  }),
  Part.decoded("holds JSON values", values({ a: NaN }, { a: undefined }), { below: ["a"] }),
  instructions
)

const templateSettings = {
  name: Part.segments,
  template: content,
  requireSignatureAuth: Part.flag,
  assemblyStatusExpiry: Part.word("1day", "7days", "30days", "90days", "NoSave"),
  transcodingResultExpiry: Part.word("1day", "NoSave")
}

const secretContent = "is an object or text of at least 1 character"

const credentialSettings = {
  name: Part.required(Part.filled),
  type: Part.required(Part.filled),
  content: Part.all(
    Part.decoded("is redacted", values({ key: "k" }, "text", 5)),
    Part.decoded(
      secretContent,
      Arbitrary.map(values("", 5, null), (value) => Redacted.make(value)),
      { below: ["value"] }
    ),
    Part.wire(secretContent, values("", 5, null, true))
  )
}

const assetId = "AAAAAAAAAAAAAAAAAAAAAA"

const assetIds = Part.required(
  Part.is("is 1 to 500 assets", values([], Array<string>(501).fill(assetId)), { edge: values([assetId]) }),
  Part.list,
  (at) => Part.identifier([...at, 0])
)

const damInvalid = "DAM_INVALID_REQUEST"

export const resources: Part.Table = [
  [
    Assembly.AssemblyId,
    Part.is(
      "is 32 lowercase hexadecimal digits",
      values("", "0", "../x", "g".repeat(32), "A".repeat(32), "a".repeat(31), "a".repeat(33), 5)
    )
  ],
  [Assembly.CreateParams, createAssembly],
  [
    Assembly.CreateForm,
    Part.parts({
      numExpectedUploadFiles: Part.all(
        Part.is("is a number", {
          decoded: values("1", null, true),
          // A form has texts, in which an integer has only one form.
          wire: values("one", "01", "1e0", "+1", "1.5", "1.0", " 1", "", "0x1", "NaN", "Infinity", "1e300")
        }),
        Part.inRange(0, Number.MAX_SAFE_INTEGER)
      )
    })
  ],
  Part.request(AssemblyReplay.ReplayRequest, {
    steps: stepObjects,
    fields: Part.json,
    notifyUrl: Part.filled,
    templateId: Part.filled,
    reparseTemplate: Part.flag
  }),
  Part.request(Notification.ReplayRequest, { notifyUrl: Part.filled, wait: Part.boolean }),
  Part.request(
    AuthKey.CreateRequest,
    { ...authKeySettings, scope: Part.required(authKeySettings.scope), authKey: Part.filled },
    "AUTH_KEY_NOT_CREATED"
  ),
  Part.request(AuthKey.UpdateRequest, authKeySettings, "AUTH_KEY_NOT_UPDATED"),
  [AuthKey.AuthKeyId, Part.segment],
  Part.request(
    Template.Query,
    {
      page: Part.integer(1),
      "pageSize/pagesize": Part.integer(1, 5000),
      sort: Part.word("created", "id", "last_used", "modified", "name"),
      order: Part.word("asc", "desc"),
      includeBuiltin: Part.word("all", "exclusively-all", "exclusively-latest", "latest", "none"),
      "fromDate/fromdate": Part.listDate,
      "toDate/todate": Part.listDate,
      keywords: Part.texts
    },
    "TEMPLATE_LIST_ERROR"
  ),
  Part.request(
    Template.CreateRequest,
    { ...templateSettings, name: Part.required(Part.segments), template: Part.required(content) },
    "TEMPLATE_VALIDATION_ERROR"
  ),
  [Template.Content, content],
  Part.request(Template.UpdateRequest, templateSettings, "TEMPLATE_VALIDATION_ERROR"),
  [Template.IdOrName, Part.segments],
  Part.request(
    TemplateCredential.CreateRequest,
    { ...credentialSettings, content: Part.required(credentialSettings.content) },
    "TEMPLATE_CREDENTIALS_NOT_CREATED"
  ),
  Part.request(TemplateCredential.UpdateRequest, credentialSettings, "TEMPLATE_CREDENTIALS_NOT_UPDATED"),
  [TemplateCredential.CredentialId, Part.segment],
  [
    Bill.Month,
    Part.all(
      Part.is(
        "is a month as YYYY-MM",
        oneOf(
          text("^\\d{4}-(?:00|1[3-9]|[2-9]\\d)$"),
          text("^\\d{4}-\\d$"),
          text("^\\d{2}-\\d{2}$"),
          text("^\\d{4}-0[1-9]-\\d{2}$"),
          values("")
        ),
        { edge: values("2026-01", "2026-12") }
      ),
      Part.string
    )
  ],
  Part.request(Queue.StatisticsQuery, {
    region: Part.coded("PRIORITY_JOB_SLOT_STATS_MISSING_REGION", Part.required(Part.filled)),
    since: Part.coded("PRIORITY_JOB_SLOT_STATS_INVALID_TIME", Part.required(Part.since)),
    aggregation: Part.coded("PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION", Part.word("avg", "max"))
  }),
  Part.request(DamEntries.GetQuery, { versionId: Part.identifier }, damInvalid),
  Part.request(
    DamEntries.ListQuery,
    { prefix: Part.string, cursor: Part.filled, limit: Part.integer(1, 500) },
    damInvalid
  ),
  Part.request(
    DamEntries.MoveManyRequest,
    { assetIds, destinationFolderId: Part.required(Part.identifierOrNull) },
    damInvalid
  ),
  Part.request(DamEntries.DeleteManyRequest, { assetIds }, damInvalid),
  Part.request(DamEntries.MoveEntryRequest, { source: Part.entryPath, destination: Part.entryPath }, damInvalid)
]
