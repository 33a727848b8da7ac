/** The error codes with which the service refuses invalid requests. */
import type * as Schema from "effect/Schema"
import * as AssemblyList from "../../AssemblyList.ts"
import * as AssemblyStatistics from "../../AssemblyStatistics.ts"
import * as AuthKey from "../../AuthKey.ts"
import * as DamAsset from "../../DamAsset.ts"
import * as DamEntries from "../../DamEntries.ts"
import * as Identifier from "../../Identifier.ts"
import * as Queue from "../../Queue.ts"
import * as Template from "../../Template.ts"
import * as TemplateCredential from "../../TemplateCredential.ts"
import type { Path } from "../../unstable/TestingRules.ts"

type Codec = Schema.ConstraintCodec<unknown, unknown>

/** A code for the whole request, or for each part. */
const codes = new Map<Codec, string | Readonly<Record<PropertyKey, string>>>([
  [AssemblyList.Query, "ASSEMBLY_LIST_ERROR"],
  [AssemblyStatistics.Query, { region: "ASSEMBLY_STATS_MISSING_REGION", since: "ASSEMBLY_STATS_INVALID_TIME" }],
  [AuthKey.CreateRequest, "AUTH_KEY_NOT_CREATED"],
  [AuthKey.UpdateRequest, "AUTH_KEY_NOT_UPDATED"],
  [Template.Query, "TEMPLATE_LIST_ERROR"],
  [Template.CreateRequest, "TEMPLATE_VALIDATION_ERROR"],
  [Template.UpdateRequest, "TEMPLATE_VALIDATION_ERROR"],
  [TemplateCredential.CreateRequest, "TEMPLATE_CREDENTIALS_NOT_CREATED"],
  [TemplateCredential.UpdateRequest, "TEMPLATE_CREDENTIALS_NOT_UPDATED"],
  [
    Queue.StatisticsQuery,
    {
      region: "PRIORITY_JOB_SLOT_STATS_MISSING_REGION",
      since: "PRIORITY_JOB_SLOT_STATS_INVALID_TIME",
      aggregation: "PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION"
    }
  ],
  ...[
    DamAsset.MoveRequest,
    DamEntries.GetQuery,
    DamEntries.ListQuery,
    DamEntries.MoveManyRequest,
    DamEntries.DeleteManyRequest,
    DamEntries.MoveEntryRequest,
    Identifier.AssetId
  ].map((schema: Codec) => [schema, "DAM_INVALID_REQUEST"] as const)
])

export const codeOf = (schema: Codec, [key = ""]: Path): string | undefined => {
  const found = codes.get(schema)
  return typeof found === "object" ? (Object.hasOwn(found, key) ? found[key] : undefined) : found
}
