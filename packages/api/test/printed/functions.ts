// The types that PrintedTypes.test.ts compares, in its order. Not to be compiled with the others.
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Queues from "@assembly-effect/api/Queues"
import * as Templates from "@assembly-effect/api/Templates"
import * as Dam from "@assembly-effect/api/Dam"

declare const client: AssemblyClient["Service"]
declare const assetId: Parameters<typeof Dam.move>[0]
declare const query: Parameters<typeof Assemblies.list>[0]

export const printed: ReadonlyArray<never> = [
  Assemblies.statistics,
  Assemblies.list,
  Assemblies.listPages,
  Assemblies.listAll,
  Assemblies.create,
  Assemblies.get,
  Assemblies.cancel,
  Assemblies.awaitCompletion,
  Assemblies.watch,
  Dam.move,
  client.run(Assemblies.List, { path: {}, params: query, fields: {} }),
  client.run(Dam.Move, { path: { assetId }, params: { filename: "a" }, fields: {} }),
  Assemblies.replay,
  AuthKeys.create,
  Queues.statistics,
  Dam.deleteMany,
  Templates.list,
  Templates.listPages,
  Templates.listAll,
  Dam.list,
  Dam.listPages,
  Dam.listAll
]
