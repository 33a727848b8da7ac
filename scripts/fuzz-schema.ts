// Generates 100,000 valid values, which must round-trip, and 100,000 invalid values, which must be refused with the
// stated field, both before encoding and on the wire. Usage: fuzz-schema.ts [seed] [count]. Prints the counts. Fails
// with the first counterexample.
import * as Arbitrary from "effect/Arbitrary"
import { decodedIssues, roundTrips, sample, wireIssues } from "../packages/schema/test/support.ts"
import { requests, schemas } from "../packages/schema/test/table.ts"

const [seed = `${process.pid}-${Math.random()}`, count = "100000"] = process.argv.slice(2)
const total = Number(count)
const batch = 500

/** Runs the values of all generators in batches, so that the memory is freed after each batch. */
const run = <A>(
  title: string,
  generators: ReadonlyArray<readonly [name: string, arbitrary: Arbitrary.Arbitrary<A>, holds: (value: A) => boolean]>
): void => {
  const start = performance.now()
  const counts = new Map<string, number>()
  for (let done = 0, round = 0; done < total; round++) {
    for (const [name, arbitrary, holds] of generators) {
      const values = sample(arbitrary, Math.min(batch, total - done), { seed: `${seed}-${round}` })
      for (const value of values) {
        if (!holds(value)) {
          console.error(`${title}: ${name} fails with seed ${seed}`, value)
          process.exit(1)
        }
      }
      done += values.length
      counts.set(name, (counts.get(name) ?? 0) + values.length)
    }
  }
  for (const [name, values] of counts) console.log(`${String(values).padStart(8)}  ${name}`)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${String(total).padStart(8)}  ${title}, in ${seconds} s\n`)
}

const samePath = (left: ReadonlyArray<PropertyKey>, right: ReadonlyArray<PropertyKey>): boolean =>
  left.length === right.length && left.every((key, index) => key === right[index])

console.log(`seed ${seed}\n`)
run(
  "valid values round-trip through encode and decode",
  schemas.map(([name, schema]) => [name, Arbitrary.schema(schema), roundTrips(schema)] as const)
)
run(
  "invalid values are refused for the stated field",
  requests.flatMap(([name, schema, { decoded, wire }]) =>
    (
      [
        [`${name}, before encoding`, decoded, decodedIssues],
        [`${name}, on the wire`, wire, wireIssues]
      ] as const
    ).map(([title, arbitrary, issuesOf]) => {
      const holds = ({ input, path }: { readonly input: unknown; readonly path: ReadonlyArray<PropertyKey> }) => {
        const issues = issuesOf(schema, input)
        return issues.length > 0 && issues.every((issue) => samePath(issue.path, path))
      }
      return [title, arbitrary, holds] as const
    })
  )
)
