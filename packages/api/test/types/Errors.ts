/** What must not compile. `PrintedTypes.test.ts` compares the printed results and errors. */
import { ApiError, Assemblies, Dam } from "@assembly-effect/api"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Operation from "@assembly-effect/api/unstable/Operation"
import { Assembly, type AssemblyList } from "@assembly-effect/schema"
import { AssetId } from "@assembly-effect/schema/Identifier"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { Effect, Schema } from "effect"

/** What the list names, the next call takes. */
export const each = (entry: AssemblyList.Entry) => Assemblies.get(entry.id)

const found = Assemblies.get(Assembly.AssemblyId.make("0".repeat(32)))

// @ts-expect-error an operation without authentication cannot fail with AuthenticationFailed
export const nothingToCatch = Effect.catchTag(found, "AuthenticationFailed", () => Effect.void)

const name = "Test.operation"
const route = "GET /things/:thingId"
const described = {
  variables: { thingId: Schema.String },
  auth: "signed",
  scope: undefined,
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: Schema.Struct({}),
  errors: {},
  retry: "safe"
} as const

export const complete = Operation.make(name, route, described)

// @ts-expect-error a variable of the path has no codec
export const withoutVariable = Operation.make(name, route, { ...described, variables: {} })

// @ts-expect-error a code to retry that is no error of the operation
export const withoutCode = Operation.make(name, route, { ...described, retry: ["NO_SUCH_CODE"] })

// @ts-expect-error a signed request goes nowhere but to the base URL
export const elsewhere: Operation.Input<typeof complete>["at"] = "https://elsewhere.example"

class Gone {
  readonly _tag = "Gone"
}
class Later {
  readonly _tag = "Later"
}

const assetId = AssetId.make("abcdefghijklmnopqrstuA")

/** An application folds what an operation may fail with into its own errors. */
export const folded: Effect.Effect<unknown, Gone | Later, AssemblyClient> = Dam.move(assetId, {
  filename: "a"
}).pipe(Effect.mapError(ApiError.match({ DamResourceNotFound: () => new Gone(), otherwise: () => new Later() })))

export const unknownTag = Dam.move(assetId, { filename: "a" }).pipe(
  // @ts-expect-error a tag that the operation does not have
  Effect.mapError(ApiError.match({ TemplateNotFound: () => new Gone(), otherwise: () => new Later() }))
)
