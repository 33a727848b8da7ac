/** The error channel of every operation, pinned: what is added or lost here breaks the build. */
import * as ApiError from "@assembly-effect/api/ApiError"
import type * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import * as Operation from "@assembly-effect/api/Operation"
import * as Api from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import type { Statistics } from "@assembly-effect/schema/AssemblyStatistics"
import type { Moved } from "@assembly-effect/schema/DamAsset"
import { AssetId } from "@assembly-effect/schema/Identifier"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Equals, Signature, Signed } from "./signature.ts"

type Ending = ApiError.AssemblyFailed | ApiError.AssemblyCanceled | ApiError.AssemblyAborted
type Listing = ApiError.AssemblyListFailed | Signed
type Client = AssemblyClient

export const statistics: Equals<
  Signature<typeof Assemblies.statistics>,
  readonly [
    Statistics,
    ApiError.StatisticsInvalidTime | ApiError.StatisticsMissingRegion | ApiError.StatisticsUnavailable | Signed,
    Client
  ]
> = true
export const list: Equals<Signature<typeof Assemblies.list>, readonly [AssemblyList.Page, Listing, Client]> = true
export const pages: Equals<Signature<typeof Assemblies.listPages>, readonly [AssemblyList.Page, Listing, Client]> = true
export const all: Equals<Signature<typeof Assemblies.listAll>, readonly [AssemblyList.Entry, Listing, Client]> = true
/** What the list names, the next call takes. */
export const each: Equals<AssemblyList.Entry["id"], Parameters<typeof Assemblies.get>[0]> = true
export const create: Equals<Signature<typeof Assemblies.create>, readonly [Assembly.Status, Signed, Client]> = true
export const get: Equals<Signature<typeof Assemblies.get>, readonly [Assembly.Status, ApiError.Common, Client]> = true
export const cancel: Equals<
  Signature<typeof Assemblies.cancel>,
  readonly [Assembly.Status, ApiError.Common, Client]
> = true
export const awaitCompletion: Equals<
  Signature<typeof Assemblies.awaitCompletion>,
  readonly [Assembly.Status, ApiError.Common | Ending, Client]
> = true
export const watch: Equals<
  Signature<typeof Assemblies.watch>,
  readonly [Assembly.Status, ApiError.Common, Client]
> = true
export const move: Equals<
  Signature<typeof Dam.move>,
  readonly [
    Moved,
    (
      | ApiError.DamInvalidRequest
      | ApiError.DamResourceNotFound
      | ApiError.DamMutationConflict
      | ApiError.DamMutationFailed
      | Signed
    ),
    Client
  ]
> = true

const found = Api.get(Assembly.AssemblyId.make("0".repeat(32)))

// @ts-expect-error an operation without authentication cannot fail with AuthenticationFailed
export const nothingToCatch = Effect.catchTag(found, "AuthenticationFailed", () => Effect.void)

const described = {
  name: "Test.operation",
  method: "GET",
  path: "/things/:thingId",
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

export const complete = Operation.make(described)

// @ts-expect-error a variable of the path has no codec
export const withoutVariable = Operation.make({ ...described, variables: {} })

// @ts-expect-error a code to retry that is no error of the operation
export const withoutCode = Operation.make({ ...described, retry: ["NO_SUCH_CODE"] })

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
export const folded: Effect.Effect<unknown, Gone | Later, Client> = Dam.move(assetId, {
  filename: "a"
}).pipe(Effect.mapError(ApiError.match({ DamResourceNotFound: () => new Gone(), otherwise: () => new Later() })))

export const unknownTag = Dam.move(assetId, { filename: "a" }).pipe(
  // @ts-expect-error a tag that the operation does not have
  Effect.mapError(ApiError.match({ TemplateNotFound: () => new Gone(), otherwise: () => new Later() }))
)
