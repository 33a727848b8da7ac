/**
 * The rules that many parts of requests have in common. A `Part` is told where it is.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import type * as Schema from "effect/Schema"
import { integers, type Key, mapBreaks, missing, oneOf, type Options, rule, type Rules, text, values } from "./rule.ts"

/** The rules of the part at a path. */
export type Part = (at: ReadonlyArray<Key>) => ReadonlyArray<Rules>

/** One rule. */
export const is =
  (name: string, bad: Options["bad"], more: Partial<Options> = {}): Part =>
  (at) => [rule({ at, name, bad, ...more })]

/** The rules of several parts at the same path. */
export const all =
  (...parts: ReadonlyArray<Part>): Part =>
  (at) =>
    parts.flatMap((part) => part(at))

/** A part that must be there. */
export const required = (...parts: ReadonlyArray<Part>): Part => all((at) => [missing(at)], ...parts)

/** Rules whose error code is the same. */
export const coded =
  (code: string, ...parts: ReadonlyArray<Part>): Part =>
  (at) =>
    mapBreaks(all(...parts)(at), (one) => ({ ...one, code }))

/** A rule of the decoded form. */
export const decoded = (name: string, bad: Arbitrary.Arbitrary<unknown>, more?: Partial<Options>): Part =>
  is(name, { decoded: bad }, more)

/** A rule of the form on the wire. */
export const wire = (name: string, bad: Arbitrary.Arbitrary<unknown>, more?: Partial<Options>): Part =>
  is(name, { wire: bad }, more)

const keyOf = (name: string): Key => {
  const [key = "", onWire = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = name.split("/")
  return key === onWire ? key : [key, onWire]
}

/**
 * The rules of the parts of an object by key. The key on the wire is in snake case, or follows after a slash:
 * `pageSize/pagesize`.
 */
export const parts = (of: Readonly<Record<string, Part>>): Part =>
  all(
    ...Object.entries(of).map(
      ([name, part]): Part =>
        (at) =>
          part([...at, keyOf(name)])
    )
  )

const empty = Arbitrary.Constant("")

/** JSON values that are not strings. */
export const notText = values(null, true, 5, [], {})

export const object = is("is an object", values([], "a", "", 5, null))

/** An object with the rules of its parts. */
export const struct = (of: Readonly<Record<string, Part>>): Part => all(object, parts(of))

/** Text. */
export const string = is("is text", notText)

const notEmpty = is("is at least 1 character", empty)

/** Text of at least one character. */
export const filled = all(notEmpty, string)

/** Values with one bad element or entry. */
export const each = (key: "a" | 0, bad: Arbitrary.Arbitrary<unknown>) =>
  Arbitrary.map(bad, (one): unknown => (key === 0 ? [one] : { a: one }))

const ends = (limit: number, direction: 1 | -1) =>
  oneOf(
    values(limit + direction),
    Arbitrary.map(integers(1, 1000), (n) => limit + n * direction)
  )

/** A number that is an integer within limits, both of which are valid. */
export const inRange = (minimum = -Infinity, maximum = Infinity): Part =>
  all(
    is(
      maximum === Infinity ? "is a safe integer" : "is an integer",
      oneOf<unknown>(
        Arbitrary.map(integers(Math.max(minimum, -1000), Math.min(maximum, 1000) - 1), (n) => n + 0.5),
        ...(maximum === Infinity ? [values(1e300, 2 ** 53)] : [])
      )
    ),
    ...(minimum === -Infinity ? [] : [is(`is at least ${minimum}`, ends(minimum, -1), { edge: values(minimum) })]),
    ...(maximum === Infinity ? [] : [is(`is at most ${maximum}`, ends(maximum, 1), { edge: values(maximum) })])
  )

export const integer = (minimum?: number, maximum?: number): Part =>
  all(is("is a number", values("1", null, true, [])), inRange(minimum, maximum))

export const boolean = is("is true or false", values(5, 1, 0, "true", null, []))

/** A flag, which is 0 or 1 on the wire, or a boolean. */
export const flag = is(
  "is a flag",
  { decoded: values(0, 1, "yes", null), wire: values(2, -1, "1", null) },
  { edge: { wire: values(0, 1, true, false) } }
)

const otherCase = (word: string) => (word === word.toUpperCase() ? word.toLowerCase() : word.toUpperCase())

/** One of several words, in this case. */
export const word = (...words: ReadonlyArray<string>): Part =>
  all(
    is(
      `is one of ${words.join(", ")}`,
      oneOf<unknown>(
        text("^[a-z]{1,12}$").pipe(Arbitrary.filter((one) => !words.includes(one))),
        values(...words.map(otherCase), "")
      ),
      { edge: values(...words) }
    ),
    is("is text", notText.pipe(Arbitrary.filter((bad) => bad !== null)))
  )

export const list = is("is a list", values("a", 5, null, {}))

/** A list of texts. */
export const texts = all(list, is("holds texts", each(0, notText), { below: [0] }))

/** An object whose values are JSON. */
export const json = all(
  object,
  decoded("holds JSON values", each("a", values(NaN, Infinity, undefined, 1n)), { below: ["a"] })
)

/** Text or a DateTime. */
export const since = all(notEmpty, is("is text or a DateTime", notText))

const moments = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2024-02-29T23:59:59Z"]

/** A date-time of a list. */
export const listDate = all(
  is("is a date-time", {
    decoded: oneOf(notText, text("^\\d{4}-0[1-9]-0[1-9] 10:00:00$")),
    wire: oneOf(
      notText,
      text("^\\d{4}-0[1-9]-0[1-9]T10:00:00Z$"),
      text("^\\d{4}-0[1-9]-0[1-9](?: 10:00)?$"),
      text("^\\d{4}-[1-9]-[1-9] 10:00:00$"),
      text("^ \\d{4}-0[1-9]-0[1-9] 10:00:00$")
    )
  }),
  wire(
    "is a time of the calendar",
    oneOf(
      text("^\\d{4}-(?:02-3[01]|04-31|06-31|13-01|00-10|01-32) 10:00:00$"),
      text("^\\d{4}-0[1-9]-0[1-9] (?:2[4-9]:00:00|10:[6-9]\\d:00|10:00:[6-9]\\d)$")
    )
  ),
  decoded(
    "is of the years 0000 to 9999",
    Arbitrary.map(integers(253_402_300_800, 8_640_000_000_000), (second) => DateTime.makeUnsafe(second * 1000)),
    { edge: { decoded: values(...moments.map((iso) => DateTime.makeUnsafe(iso))) } }
  )
)

const isIdentifier = (more?: Partial<Options>) =>
  is(
    "is an identifier",
    oneOf<unknown>(
      text("^[A-Za-z0-9_-]{20}[AQgw]$"),
      text("^[A-Za-z0-9_-]{22}[AQgw]$"),
      text("^[A-Za-z0-9_-]{21}[B-PR-Za-fh-vx-z0-9_-]$"),
      values("AAAAAAAAAAAAAAAAAAAAAA\n", ""),
      text("^[A-Za-z0-9_-]{20}[+/=]A$")
    ),
    more
  )

/** The 22 characters of an identifier, at the end of a path. */
export const identifier = all(isIdentifier(), is("is text", values(5, true, null)))

export const identifierOrNull = all(isIdentifier({ edge: values(null) }), is("is text", values(5, true)))

const noControl = is(
  "is without control characters",
  text("^[a-z]{0,8}[\\u0000-\\u001f\\u007f-\\u009f][a-z]{0,8}$").pipe(Arbitrary.filter((name) => name.trim() !== ""))
)
const wellFormed = is("is valid Unicode", values("a\ud800", "\udc00b", "\udc00.pdf", "a\udfffb"))
const noDots = is("is not . or ..", values(".", ".."), { edge: values("...", ".a", "a.") })

/** Text that a path can hold, also with slashes. */
export const segments = all(
  is("is 1 to 255 characters", oneOf(values("", "a".repeat(256)), text("^[a-z]{256,270}$")), {
    edge: values("a", "a b", "%2F", "?", "#", "é", "a".repeat(255))
  }),
  noDots,
  is("is without backslash", text("^[a-z]{0,4}\\\\[a-z]{0,4}$")),
  noControl,
  wellFormed,
  string
)

/** Text that one segment of a path can hold. */
export const segment = all(segments, is("is without slash", text("^[a-z]{0,4}/[a-z]{0,4}$")))

/** A name of a file. */
export const filename = all(
  is(
    "is 1 to 255 characters",
    // A character is a code point: an emoji is one, although it has two UTF-16 code units and four bytes.
    oneOf(values("", "a".repeat(256), "\u{1f600}".repeat(256)), text("^[a-z]{256,270}$")),
    // In its normal form, the last name has 255 characters.
    { edge: values("a", "a".repeat(255), "ä".repeat(255), "\u{1f600}".repeat(255), "e\u0301".repeat(255)) }
  ),
  is("is not only white space", text("^[ \\u00a0\\u2003]{1,10}$"), { edge: values(" a ") }),
  noDots,
  is("is without slash and backslash", text("^[a-z]{0,8}[/\\\\][a-z]{0,8}$")),
  noControl,
  wellFormed,
  string
)

const a255 = "a".repeat(255)
const pathOf = (last: string) => `${a255}/${"b".repeat(254)}/${last}`
const bytesOf = (last: string) => `${"\u{1f600}".repeat(255)}/${last}`

/** A path of names of files. */
export const entryPath = required(
  string,
  is("is at most 512 code points", values(pathOf("cc")), { edge: values(pathOf("c")) }),
  is("is at most 1024 bytes", values(bytesOf("aaaa")), { edge: values(bytesOf("aaa")) }),
  is(
    "has valid names",
    oneOf(
      values("", "/", "//a", "a//b", "a/", ".", "../a", "a/./b", "a/ /b"),
      values("a\\b", "a\u0000b", "a/\u007f", "a\ud800", `${a255}a/b`)
    )
  )
)

type Codec = Schema.ConstraintCodec<unknown, unknown>

/** Schemas with their rules. */
export type Table = ReadonlyArray<readonly [schema: Codec, rules: Part]>

/** An object with the rules of its parts by key, and the code of the error with which the service refuses it. */
export const request = (schema: Codec, of: Readonly<Record<string, Part>>, code?: string): readonly [Codec, Part] => [
  schema,
  code === undefined ? struct(of) : coded(code, struct(of))
]
