import { AssemblyClient } from "@assembly-effect/api"
import { Tus, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Deferred, Effect, Layer, Redacted, Stream } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { assert, layer, Clients, Emulated, type Fault, Loopback, Scene, Upload } from "./utils/index.ts"

const { metadata } = Scene.options

/** A program that may also call the API, whose host is another one. */
const credentials = { key: "key-of-the-api", secret: Redacted.make("s3cr3t-of-the-api") }
const api = Emulated.signed({ baseUrl: "https://api.example.com" }, credentials)

/** The requests that an effect sends. */
const recorded = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const requests: Array<HttpClientRequest.HttpClientRequest> = []
    const client = HttpClient.tapRequest(yield* HttpClient.HttpClient, (request) =>
      Effect.sync(() => void requests.push(request))
    )
    const made = yield* Effect.provideService(effect, HttpClient.HttpClient, client)
    return { made, requests, lines: requests.map(({ method, url }) => `${method} ${url}`) }
  })

/** A server whose downloads never end. */
const endless = Effect.gen(function* () {
  const closed = yield* Deferred.make<void>()
  const origin = yield* Loopback.serve((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    }
    response.on("drain", more).on("close", () => Deferred.doneUnsafe(closed, Effect.void))
    more()
  })
  return { origin, closed: Deferred.await(closed) }
})

const fixed = { _tag: "Fixed", length: 3n, metadata } as const

layer(Layer.provideMerge(api, Clients.undici))("Tus.create", (it) => {
  it.effect("posts to tus_url, never to the API host, and carries no credentials (spec O-33)", function* () {
    yield* AssemblyClient.AssemblyClient
    const { server, target } = yield* Scene.make()
    for (const creation of [fixed, { ...fixed, partial: true }, { _tag: "Deferred", metadata }] as const) {
      const { lines, requests } = yield* recorded(Tus.create(target, creation))
      assert.deepStrictEqual(lines, [`POST ${server.tusUrl}`])
      const told = JSON.stringify(requests[0]?.headers)
      assert.notMatch(told, /authorization|cookie|signature|key-of-the-api|s3cr3t/i)
    }
  })

  it.effect("is authorised by the assembly_url in its metadata alone (spec A-12)", function* () {
    const { server, target } = yield* Scene.make()
    const { requests } = yield* recorded(Tus.create(target, fixed))
    const [request] = requests
    assert.deepStrictEqual(Object.keys(request?.headers ?? {}).toSorted(), [
      "tus-resumable",
      "upload-length",
      "upload-metadata"
    ])
    assert.deepStrictEqual(server.created[0]?.metadata, { ...metadata, assembly_url: server.assemblySslUrl })
    assert.isFalse(request?.url.includes(server.assemblySslUrl))
  })

  it.effect.each([
    "http://127.0.0.1:1/resumable/files/abc",
    "/resumable/files/../../assemblies",
    "/resumable/files/abc?to=elsewhere"
  ])("sends nothing to the Location %s", function* (location) {
    const hostile: Fault = { _tag: "StatusAfter", method: "POST", status: 201, headers: { location } }
    const { server, target } = yield* Scene.make([hostile])
    const run = Upload.run(target, UploadSource.fromBytes(Scene.content(600_000)), Scene.options)
    const { lines, made } = yield* recorded(Effect.flip(run))
    assert.strictEqual(made._tag, "UnsafeLocation")
    assert.deepStrictEqual(lines, [`POST ${server.tusUrl}`])
  })

  it.effect("a URL that passes the checks is the only one that bytes go to (spec R-29)", function* () {
    const { server, target } = yield* Scene.make()
    const { lines } = yield* recorded(Upload.run(target, UploadSource.fromBytes(Scene.content(600_000)), Scene.options))
    assert.deepStrictEqual(lines, [`POST ${server.tusUrl}`, `PATCH ${server.tusUrl}/${server.created[0]?.id}`])
  })
})

layer(Clients.undici)("Tus", (it) => {
  it.effect("discover reads lists with and without spaces, and takes what is not told for nothing", function* () {
    const headers = {
      "tus-version": "1.0.0, 0.2.2",
      "tus-extension": "creation,checksum , termination",
      "tus-max-size": "9223372036854775807",
      "tus-checksum-algorithm": "md5, sha1"
    }
    const answered = (status: number, told: Readonly<Record<string, string>> = {}) =>
      Effect.flatMap(Scene.make([{ _tag: "Status", method: "OPTIONS", status, headers: told }]), ({ target }) =>
        Tus.discover(target)
      )
    assert.deepStrictEqual(yield* answered(200, headers), {
      versions: ["1.0.0", "0.2.2"],
      extensions: ["creation", "checksum", "termination"],
      maxSize: 2n ** 63n - 1n,
      checksumAlgorithms: ["md5", "sha1"]
    })
    const nothing = { versions: [], extensions: [], maxSize: undefined, checksumAlgorithms: [] }
    assert.deepStrictEqual(yield* answered(200), nothing)
    assert.strictEqual((yield* Effect.flip(answered(200, { "tus-max-size": "many" })))._tag, "ProtocolViolation")
    assert.strictEqual((yield* Effect.flip(answered(404)))._tag, "UploadRefused")
  })

  it.effect("download frees its connection when it is left in the middle", function* () {
    const { closed, origin } = yield* endless
    const target = yield* UploadTarget.make({ tusUrl: origin, assemblySslUrl: origin })
    const url = yield* Effect.fromResult(UploadTarget.resolve(target, "/resumable/files/endless"))
    const first = yield* Tus.download(url).pipe(Stream.take(1), Stream.mkUint8Array)
    assert.isAbove(first.length, 0)
    yield* closed
  })

  it.effect("terminate tells what the server refuses", function* () {
    const statuses = [403, 404, 410, 423, 500] as const
    const { target } = yield* Scene.make(
      statuses.map((status): Fault => ({ _tag: "Status", method: "DELETE", status }))
    )
    const { url } = yield* Tus.create(target, fixed)
    const tags = yield* Effect.forEach(statuses, () => Effect.map(Effect.flip(Tus.terminate(url)), ({ _tag }) => _tag))
    assert.deepStrictEqual(tags, ["UploadRefused", "UploadGone", "UploadGone", "UploadLocked", "ServerFailure"])
    yield* Tus.terminate(url)
    assert.strictEqual((yield* Effect.flip(Tus.offset(url)))._tag, "UploadGone")
  })

  it.effect("a 413 above the announced maximum: the upload fails with TooLarge, which names the maximum", function* () {
    const { target } = yield* Scene.make([
      { _tag: "Status", method: "PATCH", status: 413 },
      { _tag: "Status", method: "OPTIONS", status: 200, headers: { "tus-max-size": "599999" } }
    ])
    const source = UploadSource.fromBytes(Scene.content(600_000))
    const error = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, chunkSize: 100_000 }))
    assert.deepInclude(error, { _tag: "TooLarge", request: "append", maxSize: 599_999n })
    assert.notProperty(error, "tried")
  })
})
