/** What the compiler refuses; nothing here is run. */
import * as Text from "../../src/internal/text.ts"
import * as Output from "../../src/internal/output.ts"

export const texts = Output.lines(["a text", `of ${"others"}`])
export const rendered = Output.report([Text.blank])

// @ts-expect-error what was rendered would be shown with its colours escaped
export const mixedUp = Output.lines([Text.blank])
