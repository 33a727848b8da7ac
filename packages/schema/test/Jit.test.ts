import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Jit from "@assembly-effect/schema/Jit"
import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { onDecode, sample } from "./support.ts"

it("decodes and refuses the same as without", () => {
  const interpreted = Schema.Struct(AssemblyStatistics.Statistics.fields)
  Jit.enable()
  for (const value of sample(Arbitrary.schema(interpreted), 100)) {
    const wire = Schema.encodeSync(interpreted)(value)
    assert.deepStrictEqual(
      Schema.decodeUnknownSync(AssemblyStatistics.Statistics)(wire),
      Schema.decodeUnknownSync(interpreted)(wire)
    )
    const broken = { ...wire, granularity: 0, totalUsage: "1", stats: [{ data_from_ts: -1 }] }
    assert.deepStrictEqual(onDecode(AssemblyStatistics.Statistics, broken), onDecode(interpreted, broken))
  }
})
