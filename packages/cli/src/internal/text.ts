/** Texts for people: their width, colours, numbers and moments in English and UTC, and words of a shell. */
import { CliOutput, TerminalCapabilities } from "effect/cli"
import { styleText } from "node:util"
import { type Brand, ByteSize, DateTime, Duration, Effect } from "./effect.ts"

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const ellipsis = "…"

/** The width of a text in terminal cells. */
export const width = (text: string): number => CliOutput.displayWidth(text)

/** Cuts a printable text, which has no control characters, to at most `cells` cells. A cut text ends in `…`. */
export const truncate = (text: string, cells: number): string => {
  if (cells <= 0) return ""
  if (width(text) <= cells) return text
  let kept = ""
  for (const { segment } of graphemes.segment(text)) {
    if (width(kept + segment) > cells - 1) break
    kept += segment
  }
  return kept + ellipsis
}

/** Pads a text with spaces to `cells` cells. */
export const pad = (text: string, cells: number, align: "left" | "right"): string => {
  const spaces = " ".repeat(Math.max(0, cells - width(text)))
  return align === "left" ? text + spaces : spaces + text
}

/** Cuts a word into pieces of at most `cells` cells. */
const pieces = (word: string, cells: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  let piece = ""
  for (const { segment } of graphemes.segment(word)) {
    // A character that is wider than a line is replaced by `…`.
    const shown = truncate(segment, cells)
    if (piece !== "" && width(piece + shown) > cells) {
      found.push(piece)
      piece = ""
    }
    piece += shown
  }
  return [...found, piece]
}

/** Stands for a space that breaks no line. It is one cell wide, and Unicode reserves it for the use inside of a program. */
const joiner = "\ufdd0"

/** A printable text that {@link wrap} does not break, unless it is wider than a line of `cells` cells. */
export const unbroken = (text: string, cells: number): string =>
  width(text) <= cells ? text.replaceAll(" ", joiner) : text

/**
 * Breaks a printable text into lines of at most `cells` cells. Lines are broken between words, but not inside of what
 * `whole` matches. A word that is longer than a line stays whole, or is broken into pieces with `breakWords`.
 */
export const wrap = (
  text: string,
  cells: number,
  { breakWords = false, whole }: { readonly breakWords?: boolean; readonly whole?: RegExp | undefined } = {}
): ReadonlyArray<string> => {
  const joined = whole === undefined ? text : text.replace(whole, (found) => found.replaceAll(" ", joiner))
  const lines: Array<string> = []
  let line: string | undefined
  for (const word of joined.split(" ").flatMap((one) => (breakWords ? pieces(one, cells) : [one]))) {
    const longer = line === undefined ? word : `${line} ${word}`
    if (line === undefined || width(longer) <= cells) {
      line = longer
    } else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line ?? ""].map((one) => one.replaceAll(joiner, " "))
}

/** A `ByteSize` must be a whole number and not negative. An average of sizes may be a fraction. */
const toByteSize = (value: number | bigint): ByteSize.ByteSize =>
  ByteSize.bytes(typeof value === "bigint" ? value : BigInt(Math.max(0, Math.round(value))))

/**
 * A number of bytes in binary units, with one decimal from KiB on.
 *
 * @example bytes(123) // "123 B", bytes(1536n) // "1.5 KiB"
 */
export const bytes = (value: number | bigint): string => {
  if (typeof value === "number" && !Number.isFinite(value)) return "∞"
  const size = toByteSize(value)
  return ByteSize.format(size, { precision: 1, trailingZeros: size >= 1024n })
}

/**
 * As {@link bytes}, but a number from 100 on has no decimal, so that the text has at most 8 cells.
 *
 * @example shortBytes(1536n) // "1.5 KiB", shortBytes(300_000) // "293 KiB"
 */
export const shortBytes = (value: number | bigint): string => {
  const text = bytes(value)
  return text.length <= 8 ? text : ByteSize.format(toByteSize(value), { precision: 0 })
}

/**
 * A speed, in the same units as a size, so that a user can compare a speed with a size on the same line.
 *
 * @example rate(12_300_000) // "11.7 MiB/s"
 */
export const rate = (bytesPerSecond: number): string => `${bytes(bytesPerSecond)}/s`

/**
 * A count with thousands separators.
 *
 * @example count(1234567) // "1,234,567"
 */
export const count = (value: number): string => value.toLocaleString("en-US")

/**
 * A duration in its two largest units, with tenths of a second below ten seconds.
 *
 * @example duration("1234 millis") // "1.2 s", duration("65 seconds") // "1 min 5 s", duration("1 hour") // "1 h"
 */
export const duration = (input: Duration.Input): string => {
  const length = Duration.max(Duration.fromInputUnsafe(input), Duration.zero)
  if (!Duration.isFinite(length)) return "∞"
  const seconds = Duration.toSeconds(length)
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`

  const { days, hours, minutes, ...rest } = Duration.parts(Duration.seconds(Math.round(seconds)))
  const units = [`${days} d`, `${hours} h`, `${minutes} min`, `${rest.seconds} s`]
  const first = units.findIndex((unit) => !unit.startsWith("0 "))
  return units
    .slice(first, first + 2)
    .filter((unit) => !unit.startsWith("0 "))
    .join(" ")
}

/**
 * As {@link duration}, without the spaces before the units, and with `m` for minutes. The text of a duration below 100
 * days has at most 7 cells.
 *
 * @example shortDuration("1234 millis") // "1.2s", shortDuration("65 seconds") // "1m 5s"
 */
export const shortDuration = (input: Duration.Input): string => duration(input).replaceAll(/ (d|h|m|s)(?:in)?\b/g, "$1")

/**
 * The time until a response. Times between a millisecond and a second are shown in whole milliseconds.
 *
 * @example latency(12) // "12 ms", latency(1234) // "1.2 s"
 */
export const latency = (millis: number): string => {
  if (millis >= 1000) return duration(millis)
  return millis < 1 ? "<1 ms" : `${Math.floor(millis)} ms`
}

/**
 * A time in UTC, to the second. The text does not name the zone; the caller names it, for example in the heading of a
 * table.
 *
 * @example date(DateTime.makeUnsafe("2026-01-01T10:00:00Z")) // "2026-01-01 10:00:00"
 */
export const date = (moment: DateTime.DateTime): string => DateTime.formatIso(moment).slice(0, 19).replace("T", " ")

/** As {@link date}, to the minute. */
export const minute = (moment: DateTime.DateTime): string => date(moment).slice(0, 16)

/**
 * How long ago a moment was, as a whole number of the largest unit that fits: days, hours, minutes or seconds. A moment
 * in the future is `0s`, because the clock of the service may be ahead of this clock.
 *
 * @example age("90 minutes") // "1h", age("45 seconds") // "45s"
 */
export const age = (input: Duration.Input): string =>
  shortDuration(Duration.seconds(Math.floor(Duration.toSeconds(input)))).replace(/ .*/, "")

const formats = ["bold", "dim", "red", "green", "yellow", "cyan"] as const

/**
 * Functions that mark a text with a colour or a weight. Without colours they return the text unchanged. They are applied
 * after measuring and cutting, so they never change a layout.
 */
export type Style = Readonly<Record<(typeof formats)[number], (text: string) => string>>

/** A line for the terminal. Text from outside is escaped in the line, and all its colours come from this program. */
export type Line = string & Brand.Brand<"Line">

/** Marks a text as a {@link Line}. The caller must have escaped the text. */
export const toLine = (text: string): Line => text as Line

/** An empty line. */
export const blank = toLine("")

const colour = String.raw`\u001b\[(?:0|1|2|3|4|9|22|3[0-79]|9[0-7])m`

/** Matches the control sequences of colours and of text styles. None of them hides text or makes it blink. */
export const colours = new RegExp(colour, "g")

/** Erases the current line and moves the cursor to its start. */
export const eraseLine = "\r\u001b[2K"

/** Hide and show the cursor. */
export const hideCursor = "\u001b[?25l"
export const showCursor = "\u001b[?25h"

/** Matches the control sequences that may be written to a screen: {@link colours} and those above. */
export const screen = new RegExp(String.raw`${colour}|\r\u001b\[2K|\u001b\[\?25[lh]`, "g")

const make = (paint: (format: keyof Style, text: string) => string) =>
  Object.fromEntries(formats.map((format) => [format, (text: string) => paint(format, text)])) as Style

/** The style without colours, for files, pipes, tests and `NO_COLOR`. */
export const plain: Style = make((_, text) => text)

/** The style with ANSI colours. */
export const ansi: Style = make((format, text) =>
  text === "" ? text : styleText(format, text, { validateStream: false })
)

/** The style of the terminal that `TerminalCapabilities` describes. */
export const current: Effect.Effect<Style> = Effect.map(TerminalCapabilities.TerminalCapabilities, ({ canColor }) =>
  canColor ? ansi : plain
)

/**
 * A text of these characters needs no quotes in a POSIX shell or in fish. `=` is missing, because zsh reads `=word` as
 * the path of a command.
 */
const unquoted = /^[A-Za-z0-9_./:@%+,-]+$/

/**
 * Quotes a text as one word of a command, so that every POSIX shell and fish read back the same text. A text that needs
 * no quotes stays as it is. Backslashes stay outside the quotes, because fish interprets backslashes inside quotes.
 *
 * @example word("my file") // 'my file'
 */
export const word = (text: string): string => {
  const escapeEach = (found: string) => found.replaceAll(/['\\]/g, String.raw`\$&`)
  return unquoted.test(text) ? text : `'${text.replaceAll(/['\\]+/g, (found) => `'${escapeEach(found)}'`)}'`
}

/**
 * Returns the shell command that exports an environment variable with the given value.
 *
 * @example exportLine("SECRET", "it's") // export SECRET='it'\''s'
 */
export const exportLine = (name: string, value: string): string => `export ${name}=${word(value)}`
