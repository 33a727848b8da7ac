/**
 * Runs with every test. Fails a test that shows a secret, a token, a signature, or the URL of an upload or a Status in
 * a span, a log line, a console line or an error.
 */
import { afterAll, afterEach, expect } from "vitest"
import { isExempt } from "./exemptions.ts"
import * as Leak from "./Leak.ts"
import * as Record from "./Record.ts"

interface Found extends Leak.Leak {
  readonly surface: Record.Surface
  readonly text: string
  readonly context: string
}

let found: Array<Found> = []

/** Texts that are known to have no leak. They are not searched again, because most texts are repeated. */
const clean = new Set<string>()
const maxClean = 10_000

const isAllowed = (one: Found): boolean => {
  const { currentTestName = "", testPath = "" } = expect.getState()
  return isExempt({ ...one, file: testPath, test: currentTestName })
}

/** The beginning of a text and the context of its leak. The leak itself is not repeated. */
const contextOf = (text: string, { start }: Leak.Leak): string => {
  const before = text.slice(0, Math.max(0, text.indexOf(start)))
  return before.length <= 80 ? before : `${before.slice(0, 20)} … ${before.slice(-60)}`
}

Leak.forgetTests()
await Record.start((surface, text) => {
  if (surface === "secret") {
    Leak.learn(text, expect.getState().currentTestName !== undefined)
    clean.clear()
    return
  }
  if (clean.has(text)) return
  // An id alone is permitted: it may be the field `assemblyId` of an error, or printed by the program that owns the
  // Assembly.
  const leaks = Leak.find(text).filter(({ kind }) => kind !== "Assembly id" || surface === "span")
  for (const leak of leaks) found.push({ ...leak, surface, text: text.slice(0, 80), context: contextOf(text, leak) })
  if (leaks.length === 0 && clean.size < maxClean && text.length < 2000) clean.add(text)
})

const check = () => {
  const leaks = found.filter((one) => !isAllowed(one))
  found = []
  if (leaks.length === 0) return
  const lines = leaks
    .slice(0, 10)
    .map(
      ({ context, kind, start, surface }) => `- ${kind} (${start}…) in a ${surface}, after ${JSON.stringify(context)}`
    )
  throw new Error(`${leaks.length} of what must not be shown, see scripts/walk:\n${lines.join("\n")}`)
}

afterEach(check)
afterAll(check)
