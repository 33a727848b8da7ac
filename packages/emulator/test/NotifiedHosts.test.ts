import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Authenticator } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import { Effect, Layer, Redacted, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { listed, receiver } from "./notified.ts"
import { accepted, callWithToken, south, tokenOf, workspaces } from "./keys.ts"
import { call, signedFields } from "./signedCalls.ts"
import { layer as layerEmulator } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** The first ended attempt of a notification, and the number of attempts. */
const outcomeOf = (assemblyId: string) =>
  Effect.map(
    Effect.repeat(listed(assemblyId), { until: ([first]) => first !== undefined && first["status"] !== "processing" }),
    (all): Readonly<Record<string, unknown>> => ({ ...all[0], attempts: all.length })
  )

/** A bearer token with every scope of the Auth Key. */
const token = Effect.flatMap(Emulator.Emulator, ({ credentials }) => tokenOf(credentials))

/** Creates an Assembly with a bearer token, so that its params are not signed. */
const createUnsigned = Effect.fnUntraced(function* (options: Assemblies.CreateOptions) {
  const { baseUrl } = yield* Emulator.Emulator
  const bearer = Authenticator.layerBearer(Redacted.make(yield* token))
  const client = AssemblyClient.layer({ baseUrl }).pipe(Layer.provide(bearer))
  return yield* Effect.provide(Assemblies.create(options), client)
})

// A refused attempt is not repeated, however short the pause is.
layer(layerEmulator({ notificationPause: "1 millis" }))("A notification", (it) => {
  it.effect.each(["127.0.0.1", "127.9.9.9", "localhost", "[::ffff:127.0.0.1]", "2130706433"])(
    "of an Assembly with a signature reaches loopback at %s",
    function* (hostname) {
      const { next, urlAt } = yield* receiver([], { host: "0.0.0.0" })
      const { assembly_id } = yield* Assemblies.create({ notifyUrl: urlAt(hostname) })
      assert.strictEqual(JSON.parse((yield* next).transloadit).assembly_id, assembly_id)
    }
  )

  it.effect.each(["0.0.0.0", "[::]", "10.1.2.3", "169.254.169.254", "[fd00::1]", "[fe80::1]", "[::ffff:10.0.0.1]"])(
    "reaches no private host: %s",
    function* (hostname) {
      const { heard, urlAt } = yield* receiver([], { host: "0.0.0.0" })
      const { assembly_id } = yield* Assemblies.create({ notifyUrl: urlAt(hostname) })
      const { attempts, error, status } = yield* outcomeOf(assembly_id)
      assert.deepStrictEqual([status, attempts], ["error", 1])
      assert.match(String(error), /^The host \S+ is not public: .*allowPrivateNotifications \(--allow-private-notif/)
      assert.strictEqual(yield* heard, 0)
    }
  )
  it.effect.each(["127.0.0.1", "localhost", "[::1]"])(
    "of an Assembly without a signature reaches no loopback: %s",
    function* (hostname) {
      const { heard, urlAt } = yield* receiver([], { host: "0.0.0.0" })
      const { assembly_id } = yield* createUnsigned({ notifyUrl: urlAt(hostname) })
      const { attempts, error } = yield* outcomeOf(assembly_id)
      assert.strictEqual(attempts, 1)
      assert.match(String(error), /is not public: Create the Assembly with a signature to notify this machine/)
      assert.strictEqual(yield* heard, 0)
    }
  )
  it.effect.each([
    ["an attempt of an Assembly with a signature", "/assembly_notifications"],
    ["an Assembly", "/assemblies"]
  ] as const)("of a replay without a signature reaches no loopback: %s", function* ([, path]) {
    const { heard, url } = yield* receiver([])
    const original = yield* Assemblies.create({})
    const replay = `${path}/${original.assembly_id}/replay`
    const answered = accepted(yield* callWithToken("POST", replay, yield* token, { notify_url: url }))
    const { error } = yield* outcomeOf(String(answered["assembly_id"] ?? original.assembly_id))
    assert.match(String(error), /is not public/)
    assert.strictEqual(yield* heard, 0)
  })

  it.effect("follows no redirect", function* () {
    const target = yield* receiver([])
    const location = { headers: { location: target.url } }
    const { next, url } = yield* receiver([307, 308], { answer: HttpServerResponse.empty(location) })
    yield* Assemblies.create({ notifyUrl: url })
    for (let attempt = 0; attempt < 3; attempt++) yield* next
    assert.strictEqual(yield* target.heard, 0)
  })

  it.effect("shows what was answered to who has the key, and to nobody else", function* () {
    const { url } = yield* receiver([])
    const { assembly_id } = yield* Assemblies.create({ notifyUrl: url })
    assert.deepInclude(yield* outcomeOf(assembly_id), { response_code: 200, response_data: null })

    const [bearer] = yield* listed(assembly_id, { authorization: `Bearer ${yield* token}` })
    assert.deepInclude(bearer, { response_data: "heard" })
    const { params, signature } = yield* signedFields()
    const [own] = yield* listed(assembly_id, {}, `?${new URLSearchParams({ params, signature })}`)
    assert.deepInclude(own, { response_data: "heard" })
    const { key } = (yield* Emulator.Emulator).credentials
    const wrong = yield* call(
      "GET",
      `/assembly_notifications/${assembly_id}`,
      {},
      { key, secret: Redacted.make("wrong") }
    )
    assert.deepInclude(wrong.said, { error: "INVALID_SIGNATURE" })
  })

  it.effect("keeps the beginning of an answer that never ends", function* () {
    const endless = HttpServerResponse.stream(Stream.forever(Stream.make(new TextEncoder().encode("a".repeat(100)))))
    const begun = HttpServerResponse.stream(
      Stream.concat(Stream.make("be", "gun").pipe(Stream.encodeText), Stream.never)
    )
    const authorization = { authorization: `Bearer ${yield* token}` }
    for (const [answer, kept] of [[endless, "a".repeat(1024)] as const, [begun, "begun"] as const]) {
      const { url } = yield* receiver([], { answer })
      const { assembly_id } = yield* Assemblies.create({ notifyUrl: url })
      const { response_code, status } = yield* outcomeOf(assembly_id)
      assert.deepStrictEqual([status, response_code], ["successful", 200])
      assert.strictEqual((yield* listed(assembly_id, authorization))[0]?.["response_data"], kept)
    }
  })
})

layer(layerEmulator({ allowPrivateNotifications: true, workspaces }))("An emulator that allows private hosts", (it) => {
  it.effect("notifies any, for an Assembly without a signature too", function* () {
    const { next, urlAt } = yield* receiver([], { host: "0.0.0.0" })
    for (const hostname of ["0.0.0.0", "127.0.0.1"]) {
      const { assembly_id } = yield* createUnsigned({ notifyUrl: urlAt(hostname) })
      assert.strictEqual(JSON.parse((yield* next).transloadit).assembly_id, assembly_id)
    }
  })

  it.effect("shows no answer to the key of another Workspace", function* () {
    const { next, url } = yield* receiver([])
    const { assembly_id } = yield* Assemblies.create({ notifyUrl: url })
    yield* next
    const answer = yield* call("GET", `/assembly_notifications/${assembly_id}`, {}, south)
    assert.deepInclude(answer.said, { error: "ASSEMBLY_NOT_FOUND" })
  })
})
