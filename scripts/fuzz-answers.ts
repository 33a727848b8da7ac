// Sends mutated responses to all code that reads a response. Each response must result in a value or a typed error, in
// limited time and memory. Most responses come from a service in memory, with a virtual clock. For each fifty of these,
// one more comes over a connection, to `fetch` or undici, with failures of HTTP itself. Usage: fuzz-answers.ts [count]
// [seed]. Prints the counts by outcome. Fails with the first finding and its seed.
import * as Fuzz from "@assembly-effect/testkit/hostile/fuzz/Fuzz"
import * as Subjects from "@assembly-effect/testkit/hostile/fuzz/Subjects"
import * as Wire from "@assembly-effect/testkit/hostile/fuzz/Wire"

const [count = "100000", seed = `${process.pid}`] = process.argv.slice(2)

/** The maximum memory of this process in MiB. It uses 150 MiB when everything is loaded. */
const mostMemory = 768

const peak = () => process.resourceUsage().maxRSS / 1024

const measured = async (title: string, run: () => Promise<Fuzz.Report>): Promise<void> => {
  const begun = performance.now()
  const { answers, counts, runs, slowest } = await run()
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(`\n${title}: ${answers} answers in ${runs} runs, ${seconds} s, slowest run ${slowest.toFixed(0)} ms`)
  for (const [subject, outcomes] of counts) {
    const parts = [...outcomes].toSorted(([, a], [, b]) => b - a).map(([outcome, times]) => `${outcome} ${times}`)
    console.log(`  ${subject}: ${parts.join(", ")}`)
  }
  console.log(`  peak of memory ${peak().toFixed(0)} MiB`)
  if (peak() > mostMemory) throw new Error(`more than ${mostMemory} MiB`)
}

const options = { seed: Number(seed), answers: Number(count) }

console.log(`seed ${seed}`)
await measured("in memory", () => Fuzz.run({ ...options, subjects: Subjects.all(Subjects.ordinary) }))
await measured("over connections", () =>
  Wire.run({ ...options, answers: Math.ceil(options.answers / 50), subjects: Subjects.all(Wire.pace) })
)
