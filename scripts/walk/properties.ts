/** Runs with every test. `PROPERTY_RUNS` is the number of inputs for each property whose test does not set it. */
import * as Arbitrary from "effect/Arbitrary"

Arbitrary.configureGlobal({ check: { runs: Number(process.env["PROPERTY_RUNS"] ?? 50) } })
