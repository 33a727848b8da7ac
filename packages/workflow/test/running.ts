/** Tests of durable jobs: with an emulator, and a folder, gated objects and the faults of the service of their own. */
import { Faults } from "@assembly-effect/emulator"
import { layer } from "@assembly-effect/testkit/flow"
import type { Durable, DurableSqlite } from "@assembly-effect/workflow"
import { Effect, FileSystem, type Layer, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { gated } from "./gates.ts"
import { folder, live, withRunner } from "./support.ts"

type Services = Layer.Success<typeof live> | Scope.Scope

interface Own extends Effect.Success<typeof folder> {
  readonly fs: FileSystem.FileSystem
  readonly gate: Effect.Success<typeof gated>
  readonly faults: Faults.Faults["Service"]
}

type Program<R = never> = (own: Own) => Generator<Effect.Effect<unknown, unknown, R | Services>, unknown, never>
type Running = Program<Durable.Durable | SqlClient.SqlClient>

/**
 * Defines tests with one emulator.
 *
 * - `alone`: a program that may begin and end several runners.
 * - `running`: a program with an embedded runner.
 */
export const durableTests = (
  name: string,
  tests: (
    it: Parameters<Parameters<ReturnType<typeof layer<Layer.Success<typeof live>, unknown>>>[1] & {}>[0] & {
      readonly alone: (title: string, program: Program, limits?: { readonly timeout: number }) => void
      readonly running: (title: string, ...how: readonly [Running] | readonly [DurableSqlite.Options, Running]) => void
    }
  ) => void
) =>
  layer(live)(name, (it) => {
    const alone = (title: string, program: Program, limits?: { readonly timeout: number }) => {
      const test = Effect.fnUntraced(function* () {
        const fs = yield* FileSystem.FileSystem
        const own = { ...(yield* folder), fs, gate: yield* gated, faults: yield* Faults.Faults }
        return yield* Effect.gen(() => program(own)).pipe(Effect.provide(own.gate.layer))
      })
      it.effect(title, test, limits)
    }
    tests({
      ...it,
      alone,
      running: (title, ...how) =>
        alone(title, function* (own) {
          const [options, program] = how.length === 1 ? [{}, ...how] : how
          return yield* Effect.gen(() => program(own)).pipe(withRunner(own.database, options))
        })
    })
  })
