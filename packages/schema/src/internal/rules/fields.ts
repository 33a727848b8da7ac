/**
 * The rules that many fields of requests have in common.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import { integers, type Key, missing, oneOf, type Options, rule, type Rules, text, values } from "./rule.ts"

const empty = Arbitrary.Constant("")

/** JSON values that are not strings. */
export const notText = values(null, true, 5, [], {})

export const required = (key: Key, code?: string): Rules => missing([key], code)

/** A rule of the part with this key. */
export const field = (key: Key, name: string, bad: Options["bad"], more: Partial<Options> = {}): Rules =>
  rule({ at: [key], name, bad, ...more })

/** Text. */
export const string = (key: Key, code?: string): Rules => field(key, "is text", notText, { code })

/** Text of at least one character. */
export const filled = (key: Key, code?: string): ReadonlyArray<Rules> => [
  field(key, "is at least 1 character", empty, { code }),
  string(key, code)
]

/** A number that is an integer within limits, both of which are valid. */
export const inRange = (at: ReadonlyArray<Key>, minimum = -Infinity, maximum = Infinity): ReadonlyArray<Rules> => [
  rule({
    at,
    name: maximum === Infinity ? "is a safe integer" : "is an integer",
    bad: oneOf<unknown>(
      Arbitrary.map(integers(Math.max(minimum, -1000), Math.min(maximum, 1000) - 1), (n) => n + 0.5),
      ...(maximum === Infinity ? [values(1e300, 2 ** 53)] : [])
    )
  }),
  ...(minimum === -Infinity
    ? []
    : [
        rule({
          at,
          name: `is at least ${minimum}`,
          bad: oneOf(values(minimum - 1), integers(minimum - 1000, minimum - 1)),
          edge: values(minimum)
        })
      ]),
  ...(maximum === Infinity
    ? []
    : [
        rule({
          at,
          name: `is at most ${maximum}`,
          bad: oneOf(
            values(maximum + 1),
            Arbitrary.map(integers(1, 1_000_000), (n) => maximum + n)
          ),
          edge: values(maximum)
        })
      ])
]

export const integer = (key: Key, minimum?: number, maximum?: number): ReadonlyArray<Rules> => [
  field(key, "is a number", values("1", null, true, [])),
  ...inRange([key], minimum, maximum)
]

export const boolean = (key: Key): Rules => field(key, "is true or false", values(5, 1, 0, "true", null, []))

/** A flag, which is 0 or 1 on the wire, or a boolean. */
export const flag = (key: Key): Rules =>
  field(
    key,
    "is a flag",
    { decoded: values(0, 1, "yes", null), wire: values(2, -1, "1", null) },
    {
      edge: { wire: values(0, 1, true, false) }
    }
  )

/** One of several words, in this case. */
export const word = (key: Key, words: ReadonlyArray<string>, code?: string): ReadonlyArray<Rules> => [
  field(
    key,
    `is one of ${words.join(", ")}`,
    oneOf<unknown>(
      text("^[a-z]{1,12}$").pipe(Arbitrary.filter((one) => !words.includes(one))),
      values(...words.map((one) => (one === one.toUpperCase() ? one.toLowerCase() : one.toUpperCase())), "")
    ),
    { code, edge: values(...words) }
  ),
  field(key, "is text", notText.pipe(Arbitrary.filter((bad) => bad !== null)), { code })
]

export const list = (key: Key): Rules => field(key, "is a list", values("a", 5, null, {}))

/** A list of texts. */
export const texts = (key: Key): ReadonlyArray<Rules> => [
  list(key),
  field(
    key,
    "holds texts",
    Arbitrary.map(notText, (bad) => [bad]),
    { below: [0] }
  )
]

const noObject = values([], "a", 5, null)

export const object = (key: Key): Rules => field(key, "is an object", noObject)

/** The whole value is an object. */
export const whole = rule({ at: [], name: "is an object", bad: oneOf(noObject, empty) })

/** An object whose values are JSON. */
export const json = (key: Key): ReadonlyArray<Rules> => [
  object(key),
  field(
    key,
    "holds JSON values",
    { decoded: Arbitrary.map(values(NaN, Infinity, undefined, 1n), (value) => ({ a: value })) },
    { below: ["a"] }
  )
]

/** A date-time of a list. */
export const listDate = (key: Key): ReadonlyArray<Rules> => [
  field(key, "is a date-time", {
    decoded: oneOf(notText, text("^\\d{4}-0[1-9]-0[1-9] 10:00:00$")),
    wire: oneOf(
      notText,
      text("^\\d{4}-0[1-9]-0[1-9]T10:00:00Z$"),
      text("^\\d{4}-0[1-9]-0[1-9](?: 10:00)?$"),
      text("^\\d{4}-[1-9]-[1-9] 10:00:00$"),
      text("^ \\d{4}-0[1-9]-0[1-9] 10:00:00$")
    )
  }),
  field(key, "is a time of the calendar", {
    wire: oneOf(
      text("^\\d{4}-(?:02-3[01]|04-31|06-31|13-01|00-10|01-32) 10:00:00$"),
      text("^\\d{4}-0[1-9]-0[1-9] (?:2[4-9]:00:00|10:[6-9]\\d:00|10:00:[6-9]\\d)$")
    )
  }),
  field(
    key,
    "is of the years 0000 to 9999",
    {
      decoded: Arbitrary.map(integers(253_402_300_800, 8_640_000_000_000), (second) =>
        DateTime.makeUnsafe(second * 1000)
      )
    },
    {
      edge: {
        decoded: oneOf(
          ...["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2024-02-29T23:59:59Z"].map((iso) =>
            Arbitrary.Constant(DateTime.makeUnsafe(iso))
          )
        )
      }
    }
  )
]

const identifierText = oneOf<unknown>(
  text("^[A-Za-z0-9_-]{20}[AQgw]$"),
  text("^[A-Za-z0-9_-]{22}[AQgw]$"),
  text("^[A-Za-z0-9_-]{21}[B-PR-Za-fh-vx-z0-9_-]$"),
  values("AAAAAAAAAAAAAAAAAAAAAA\n"),
  text("^[A-Za-z0-9_-]{20}[+/=]A$"),
  empty
)

/** The 22 characters of an identifier, at the end of a path. */
export const identifier = (at: ReadonlyArray<Key>, nullable: boolean): ReadonlyArray<Rules> => [
  rule({ at, name: "is an identifier", bad: identifierText, ...(nullable ? { edge: values(null) } : undefined) }),
  rule({ at, name: "is text", bad: values(5, true, ...(nullable ? [] : [null])) })
]

/** The value of a variable of a path, which has no key. */
export const segment = (allowsSlash: boolean): ReadonlyArray<Rules> => segmentAt([], allowsSlash)

/** Text that a path can hold. */
export const segmentAt = (at: ReadonlyArray<Key>, allowsSlash: boolean): ReadonlyArray<Rules> => [
  rule({
    at,
    name: "is 1 to 255 characters",
    bad: oneOf(empty, values("a".repeat(256)), text("^[a-z]{256,270}$")),
    edge: values("a", "...", "a b", "%2F", "?", "#", "é", "a".repeat(255))
  }),
  rule({ at, name: "is not . or ..", bad: values(".", "..") }),
  rule({ at, name: "is without backslash", bad: text("^[a-z]{0,4}\\\\[a-z]{0,4}$") }),
  rule({
    at,
    name: "is without control characters",
    bad: text("^[a-z]{0,4}[\\u0000-\\u001f\\u007f-\\u009f][a-z]{0,4}$")
  }),
  rule({ at, name: "is valid Unicode", bad: values("a\ud800", "\udc00b") }),
  rule({ at, name: "is text", bad: notText }),
  ...(allowsSlash ? [] : [rule({ at, name: "is without slash", bad: text("^[a-z]{0,4}/[a-z]{0,4}$") })])
]

/** A name of a file. */
export const filename = (key: Key): ReadonlyArray<Rules> => [
  field(
    key,
    "is 1 to 255 characters",
    // A character is a code point: an emoji is one, although it has two UTF-16 code units and four bytes.
    oneOf(empty, values("a".repeat(256), "\u{1f600}".repeat(256)), text("^[a-z]{256,270}$")),
    {
      edge: oneOf<unknown>(
        values("a", "a".repeat(255), "ä".repeat(255), "\u{1f600}".repeat(255)),
        // In its normal form, the name has 255 characters.
        Arbitrary.Constant("e\u0301".repeat(255))
      )
    }
  ),
  field(key, "is not only white space", text("^[ \\u00a0\\u2003]{1,10}$"), { edge: values(" a ") }),
  field(key, "is not . or ..", values(".", ".."), { edge: values("...", ".a", "a.") }),
  field(key, "is without slash and backslash", text("^[a-z]{0,8}[/\\\\][a-z]{0,8}$")),
  field(key, "is without control characters", text("^[a-z]{1,8}[\\u0000-\\u001f\\u007f-\\u009f][a-z]{0,8}$")),
  field(key, "is valid Unicode", values("a\ud800", "\udc00.pdf", "a\udfffb")),
  string(key)
]

const a255 = "a".repeat(255)

/** A path of names of files. */
export const entryPath = (key: Key): ReadonlyArray<Rules> => [
  required(key),
  string(key),
  field(key, "is at most 512 code points", values(`${a255}/${"b".repeat(254)}/cc`), {
    edge: values(`${a255}/${"b".repeat(254)}/c`)
  }),
  field(key, "is at most 1024 bytes", values(`${"\u{1f600}".repeat(255)}/aaaa`), {
    edge: values(`${"\u{1f600}".repeat(255)}/aaa`)
  }),
  field(
    key,
    "has valid names",
    values(
      "",
      "a\ud800",
      "/",
      "//a",
      "a//b",
      "a/",
      ".",
      "../a",
      "a/./b",
      "a/ /b",
      "a\\b",
      "a\u0000b",
      "a/\u007f",
      `${a255}a/b`
    )
  )
]

export { empty }
