import { Credentials } from "@assembly-effect/auth"
import { Refusal, Signatures } from "@assembly-effect/http"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Redacted, Schema } from "effect"
import { chunk, credentials, headOf, logged, open, send, serve, signatureOf, statusIn, until } from "./support.ts"

const path = "/assembly-signatures"
const steps = { ":original": { robot: "/upload/handle" } }

const application = Effect.fnUntraced(function* <A = undefined>(options: Signatures.Options<A, never>) {
  let runs = 0
  const routes = Signatures.layer({
    ...options,
    policy: (asked: A, request) =>
      Effect.suspend(() => {
        runs++
        return options.policy(asked, request)
      })
  })
  const served = yield* serve(routes.pipe(Layer.provide(Credentials.layer(credentials))))
  const post = (init?: RequestInit) => send(`${served.origin}${path}`, init)
  return { ...served, post, runs: () => runs }
})

const grant: Signatures.Grant = { params: { steps, fields: { user: "1" } }, maxSize: 1000 }

const json = (value: unknown): RequestInit => ({
  body: JSON.stringify(value),
  headers: { "content-type": "application/json" }
})

const problemOf = ({ body }: { readonly body: unknown }) => (body as { readonly description: string }).description

describe("Signatures", () => {
  it.effect("signs what the policy decided, with a nonce and an expiry in 5 minutes", function* () {
    const { post } = yield* application({ policy: () => Effect.succeed(grant) })
    const answers = [yield* post(), yield* post()].map(({ body, headers, status }) => {
      assert.strictEqual(status, 200)
      assert.deepInclude(Object.fromEntries(headers), {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff"
      })
      return body as Signatures.Signed
    })
    for (const { expires, params, signature } of answers) {
      assert.strictEqual(signature, signatureOf(params))
      const { nonce, ...rest } = JSON.parse(params)
      assert.match(nonce, /^[0-9a-f-]{36}$/)
      assert.deepStrictEqual(rest, {
        steps,
        fields: { user: "1" },
        auth: { key: credentials.key, expires, max_size: 1000 }
      })
      // The clock of the test stands at 1970.
      assert.strictEqual(expires, "1970-01-01T00:05:00.000Z")
    }
    assert.notStrictEqual(answers[0]?.params, answers[1]?.params)
  })

  it.effect("signs with the key, the expiry, the referer and the algorithm that the policy chose", function* () {
    const secret = "another-secret"
    const { post } = yield* application({
      policy: () =>
        Effect.succeed({
          params: { templateId: "a", notifyUrl: "https://example.com/assembly-notifications" },
          maxSize: "unlimited",
          expiresIn: "1 day",
          referer: "^https://example\\.com/",
          credentials: { key: "another", secret: Redacted.make(secret) }
        })
    })
    const { params, signature } = (yield* post()).body as Signatures.Signed
    assert.strictEqual(signature, signatureOf(params, secret))
    const { nonce: _, ...rest } = JSON.parse(params)
    assert.deepStrictEqual(rest, {
      template_id: "a",
      notify_url: "https://example.com/assembly-notifications",
      auth: { key: "another", expires: "1970-01-02T00:00:00.000Z", referer: "^https://example\\.com/" }
    })
  })

  it.effect("gives the policy body and request, and names the broken rule of a wrong body", function* () {
    const { post } = yield* application({
      body: Schema.Struct({ album: Schema.String }),
      policy: ({ album }, { headers }) =>
        Effect.succeed({ ...grant, params: { steps, fields: { album, user: headers["x-user"] ?? "" } } })
    })
    const { body } = yield* post({
      body: JSON.stringify({ album: "a" }),
      headers: { "content-type": "application/json", "x-user": "7" }
    })
    assert.deepStrictEqual(JSON.parse((body as Signatures.Signed).params).fields, { album: "a", user: "7" })
    for (const [init, status] of [
      [{ body: "{", headers: { "content-type": "application/json" } }, 400],
      [{ body: "[".repeat(1000), headers: { "content-type": "application/json" } }, 400],
      [{ body: JSON.stringify({ album: "a" }), headers: { "content-type": "text/plain" } }, 415],
      [{}, 415]
    ] as const) {
      assert.strictEqual((yield* post(init)).status, status)
    }
    const nested = Schema.Struct({ album: Schema.Struct({ name: Schema.String.check(Schema.isMaxLength(5)) }) })
    const other = yield* application({ body: nested, policy: () => Effect.succeed(grant) })
    for (const [sent, field, description] of [
      [{ album: { name: 5 } }, { field: "album.name" }, "Expected string"],
      [{ album: { name: "a long name" } }, { field: "album.name" }, "Expected a value with a length of at most 5"],
      [5, {}, "Expected object"]
    ] as const) {
      const answer = yield* other.post(json(sent))
      assert.deepStrictEqual([answer.status, answer.body], [400, { _tag: "InvalidInput", ...field, description }])
    }
  })

  it.effect("answers with the refusal of the policy, and signs nothing", function* () {
    for (const [refusal, status] of [
      [new Refusal.Unauthenticated({ description: "Sign in." }), 401],
      [new Refusal.Forbidden({ description: "The album is full." }), 403],
      [new Refusal.TooManyRequests({ description: "Try again tomorrow." }), 429]
    ] as const) {
      const { post } = yield* application({ policy: () => Effect.fail(refusal) })
      const answer = yield* post()
      const expected = [status, { _tag: refusal._tag, description: refusal.description }]
      assert.deepStrictEqual([answer.status, answer.body], expected)
    }
  })

  it.effect("answers 500, signs nothing and tells the log if the policy is broken", () => {
    const { count, provide } = logged()
    const withSecret = (secret: string) => ({ ...grant, credentials: { key: "k", secret: Redacted.make(secret) } })
    const broken: ReadonlyArray<Signatures.Grant> = [
      { ...grant, maxSize: -1 },
      { ...grant, maxSize: 0.5 },
      { ...grant, maxSize: Number.NaN },
      { ...grant, expiresIn: 0 },
      { ...grant, expiresIn: Infinity },
      { ...grant, expiresIn: "25 hours" },
      { ...grant, credentials: { key: " ", secret: Redacted.make("s") } },
      ...["", " ", "\t"].map(withSecret),
      { ...grant, params: { steps: { a: { robot: "/file/hash", use: "b" } } } },
      { ...grant, params: { templateId: "" } },
      // A policy that hands on what a page asks for.
      { ...grant, params: { templateId: "a", ...({ auth: { key: "mine" }, nonce: "mine" } as object) } }
    ]
    return Effect.gen(function* () {
      for (const policy of [...broken.map(Effect.succeed), Effect.die("a defect")]) {
        const { post } = yield* application({ policy: () => policy })
        const { body, status } = yield* post()
        const expected = [500, { _tag: "ApplicationFailed", description: "The application failed." }]
        assert.deepStrictEqual([status, body], expected)
      }
      assert.strictEqual(count(/^Error [^]*a defect/), 1)
    }).pipe(provide)
  })
})

describe("Signatures, a hostile page", () => {
  it.effect("gets nothing signed that the policy did not put there", function* () {
    const forged = {
      auth: { key: "mine", expires: "2099-01-01T00:00:00.000Z", max_size: 1e15 },
      params: { steps: { evil: { robot: "/http/import" } }, auth: { expires: "2099-01-01T00:00:00.000Z" } },
      steps: { evil: { robot: "/http/import" } },
      expires: "2099-01-01T00:00:00.000Z",
      expiresIn: "1 day",
      max_size: 1e15,
      nonce: "mine",
      __proto__: { auth: {} }
    }
    const query = new URLSearchParams({ params: JSON.stringify(forged), expires: forged.expires })
    const { origin } = yield* application({ body: Schema.Struct({}), policy: () => Effect.succeed(grant) })
    const { body } = yield* send(`${origin}${path}?${query}`, json(forged))
    const { params } = body as Signatures.Signed
    assert.notInclude(params, "2099")
    assert.notInclude(params, "mine")
    assert.notInclude(params, "evil")
    const { auth, nonce: _, ...rest } = JSON.parse(params)
    assert.deepStrictEqual(
      [auth, rest],
      [
        { key: credentials.key, expires: "1970-01-01T00:05:00.000Z", max_size: 1000 },
        { steps, fields: { user: "1" } }
      ]
    )
  })

  it.effect("on another site is refused before the policy runs", function* () {
    const { port, post, runs } = yield* application({
      origins: ["https://app.example.com"],
      policy: () => Effect.succeed(grant)
    })
    const raw = (headers: Readonly<Record<string, string>>) =>
      Effect.gen(function* () {
        const connection = yield* open(port)
        const all = { "content-length": "0", connection: "close", ...headers }
        yield* connection.write(headOf(path, all).replace("host: localhost", "host: shop.example"))
        yield* until(connection.isClosed)
        return statusIn(connection.received())
      })
    const evil = "https://evil.example"
    for (const headers of [
      { origin: evil },
      { origin: "null" },
      { origin: "" },
      { origin: "https://shop.example.evil.example" },
      { origin: evil, "sec-fetch-site": "cross-site" },
      { origin: "https://other.shop.example", "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { origin: "https://shop.example", "sec-fetch-site": "cross-site" }
    ]) {
      assert.strictEqual(yield* raw(headers), 403, JSON.stringify(headers))
    }
    assert.strictEqual(runs(), 0)
    for (const headers of [
      {},
      { origin: "https://shop.example" },
      { origin: "https://shop.example", "sec-fetch-site": "same-origin" },
      // A proxy that changes the host.
      { origin: "https://www.example", "sec-fetch-site": "same-origin" },
      { origin: "https://app.example.com", "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none" }
    ] as ReadonlyArray<Readonly<Record<string, string>>>) {
      assert.strictEqual(yield* raw(headers), 200, JSON.stringify(headers))
    }
    assert.strictEqual((yield* post()).status, 200)
  })

  it.effect("cannot send an endless body", function* () {
    const { bytesRead, port, post, runs, sockets } = yield* application({
      body: Schema.Json,
      policy: () => Effect.succeed(grant)
    })
    const type = { "content-type": "application/json" }
    const announced = yield* post({ body: "1".repeat(20_000), headers: type })
    assert.deepStrictEqual([announced.status, problemOf(announced)], [413, "The body has more than 16384 bytes."])

    const endless = yield* open(port)
    yield* endless.write(headOf(path, { ...type, "transfer-encoding": "chunked" }))
    while (!endless.isClosed()) yield* endless.write(chunk("1".repeat(4096)))
    assert.strictEqual(statusIn(endless.received()), 413)
    assert.isBelow(bytesRead(), 4 * 1024 * 1024)

    yield* until(() => sockets.size === 0)
    assert.strictEqual(runs(), 0)
  })
})
