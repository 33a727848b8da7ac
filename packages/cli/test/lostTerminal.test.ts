import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as PlatformError from "effect/PlatformError"
import * as Terminal from "effect/Terminal"
import { isLostTerminal } from "../src/internal/main.ts"

const lost = Cause.die(PlatformError.badArgument({ module: "Terminal", method: "display" }))
const other = Cause.die(PlatformError.badArgument({ module: "FileSystem", method: "open" }))
const ended = Cause.die(new Terminal.QuitError({}))

it.each<[string, Cause.Cause<string>, boolean]>([
  ["a terminal that cannot be written", lost, true],
  ["such a terminal whose input ended at the same time", Cause.combine(ended, lost), true],
  ["an input that ended", ended, false],
  ["another defect", other, false],
  ["a failure beside such a terminal", Cause.combine(lost, Cause.fail("no")), false]
])("%s: %s", (_, cause, isLost) => expect(isLostTerminal(cause)).toBe(isLost))
