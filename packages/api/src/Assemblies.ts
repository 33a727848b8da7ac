/**
 * Assemblies: create, look up, list, and count (spec.md, "Endpoints" 1 and 2).
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as ApiError from "./ApiError.ts"
import { AssemblyClient } from "./AssemblyClient.ts"
import * as Lookback from "./internal/lookback.ts"
import * as Operation from "./Operation.ts"

/** `GET /assembly_stats` */
export const Statistics = Operation.make({
  name: "Assemblies.statistics",
  method: "GET",
  path: "/assembly_stats",
  variables: {},
  auth: "signed",
  scope: "assemblies:read",
  carrier: "query",
  nonceIn: "params",
  params: AssemblyStatistics.Query,
  fields: Operation.nothing,
  answers: "result",
  success: AssemblyStatistics.Statistics,
  errors: {
    ASSEMBLY_STATS_INVALID_TIME: ApiError.StatisticsInvalidTime,
    ASSEMBLY_STATS_MISSING_REGION: ApiError.StatisticsMissingRegion,
    ASSEMBLY_STATS_ERROR: ApiError.StatisticsUnavailable
  },
  retry: "safe",
  check: Lookback.check
})

/** `GET /assemblies` */
export const List = Operation.make({
  name: "Assemblies.list",
  method: "GET",
  path: "/assemblies",
  variables: {},
  auth: "signed",
  scope: "assemblies:read",
  carrier: "query",
  nonceIn: "auth",
  params: AssemblyList.Query,
  fields: Operation.nothing,
  answers: "result",
  success: AssemblyList.Listing,
  errors: { ASSEMBLY_LIST_ERROR: ApiError.AssemblyListFailed },
  retry: "safe"
})

/** `POST /assemblies/:assemblyId`. Beyond the specification, which names the operation only. */
export const Create = Operation.make({
  name: "Assemblies.create",
  method: "POST",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "signed",
  scope: "assemblies:write",
  carrier: "multipart",
  nonceIn: "params",
  params: Assembly.CreateParams,
  fields: Assembly.CreateForm,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: []
})

/** `GET /assemblies/:assemblyId`. Beyond the specification, which names the operation only. */
export const Get = Operation.make({
  name: "Assemblies.get",
  method: "GET",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  scope: undefined,
  carrier: "query",
  nonceIn: "params",
  params: Operation.nothing,
  fields: Operation.nothing,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: "safe"
})

/**
 * The statistics of a region since a moment.
 *
 * @example Assemblies.statistics({ region: "all", since: "2026-01-01T00:00:00Z" })
 */
export const statistics = (query: AssemblyStatistics.Query) =>
  AssemblyClient.use((client) => client.run(Statistics, { path: {}, params: query, fields: {} }))

/**
 * One page of the Assemblies created after a moment, newest first.
 *
 * @example Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z"), pageSize: 100 })
 */
export const list = (query: AssemblyList.Query) =>
  AssemblyClient.use((client) => client.run(List, { path: {}, params: query, fields: {} }))

/**
 * The params and form fields of a new Assembly, and its id where the caller has chosen one.
 */
export interface CreateOptions extends Assembly.CreateParams, Assembly.CreateForm {
  readonly assemblyId?: Assembly.AssemblyId
}

const randomId = SecureRandom.SecureRandom.use((random) => random.randomBytes(16)).pipe(
  Effect.map((bytes) => Assembly.AssemblyId.make(Hex.encode(bytes))),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/**
 * Creates an Assembly under an id of our own choice, drawn from a cryptographic source: an id alone reads the status.
 *
 * @example
 * Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 })
 */
export const create = Effect.fnUntraced(function* (options: CreateOptions) {
  const { assemblyId = yield* randomId, numExpectedUploadFiles, ...params } = options
  const client = yield* AssemblyClient
  return yield* client.run(Create, {
    path: { assemblyId },
    params,
    fields: numExpectedUploadFiles === undefined ? {} : { numExpectedUploadFiles }
  })
})

/**
 * The Status of an Assembly. A failed Assembly is a Status, not a failure of this operation.
 */
export const get = (assemblyId: Assembly.AssemblyId) =>
  AssemblyClient.use((client) => client.run(Get, { path: { assemblyId }, params: {}, fields: {} }))
