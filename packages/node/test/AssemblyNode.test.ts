import { Assemblies, RetryPolicy } from "@assembly-effect/api"
import { Hashing } from "@assembly-effect/api/unstable/Hashing"
import { Credentials } from "@assembly-effect/auth"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import { Emulator } from "@assembly-effect/emulator"
import { AssemblyNode } from "@assembly-effect/node"
import * as PieceMemory from "@assembly-effect/tus/unstable/PieceMemory"
import { Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Agent, interceptors } from "@effect/platform-node/Undici"
import { assert, describe, effect, layer, live } from "@assembly-effect/testkit/flow"
import { ConfigProvider, DateTime, Deferred, Effect, FileSystem, Layer, Logger, Option, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { createServer } from "node:http"
import * as Process from "node:process"

const metadata = { filename: "a.txt", fieldname: "file" }

/** The program of the README: an Assembly, an upload of a file, and its bytes read back. */
const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempFileScoped()
  yield* fs.writeFileString(path, "hello")
  const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
  const target = yield* UploadTarget.fromAssembly(assembly)
  const { length } = yield* Upload.run(target, yield* UploadSource.fromPath(path), { metadata })
  const [file] = (yield* Assemblies.awaitCompletion(assembly.assembly_id)).uploads ?? []
  return { length, name: file?.name }
})

const withEmulator = <A, E>(use: (emulator: Emulator.Emulator["Service"]) => Layer.Layer<A, E>) =>
  Layer.unwrap(Effect.map(Emulator.Emulator, use))

/** The clients of a program with the Auth Key of the emulator, or with other options. */
const signing = (options: Partial<Parameters<typeof AssemblyNode.layer>[0]> = {}) =>
  withEmulator(({ baseUrl, credentials }) => AssemblyNode.layer({ baseUrl, ...credentials, ...options }))

layer(Emulator.layer())("AssemblyNode.layer", (it) => {
  it.effect("runs an upload with signed requests, and reuses the memory of sent pieces", signing(), function* () {
    assert.deepStrictEqual(yield* program, { length: 5n, name: "a.txt" })
    assert.isTrue(PieceMemory.isRegistered(yield* HttpClient.HttpClient))
    assert.strictEqual((yield* Credentials.Credentials).key, (yield* Emulator.Emulator).credentials.key)
  })
  it.effect("runs the same upload with tokens", signing({ authentication: "tokens" }), function* () {
    assert.deepStrictEqual(yield* program, { length: 5n, name: "a.txt" })
  })

  it.effect("has the budget of the program, else one for the public service, and none for another", function* () {
    const keys = { key: "key", secret: Redacted.make("secret") }
    const budgetAt = (baseUrl: string) => Effect.provide(Budget.Budget, AssemblyNode.layer({ baseUrl, ...keys }))
    const own = { ...(yield* budgetAt("https://api2-a.transloadit.com"))! }
    assert.hasAllKeys(own, ["enter", "pause", "keep", "release"])
    assert.isUndefined(yield* budgetAt("https://api2.example.com"))
    for (const baseUrl of ["https://api2.transloadit.com", "https://api2.example.com"]) {
      const budget = yield* budgetAt(baseUrl).pipe(Effect.provide(Layer.succeed(Budget.Budget, own)))
      assert.strictEqual(budget, own)
    }
  })
  it.effect("signs with its own keys inside a program with other keys", signing(), function* () {
    yield* list
    const error = yield* list.pipe(Effect.provide(signing({ secret: Redacted.make("another secret") })), Effect.flip)
    assert.strictEqual(error._tag, "AuthenticationFailed")
  })

  it.effect(
    "sends a bearer token that the program has",
    withEmulator(({ baseUrl }) => AssemblyNode.layerBearer({ baseUrl, token: Redacted.make("not-a-token") })),
    function* () {
      const error = yield* Effect.flip(list)
      assert.strictEqual(error._tag, "AuthenticationFailed")
    }
  )
})

const variable = (name: string, value: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = Process.env[name]
      Process.env[name] = value
      return before
    }),
    (before) =>
      Effect.sync(() => {
        if (before === undefined) delete Process.env[name]
        else Process.env[name] = before
      })
  )

describe("AssemblyNode refuses before it sends", () => {
  const refusal = <A, E>(built: Layer.Layer<A, E>) => Effect.scoped(Effect.flip(Layer.build(built)))
  const options = { baseUrl: "https://api2.example.com", key: "key", secret: Redacted.make("secret") }
  const expected = "Expected a URL such as http://proxy.example.com:8080"
  effect.each(["", "  ", "to\nken\n", "a b", "t\u00f6ken"])("the bearer token %j", function* (token) {
    const error = yield* refusal(AssemblyNode.layerBearer({ baseUrl: options.baseUrl, token: Redacted.make(token) }))
    assert.strictEqual(error._tag, "InvalidCredentials")
    assert.include(error.message, "token")
  })

  effect("a SOCKS proxy of ALL_PROXY, which it names, unless the other variables take its place", function* () {
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) yield* variable(name, "")
    yield* variable("ALL_PROXY", "socks5://user:s3cret@proxy.example.com:1080")
    const error = yield* refusal(AssemblyNode.layer(options))
    assert.strictEqual(error.message, `UndiciClient.layer: ALL_PROXY: ${expected}`)
    yield* variable("HTTP_PROXY", "http://proxy.example.com:8080")
    yield* variable("HTTPS_PROXY", "http://proxy.example.com:8080")
    yield* Effect.scoped(Layer.build(AssemblyNode.layer(options)))
  })
  const agent = new Agent()

  effect.each([
    ["dispatcher", { dispatcher: {} as typeof agent }],
    ["dispatcher", { dispatcher: null as never }],
    ["connections", { dispatcher: agent, connections: 3 }],
    ["proxy", { dispatcher: agent, proxy: "environment" }]
  ] as const)("a dispatcher that is none, or with another option: %s", function* ([name, http]) {
    const error = yield* refusal(AssemblyNode.layer({ ...options, http }))
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.include(error.message, `AssemblyNode.layer: http.${name}: Expected`)
  })

  const noProxies = ["127.0.0.1:3128", "localhost:3128", "foo", "  ", "http://", "ftp://proxy.example.com"]
  effect.each([...noProxies, "http://a:100%sure@proxy.example.com"])(
    "the proxy %j, and shows the variable without its value",
    function* (proxyUrl) {
      yield* variable("HTTPS_PROXY", proxyUrl)
      const error = yield* refusal(AssemblyNode.layer(options))
      assert.strictEqual(error.message, `UndiciClient.layer: HTTPS_PROXY: ${expected}`)
    }
  )
})

live('a proxy of the environment is not used with `proxy: "none"`', Emulator.layer(), function* () {
  const { asked, url } = yield* service
  yield* variable("HTTP_PROXY", url)
  yield* variable("NO_PROXY", "")
  yield* Effect.provide(list, signing({ http: { proxy: "none" } }))
  assert.deepStrictEqual(asked, [])
})

/** A service without entries, also behind itself as a proxy. It closes no connection, and counts the open ones. */
const service = Effect.gen(function* () {
  const asked: Array<URL> = []
  const closed = yield* Deferred.make<void>()
  let open = 0
  let most = 0
  const server = createServer({ keepAliveTimeout: 600_000 }, ({ url = "" }, response) => {
    asked.push(new URL(url, "http://127.0.0.1"))
    response.end('{"items":[],"count":0}')
  })
  server.on("connection", (socket) => {
    most = Math.max(most, ++open)
    socket.once("close", () => {
      if (--open === 0) Deferred.doneUnsafe(closed, Effect.void)
    })
  })
  const port = yield* Loopback.listen(server)
  return { url: `http://127.0.0.1:${port}`, asked, most: () => most, closed }
})

const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })

const keys = { key: "key", secret: Redacted.make("secret") }

describe("the options of AssemblyNode", () => {
  /** The algorithm of a signature, and the minutes until it expires. */
  const signed = (url: URL | undefined) => {
    const { auth } = JSON.parse(url?.searchParams.get("params") ?? "{}")
    const expires = Date.parse(auth.expires.replaceAll("/", "-").replace(" ", "T"))
    return {
      algorithm: url?.searchParams.get("signature")?.split(":")[0],
      minutes: Math.round((expires - Date.now()) / 60_000)
    }
  }

  live("decide on the algorithm of a signature and on its time, with and without variables", function* () {
    const { asked, url } = yield* service
    const options = { algorithm: "sha256", window: "3 minutes" } as const
    yield* Effect.provide(list, AssemblyNode.layer({ baseUrl: url, ...keys, ...options }))
    const env = { ASSEMBLY_BASE_URL: url, ASSEMBLY_AUTH_KEY: "key", ASSEMBLY_AUTH_SECRET: "secret" }
    yield* list.pipe(
      Effect.provide(AssemblyNode.layerConfig(options)),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )
    const proof = { algorithm: "sha256", minutes: 3 }
    assert.deepStrictEqual(asked.map(signed), [proof, proof])
  })

  live("limit the connections, also for a bearer token", function* () {
    const http = { connections: 1 }
    const many = Effect.all([list, list, list, list], { concurrency: "unbounded" })
    const { asked, most, url } = yield* service
    yield* Effect.provide(many, AssemblyNode.layer({ baseUrl: url, ...keys, http }))
    assert.deepStrictEqual([asked.length, most()], [4, 1])
    const bearer = yield* service
    const token = Redacted.make("token")
    yield* Effect.provide(many, AssemblyNode.layerBearer({ baseUrl: bearer.url, token, http }))
    assert.deepStrictEqual([bearer.asked.length, bearer.most()], [4, 1])
  })

  effect.each([
    ["Thu, 01 Jan 2026 01:00:00 GMT", "ahead of"],
    ["Wed, 31 Dec 2025 23:00:00 GMT", "behind"]
  ] as const)(
    "the Layers warn once of the corrected clock after three AUTH_EXPIRED at once with Date %s: the service is %s it",
    function* ([date, direction]) {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const lines: Array<unknown> = []
      const logger = Logger.make(({ message }) => void lines.push(message))
      let requests = 0
      const http = HttpClient.make((sent) => {
        const [status, body] = requests++ < 3 ? [400, { error: "AUTH_EXPIRED" }] : [200, { items: [], count: 0 }]
        return Effect.succeed(HttpClientResponse.fromWeb(sent, Response.json(body, { status, headers: { date } })))
      })
      const own = AssemblyNode.layerWith(Layer.succeed(HttpClient.HttpClient, http), {
        baseUrl: "https://service.example",
        ...keys
      })
      const three = Effect.all([list, list, list], { concurrency: 3 })
      yield* Effect.provide(Effect.andThen(three, list), [own, Logger.layer([logger])])
      assert.deepStrictEqual(lines, [
        [`the clock of the service is 3600 s ${direction} the local clock; signing with the corrected time`]
      ])
    }
  )

  live.each([5, "x", [["a"]], { "a b": "x" }, { a: "b\nc" }])(
    "fail with a TransportFailure if the headers of the application are %j",
    function* (headers) {
      const { asked, url } = yield* service
      const init = Layer.succeed(FetchHttpClient.RequestInit, { headers: headers as never })
      const own = AssemblyNode.layerWith(Layer.provide(FetchHttpClient.layer, init), { baseUrl: url, ...keys })
      const error = yield* Effect.flip(Effect.provide(list, own))
      assert.deepInclude(error, { _tag: "TransportFailure", sent: "no", permanent: true })
      assert.strictEqual(asked.length, 0)
    }
  )

  live("send every request through the dispatcher of the application, which stays open", function* () {
    const { asked, url } = yield* service
    const signals: Array<boolean> = []
    // Nothing is there: the dispatcher decides where requests go.
    const through = (origin: string) => ({
      dispatcher: new Agent().compose((dispatch) => (options, handler) => {
        signals.push("signal" in options)
        return dispatch({ ...options, origin }, handler)
      })
    })
    yield* variable("HTTP_PROXY", "not a URL")
    const baseUrl = "http://127.0.0.1:1"
    const http = through(url)
    yield* Effect.provide(list, AssemblyNode.layer({ baseUrl, ...keys, http }))
    yield* Effect.provide(list, AssemblyNode.layerBearer({ baseUrl, token: Redacted.make("token"), http }))
    assert.strictEqual(asked.length, 2)
    assert.deepStrictEqual(signals, [false, false], "they have no AbortController, because no client is between")
    // It may keep a piece after sending it.
    const client = yield* Effect.provide(HttpClient.HttpClient, AssemblyNode.layer({ baseUrl, ...keys, http }))
    assert.isFalse(PieceMemory.isRegistered(client))
    yield* Effect.promise(() => http.dispatcher.close())
  })

  live("follow no redirect, whatever the dispatcher of the application would do", function* () {
    const other = yield* service
    const baseUrl = yield* Loopback.serve((_, response) => response.writeHead(307, { location: other.url }).end())
    const http = { dispatcher: new Agent().compose(interceptors.redirect({ maxRedirections: 5 })) }
    const refused = yield* Effect.flip(Effect.provide(list, AssemblyNode.layer({ baseUrl, ...keys, http })))
    assert.deepInclude(refused, { _tag: "UnexpectedResponse", status: 307 })
    assert.deepStrictEqual(other.asked, [])
    yield* Effect.promise(() => http.dispatcher.destroy())
  })

  live("keep signer and hashes around an HTTP client of the application", function* () {
    const { asked, url } = yield* service
    const seen: Array<string> = []
    const client = Layer.effect(
      HttpClient.HttpClient,
      Effect.map(
        HttpClient.HttpClient,
        HttpClient.tapRequest(({ url: target }) => Effect.sync(() => void seen.push(target)))
      )
    ).pipe(Layer.provide(FetchHttpClient.layer))
    yield* Effect.gen(function* () {
      yield* list
      assert.isDefined(Option.getOrUndefined(yield* Effect.serviceOption(Hashing)))
    }).pipe(Effect.provide(AssemblyNode.layerWith(client, { baseUrl: url, ...keys, algorithm: "sha256" })))
    assert.deepStrictEqual([asked.length, seen.length], [1, 1])
    assert.strictEqual(signed(asked[0]).algorithm, "sha256")
  })

  live.each(["http", "https"])("name the proxy that is down, without its password, for %s", function* (scheme) {
    yield* variable("NO_PROXY", "")
    yield* variable("no_proxy", "")
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]) yield* variable(name, "")
    // Nobody listens on port 1, and nobody has the second name.
    for (const [proxyUrl, problem] of [
      ["http://user:s3cret@127.0.0.1:1", "proxy 127.0.0.1:1: the connection was refused"],
      ["http://user:s3cret@nobody.invalid:3128", "proxy nobody.invalid: the "]
    ] as const) {
      yield* variable("ALL_PROXY", proxyUrl)
      const baseUrl = `${scheme}://127.0.0.1:2`
      const error = yield* list.pipe(
        Effect.provide(AssemblyNode.layer({ baseUrl, ...keys })),
        RetryPolicy.none,
        Effect.flip
      )
      assert.include(error.message, problem)
      assert.notInclude(error.message, "s3cret")
      assert.deepInclude(error, { _tag: "TransportFailure", sent: "no" })
    }
  })

  live.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY"])(
    "take the proxy of %s, and leave no connection open",
    function* (name) {
      const { asked, closed, url } = yield* service
      yield* variable(name, url)
      yield* variable("NO_PROXY", "")
      yield* variable("no_proxy", "")
      // Nothing is there: only the proxy answers.
      yield* Effect.provide(list, AssemblyNode.layer({ baseUrl: "http://127.0.0.1:1", ...keys }))
      assert.deepStrictEqual(asked.map(({ host }) => host).join(), "127.0.0.1:1")
      yield* Deferred.await(closed)
    }
  )
})
