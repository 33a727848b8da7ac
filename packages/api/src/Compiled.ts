/**
 * Decoders that are compiled at run time, for answers so large that reading them counts.
 *
 * Not part of the index, since the compiler weighs more than most programs: `import * as Compiled from
 * "@assembly-effect/api/Compiled"`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import type * as Operation from "./Operation.ts"

/**
 * Compiles the decoding of what these operations answer, with Effect's own compiler: the statistics of 91 days by the
 * hour are read in about half the time.
 *
 * Provide it to the program, so that it is built before the first of these operations runs. Where a runtime does not
 * allow `new Function`, as on most edge platforms, nothing changes.
 *
 * @example
 * program.pipe(Effect.provide(Compiled.layer([Assemblies.Statistics])))
 */
export const layer = (operations: ReadonlyArray<Operation.Any>): Layer.Layer<never> =>
  Layer.effectDiscard(
    Effect.sync(() => {
      for (const { success } of operations) SchemaJITCompiler.enable(success.ast)
    })
  )
