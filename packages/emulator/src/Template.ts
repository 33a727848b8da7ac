/**
 * Instructions that a Workspace keeps, so that a request names them instead of sending them (spec.md, "What the service
 * does"). Beyond the specification, which shows no more of Templates than their name and `max_size`.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Schema from "effect/Schema"

const rest = [Schema.Record(Schema.String, Schema.Json)] as const

/**
 * What a Template says, in the names of the params of a creation. The params of the request are merged into it: objects
 * key by key, lists place by place, and where both say something the request is right, unless it says null.
 *
 * - `steps`: the Steps.
 * - `allow_steps_override`: false refuses a request that brings Steps of its own (`TEMPLATE_DENIES_STEPS_OVERRIDE`).
 * - `auth.max_size`: bytes (spec.md, "Limits").
 *
 * @example `{ steps: { stored: { robot: "/transloadit/store", use: ":original" } }, allow_steps_override: false }`
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
export type Content = typeof Content.Type

/** Statistics give these two a meaning of their own (spec.md, "Retrieve Assembly statistics"). */
const reserved = new Set(["all", "no_template"])

/**
 * A Template as an emulator is given it. Requests name it by its `id`; the routes of Templates know it by its `name` as
 * well, which is the `id` where it is left out.
 */
export const Template = Schema.Struct({
  id: Schema.NonEmptyString.check(
    Schema.makeFilter((id) => !reserved.has(id), { expected: "an id that statistics do not reserve" })
  ),
  name: Schema.optionalKey(Schema.NonEmptyString),
  content: Content
})
export type Template = typeof Template.Type
