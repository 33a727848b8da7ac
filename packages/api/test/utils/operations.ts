/**
 * Every operation with a valid input, its response and its named errors, for tests that iterate over all operations.
 */
import * as DateTime from "effect/DateTime"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Billing from "@assembly-effect/api/Billing"
import * as Notifications from "@assembly-effect/api/Notifications"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import * as Predicate from "effect/Predicate"
import { beyond } from "./beyond.ts"
import { assemblyId, assetId, type Case, status } from "./case.ts"

export { type AnyError, assemblyId, type Case, status } from "./case.ts"

const statistics = {
  ok: "ASSEMBLY_STATS_FOUND",
  granularity: 3600,
  stats: [],
  errorStatsGranularity: 3600,
  errorStats: [],
  errorStatsTotals: [],
  totalAssemblies: 1,
  totalBytesProcessed: 2,
  totalBytesUploaded: 3,
  totalExecutionDuration: 4.5,
  totalFilesProcessed: 5,
  totalLiveQueueDuration: 6.5,
  totalOutputBytesProcessed: 7,
  totalOutputFilesProcessed: 8,
  totalUploadDuration: 9.5,
  totalUsage: 10
}

const moved = {
  ok: "DAM_ASSET_MOVED",
  message: "moved",
  asset: {
    asset_id: assetId,
    version_id: "abcdefghijklmnopqrstuQ",
    workspace: "main",
    path: "/report.pdf",
    mime: "application/pdf",
    size: 12
  },
  asset_id: assetId,
  folder_id: null,
  filename: "report.pdf",
  path: "/report.pdf",
  deleted_at: null,
  updated_at: "2026-01-01T10:00:00Z"
}

const specified: ReadonlyArray<Case> = [
  {
    name: "Assemblies.statistics",
    run: Assemblies.statistics({ region: "all", since: "yesterday" }),
    method: "GET",
    path: "/assembly_stats",
    signed: true,
    success: statistics,
    named: [
      ["ASSEMBLY_STATS_INVALID_TIME", 400, "StatisticsInvalidTime"],
      ["ASSEMBLY_STATS_MISSING_REGION", 400, "StatisticsMissingRegion"],
      ["ASSEMBLY_STATS_ERROR", 500, "StatisticsUnavailable"]
    ]
  },
  {
    name: "Assemblies.list",
    run: Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }),
    method: "GET",
    path: "/assemblies",
    signed: true,
    success: { items: [{ id: assemblyId, created: "2026/01/01 10:00:00 GMT" }], count: 1 },
    named: [["ASSEMBLY_LIST_ERROR", 400, "AssemblyListFailed"]]
  },
  {
    name: "Dam.move",
    run: Dam.move(assetId, { filename: "report.pdf" }),
    method: "PATCH",
    path: `/dam/assets/${assetId}`,
    signed: true,
    success: moved,
    named: [
      ["DAM_INVALID_REQUEST", 400, "DamInvalidRequest"],
      ["DAM_RESOURCE_NOT_FOUND", 404, "DamResourceNotFound"],
      ["DAM_MUTATION_CONFLICT", 409, "DamMutationConflict"],
      ["DAM_MUTATION_FAILED", 500, "DamMutationFailed"]
    ]
  },
  {
    name: "Assemblies.create",
    // Without the recovery of a lost response, which has separate tests.
    run: AssemblyClient.use((client) =>
      client.run(Assemblies.Create, {
        path: { assemblyId },
        params: { templateId: "t" },
        fields: { numExpectedUploadFiles: 1 }
      })
    ),
    method: "POST",
    path: `/assemblies/${assemblyId}`,
    signed: true,
    success: status,
    named: []
  },
  {
    name: "Assemblies.get",
    run: Assemblies.get(assemblyId),
    method: "GET",
    path: `/assemblies/${assemblyId}`,
    signed: false,
    success: status,
    named: []
  },
  {
    name: "Assemblies.cancel",
    run: AssemblyClient.use((client) =>
      client.run(Assemblies.Cancel, { path: { assemblyId }, params: {}, fields: {} })
    ),
    method: "DELETE",
    path: `/assemblies/${assemblyId}`,
    signed: false,
    success: { ...status, ok: "ASSEMBLY_CANCELED" },
    named: []
  },
  {
    name: "Assemblies.replace",
    run: Assemblies.replace(assemblyId, { templateId: "t", numExpectedUploadFiles: 1 }),
    method: "PUT",
    path: `/assemblies/${assemblyId}`,
    signed: true,
    success: status,
    named: []
  }
]

export const cases: ReadonlyArray<Case> = [...specified, ...beyond]

/** Five operations that have every carrier, signed and unsigned requests, and errors of their own. */
export const examples: ReadonlyArray<Case> = specified.filter(({ name }) =>
  ["Assemblies.statistics", "Dam.move", "Assemblies.create", "Assemblies.get", "Assemblies.cancel"].includes(name)
)

const isOperation = (value: unknown): value is Operation.Any => Predicate.hasProperty(value, "carrier")

/** Every operation that a module exports. */
export const operations = [Assemblies, AuthKeys, Billing, Dam, Notifications, Queues, TemplateCredentials, Templates]
  .flatMap((module): ReadonlyArray<unknown> => Object.values(module))
  .filter(isOperation)
