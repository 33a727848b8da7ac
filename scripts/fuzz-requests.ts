// Sends 100,000 almost valid requests to every route of an emulator. Fails if a status is 500 or more, if an error does
// not have the form of the service, if a request does not end, if the emulator ends or keeps connections, or if it is
// busy for more than 100 ms without a pause, because then no other client gets a response. A probe requests a cheap
// route all the time. Its waiting times are longer on a busy machine. Usage: fuzz-requests.ts [count] [seed]. Prints
// counts by route and status.
import { fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import { type Outcome, run } from "../packages/emulator/test/fuzz/Run.ts"

const [count = "100000", seed = `${process.pid}-${Date.now()}`] = process.argv.slice(2)
const total = Number(count)

/** The maximum time in milliseconds for which a request may block the others. */
const longestStop = 100

const fixture = (name: string) => new URL(`../packages/emulator/test/fixtures/${name}.ts`, import.meta.url)

interface Report {
  readonly wall: number
  readonly busy: number
  readonly sockets: number
  readonly megabytes: number
}

const emulator = fork(fixture("fuzzed"), [seed], { stdio: ["ignore", "ignore", "inherit", "ipc"] })
let hasEnded = false
emulator.once("exit", () => (hasEnded = true))
const [place] = await once(emulator, "message")

const report = async (): Promise<Report> => {
  emulator.send("report")
  const [answer] = await once(emulator, "message")
  return answer.report
}

const printCounts = ({ counts }: Outcome) => {
  for (const [route, outcomes] of counts) {
    const sorted = [...outcomes].toSorted(([left], [right]) => left.localeCompare(right))
    const sum = sorted.reduce((all, [, one]) => all + one, 0)
    console.log(`${String(sum).padStart(8)}  ${route.padEnd(28)}${sorted.map((pair) => pair.join(" × ")).join(", ")}`)
  }
}

/** Counts the sockets that remain. The emulator closes a connection shortly after its client has disconnected. */
const leftSockets = async (): Promise<number> => {
  for (let tries = 0; tries < 50; tries++) {
    if ((await report()).sockets === 0) return 0
    await pause(100)
  }
  return (await report()).sockets
}

console.log(`seed ${seed}\n`)
const probe = new Worker(fixture("probe"), { workerData: `${place.baseUrl}/assemblies/${"0".repeat(32)}` })
const start = performance.now()
const outcome = await run(place, { count: total, seed, concurrency: 12 })
const seconds = (performance.now() - start) / 1000
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
probe.postMessage("end")
const [waits] = await once(probe, "message")
printCounts(outcome)

const problems = outcome.failures.map(
  ({ number, description, route, sent }) =>
    `request ${number}, ${route}: ${description}\n${sent.subarray(0, 600).toString("latin1")}`
)
if (hasEnded) problems.push("the emulator has ended")
else {
  const { busy, megabytes, wall } = await report()
  const sockets = await leftSockets()
  console.log(`\n${total} requests in ${seconds.toFixed(0)} s`)
  console.log("probe", waits)
  // `wall` is with all other work of the machine.
  console.log("emulator", { busy, wall, megabytes, sockets })
  if (busy > longestStop) problems.push(`a request stopped the others for ${busy.toFixed(0)} ms`)
  if (sockets > 0) problems.push(`${sockets} connections are left`)
  if (waits.failed > 0) problems.push("the probe was not answered")
  emulator.send("end")
  const [code] = await once(emulator, "exit")
  if (code !== 0) problems.push(`the emulator ended with ${code}`)
}
for (const problem of problems) console.error(`\n${problem}`)
process.exitCode = problems.length > 0 ? 1 : 0
