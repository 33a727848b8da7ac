/**
 * Colours, where the terminal has them.
 */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import { styleText } from "node:util"

/**
 * Marks a text; without colours the text stays as it is. Styles are put on after measuring and cutting, so they never
 * change a layout.
 */
export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

const make = (paint: (format: keyof Style) => (text: string) => string): Style => ({
  bold: paint("bold"),
  dim: paint("dim"),
  red: paint("red"),
  green: paint("green"),
  yellow: paint("yellow"),
  cyan: paint("cyan")
})

/** No colours: files, pipes, tests, `NO_COLOR`. */
export const plain: Style = make(() => (text) => text)

/** ANSI colours. */
export const ansi: Style = make(
  (format) => (text) => (text === "" ? text : styleText(format, text, { validateStream: false }))
)

/** The style for the standard output of this process. */
export const current: Effect.Effect<Style> = Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) =>
  canColor ? ansi : plain
)
