/**
 * The rules of operations that need the current time or several params, and generators of params that keep them.
 */
import * as Testing from "@assembly-effect/schema/testing"
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import type * as Operation from "../../unstable/Operation.ts"
import * as Assemblies from "../../Assemblies.ts"
import { checkSteps } from "../assemblies.ts"
import { oneOf } from "./answers.ts"

/** The rules of a check, and valid params of a schema that pass this check. */
export interface Check {
  readonly rules: ReadonlyArray<Testing.Rules>
  readonly accepted: (params: Arbitrary.Arbitrary<unknown>) => Arbitrary.Arbitrary<unknown>
}

/**
 * The lookback of statistics. Its limit is exact only at `now`, the time at which a test with a fixed clock sends its
 * requests: the clock of the machine goes on after a request was generated.
 */
const lookback = (now: DateTime.Utc | undefined): Check => {
  const end = now ?? DateTime.nowUnsafe()
  const ago = (days: number) => DateTime.subtract(end, { days })
  const earliest = ago(91)
  // Also before a `TestClock`, which starts in 1970.
  const old = DateTime.makeUnsafe("1900-01-01T00:00:00Z")
  const bad = now === undefined ? [old] : [old, DateTime.subtractDuration(earliest, "1 millis")]
  const edge = now === undefined ? [] : [earliest]
  return {
    rules: [
      Testing.rule({
        at: ["params", "since"],
        name: "is at most 91 days ago",
        bad: { decoded: oneOf(...bad), wire: oneOf(...bad.map(DateTime.formatIso)) },
        edge: edge.length === 0 ? undefined : { decoded: oneOf(...edge), wire: oneOf(...edge.map(DateTime.formatIso)) },
        code: "ASSEMBLY_STATS_INVALID_TIME"
      })
    ],
    accepted: (params) =>
      Arbitrary.map(
        Arbitrary.all([params, oneOf<unknown>(end, ago(1), ago(90), DateTime.formatIso(ago(30)))]),
        ([valid, since]) => ({ ...Object(valid), since })
      )
  }
}

/** The service itself accepts these Steps, and the Assembly then fails. It ignores unknown keys. */
const instructions = (params: Schema.ConstraintCodec<unknown, unknown>): Check => {
  const isValid = Schema.makeFilter((decoded) =>
    checkSteps(Object(decoded)).map(({ message, path }) => ({ path, issue: message }))
  )
  const known = new Set(Testing.of(params).rules.decoded.map(({ name }) => name))
  const { decoded } = Testing.of(Schema.make<Schema.Codec<unknown>>(params.ast).check(isValid)).rules
  const added = decoded.filter(({ name }) => !known.has(name))
  return {
    rules: [
      Testing.at(["params"], { rules: { decoded: added, wire: [] } }),
      { decoded: Testing.closed(["params", "auth"]).decoded, wire: [] }
    ],
    accepted: Arbitrary.filter((all) => checkSteps(Object(all)).length === 0)
  }
}

const nothing: Check = { rules: [], accepted: (params) => params }

/** The rules of the check of an operation. */
export const of = ({ check, params }: Operation.Any, now: DateTime.Utc | undefined): Check => {
  if (check === Assemblies.Statistics.check) return lookback(now)
  return check === checkSteps ? instructions(params) : nothing
}
