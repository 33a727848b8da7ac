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
import { beyond, writing } from "./beyond.ts"
import { assemblyId, assetId, at, type Case, status } from "./case.ts"

export { type AnyError, assemblyId, type Case, status } from "./case.ts"

const specified: ReadonlyArray<Case> = [
  at(Assemblies.Statistics, Assemblies.statistics({ region: "all", since: "yesterday" }), "GET /assembly_stats", [
    ["ASSEMBLY_STATS_INVALID_TIME", "StatisticsInvalidTime"],
    ["ASSEMBLY_STATS_MISSING_REGION", "StatisticsMissingRegion"],
    ["ASSEMBLY_STATS_ERROR", "StatisticsUnavailable"]
  ]),
  at(
    Assemblies.List,
    Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }),
    "GET /assemblies",
    [["ASSEMBLY_LIST_ERROR", "AssemblyListFailed"]],
    { items: [{ id: assemblyId, created: "2026/01/01 10:00:00 GMT" }], count: 1 }
  ),
  at(Dam.Move, Dam.move(assetId, { filename: "report.pdf" }), `PATCH /dam/assets/${assetId}`, writing),
  at(
    Assemblies.Create,
    // Without the recovery of a lost response, which has separate tests.
    AssemblyClient.use((client) =>
      client.run(Assemblies.Create, {
        path: { assemblyId },
        params: { templateId: "t" },
        fields: { numExpectedUploadFiles: 1 }
      })
    ),
    `POST /assemblies/${assemblyId}`,
    [],
    status
  ),
  at(Assemblies.Get, Assemblies.get(assemblyId), `GET /assemblies/${assemblyId}`, [], status),
  at(
    Assemblies.Cancel,
    AssemblyClient.use((client) => client.run(Assemblies.Cancel, { path: { assemblyId }, params: {}, fields: {} })),
    `DELETE /assemblies/${assemblyId}`,
    [],
    { ...status, ok: "ASSEMBLY_CANCELED" }
  ),
  at(
    Assemblies.Replace,
    Assemblies.replace(assemblyId, { templateId: "t", numExpectedUploadFiles: 1 }),
    `PUT /assemblies/${assemblyId}`,
    [],
    status
  )
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
