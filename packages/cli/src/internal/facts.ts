/**
 * A resource as lines of names and values. Pure: takes values and returns lines.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Style from "../Style.ts"
import * as Text from "./text.ts"

/** The name of a value and its text. The text is not trusted. A fact without a text is left out. */
export type Fact = readonly [name: string, value: string | null | undefined]

/**
 * Renders one line for each fact, with the values below each other. A value is never cut, because users copy it.
 */
export const render = (
  facts: ReadonlyArray<Fact>,
  options: { readonly style?: Style.Style | undefined } = {}
): ReadonlyArray<Style.Line> => {
  const { style = Style.plain } = options
  const known = facts.flatMap(([name, value]) => (value === null || value === undefined ? [] : [{ name, value }]))
  const cells = known.reduce((most, { name }) => Math.max(most, Text.width(name)), 0)
  return known.map(({ name, value }) =>
    Style.toLine(`${style.bold(Text.pad(name, cells, "left"))}  ${Printable.escape(value)}`)
  )
}
