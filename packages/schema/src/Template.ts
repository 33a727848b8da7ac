/**
 * Templates: Assembly Instructions that are stored in a Workspace. A request can name a Template instead of sending the
 * Instructions.
 *
 * These schemas are beyond the specification: spec.md names the operations, but defines neither their params nor their
 * responses.
 *
 * The index does not export this module: `import * as Template from "@assembly-effect/schema/Template"`.
 */
import * as Schema from "effect/Schema"
import * as StepRules from "./unstable/StepRules.ts"
import { Step } from "./Assembly.ts"
import { between, ByteSize, Count, Flag, generateFew, lenient, NonEmptyString, orAbsent } from "./unstable/Field.ts"
import { pathSegment } from "./internal/text.ts"
import { FromDate, ServiceDate, ToDate } from "./internal/date.ts"
import { extensible, kept, named, renamed, type Structure, success } from "./unstable/Struct.ts"
import * as Json from "./unstable/Json.ts"

/**
 * The id or the name of a Template: 1 to 255 UTF-16 code units, without backslashes, control characters and lone
 * surrogates. `.` and `..` are refused.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const IdOrName = pathSegment({ allowsSlash: true })

const auth = extensible({ max_size: Schema.optionalKey(ByteSize) }).check(generateFew(2))

/** Reports the problems of Steps with their paths. */
const areInstructions = Schema.makeFilter<Readonly<Record<string, Step>>>(
  (steps) => StepRules.problems(steps).map(({ message, path }) => ({ path, issue: message })),
  { expected: "valid Steps" }
)

/**
 * The content of a new or changed Template: params of a request to create an Assembly, with their names on the wire,
 * and `allow_steps_override`. The Steps follow the rules of `Instructions.make`.
 *
 * - `allow_steps_override`: false makes the service refuse requests that name the Template and have `steps`.
 * - `auth.max_size`: the maximum size of an upload in bytes (spec.md, "Limits").
 *
 * Beyond the specification.
 *
 * @example `{ steps: { stored: { robot: "/transloadit/store", use: ":original" } }, allow_steps_override: false }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Content = extensible({
  steps: Schema.optionalKey(Schema.Record(Schema.String, Step).check(generateFew(3), areInstructions)),
  fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json).check(generateFew(3))),
  notify_url: Schema.optionalKey(Schema.NullOr(NonEmptyString)),
  allow_steps_override: Schema.optionalKey(Schema.Boolean),
  auth: Schema.optionalKey(auth)
})
  .check(generateFew(4))
  .pipe(named<Content, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Content extends Structure<typeof Content> {}
/**
 * The content of a stored Template. The Steps of a stored Template are not checked, because an old Template may break a
 * rule. A field whose value has the wrong type is left out.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const StoredContent = extensible({
  steps: orAbsent(Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Json).check(generateFew(3)))),
  fields: orAbsent(Schema.Record(Schema.String, Schema.Json).check(generateFew(3))),
  notify_url: lenient(Schema.String),
  allow_steps_override: orAbsent(Schema.Boolean),
  auth: orAbsent(auth)
})
  .check(generateFew(4))
  .pipe(named<StoredContent, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface StoredContent extends Structure<typeof StoredContent> {}
/** The content of a Template in a response: an object, or the JSON text of an object. */
const Sent = Schema.make<Schema.Codec<StoredContent, Schema.JsonObject | string>>(
  Schema.Union([StoredContent, Json.fromString(StoredContent)]).ast
)

const expiries = {
  assemblyStatusExpiry: Schema.optionalKey(Schema.Literals(["1day", "7days", "30days", "90days", "NoSave"])),
  transcodingResultExpiry: Schema.optionalKey(Schema.Literals(["1day", "NoSave"]))
}

/**
 * The params of a request to create a Template.
 *
 * - `name`: has the rules of an {@link IdOrName}, so that the path of a request can contain the name instead of the id.
 * - `requireSignatureAuth`: whether only signed requests may use the Template.
 * - `assemblyStatusExpiry`: how long the service keeps the Statuses of Assemblies with this Template.
 * - `transcodingResultExpiry`: how long the service keeps the results of these Assemblies.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateRequest = named<CreateRequest>()(
  renamed({ name: IdOrName, template: Content, requireSignatureAuth: Schema.optionalKey(Flag), ...expiries })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface CreateRequest extends Structure<typeof CreateRequest> {}

/**
 * The params of a request to change a Template. A setting that is absent keeps its value.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const UpdateRequest = renamed({
  name: Schema.optionalKey(IdOrName),
  template: Schema.optionalKey(Content),
  requireSignatureAuth: Schema.optionalKey(Flag),
  ...expiries
}).pipe(named<UpdateRequest>())
/**
 * @since 0.1.0
 * @category models
 */
export interface UpdateRequest extends Structure<typeof UpdateRequest> {}

const text = lenient(Schema.String)

const settings = {
  id: NonEmptyString,
  name: Schema.String,
  require_signature_auth: orAbsent(Flag),
  assembly_status_expiry: text,
  transcoding_result_expiry: text
}

const shown = <const Ok extends string>(ok: Ok) =>
  kept({ ok: Schema.Literal(ok), message: text, ...settings, content: Sent })

/**
 * A Template. Unknown fields are kept.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Found = named<Found, Schema.JsonObject>()(shown("TEMPLATE_FOUND"))
/**
 * @since 0.1.0
 * @category models
 */
export interface Found extends Structure<typeof Found> {}
/**
 * A new Template.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Created = named<Created, Schema.JsonObject>()(shown("TEMPLATE_CREATED"))
/**
 * @since 0.1.0
 * @category models
 */
export interface Created extends Structure<typeof Created> {}
/**
 * A changed Template.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Updated = named<Updated, Schema.JsonObject>()(shown("TEMPLATE_UPDATED"))
/**
 * @since 0.1.0
 * @category models
 */
export interface Updated extends Structure<typeof Updated> {}
/**
 * The response to the deletion of a Template.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Deleted = named<Deleted>()(success("TEMPLATE_DELETED", {}))
/**
 * @since 0.1.0
 * @category models
 */
export interface Deleted extends Structure<typeof Deleted> {}

/**
 * The params of a list request. `pageSize` is the number of Templates per request, 1 to 5000. `includeBuiltin` selects
 * the Builtin Templates (Templates of the service) in the list: `all` and `latest` add Builtin Templates,
 * `exclusively-all` and `exclusively-latest` list only Builtin Templates, and `none` lists no Builtin Template.
 * `fromDate` and `toDate` are sent in whole seconds, as in `AssemblyList.Query`.
 *
 * Beyond the specification.
 *
 * @example `{ sort: "name", order: "asc", pageSize: 100 }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Query = named<Query>()(
  renamed(
    {
      page: Schema.optionalKey(
        Schema.Int.check(Schema.isGreaterThanOrEqualTo(1, { expected: "a page of at least 1" }))
      ),
      pageSize: Schema.optionalKey(between(1, 5000)),
      sort: Schema.optionalKey(Schema.Literals(["created", "id", "last_used", "modified", "name"])),
      order: Schema.optionalKey(Schema.Literals(["asc", "desc"])),
      fromDate: Schema.optionalKey(FromDate),
      toDate: Schema.optionalKey(ToDate),
      keywords: Schema.optionalKey(Schema.Array(Schema.String)),
      includeBuiltin: Schema.optionalKey(
        Schema.Literals(["all", "exclusively-all", "exclusively-latest", "latest", "none"])
      )
    },
    { pageSize: "pagesize", fromDate: "fromdate", toDate: "todate" }
  )
)
/**
 * @since 0.1.0
 * @category models
 */
export interface Query extends Structure<typeof Query> {}

/**
 * One Template in a {@link Page}. `content` is absent if it cannot be decoded. Unknown fields are kept.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Item = kept({
  ...settings,
  content: orAbsent(Sent),
  created: lenient(ServiceDate),
  modified: lenient(ServiceDate),
  last_used: lenient(ServiceDate),
  description: text,
  builtin_version: text
}).pipe(named<Item, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Item extends Structure<typeof Item> {}
/**
 * One page of a list of Templates. `count` is the number of Templates on all pages, if the service reports it.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Page = named<Page>()(Schema.Struct({ items: Schema.Array(Item), count: orAbsent(Count) }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Page extends Structure<typeof Page> {}
