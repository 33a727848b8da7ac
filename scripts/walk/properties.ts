/** Runs with every test. `PROPERTY_RUNS` is the number of inputs for each property whose test does not set it. */
import * as Arbitrary from "effect/Arbitrary"

const runs = Number(process.env["PROPERTY_RUNS"] ?? 0)
if (runs > 0) Arbitrary.configureGlobal({ check: { runs } })
