/**
 * Colours for terminals that support them.
 */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import type * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import { styleText } from "node:util"

/**
 * Functions that mark a text with a colour or a weight. Without colours the functions return the text unchanged. The
 * functions are applied after measuring and cutting, so they never change a layout.
 *
 * @since 0.1.0
 * @category models
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
 * A line for the terminal. Text from outside is escaped in the line, and all its colours come from this program.
 *
 * @since 0.1.0
 * @category models
 */
export type Line = string & Brand.Brand<"Line">

/**
 * Marks a text as a {@link Line}. The caller must have escaped the text.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toLine = (text: string): Line => text as Line

/**
 * An empty line.
 *
 * @since 0.1.0
 * @category constructors
 */
export const blank = toLine("")

const colour = String.raw`\u001b\[(?:0|1|2|3|4|9|22|3[0-79]|9[0-7])m`

/**
 * Matches the control sequences of colours and of text styles, such as bold and underlined. None of these sequences
 * hides text or makes it blink.
 *
 * @since 0.1.0
 * @category constants
 */
export const colours = new RegExp(colour, "g")

/**
 * The control sequence that erases the current line and moves the cursor to its start.
 *
 * @since 0.1.0
 * @category constants
 */
export const eraseLine = "\r\u001b[2K"

/**
 * The control sequence that hides the cursor.
 *
 * @since 0.1.0
 * @category constants
 */
export const hideCursor = "\u001b[?25l"

/**
 * The control sequence that shows the cursor.
 *
 * @since 0.1.0
 * @category constants
 */
export const showCursor = "\u001b[?25h"

/**
 * Matches the control sequences that may be written to a screen: those of {@link colours}, {@link eraseLine}, {@link
 * hideCursor} and {@link showCursor}.
 *
 * @since 0.1.0
 * @category constants
 */
export const screen = new RegExp(String.raw`${colour}|\r\u001b\[2K|\u001b\[\?25[lh]`, "g")

const make = (paint: (format: keyof Style) => (text: string) => string): Style => ({
  bold: paint("bold"),
  dim: paint("dim"),
  red: paint("red"),
  green: paint("green"),
  yellow: paint("yellow"),
  cyan: paint("cyan")
})

/**
 * The style without colours, for files, pipes, tests and `NO_COLOR`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const plain: Style = make(() => (text) => text)

/**
 * The style with ANSI colours.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ansi: Style = make(
  (format) => (text) => (text === "" ? text : styleText(format, text, { validateStream: false }))
)

/**
 * The style of the terminal that `TerminalCapabilities` describes: the standard output, or the standard error inside
 * `StandardError.show`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const current: Effect.Effect<Style> = Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) =>
  canColor ? ansi : plain
)
