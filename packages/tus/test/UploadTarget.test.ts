import { UploadTarget } from "@assembly-effect/tus"
import { assert, describe, it, vi } from "@assembly-effect/testkit/flow"
import type { Assembly } from "@assembly-effect/schema"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { Effect, Redacted, Result, Schema } from "effect"
import { inspect } from "node:util"
import * as Scene from "./utils/Scene.ts"

const parts = {
  tusUrl: "https://tus.example.com/resumable/files/",
  assemblySslUrl: "https://api2.example.com/assemblies/0123456789abcdef0123456789abcdef"
}
const make = UploadTarget.make(parts)

const foreignHosts = ["evil.example.com", "tus.example.com.evil.com", "eviltus.example.com", "tus.example.com:8443"]
const oddHosts = ["user:password@tus.example.com", "@tus.example.com", "tus.example.com.", "tu\u00ads.example.com"]
const outside = ["../../secret", "1/..", "%2e%2e/secret", "1%2f..%2fsecret", "1\\..\\secret", "1?token=1", "1#part"]
const noIds = ["", "/1", "1/", "1 ", "1\n", "1\u0000", "é"]
const otherPaths = ["", "/x/resumable/files/1", "/Resumable/Files/1", "/assemblies/1", " /resumable/files/1"]

/** What a hostile or broken service may name as the Location of an upload. */
const attacks = [
  ...[...foreignHosts, ...oddHosts].map((host) => `https://${host}/resumable/files/1`),
  ...[...outside, ...noIds].map((path) => `/resumable/files/${path}`),
  ...otherPaths,
  "http://tus.example.com/resumable/files/1",
  "javascript:alert(1)//resumable/files/1",
  "//evil.example.com/resumable/files/1",
  "\\resumable\\files\\1"
]

describe("UploadTarget.resolve", () => {
  it.effect.each(attacks)("refuses %j", function* (location) {
    const error = yield* Effect.flip(Effect.fromResult(UploadTarget.resolve(yield* make, location)))
    assert.strictEqual(error._tag, "UnsafeLocation")
    // The host is told, so that a person can find the option; what stands before and behind it is not.
    assert.notMatch(error.message, /@|files\/1|secret|password|token|\s$/)
  })

  it.effect.each([
    ["/resumable/files/1", "https://tus.example.com/resumable/files/1"],
    ["/resumable/files/a/b/c+d~e_f-g.h", "https://tus.example.com/resumable/files/a/b/c+d~e_f-g.h"],
    ["https://tus.example.com/resumable/files/1", "https://tus.example.com/resumable/files/1"],
    ["//tus.example.com/resumable/files/1", "https://tus.example.com/resumable/files/1"],
    ["HTTPS://TUS.example.com:443/resumable/files/1", "https://tus.example.com/resumable/files/1"]
  ] as const)("accepts %s", function* ([location, expected]) {
    const url = Result.getOrThrow(UploadTarget.resolve(yield* make, location))
    assert.strictEqual<string>(Redacted.value(url), expected)
    assert.notInclude(`${JSON.stringify({ url })}${inspect(url)}${String(url)}`, "resumable")
  })

  it.effect("accepts the path of the base URL before the path of an upload, and no other path", function* () {
    const tusUrl = "https://proxy.example.com/a/b/resumable/files/"
    const target = yield* UploadTarget.make({ ...parts, tusUrl, baseUrl: "https://proxy.example.com/a/b/" })
    const stored = yield* Schema.decodeEffect(UploadTarget.AtRest)(
      yield* Schema.encodeEffect(UploadTarget.AtRest)(target)
    )
    for (const one of [target, stored, yield* UploadTarget.make({ ...parts, tusUrl })]) {
      for (const location of ["/a/b/resumable/files/1", "https://proxy.example.com/a/b/resumable/files/1"]) {
        const url = Result.getOrThrow(UploadTarget.resolve(one, location))
        assert.strictEqual<string>(Redacted.value(url), "https://proxy.example.com/a/b/resumable/files/1")
      }
      for (const prefix of ["/a", "/a/b/c", "/a/b/a/b", "/a/b/../b"]) {
        assert.isTrue(Result.isFailure(UploadTarget.resolve(one, `${prefix}/resumable/files/1`)), prefix)
      }
    }
  })

  it.effect("knows further origins from the deployment only (spec R-29)", function* () {
    const target = yield* UploadTarget.make({ ...parts, origins: ["https://tus-2.example.com"] })
    assert.isTrue(Result.isSuccess(UploadTarget.resolve(target, "https://tus-2.example.com/resumable/files/1")))
    assert.isTrue(Result.isFailure(UploadTarget.resolve(target, "https://tus-3.example.com/resumable/files/1")))
  })

  it.effect("resolves against tus_url on another port, whatever its path", function* () {
    const target = yield* UploadTarget.make({ ...parts, tusUrl: "http://127.0.0.1:8080/some/where" })
    const url = Result.getOrThrow(UploadTarget.resolve(target, "/resumable/files/1"))
    assert.strictEqual<string>(Redacted.value(url), "http://127.0.0.1:8080/resumable/files/1")
  })
})

it.effect("UploadTarget.make keeps assembly_ssl_url byte for byte (spec A-12)", function* () {
  const assemblySslUrl = "https://API2.example.com:443/assemblies/%41b"
  const target = yield* UploadTarget.make({ ...parts, assemblySslUrl })
  assert.strictEqual(Redacted.value(target.assemblySslUrl), assemblySslUrl)
})

describe("UploadTarget.fromAssembly", () => {
  const assembly_id = AssemblyId.make("0123456789abcdef".repeat(2))
  const publicUrl = "https://api2.transloadit.com"
  const named = (tusHost: string, apiHost: string): Assembly.Status => ({
    assembly_id,
    tus_url: `https://${tusHost}/resumable/files/`,
    assembly_ssl_url: `https://${apiHost}/assemblies/${assembly_id}`
  })
  const messageOf = (status: Assembly.Status, baseUrl: string, origins?: ReadonlyArray<string>) =>
    Scene.fromStatus(status, baseUrl, origins).pipe(
      Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "accepted" })
    )

  it.effect("takes the cells of the public service, and follows it from one to another", function* () {
    const target = yield* Scene.fromStatus(named("api2-a.transloadit.com", "api2-b.transloadit.com"), publicUrl)
    const isTaken = (host: string) =>
      Result.isSuccess(UploadTarget.resolve(target, `https://${host}/resumable/files/1`))
    assert.isTrue(["api2-c.transloadit.com", "api2.transloadit.com"].every(isTaken))
    assert.isFalse(["api2-a.transloadit.com.evil.example", "api2-a.x.transloadit.com", "127.0.0.1"].some(isTaken))
  })

  it.effect("refuses a host that is none of the service's, and names it with the option", function* () {
    const rule = (host: string) =>
      `the host ${host} does not belong to the service; if it does, add its origin to the option origins`
    const own = "api.example.com"
    const baseUrl = `https://${own}`
    for (const [status, message, origins] of [
      [named(own, own), "accepted"],
      [named("up.example.com", own), `tus_url: ${rule("up.example.com")}`],
      [named(own, "evil.example"), `assembly_ssl_url: ${rule("evil.example")}`],
      [{ ...named(own, own), tus_url: "http://127.0.0.1:9200/_bulk" }, `tus_url: ${rule("127.0.0.1:9200")}`],
      [named("up-1.example.com", own), "accepted", ["https://up-*.example.com"]]
    ] as const) {
      assert.strictEqual(yield* messageOf(status, baseUrl, origins), message)
    }
  })

  it.effect.each([
    ["an id", `${assembly_id}.example.com`, "<redacted>.example.com"],
    ["10 kB", `${"x".repeat(10_000)}.example.com`, `${"x".repeat(253)}…`]
  ] as const)("does not repeat a host with %s in it", function* ([, host, told]) {
    const found = yield* messageOf(named(host, "api.example.com"), "https://api.example.com")
    assert.strictEqual(
      found,
      `tus_url: the host ${told} does not belong to the service; if it does, add its origin to the option origins`
    )
  })

  it.effect("refuses the Status of another Assembly, and paths that are not written plainly", function* () {
    const base = "https://api.example.com"
    const id: string = assembly_id
    for (const path of [
      `/assemblies/${"1".repeat(32)}`,
      `/assemblies/${id}0`,
      `/assemblies/f${id.slice(1)}`,
      "/assemblies/",
      `/assemblies/x/../${id}`,
      `/assemblies/%2e%2e/assemblies/${id}`,
      `/assemblies/${id}?x`,
      `/assemblies//${id}`,
      `/index/doc/${id}`
    ]) {
      const status = { ...named("api.example.com", "api.example.com"), assembly_ssl_url: base + path }
      assert.strictEqual(
        yield* messageOf(status, base),
        "assembly_ssl_url: names another Assembly than assembly_id",
        path
      )
    }
  })
})

describe("UploadTarget at rest", () => {
  it.effect("comes back through the checks", function* () {
    const target = yield* UploadTarget.make({ ...parts, origins: ["https://tus-2.example.com"] })
    const stored = yield* Schema.encodeEffect(UploadTarget.AtRest)(target)
    const read = yield* Schema.decodeEffect(UploadTarget.AtRest)(JSON.parse(JSON.stringify(stored)))
    assert.deepStrictEqual(yield* Schema.encodeEffect(UploadTarget.AtRest)(read), stored)
    const url = Result.getOrThrow(UploadTarget.resolve(target, "https://tus-2.example.com/resumable/files/1"))
    const text = yield* Schema.encodeEffect(UploadTarget.urlAtRest(target))(url)
    const again = yield* Schema.decodeEffect(UploadTarget.urlAtRest(read))(text)
    assert.strictEqual(Redacted.value(again), Redacted.value(url))
  })

  it.effect("is refused when it was tampered with", function* () {
    const target = yield* make
    const stored = yield* Schema.encodeEffect(UploadTarget.AtRest)(target)
    const tampered = { ...stored, tusUrl: "http://evil.example.com/" }
    assert.strictEqual((yield* Effect.flip(Schema.decodeEffect(UploadTarget.AtRest)(tampered)))._tag, "SchemaError")
    for (const location of attacks) {
      const error = yield* Effect.flip(Schema.decodeEffect(UploadTarget.urlAtRest(target))(location))
      assert.strictEqual(error._tag, "SchemaError")
    }
  })

  it.effect("a URL of a second copy of this package is an upload URL", function* () {
    vi.resetModules()
    const copy = yield* Effect.promise(() => import("@assembly-effect/tus/UploadTarget"))
    assert.notStrictEqual(copy.urlAtRest, UploadTarget.urlAtRest)
    const target = yield* copy.make(parts)
    const url = Result.getOrThrow(copy.resolve(target, "/resumable/files/1"))
    const text = yield* Schema.encodeEffect(UploadTarget.urlAtRest(target))(url)
    assert.strictEqual(text, Redacted.value(url))
  })

  it.effect("takes nothing for an upload URL that the checks did not make (spec R-29)", function* () {
    const encode = Schema.encodeUnknownEffect(UploadTarget.urlAtRest(yield* UploadTarget.make(parts)))
    const error = yield* Effect.flip(encode(Redacted.make("https://tus.example.com/resumable/files/1")))
    assert.strictEqual(error._tag, "SchemaError")
  })
})
