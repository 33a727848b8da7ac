/** Senders of notifications that are not the service. */
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { application, notification, path, text, urlEncoded } from "./receiving.ts"
import { chunk, headOf, open, signatureOf, statusIn, until } from "./support.ts"

const MiB = 1024 * 1024

const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields)

const multipart = "multipart/form-data; boundary=b"
const multipartType = { "content-type": multipart }
const partOf = (name: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

describe("Webhooks, a hostile sender", () => {
  it.effect("is refused with a wrong signature, another's text, an unknown algorithm or none", function* () {
    const { handled, post } = yield* application()
    for (const signature of [
      signatureOf(text, "another secret"),
      signatureOf(`${text} `),
      signatureOf(text).slice(0, -1),
      signatureOf(text).replace("sha384", "sha1"),
      signatureOf(text).replace("sha384", "none"),
      "",
      "\u0000"
    ]) {
      const { body, status } = yield* post(form({ transloadit: text, signature }))
      assert.strictEqual(status, 403, signature)
      assert.strictEqual((body as { readonly _tag: string })._tag, "SignatureRefused")
    }
    assert.strictEqual(handled.length, 0)
    assert.strictEqual((yield* post()).status, 200)
  })

  it.effect("is told which part of a form cannot be read", function* () {
    const { handled, post } = yield* application()
    const whole = partOf("transloadit", text) + partOf("signature", signatureOf(text))
    const twice = new URLSearchParams([...notification(), ["transloadit", text]])
    const part = (header: string, value = "") => `--b\r\n${header}\r\n\r\n${value}\r\n--b--`
    const file = 'content-disposition: form-data; name="transloadit"; filename="a"'
    const unreadable = "The headers of a part of the multipart body cannot be read."
    const notStatus = "The notification is not an Assembly Status:"
    const forms: ReadonlyArray<readonly [body: BodyInit, type: string | undefined, problem: string]> = [
      [form({ transloadit: text }), undefined, "The form has no field signature."],
      [form({ signature: "sha384:00" }), undefined, "The form has no field transloadit."],
      [twice, undefined, "The form has the field transloadit twice."],
      [whole, multipart, "The multipart body ends before its last boundary."],
      [whole, "multipart/form-data", "The content-type of the multipart body names no boundary."],
      [part("\u0000: x"), multipart, unreadable],
      ["--b\r\ncontent-disposition: form-data; name=transloadit\r\n--b--\r\n", multipart, unreadable],
      [part("content-disposition: form-data"), multipart, "A part of the multipart body does not name its field."],
      [part(file, text), multipart, "The form has a file."],
      [new Uint8Array([0xff]), urlEncoded, "The body is not UTF-8."],
      [text, "application/json", "The body is neither multipart nor a urlencoded form."],
      [notification("{}"), undefined, `${notStatus} assembly_id is invalid`],
      [notification("[".repeat(100_000)), undefined, `${notStatus} the text is nested deeper than 128 levels`]
    ]
    for (const [body, type, problem] of forms) {
      const answer = yield* post(body, type === undefined ? {} : { "content-type": type })
      const expected = [type === "application/json" ? 415 : 400, problem]
      assert.deepStrictEqual([answer.status, (answer.body as { readonly description: string }).description], expected)
    }
    assert.strictEqual(handled.length, 0)
    assert.strictEqual((yield* post()).status, 200)
  })

  it.effect.each([
    ["urlencoded", urlEncoded, "transloadit="],
    ["multipart field", multipart, "--b\r\ncontent-disposition: form-data; name=x\r\n\r\n"],
    ["multipart preamble", multipart, "before"],
    ["multipart header", multipart, "--b\r\ncontent-disposition: "]
  ] as const)("cannot send an endless %s", function* ([, type, start]) {
    const { bytesRead, port, sockets } = yield* application({ maxBytes: MiB })
    const raw = yield* open(port)
    yield* raw.write(headOf(path, { "content-type": type, "transfer-encoding": "chunked" }) + chunk(start))
    while (!raw.isClosed()) yield* raw.write(chunk("x".repeat(65536)))
    assert.oneOf(statusIn(raw.received()), [400, 413])
    yield* until(() => sockets.size === 0)
    // What the route reads, and what the server reads before the connection ends.
    assert.isBelow(bytesRead(), 4 * MiB)
  })

  it.effect("cannot send a million fields", function* () {
    const { post } = yield* application()
    const fields = "a=&".repeat(1_000_000)
    const many = yield* post(fields, { "content-type": urlEncoded })
    const expected = [413, { _tag: "BodyTooLarge", description: "The form has more than 16 fields." }]
    assert.deepStrictEqual([many.status, many.body], expected)
    const { bytesRead, port } = yield* application()
    const raw = yield* open(port)
    yield* raw.write(headOf(path, { ...multipartType, "transfer-encoding": "chunked" }))
    const parts = partOf("a", "").repeat(1000)
    for (let sent = 0; sent < 1000 && !raw.isClosed(); sent++) yield* raw.write(chunk(parts))
    yield* until(raw.isClosed)
    assert.strictEqual(statusIn(raw.received()), 413)
    assert.isBelow(bytesRead(), 4 * MiB)
  })

  it.effect("cannot fill the memory with many bodies, and what it took is given back", function* () {
    const { port, post, sockets } = yield* application({ maxBytes: MiB, maxBufferedBytes: 2 * MiB })
    const raws = yield* Effect.forEach(Array.from({ length: 6 }), () => open(port))
    for (const raw of raws) {
      yield* raw.write(headOf(path, { "content-type": urlEncoded, "transfer-encoding": "chunked" }))
      yield* raw.write(chunk("x".repeat(MiB - 65536)))
    }
    yield* until(() => raws.filter((raw) => statusIn(raw.received()) === 503).length >= 4)
    for (const raw of raws) yield* raw.destroy
    yield* until(() => sockets.size === 0)
    // Three times what one body may have, one after the other.
    for (let count = 0; count < 6; count++)
      assert.strictEqual((yield* post("x".repeat(MiB - 1024), { "content-type": urlEncoded })).status, 400)
    assert.strictEqual((yield* post()).status, 200)
  })
})
