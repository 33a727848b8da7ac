/** Tests of programs that have an embedded runner. */
import * as Faults from "@assembly-effect/emulator/Faults"
import type * as Durable from "@assembly-effect/workflow/Durable"
import type * as DurableSqlite from "@assembly-effect/workflow/DurableSqlite"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import { gated } from "./gates.ts"
import { folder, type live, withRunner } from "./support.ts"

type Live = Layer.Success<typeof live>

interface Own extends Effect.Success<typeof folder> {
  readonly gate: Effect.Success<typeof gated>
  readonly faults: Faults.Faults["Service"]
}

type Program = (
  own: Own
) => Generator<
  Effect.Effect<unknown, unknown, Durable.Durable | SqlClient.SqlClient | Scope.Scope | Live>,
  unknown,
  never
>

/** Defines tests whose programs have an embedded runner, a folder, a gate for their objects, and the faults of the service. */
export const running =
  (it: { readonly effect: (title: string, body: () => Effect.Effect<unknown, unknown, Live | Scope.Scope>) => void }) =>
  (title: string, ...[first, second]: readonly [Program] | readonly [DurableSqlite.Options, Program]) =>
    it.effect(title, () =>
      Effect.gen(function* () {
        const own = { ...(yield* folder), gate: yield* gated, faults: yield* Faults.Faults }
        const [options, program] =
          second === undefined ? [{}, first as Program] : [first as DurableSqlite.Options, second]
        return yield* Effect.gen(() => program(own)).pipe(
          withRunner(own.database, options),
          Effect.provide(own.gate.layer)
        )
      })
    )
