/**
 * Templates: instructions that are stored in a Workspace, so that a request can name them instead of sending them
 * (spec.md, "What the service does"). Beyond the specification, which mentions only their name and `max_size`.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Schema from "effect/Schema"

const rest = [Schema.Record(Schema.String, Schema.Json)] as const

/**
 * The content of a Template. Its fields have the names of the params that create an Assembly. The params of a request
 * are merged into the content: objects by key, arrays by index. A value in the request takes precedence, unless it is
 * null.
 *
 * - `steps`: the Steps.
 * - `allow_steps_override`: if false, requests that have `steps` are refused (`TEMPLATE_DENIES_STEPS_OVERRIDE`).
 * - `auth.max_size`: the maximum size in bytes (spec.md, "Limits").
 *
 * @example `{ steps: { stored: { robot: "/transloadit/store", use: ":original" } }, allow_steps_override: false }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Content = Schema.StructWithRest(
  Schema.Struct({
    steps: Schema.optionalKey(Schema.Record(Schema.String, Assembly.Step)),
    fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
    notify_url: Schema.optionalKey(Schema.NullOr(Schema.NonEmptyString)),
    allow_steps_override: Schema.optionalKey(Schema.Boolean),
    auth: Schema.optionalKey(
      Schema.StructWithRest(
        Schema.Struct({
          max_size: Schema.optionalKey(
            Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
          )
        }),
        rest
      )
    )
  }),
  rest
)
/**
 * @since 0.1.0
 * @category models
 */
export type Content = typeof Content.Type

/** Statistics use these two names as filters (spec.md, "Retrieve Assembly statistics"). */
const reserved = new Set(["all", "no_template"])

/**
 * A Template for an emulator. Requests name it by its `id`. The routes of Templates also accept its `name`, which is
 * the `id` by default.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Template = Schema.Struct({
  id: Schema.NonEmptyString.check(
    Schema.makeFilter((id) => !reserved.has(id), { expected: "an id that is not reserved for statistics" })
  ),
  name: Schema.optionalKey(Schema.NonEmptyString),
  content: Content
})
/**
 * @since 0.1.0
 * @category models
 */
export type Template = typeof Template.Type
