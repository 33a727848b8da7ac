/**
 * The list of Assemblies (spec.md, "Retrieve list of Assemblies").
 */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { AssemblyId } from "./Assembly.ts"
import { FromDate, ToDate } from "./internal/date.ts"
import { between, Count, idPattern, lenient, orAbsent } from "./unstable/Field.ts"
import { extensible, named, renamed, type Structure } from "./unstable/Struct.ts"
import { shortcut } from "./internal/quick.ts"

/**
 * The state of the Assemblies to list, or `all`.
 *
 * Clause: spec.md, "Retrieve list of Assemblies" and "States and transitions".
 *
 * @since 0.1.0
 * @category schemas
 */
export const AssemblyType = Schema.Literals([
  "all",
  "uploading",
  "executing",
  "canceled",
  "completed",
  "failed",
  "request_aborted"
])
/**
 * @since 0.1.0
 * @category models
 */
export type AssemblyType = typeof AssemblyType.Type

/**
 * The params of a list request. `pageSize` is the number of Assemblies per request, 1 to 5000. `fromDate` and `toDate`
 * are sent in whole seconds: `fromDate` is rounded down and `toDate` up, so that the time range never gets smaller.
 *
 * Clause: spec.md, "Retrieve list of Assemblies".
 *
 * @example `{ fromDate: DateTime.subtract(now, { hours: 1 }), type: "completed" }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Query = named<Query>()(
  renamed(
    {
      page: Schema.optionalKey(Schema.Int),
      pageSize: Schema.optionalKey(between(1, 5000)),
      type: Schema.optionalKey(AssemblyType),
      fromDate: FromDate,
      toDate: Schema.optionalKey(ToDate),
      keywords: Schema.optionalKey(Schema.Array(Schema.String))
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
 * The defaults of the service for keys that a query omits (spec.md, "Retrieve list of Assemblies"). The default of
 * `toDate` is the current time, which is not a constant.
 *
 * @since 0.1.0
 * @category utilities
 */
export const defaults = { page: 1, pageSize: 50, type: "all", keywords: [] } as const satisfies Partial<Query>

const Code = Schema.optionalKey(Schema.NullOr(Schema.String))
const Text = lenient(Schema.String)
const Amount = lenient(Schema.Finite)

/**
 * One Assembly of the list. The entry is beyond the specification, which does not define this object. `id`, which
 * `Assemblies.get` takes, and `created` are always present. Any other field may be missing or null, and unknown fields
 * are kept. `ok` and `error` determine the state (`Assembly.state`), so a value of the wrong type in these fields is an
 * error. Any other optional field whose value has the wrong type is left out.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Entry = extensible({
  id: AssemblyId,
  created: Schema.String,
  ok: Code,
  error: Code,
  files: Text,
  region: Text,
  template_id: Text,
  bytes_received: Amount,
  bytes_usage: Amount,
  execution_duration: Amount
}).pipe(named<Entry, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Entry extends Structure<typeof Entry> {}
const entries = Schema.Array(Entry)

// `Schema.is` takes as long as the rest of the check.
const isId = (id: unknown): boolean => typeof id === "string" && idPattern.test(id)
const isJson = Schema.is(Schema.Json)

const isText = (value: unknown): boolean => value === undefined || value === null || typeof value === "string"
const isAmount = (value: unknown): boolean => value === undefined || value === null || Number.isFinite(value)

/**
 * Whether {@link Entry} accepts a value unchanged. It is written out, because a look-up of the schema of each field takes
 * four times as long, which is half as long as `JSON.parse`.
 */
const isExactEntry = (input: unknown): boolean => {
  if (!Predicate.isObject(input) || Object.getPrototypeOf(input) !== Object.prototype) return false
  const { bytes_received, bytes_usage, created, error, execution_duration, files, id, ok, region, template_id } = input
  if (!isId(id) || typeof created !== "string") return false
  if (!isText(ok) || !isText(error) || !isText(files) || !isText(region) || !isText(template_id)) return false
  if (!isAmount(bytes_received) || !isAmount(bytes_usage) || !isAmount(execution_duration)) return false
  for (const key in input) {
    const value: unknown = input[key]
    if (typeof value !== "string" && value !== null && !Number.isFinite(value) && !isJson(value)) return false
  }
  return true
}

const isExactList = (input: unknown): boolean =>
  // `findIndex` visits the holes of an array too, `every` does not.
  Array.isArray(input) && input.findIndex((entry) => !isExactEntry(entry)) === -1

/**
 * One page of the list. `count` is the number of Assemblies on all pages, if the service reports it.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Page = Schema.Struct({
  items: shortcut(entries, isExactList),
  count: orAbsent(Count)
}).pipe(named<Page, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Page extends Structure<typeof Page> {}
/**
 * The response to a list request, which decodes to a {@link Page}. The response is a plain array (spec.md, "a JSON
 * list") or an object with `items` and `count` (beyond the specification).
 *
 * @since 0.1.0
 * @category schemas
 */
export const Listing: Schema.Codec<Page, Schema.JsonObject | ReadonlyArray<Schema.JsonObject>> = Schema.Union([
  Page,
  // The conversion of a plain array checks the entries a second time, as a `Page`. An object, which the service usually
  // sends, needs no conversion.
  entries.pipe(
    Schema.decodeTo(Schema.toType(Page), {
      decode: SchemaGetter.transform((items) => ({ items })),
      encode: SchemaGetter.transform(({ items }) => items)
    })
  )
])
