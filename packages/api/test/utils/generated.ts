/**
 * Samples of the generated requests of every operation.
 */
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import { Arbitrary } from "effect"

/** The number of inputs of each kind. */
export const count = Number(process.env["REQUESTS"] ?? (process.env["TEST_ALL"] === "1" ? 40 : 12))
const seed = process.env["REQUESTS_SEED"] ?? 20_261_121

export const sample = <A>(arbitrary: Arbitrary.Arbitrary<A>, most = count) =>
  Arbitrary.sampleEffect(arbitrary, { count: most, seed })

/** A decoded input of any operation. */
export type Given = Operation.Input<Operation.Any>
