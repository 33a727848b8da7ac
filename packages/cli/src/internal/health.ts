/**
 * The findings of `assembly doctor`, and how they are shown. All functions are pure.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Schema from "effect/Schema"
import * as Style from "../Style.ts"
import * as Text from "./text.ts"

/**
 * One finding. `verdict` is `good` for a thing that works, `note` for a thing that is missing or not known but may not
 * be needed, and `bad` for a thing that does not work. `advice` says what to do. If this finding is the first with the
 * verdict `bad`, the program ends with `exitCode`.
 */
export const Finding = Schema.Struct({
  about: Schema.String,
  verdict: Schema.Literals(["good", "note", "bad"]),
  text: Schema.String,
  advice: Schema.optionalKey(Schema.String),
  exitCode: Schema.optionalKey(Schema.Int)
})
export type Finding = typeof Finding.Type

export const good = (about: string, text: string): Finding => ({ about, verdict: "good", text })

export const note = (about: string, text: string, advice: string): Finding => ({ about, verdict: "note", text, advice })

export const bad = (about: string, text: string, advice: string, exitCode: number): Finding => ({
  about,
  verdict: "bad",
  text,
  advice,
  exitCode
})

const marks = { good: "✓", note: "–", bad: "✗" } as const
const colours = { good: "green", note: "yellow", bad: "red" } as const

/** The number of cells of the mark and of `about`, with the gaps after them. */
const indentation = 16

/** Renders each finding with its advice. Long texts are wrapped, and their lines start in the same column. */
export const render = (
  findings: ReadonlyArray<Finding>,
  {
    style = Style.plain,
    width = Number.POSITIVE_INFINITY
  }: { readonly style?: Style.Style; readonly width?: number | undefined }
): ReadonlyArray<Style.Line> =>
  findings.flatMap(({ about, advice, text, verdict }) => {
    const isWide = width >= indentation + 30
    const indent = " ".repeat(isWide ? indentation : 2)
    const wrap = (words: string) => Text.wrap(Printable.escape(words), width - indent.length, { breakWords: true })
    const head = `${style[colours[verdict]](marks[verdict])} ${style.bold(Text.pad(about, indentation - 2, "left"))}`
    const [first = "", ...rest] = wrap(text)
    return [
      ...(isWide ? [head + first] : [head.trimEnd(), indent + first]),
      ...rest.map((line) => indent + line),
      // The advice is one line, because a user pastes its commands.
      ...(advice === undefined ? [] : [`${indent}→ ${Printable.escape(advice)}`])
    ].map(Style.toLine)
  })
