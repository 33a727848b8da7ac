/** What the compiler refuses; nothing here is run. */
import * as Output from "@assembly-effect/cli/Output"
import * as Style from "@assembly-effect/cli/Style"

export const texts = Output.lines(["a text", `of ${"others"}`])
export const rendered = Output.report([Style.blank])

// @ts-expect-error what was rendered would be shown with its colours escaped
export const mixedUp = Output.lines([Style.blank])
