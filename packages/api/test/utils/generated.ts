/**
 * Generated inputs of every operation, valid ones and ones that break a rule.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Dam from "@assembly-effect/api/Dam"
import * as Notifications from "@assembly-effect/api/Notifications"
import type * as Operation from "@assembly-effect/api/Operation"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import * as Testing from "@assembly-effect/schema/testing"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The number of inputs of each kind. */
export const count = Number(process.env["REQUESTS"] ?? (process.env["TEST_ALL"] === "1" ? 60 : 20))
const seed = 20_261_121

/** The invalid params of each operation that has rules for them. */
export const invalidParams: ReadonlyMap<Operation.Any, Testing.Invalids> = new Map<Operation.Any, Testing.Invalids>([
  [Assemblies.Create, Testing.createAssembly],
  [Assemblies.Replace, Testing.createAssembly],
  [Assemblies.Replay, Testing.replayAssembly],
  [Assemblies.List, Testing.list],
  [Assemblies.Statistics, Testing.statistics],
  [Notifications.Replay, Testing.replayNotification],
  [AuthKeys.Create, Testing.createAuthKey],
  [AuthKeys.Update, Testing.updateAuthKey],
  [Templates.List, Testing.listTemplates],
  [Templates.Create, Testing.createTemplate],
  [Templates.Update, Testing.updateTemplate],
  [TemplateCredentials.Create, Testing.createCredential],
  [TemplateCredentials.Update, Testing.updateCredential],
  [Queues.Statistics, Testing.jobSlotStatistics],
  [Dam.Get, Testing.getAsset],
  [Dam.List, Testing.listAssets],
  [Dam.Move, Testing.move],
  [Dam.MoveMany, Testing.moveAssets],
  [Dam.DeleteMany, Testing.deleteAssets],
  [Dam.MoveEntry, Testing.moveEntry]
])

/** The invalid ids and names of each variable of a path. */
export const invalidVariables: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>> = {
  authKeyId: Arbitrary.map(Testing.authKeyId.decoded, ({ input }) => input),
  credentialId: Arbitrary.map(Testing.credentialId.decoded, ({ input }) => input),
  templateIdOrName: Arbitrary.map(Testing.templateIdOrName.decoded, ({ input }) => input),
  month: Arbitrary.map(Testing.month.decoded, ({ input }) => input),
  assemblyId: Arbitrary.schema(Schema.Literals(["", "0", "../x", "g".repeat(32), "A".repeat(32)])),
  assetId: Arbitrary.schema(Schema.Literals(["", "AAAAAAAAAAAAAAAAAAAAAB", "../x", "AAAAAAAAAAAAAAAAAAAAA"]))
}

export const sample = <A>(arbitrary: Arbitrary.Arbitrary<A>) =>
  Arbitrary.sampleEffect(arbitrary, { count, seed, maxDiscards: count })

/** A decoded input of any operation. */
export type Given = Operation.Input<Operation.Any>

/** Valid inputs of an operation. */
export const inputs = (operation: Operation.Any) =>
  Effect.map(
    Effect.all([
      sample(Arbitrary.schema(Schema.Struct(operation.variables))),
      sample(Arbitrary.schema(operation.params)),
      sample(Arbitrary.schema(operation.fields))
    ]),
    ([paths, params, fields]) =>
      paths.map((path, index): Given => ({ path: path as Given["path"], params: params[index], fields: fields[index] }))
  )

/** Whether the rule of the params that a schema cannot check refuses an input. */
export const isRefused = (operation: Operation.Any, { params }: Given): boolean =>
  (operation.check?.(params, undefined as never) ?? []).length > 0
