import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Printable from "@assembly-effect/schema/Printable"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const token = "q7-Xv/9Zk+RmB2.tY_w=e1"

/** The encodings of one character, by their names. */
const forms: Readonly<Record<string, (character: string) => string>> = {
  plain: (character) => character,
  json: (character) => (character === "/" ? "\\/" : JSON.stringify(character).slice(1, -1)),
  unicode: (character) => character.split("").map(unicode).join(""),
  "unicode in upper case": (character) =>
    character
      .split("")
      .map((unit) => unicode(unit).replace(/[a-f]/g, (digit) => digit.toUpperCase()))
      .join(""),
  percent: (character) => percent(character).toLowerCase(),
  "percent in upper case": (character) => percent(character),
  form: (character) =>
    character === " " ? "+" : character.isWellFormed() ? encodeURIComponent(character) : unicode(character),
  decimal: (character) => `&#${character.codePointAt(0)};`,
  hexadecimal: (character) => `&#x${character.codePointAt(0)?.toString(16)};`
}

const unicode = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

const percent = (character: string): string =>
  character.isWellFormed()
    ? Array.from(
        new TextEncoder().encode(character),
        (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
      ).join("")
    : unicode(character)

const names = Object.keys(forms)
const write = (text: string, form: (index: number) => string): ReadonlyArray<string> =>
  Array.from(text, (character, index) => forms[form(index)]?.(character) ?? character)

/** Every sequence of 8 characters of the secret that remains, in any encoding. */
const leftOf = (output: string, pieces: ReadonlyArray<string>): ReadonlyArray<string> =>
  pieces
    .map((_, start) => pieces.slice(start, start + 8))
    .filter((run) => run.length === 8)
    .map((run) => run.join(""))
    .filter((run) => [run, Printable.escape(run)].some((form) => output.includes(form)))

describe("A secret in a text", () => {
  it.each(names)("is taken out as %s", (name) => {
    const written = write(token, () => name).join("")
    assert.strictEqual(Redaction.text(`it was <${written}>!`, { secrets: [token] }), "it was <<redacted>>!")
  })

  it.each([
    ["JSON in JSON", JSON.stringify(JSON.stringify({ token }))],
    ["JSON in a URL", encodeURIComponent(JSON.stringify({ token }).replaceAll("/", "\\/"))],
    ["encoded twice", encodeURIComponent(encodeURIComponent(token))],
    ["five times", Array.from({ length: 4 }).reduce(encodeURIComponent, write(token, () => "percent").join(""))],
    ["in the other case", token.toUpperCase()]
  ])("is taken out inside of others: %s", (_, text) => {
    const safe = Redaction.text(text, { secrets: [token] })
    assert.include(safe, "<redacted>")
    assert.notMatch(safe, /q7|9Zk|RmB|e1/i)
  })

  it("is removed before the text is cut, and so is half a secret at the end", () => {
    for (let before = 900; before <= 1010; before++) {
      const safe = Redaction.text("-".repeat(before) + token, { secrets: [token] })
      assert.notInclude(safe, token.slice(0, 4))
    }
    for (let length = 4; length <= token.length; length++) {
      assert.strictEqual(Redaction.excerpt(`so ${token.slice(0, length)}`, [token]), "so <redacted>")
    }
    assert.strictEqual(Redaction.text(`${token.repeat(60)} end`, { secrets: [token] }), "<redacted> end")
    // The text is cut in the middle of an escape.
    assert.strictEqual(Redaction.excerpt(`so ${token.slice(0, 5)}%2`, [token]), "so <redacted>")
    assert.strictEqual(Redaction.excerpt(`so ${token.slice(0, 5)}\\u00`, [token]), "so <redacted>")
  })

  it("that is short is removed as a whole, and an empty secret hides nothing", () => {
    assert.strictEqual(Redaction.text("abc ab abc", { secrets: ["abc"] }), "<redacted> ab <redacted>")
    assert.strictEqual(Redaction.text("abc", { secrets: [""] }), "abc")
  })

  it.each([
    ["Latin-1 in a URL", "caf%E9-pass%E9", "café-passé"],
    ["what the secret itself encodes", "a/b/c/d/e/f", "a%2Fb%2Fc%2Fd%2Fe%2Ff"],
    ["what is written for a control character", "\u001bsecret", "1bsecret"]
  ])("is taken out as %s", (_, written, secret) => {
    assert.match(Redaction.text(`it was ${written}!`, { secrets: [secret] }), /^it was (?:\\x)?<redacted>!$/)
  })

  // Characters that are used in escapes are the most difficult ones.
  const hard = Schema.String.check(Schema.isPattern(/^[%\\&ux41#;/+ aé"]{0,40}$/u, { expected: "parts of escapes" }))

  for (const [kind, any] of [
    ["any text", Schema.String],
    ["parts of escapes", hard]
  ] as const) {
    it.effect.prop(
      `leaves no 8 of its characters in a row, in any mix of forms, in any text, cut anywhere: ${kind}`,
      {
        secret: any,
        before: any,
        after: any,
        mix: Schema.Array(Schema.Literals(names)).check(Schema.isMinLength(1)),
        from: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 })),
        to: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
      },
      ({ after, before, from, mix, secret, to }) =>
        Effect.sync(() => {
          const pieces = write(secret, (index) => mix[index % mix.length] ?? "plain")
          const text = before + pieces.join("") + after
          const options = { secrets: [secret], max: 10_000 }
          assert.deepStrictEqual(leftOf(Redaction.text(text, options), pieces), [])
          const part = text.slice(from, Math.max(from, text.length - to))
          assert.deepStrictEqual(leftOf(Redaction.text(part, options), pieces), [])
        }),
      { arbitrary: { runs: 2000 } }
    )
  }

  it.effect.prop(
    "never throws, and is bounded and printable, whatever the text and the secret are",
    { text: Schema.String, secret: Schema.String },
    ({ secret, text }) =>
      Effect.sync(() => {
        const safe = Redaction.excerpt(text.repeat(50), [secret])
        assert.isAtMost(safe.length, 201)
        assert.strictEqual(Printable.escape(safe), safe)
      })
  )

  it("costs little time in a text that consists of escapes", () => {
    const secret = "%41%41%41\\\\\\\\AAAA".repeat(20)
    assert.isAtMost(
      Redaction.text("%41\\\\A&#65;".repeat(200_000), { secrets: [secret, secret.slice(3)] }).length,
      1001
    )
  })
})

const assemblyId = "0123456789abcdef0123456789abcdef"
/** A slash that is percent-encoded five times. */
const slash5 = "%252525252F"

describe("A capability in a text", () => {
  it.each([
    [
      "Cannot PATCH http://127.0.0.1:80/resumable/files/u0",
      "Cannot PATCH http://127.0.0.1:80/resumable/files/<redacted>"
    ],
    ["<pre>Cannot PATCH /resumable/files/u0/a?b=c</pre>", "<pre>Cannot PATCH /resumable/files/<redacted></pre>"],
    ['{"url":"https:\\/\\/h\\/resumable\\/files\\/u0"}', '{"url":"https:\\/\\/h\\/resumable\\/files\\/<redacted>"}'],
    ["at=https%3A%2F%2Fh%2Fresumable%2ffiles%2Fu0", "at=https%3A%2F%2Fh%2Fresumable%2ffiles%2F<redacted>"],
    ["&#x2F;resumable&#47;files&#x2f;u0", "&#x2F;resumable&#47;files&#x2f;<redacted>"],
    ["\\u002fresumable\\u002Ffiles\\u002fu0", "\\u002fresumable\\u002Ffiles\\u002f<redacted>"],
    [`no https://h/assemblies/${assemblyId} here`, "no https://h/assemblies/<redacted> here"],
    [
      `"assembly_ssl_url":"https:\\/\\/h\\/assemblies\\/${assemblyId}"`,
      '"assembly_ssl_url":"https:\\/\\/h\\/assemblies\\/<redacted>"'
    ],
    [`cut off in /assemblies/${assemblyId.slice(0, 9)}`, "cut off in /assemblies/<redacted>"],
    [`cut off in ${assemblyId.slice(0, 12)}`, "cut off in <redacted>"],
    ["see https://cdn.example/a.png?Expires=1&Signature=xyz.", "see https://cdn.example/a.png?<redacted>"],
    ["wss://h/updates?assembly=5d8a", "wss://h/updates?<redacted>"],
    ["https://me:pass@h/a", "https://<redacted>@h/a"],
    ["GET /assemblies?signature=sha384%3Aabc&params=x", "GET /assemblies?signature=<redacted>&params=x"],
    ['{"access_token":"abc"}', '{"access_token":"<redacted>"}'],
    [`Authorization: Bearer ${token}`, "Authorization: Bearer <redacted>"],
    [`sha1:${"a1".repeat(20)}`, "sha1:<redacted>"],
    [`or ${btoa("http://127.0.0.1:18091/resumable/files/CAPABILITY0123456789")} or`, "or <redacted> or"],
    [
      "&#x0000002F;resumable&#00000047;files&#x02f;&#x00000055;&#x00000050;",
      "&#x0000002F;resumable&#00000047;files&#x02f;<redacted>"
    ],
    ["\\x2fresumable\\x2Ffiles\\x2fu0", "\\x2fresumable\\x2Ffiles\\x2f<redacted>"],
    ["\\u{2f}resumable\\u{2F}files\\u{00002f}u0", "\\u{2f}resumable\\u{2F}files\\u{00002f}<redacted>"],
    ["&sol;resumable&sol;files&sol;u0", "&sol;resumable&sol;files&sol;<redacted>"],
    ["&#47resumable&#047files&#47u0", "&#47resumable&#047files&#47<redacted>"],
    [`${slash5}resumable${slash5}files${slash5}u0`, `${slash5}resumable${slash5}files${slash5}<redacted>`],
    ["see https://h/a#xyz", "see https://h/a#<redacted>"],
    ["policy=eyJ&a=b", "policy=<redacted>&a=b"],
    ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic <redacted>"],
    ["\\057resumable\\057files\\057u0", "\\057resumable\\057files\\057<redacted>"],
    ["%u002Fresumable%u002ffiles\\U0000002fu0", "%u002Fresumable%u002ffiles\\U0000002f<redacted>"]
  ])("is taken out of %j", (text, safe) => {
    assert.strictEqual(Redaction.text(text), safe)
  })

  it.each([
    "The file report-2026.csv of https://api2.example.com/docs/x is not there",
    "ERR_INVALID_OFFSET: expected 1048576, got 1048577",
    "basic authentication is not known, set a token or a secret: none was given",
    "the limit of /assemblies is 50 a minute, until 1767225600"
  ])("an ordinary message stays: %s", (text) => {
    assert.strictEqual(Redaction.text(text, { secrets: [token] }), text)
  })

  it("a page of several lines is one printable line", () => {
    assert.strictEqual(Redaction.text("\n <p>\n  no\u001b[2J\u202e </p>\n"), "<p> no\\x1b[2J\\u202e </p>")
  })

  it("a code is short", () => {
    assert.strictEqual(Redaction.code("x".repeat(150)), `${"x".repeat(100)}…`)
  })

  it("ends with … if only its beginning was read, however short the beginning becomes", () => {
    const secret = "s3cr3t-".repeat(580)
    assert.match(Redaction.text(`${secret} ${"tail ".repeat(40)}`, { secrets: [secret] }), /^<redacted>(?: tail)+…$/)
    assert.strictEqual(Redaction.text(`end${" ".repeat(5000)}`), "end")
    const texts = Redaction.json(["word ".repeat(815), "word ".repeat(100), "word"])
    assert.deepStrictEqual((texts as ReadonlyArray<string>).slice(1), ["word word word word w…", "…"])
  })

  it("in JSON is removed from keys and texts, and the value is limited", () => {
    const reason = { [`at ${token}`]: ["/resumable/files/u0", 1, null, true] }
    assert.deepStrictEqual(Redaction.json(reason, { secrets: [token] }), {
      "at <redacted>": ["/resumable/files/<redacted>", 1, null, true]
    })
    let deep: Schema.Json = "end"
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    assert.isAtMost(JSON.stringify(Redaction.json(deep)).length, 100)
    assert.isAtMost(JSON.stringify(Redaction.json(Array.from({ length: 100_000 }, () => 1))).length, 2000)
    const row = Array.from({ length: 200 }, () => 1)
    const square = Array.from({ length: 200 }, () => row)
    assert.isAtMost(JSON.stringify(Redaction.json(Array.from({ length: 200 }, () => square))).length, 4000)
    assert.isAtMost(JSON.stringify(Redaction.json({ text: "x".repeat(100_000) })).length, 1100)
  })
})

describe("The texts in JSON", () => {
  it("cost no more time than one text, however many there are", () => {
    for (const part of ["/", "%25", "\\u005c", "a"]) {
      const value = Array.from({ length: 256 }, () => part.repeat(8192))
      const safe = Redaction.json({ [part.repeat(8192)]: value, more: value }, { secrets: [token, "a".repeat(64)] })
      const texts = JSON.stringify(safe)
      assert.isAtMost(texts.length, 8192)
      assert.include(texts, "…")
    }
  })
})
