/**
 * Colours, where the terminal has them.
 */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import type * as Brand from "effect/Brand"
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

/**
 * A line for the terminal: what others wrote in it is escaped, and its colours are ours. Only the modules that render
 * make one, after they have escaped.
 */
export type Line = string & Brand.Brand<"Line">

/** Says of a text that it is a {@link Line}. */
export const toLine = (text: string): Line => text as Line

/** A line with nothing in it. */
export const blank = toLine("")

const colour = String.raw`\u001b\[(?:0|1|2|3|4|9|22|3[0-79]|9[0-7])m`

/** The colours and weights that this program and its help use: nothing that hides or blinks. */
export const colours = new RegExp(colour, "g")

/** The moves of the cursor, with which a line is written again. */
export const eraseLine = "\r\u001b[2K"
export const hideCursor = "\u001b[?25l"
export const showCursor = "\u001b[?25h"

/** What a screen is told besides colours. */
export const screen = new RegExp(String.raw`${colour}|\r\u001b\[2K|\u001b\[\?25[lh]`, "g")

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
