import * as KeyValueTokenStore from "@assembly-effect/auth/KeyValueTokenStore"
import { Credentials, type Tokens, TokenStore } from "@assembly-effect/auth"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { DateTime, Deferred, Duration, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import * as TokenServer from "./utils/TokenServer.ts"

const { answer, get, refuse, token } = TokenServer
const hour = token({ expires_in: 3600 })

/** The store of a process whose Auth Secret is `secret`. */
const storeOf = (keyValueStore: KeyValueStore.KeyValueStore, secret = "test-secret") =>
  KeyValueTokenStore.layer.pipe(
    Layer.orDie,
    Layer.provide([
      Layer.orDie(Credentials.layer({ key: "test-key", secret: Redacted.make(secret) })),
      Layer.succeed(KeyValueStore.KeyValueStore, keyValueStore)
    ]),
    Layer.fresh
  )

const open = (keyValueStore: KeyValueStore.KeyValueStore, secret?: string) =>
  TokenStore.TokenStore.use(Effect.succeed).pipe(Effect.provide(storeOf(keyValueStore, secret)))

const memory = KeyValueStore.KeyValueStore.use(Effect.succeed).pipe(
  Effect.provide(Layer.fresh(KeyValueStore.layerMemory))
)

const grant: TokenStore.Grant = {
  authKey: "test-key",
  audience: "api2",
  baseUrl: SecureUrl.make("https://api2.example.com"),
  scopes: ["dam:write"]
}

const sample: TokenStore.Token = {
  value: Redacted.make("the-token"),
  expiresAt: DateTime.makeUnsafe(3_600_000),
  renewAt: DateTime.makeUnsafe(3_540_000)
}

const textOf = (found: Option.Option<TokenStore.Token>) => Option.map(found, ({ value }) => Redacted.value(value))

const onlyEntry = Effect.fnUntraced(function* (keyValueStore: KeyValueStore.KeyValueStore) {
  const [name = "", ...others] = yield* keyValueStore.keys
  assert.isEmpty(others)
  return { name, bytes: (yield* keyValueStore.getUint8Array(name)) ?? new Uint8Array() }
})

/** A key-value store, and the token store in it, with one token. */
const saved = Effect.gen(function* () {
  const keyValueStore = yield* memory
  const store = yield* open(keyValueStore)
  yield* store.save(grant, sample)
  return { keyValueStore, store }
})

describe("KeyValueTokenStore.layer", () => {
  it.effect("load returns a saved token until forget", function* () {
    const store = yield* open(yield* memory)
    assert.deepStrictEqual(yield* store.load(grant), Option.none())
    for (const kept of [sample, { ...sample, expiresAt: undefined, renewAt: undefined }]) {
      yield* store.save(grant, kept)
      const { expiresAt, renewAt, value } = Option.getOrThrow(yield* store.load(grant))
      assert.deepStrictEqual([Redacted.value(value), expiresAt, renewAt], ["the-token", kept.expiresAt, kept.renewAt])
    }
    yield* store.forget(grant)
    assert.deepStrictEqual(yield* store.load(grant), Option.none())
  })

  it.effect("save encrypts the token under a hashed name, with other bytes each time", function* () {
    const { keyValueStore, store } = yield* saved
    const { bytes, name } = yield* onlyEntry(keyValueStore)
    // The name consists of hexadecimal digits, whatever the grant contains.
    assert.match(name, /^assembly-token-[0-9a-f]{64}$/)
    const text = new TextDecoder("latin1").decode(bytes)
    for (const part of ["the-token", "value", "test-key", "dam:write"]) assert.notInclude(text, part)
    yield* store.save(grant, sample)
    assert.notDeepEqual((yield* onlyEntry(keyValueStore)).bytes, bytes)
  })

  it.effect("load returns none for an entry that is changed, cut or moved", function* () {
    const { keyValueStore, store } = yield* saved
    const { bytes, name } = yield* onlyEntry(keyValueStore)
    for (let index = 0; index < bytes.length; index++) {
      yield* keyValueStore.set(name, bytes.with(index, (bytes[index] ?? 0) ^ 1))
      assert.deepStrictEqual(yield* store.load(grant), Option.none())
    }
    for (const length of [0, 5, 12, bytes.length - 1]) {
      yield* keyValueStore.set(name, bytes.subarray(0, length))
      assert.deepStrictEqual(yield* store.load(grant), Option.none())
    }
    yield* keyValueStore.remove(name)
    const wider = { ...grant, scopes: ["write"] }
    yield* store.save(wider, sample)
    const other = yield* onlyEntry(keyValueStore)
    yield* keyValueStore.set(other.name, bytes)
    assert.deepStrictEqual(yield* store.load(wider), Option.none())
  })

  it.effect("load returns none for another Auth Secret, key, audience, base URL or scope", function* () {
    const { keyValueStore, store } = yield* saved
    assert.deepStrictEqual(yield* (yield* open(keyValueStore, "another")).load(grant), Option.none())
    const others: ReadonlyArray<Partial<TokenStore.Grant>> = [
      { authKey: "other" },
      { audience: "other" },
      { baseUrl: SecureUrl.make("https://other.example.com") },
      { scopes: [] },
      { scopes: ["dam:write", "write"] }
    ]
    for (const other of others) {
      assert.deepStrictEqual(yield* store.load({ ...grant, ...other }), Option.none())
    }
    assert.deepStrictEqual(textOf(yield* store.load(grant)), Option.some("the-token"))
  })
})

describe("Processes with one token store", () => {
  const ask = (server: { readonly baseUrl: SecureUrl }) => get({ baseUrl: server.baseUrl, scope: "dam:write" })

  const processOf = (keyValueStore: KeyValueStore.KeyValueStore, options?: Tokens.Options) =>
    Effect.provide(TokenServer.tokens(options, storeOf(keyValueStore)))

  it.effect("a process uses the token that another process renewed", function* () {
    const server = yield* TokenServer.make(hour)
    const shared = yield* memory
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* ask(server), "token-1")
      yield* TestClock.setTime(Duration.toMillis("59 minutes"))
      assert.strictEqual(yield* ask(server).pipe(processOf(shared)), "token-2")
      assert.strictEqual(yield* ask(server), "token-2")
      assert.strictEqual(server.received.length, 2)
    }).pipe(processOf(shared))
  })

  it.effect("a late refusal of the old token keeps the new token in the store", function* () {
    const server = yield* TokenServer.make(hour)
    const shared = yield* memory
    yield* Effect.gen(function* () {
      yield* ask(server)
      yield* ask(server).pipe(Effect.andThen(refuse("token-1")), processOf(shared))
      assert.strictEqual(yield* ask(server).pipe(processOf(shared)), "token-2")
      // This process still has the first token, learns that it is refused, and finds the second token.
      yield* refuse("token-1")
      assert.strictEqual(yield* ask(server), "token-2")
      assert.strictEqual(server.received.length, 2)
    }).pipe(processOf(shared))
  })

  it.effect("a process requests its tokens itself if every method of the store fails", function* () {
    const server = yield* TokenServer.make(hour)
    const failure = (method: string) => Effect.fail(new KeyValueStore.KeyValueStoreError({ method, message: "disk" }))
    const broken = KeyValueStore.make({
      get: () => failure("get"),
      getUint8Array: () => failure("get"),
      set: () => failure("set"),
      remove: () => failure("remove"),
      clear: failure("clear"),
      size: failure("size"),
      keys: failure("keys")
    })
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* ask(server), "token-1")
      assert.strictEqual(yield* ask(server), "token-1")
      yield* refuse("token-1")
      assert.strictEqual(yield* ask(server), "token-2")
    }).pipe(processOf(broken))
  })

  it.effect("a process requests a token itself if the store does not respond within 5 seconds", function* () {
    const server = yield* TokenServer.make(hour)
    const shared = yield* memory
    const reached = yield* Deferred.make<void>()
    const hanging: KeyValueStore.KeyValueStore = {
      ...shared,
      getUint8Array: () => Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
    }
    const asking = yield* Effect.forkChild(ask(server).pipe(processOf(hanging)), { startImmediately: true })
    yield* Deferred.await(reached)
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(yield* Fiber.join(asking), "token-1")
  })

  it.effect("a process requests another token if the stored one expires while the store is read", function* () {
    const server = yield* TokenServer.make(token({ expires_in: 100 }))
    const shared = yield* memory
    yield* ask(server).pipe(processOf(shared))
    const slow: KeyValueStore.KeyValueStore = {
      ...shared,
      // Advances the clock by four seconds without a guess when to do it.
      getUint8Array: (name) => Effect.andThen(TestClock.setTime(101_000), shared.getUint8Array(name))
    }
    yield* TestClock.setTime(97_000)
    assert.strictEqual(yield* ask(server).pipe(processOf(slow, { renewBefore: "1 second" })), "token-2")
  })

  it.effect("a refused token is not returned again, even if the store is read-only", function* () {
    const server = yield* TokenServer.make(hour, answer(503, "busy"), hour)
    const shared = yield* memory
    yield* ask(server).pipe(processOf(shared))
    const readOnly: KeyValueStore.KeyValueStore = { ...shared, set: () => Effect.void, remove: () => Effect.void }
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* ask(server), "token-1")
      yield* refuse("token-1")
      assert.strictEqual((yield* Effect.flip(ask(server)))._tag, "TokenUnavailable")
      assert.strictEqual(yield* ask(server), "token-3")
      yield* refuse("token-3")
      assert.strictEqual(yield* ask(server), "token-4")
    }).pipe(processOf(readOnly))
  })
})
