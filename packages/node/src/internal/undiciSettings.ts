/** The rules of the options of `UndiciClient`. */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import type * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

export type Dispatcher = NodeHttpClient.Dispatcher["Service"]

const isDispatcher = (given: unknown): given is Dispatcher =>
  Predicate.isObject(given) && typeof given["dispatch"] === "function" && typeof given["compose"] === "function"

export const Settings = Schema.Struct({
  connections: Schema.optional(Rules.whole(1)),
  proxy: Schema.optional(Schema.Literals(["environment", "none"])),
  dispatcher: Schema.optional(Schema.declare(isDispatcher, { expected: "a Dispatcher of undici" }))
}).check(
  Schema.makeFilter(({ connections, dispatcher, proxy }) =>
    Object.entries({ connections, proxy }).flatMap(([name, value]) =>
      dispatcher === undefined || value === undefined
        ? []
        : [{ path: [name], issue: "Expected no value, because the dispatcher decides" }]
    )
  )
)
