/**
 * A resource as lines of names and values. All functions are pure: they take values and return lines.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import type * as Style from "../Style.ts"
import * as Stacked from "./stacked.ts"

/**
 * The name of a value, its text, and whether the text is a command. {@link render} escapes the text, and leaves out a
 * fact without a text.
 */
export type Fact = readonly [name: string, value: string | null | undefined, isCommand?: boolean]

/**
 * Renders the name and the value of each fact. If the terminal is wide enough, all values begin in the same column. A
 * value is never cut, because users copy it. In a narrow terminal, a long value is broken between words, unless it is a command.
 */
export const render = (
  facts: ReadonlyArray<Fact>,
  options: { readonly style?: Style.Style | undefined; readonly width?: number | undefined } = {}
): ReadonlyArray<Style.Line> =>
  Stacked.render(
    facts.flatMap(([name, value, isCommand]) =>
      value === null || value === undefined ? [] : [{ name, text: Printable.escape(value), isCommand }]
    ),
    options
  )
