import { Redaction } from "@assembly-effect/auth"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Base64, Base64Url, Hex } from "effect/encoding"

const token = "q7-Xv/9Zk+RmB2.tY_w=e1"

const everyByte = (text: string) => Hex.encode(text).replace(/../g, "%$&")
const everyUnit = (text: string) =>
  text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
const json = (text: string) => JSON.stringify(text).slice(1, -1)

/** Every promised form of a text. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  "plain text": (text) => text,
  "upper case": (text) => text.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  "a URL": encodeURIComponent,
  "a form": (text) => encodeURIComponent(text).replaceAll("%20", "+"),
  "percent-encoded bytes": everyByte,
  JSON: json,
  "JSON with \\/": (text) => json(text).replaceAll("/", "\\/"),
  "\\u escapes": everyUnit,
  "Base64 after 0 bytes": Base64.encode,
  "Base64 after 1 byte": (text) => Base64.encode(`:${text}`),
  "Base64 after 2 bytes": (text) => Base64.encode(`k:${text}!`),
  base64url: Base64Url.encode,
  "hexadecimal digits": Hex.encode,
  "hexadecimal digits in upper case": (text) => Hex.encode(text).toUpperCase(),
  "JSON in JSON in a URL": (text) => encodeURIComponent(json(json(text))),
  "Base64 in a URL": (text) => encodeURIComponent(Base64.encode(text))
}
const names = Object.keys(forms)
const write = (text: string, form: string): string => forms[form]?.(text) ?? text

const wellFormed = Schema.String.check(Schema.makeFilter((text) => text.isWellFormed()))
const atLeast8 = wellFormed.check(Schema.isMinLength(8))
// Characters that are used in escapes are the most difficult ones.
const escapes = Schema.String.check(Schema.isPattern(/^[%\\&ux41#;/+ aé"]{8,40}$/u, { expected: "parts of escapes" }))

const windowsOf = (text: string) =>
  Array.from({ length: Math.max(0, text.length - 7) }, (_, at) => text.slice(at, at + 8))

/** The pieces of 8 characters of a secret in a form, or of its Base64 but for its ends, that a text contains. */
const leftOf = (safe: string, secret: string, form: string): ReadonlyArray<string> => {
  const ofBase64 = /^base64/i.test(form)
  const pieces = ofBase64
    ? windowsOf(write(secret, form.replace(" in a URL", " after 0 bytes")).slice(4, -6)).map(encodeURIComponent)
    : windowsOf(secret)
        .filter((piece) => piece.isWellFormed())
        .map((piece) => write(piece, form))
  return pieces
    .flatMap((piece) => (ofBase64 ? [piece, decodeURIComponent(piece)] : [piece, Printable.escape(piece)]))
    .filter((piece) => safe.includes(piece))
}

describe("Redaction of a secret", () => {
  it.each(names)("replaces a secret in the form %s by <redacted>", (form) => {
    const safe = Redaction.text(`it was <${write(token, form)}>!`, { secrets: [token] })
    // Base64 after other bytes begins and ends with characters that these bytes decide.
    assert.match(safe, /^it was <[\w+/=%]{0,5}<redacted>[\w+/=%]{0,7}>!$/)
  })

  for (const [kind, secret] of [
    ["any characters", atLeast8],
    ["parts of escapes", escapes]
  ] as const) {
    it.effect.prop(
      `leaves no 8 characters of a secret of ${kind}, in any form, in any text, cut anywhere`,
      {
        secret,
        form: Schema.Literals(names),
        before: wellFormed,
        after: wellFormed,
        cut: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
      },
      ({ after, before, cut, form, secret: hidden }) =>
        Effect.sync(() => {
          const text = `${before} ${write(hidden, form)}${after}`
          for (const part of [text, text.slice(0, Math.max(0, text.length - cut))]) {
            const safe = Redaction.text(part, { secrets: [hidden], max: 10_000 })
            assert.deepStrictEqual(leftOf(safe, hidden, form), [])
          }
        }),
      { arbitrary: { runs: 2000 } }
    )
  }

  it("leaves no 8 characters of a secret at the border of an excerpt", () => {
    for (const form of names) {
      for (let before = 150; before <= 200; before++) {
        const safe = Redaction.text("-".repeat(before) + write(token, form), { secrets: [token], max: 200 })
        assert.deepStrictEqual(leftOf(safe, token, form), [], form)
      }
    }
  })

  it("replaces a secret of 3 characters, and changes nothing for an empty secret", () => {
    assert.strictEqual(Redaction.text("abc ab abc", { secrets: ["abc"] }), "<redacted> ab <redacted>")
    assert.strictEqual(Redaction.text("abc", { secrets: [""] }), "abc")
  })

  it("replaces a secret that only the escape of a control character completes", () => {
    assert.strictEqual(Redaction.text("it was \u001bsecret!", { secrets: ["1bsecret"] }), "it was \\x<redacted>!")
  })
})

const assemblyId = "0123456789abcdef0123456789abcdef"

describe("Redaction of a capability", () => {
  it.each([
    ["PATCH http://127.0.0.1:80/resumable/files/u0", "PATCH http://127.0.0.1:80/resumable/files/<redacted>"],
    ["<pre>Cannot PATCH /resumable/files/u0/a?b=c</pre>", "<pre>Cannot PATCH /resumable/files/<redacted></pre>"],
    ['{"url":"https:\\/\\/h\\/resumable\\/files\\/u0"}', '{"url":"<redacted>"}'],
    ["at=https%3A%2F%2Fh%2Fresumable%2ffiles%2Fu0", "at=<redacted>"],
    ["%25252Fresumable%25252Ffiles%25252Fu0", "<redacted>"],
    ["\\u002fresumable\\u002Ffiles\\u002fu0", "<redacted>"],
    [`no https://h/assemblies/${assemblyId} here`, "no https://h/assemblies/<redacted> here"],
    [`cut off in /assemblies/${assemblyId.slice(0, 9)}`, "cut off in /assemblies/<redacted>"],
    [`cut off in ${assemblyId.slice(0, 12)}`, "cut off in <redacted>"],
    ["see https://cdn.example/a.png?Expires=1&Signature=xyz.", "see https://cdn.example/a.png?<redacted>"],
    ["wss://h/updates?assembly=5d8a", "wss://h/updates?<redacted>"],
    ["see https://h/a#xyz", "see https://h/a#<redacted>"],
    ["https://me:pass@h/a", "https://<redacted>@h/a"],
    ["GET /assemblies?signature=sha384%3Aabc&params=x", "GET /assemblies?signature=<redacted>&params=x"],
    ["policy=eyJ&a=b", "policy=<redacted>&a=b"],
    ['{"access_token":"abc"}', '{"access_token":"<redacted>"}'],
    [`Authorization: Bearer ${token}`, "Authorization: Bearer <redacted>"],
    ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic <redacted>"],
    [`sha1:${"a1".repeat(20)}`, "sha1:<redacted>"],
    [`or ${btoa("http://127.0.0.1:18091/resumable/files/CAPABILITY0123456789")} or`, "or <redacted> or"]
  ])("replaces a capability by <redacted>: %j becomes %j", (text, safe) => {
    assert.strictEqual(Redaction.text(text), safe)
  })
})

describe("Redaction of a text", () => {
  it.each([
    "The file report-2026.csv of https://api2.example.com/docs/x is not there",
    "ERR_INVALID_OFFSET: expected 1048576, got 1048577",
    "basic authentication is not known, set a token or a secret: none was given",
    "the limit of /assemblies is 50 a minute, until 1767225600",
    'a \\"quoted\\" word at 100%25 of C:\\\\new'
  ])("does not change a text without a secret: %s", (text) => {
    assert.strictEqual(Redaction.text(text, { secrets: [token] }), text)
  })

  it.effect.prop(
    "returns at most 201 printable characters as the excerpt of any text",
    { text: Schema.String, secret: Schema.String },
    ({ secret, text }) =>
      Effect.sync(() => {
        const safe = Redaction.text(text.repeat(50), { secrets: [secret], max: 200 })
        assert.isAtMost(safe.length, 201)
        assert.strictEqual(Printable.escape(safe), safe)
      })
  )

  it("joins several lines to one printable line", () => {
    assert.strictEqual(Redaction.text("\n <p>\n  no\u001b[2J\u202e </p>\n"), "<p> no\\x1b[2J\\u202e </p>")
  })

  it("cuts a code of 150 characters to 100 and …", () => {
    assert.strictEqual(Redaction.code("x".repeat(150)), `${"x".repeat(100)}…`)
  })

  it("ends with … if text after the first 4,096 characters is left out, but not for spaces", () => {
    const secret = "s3cr3t-".repeat(580)
    assert.match(Redaction.text(`${secret} ${"tail ".repeat(40)}`, { secrets: [secret] }), /^<redacted>(?: tail)+…$/)
    assert.strictEqual(Redaction.text(`end${" ".repeat(5000)}`), "end")
  })
})

describe("Redaction.json", () => {
  it("replaces a secret in a key and a capability in a text, and keeps the other values", () => {
    const reason = { [`at ${token}`]: ["/resumable/files/u0", 1, null, true] }
    assert.deepStrictEqual(Redaction.json(reason, { secrets: [token] }), {
      "at <redacted>": ["/resumable/files/<redacted>", 1, null, true]
    })
  })

  it("returns at most 8,192 characters for JSON of any depth, width and length", () => {
    let deep: Schema.Json = "end"
    for (let depth = 0; depth < 100_000; depth++) deep = [deep]
    const row = Array.from({ length: 200 }, () => 1)
    const texts = ["/", "%25", "\\u005c", "a"].map((part) => ({
      [part.repeat(8192)]: Array.from({ length: 256 }, () => part.repeat(8192))
    }))
    for (const value of [
      deep,
      Array.from({ length: 100_000 }, () => 1),
      Array.from({ length: 200 }, () => row),
      ...texts
    ]) {
      const safe = JSON.stringify(Redaction.json(value, { secrets: [token, "a".repeat(64)] }))
      assert.isAtMost(safe.length, 8192)
      assert.include(safe, "…")
    }
  })

  it("cuts the texts of JSON after 4,096 characters together", () => {
    const texts = Redaction.json(["word ".repeat(815), "word ".repeat(100), "word"])
    assert.deepStrictEqual((texts as ReadonlyArray<string>).slice(1), ["word word word word w…", "…"])
  })
})
