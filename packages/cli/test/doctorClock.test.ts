/** What `assembly doctor` says about the clock of this machine, against a service whose clock differs. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as InProcess from "./support/inProcess.ts"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Failure from "../src/internal/failure.ts"

/** A service that has no Assembly, and whose clock stands at a number of seconds since 1970. */
const serviceAt = (seconds: number) =>
  Loopback.serve((_, response) => {
    response.writeHead(404, { date: new Date(seconds * 1000).toUTCString(), "content-type": "application/json" })
    response.end(JSON.stringify({ error: "ASSEMBLY_NOT_FOUND", message: "There is no such Assembly." }))
  })

const own = 100_000

/** Runs doctor with a clock that stands at {@link own}. Returns its finding about the clock, and its exit code. */
const clockOf = Effect.fnUntraced(function* (seconds: number) {
  const origin = yield* serviceAt(seconds)
  const env = { ASSEMBLY_BASE_URL: origin, ASSEMBLY_AUTH_KEY: "key", ASSEMBLY_AUTH_SECRET: "secret" }
  const { code, stdout } = yield* InProcess.assembly(import.meta.dirname, env, ["doctor", "--no-upload"])
  const lines = stdout.split("\n")
  const at = lines.findIndex((line) => /^. clock /.test(line))
  return { lines: lines.slice(at, at + 2), code }
})

const advice = "                → Set the clock of this machine, because signatures expire."

it.effect.each<[skew: number, line: string, isWrong: boolean]>([
  [-1, "✓ clock         agrees with the clock of the service", false],
  [-30, "✓ clock         30 s behind the clock of the service", false],
  [30, "✓ clock         30 s ahead of the clock of the service", false],
  [-31, "✗ clock         31 s behind the clock of the service", true],
  [90, "✗ clock         1 min 30 s ahead of the clock of the service", true]
])("doctor with a clock that differs by %d seconds: %s", ([skew, line, isWrong]) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(own * 1000)
    const found = yield* clockOf(own - skew)
    expect(found.lines[0]).toBe(line)
    if (!isWrong) return expect(found.lines[1]).not.toBe(advice)
    expect(found).toEqual({ lines: [line, advice], code: Failure.codes.failed })
  }).pipe(Effect.scoped)
)
