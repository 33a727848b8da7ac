import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

const origins = (baseUrl: string, additional?: ReadonlyArray<string>) =>
  Result.getOrThrow(ServiceOrigins.make(baseUrl, additional))

const rules = (baseUrl: string, additional: ReadonlyArray<string>) =>
  Result.match(ServiceOrigins.make(baseUrl, additional), {
    onSuccess: () => [],
    onFailure: (issues) => issues.map(({ message, path }) => `${path.join(".")}: ${message}`)
  })

const words = (text: string) => text.trim().split(/\s+/)

const paths = (lines: ReadonlyArray<string>) => lines.map((line) => line.split(":")[0])

/** Checks which URLs the origins contain, and which they do not. */
const contains = (all: ServiceOrigins.ServiceOrigins, yes: string, no: string) => {
  for (const url of words(yes)) assert.isTrue(ServiceOrigins.includes(all, url), url)
  for (const url of words(no)) assert.isFalse(ServiceOrigins.includes(all, url), url)
}

describe("ServiceOrigins", () => {
  it("contains only the origin of the base URL", () => {
    const own = origins("https://api.example.com/v2")
    const yes = "https://api.example.com/resumable/files/1 HTTPS://API.Example.com:443/a https://api.example.com"
    const no = `https://api2.example.com/ https://api.example.com.evil.example/ https://api.example.com:8443/
      http://api.example.com/ https://api.example.com@evil.example/ https://user@api.example.com/
      https://api.ex%61mple.com/ https:\\\\api.example.com/ //api.example.com/ /resumable/files/1 http://127.0.0.1/`
    contains(own, yes, no)
    assert.isFalse(ServiceOrigins.includes(own, ""))
  })

  it("contains the cells of the public service only for its base URL", () => {
    const cells = words(`api2 api2-ada api2-eu-west-1 api2-1x api2-a api2-${"a".repeat(58)}`)
    // The last host is as long behind the cell as the name of the service.
    const others = words(`api2-.transloadit.com api2--a.transloadit.com api2-a-.transloadit.com
      api2-xn--a.transloadit.com api2-${"a".repeat(59)}.transloadit.com api2-a.b.transloadit.com
      api3-a.transloadit.com api2-a.transloadit.com.evil.example transloadit.com evil.example/api2-a.transloadit.com
      evil.example#.transloadit.com api2-ada.transloadit.com:8443 api2-ada.evil-service.io`)
    for (const baseUrl of ["https://api2.transloadit.com", "https://api2-ada.transloadit.com/"]) {
      const yes = cells.map((host) => `https://${host}.transloadit.com/resumable/files/1`)
      const no = [...others.map((host) => `https://${host}`), "http://api2-ada.transloadit.com/"]
      contains(origins(baseUrl), yes.join(" "), no.join(" "))
    }
    for (const baseUrl of words(`https://api2-.transloadit.com https://api2-ada.transloadit.com:8443
      https://api2-a.b.transloadit.com https://api3-ada.transloadit.com`)) {
      assert.deepStrictEqual(origins(baseUrl).entries, [baseUrl])
    }
    assert.isFalse(ServiceOrigins.includes(origins("https://api.example.com"), "https://api2-ada.transloadit.com/"))
  })

  it("accepts additional exact origins and patterns", () => {
    const additional = words(`https://Upload.example.com/ https://up-*.eu.example.com https://in-*-in.example.com
      https://*-cell.example.com:8443`)
    const yes = "https://upload.example.com/x https://up-1.eu.example.com/x https://a-b-cell.example.com:8443/x"
    // In `in-in` the beginning and the end of the pattern are one over the other.
    const no = `https://up-1.us.example.com/ https://up-.eu.example.com/ https://up--a.eu.example.com/
      https://xn--a-cell.example.com:8443/ https://in-in.example.com/ https://a-cell.example.com/
      https://up-a.b.eu.example.com/`
    contains(origins("https://api.example.com", additional), yes, no)
  })

  it("refuses any other entry, and names it", () => {
    const wrong = words(`https://*.example.com https://a.*.example.com https://a*.com https://a-*-*.example.com
      http://a-*.example.com https://* * a-*.example.com https://a-*.example.com/path https://upload.example.com/path
      https://upload.example.com?x https://user@upload.example.com upload.example.com ftp://upload.example.com
      http://upload.example.com http://127.0.0.1:8080 https://a-*.-b.example.com`).concat("")
    const expected = wrong.map((_, index) => `origins.${index}`)
    assert.deepStrictEqual(paths(rules("https://api.example.com", wrong)), expected)
    // The origins that belong to these base URLs are not counted.
    for (const baseUrl of ["http://localhost:3000", "https://api2.transloadit.com"]) {
      assert.deepStrictEqual(paths(rules(baseUrl, ["https://upload.example.com", "nope"])), ["origins.1"], baseUrl)
    }
    assert.deepStrictEqual(rules("https://api.example.com", ["http://127.0.0.1:8080"]), [
      "origins.0: Expected https (http on loopback only where the base URL is on loopback)"
    ])
  })

  it("accepts http on loopback if the base URL is on loopback", () => {
    const all = origins("http://127.0.0.1:3000", ["http://localhost:4000"])
    contains(all, "http://127.0.0.1:3000/files/1 http://localhost:4000/files/1", "http://127.0.0.1:3001/files/1")
  })

  it("holds the addresses of localhost where that is the base URL, with its scheme and port", () => {
    const all = origins("http://localhost:3000", ["http://127.0.0.1:4000"])
    const yes = "http://localhost:3000/ http://127.0.0.1:3000/a http://[::1]:3000/ http://127.0.0.1:4000/"
    // Other loopback addresses may belong to other servers, and localhost does not lead to them.
    const no = `http://127.0.0.1:3001/ http://[::1]:4000/ http://127.0.0.1/ https://127.0.0.1:3000/
      http://127.0.0.2:3000/ http://a.localhost:3000/ http://localhost.evil.example:3000/ http://0.0.0.0:3000/
      http://192.168.0.1:3000/`
    contains(all, yes, no)
    assert.deepStrictEqual(origins(all.entries[0], all.entries.slice(1)).entries, all.entries)
    assert.isTrue(ServiceOrigins.includes(origins("https://localhost:8443"), "https://127.0.0.1:8443/"))
  })

  it("holds an address of loopback alone where that is the base URL: localhost may lead to another server", () => {
    for (const own of ["http://127.0.0.1:3000", "http://[::1]:3000"]) {
      assert.deepStrictEqual(origins(own).entries, [own])
    }
  })

  it("keeps entries in a normalized form that gives the same origins again", () => {
    const { entries } = origins("https://API2.transloadit.com:443/", ["https://UP-*.example.com:443/"])
    assert.deepStrictEqual(entries, [
      "https://api2.transloadit.com",
      "https://api2-*.transloadit.com",
      "https://up-*.example.com"
    ])
    assert.deepStrictEqual(origins(entries[0], entries.slice(1)).entries, entries)
  })
})

describe("ServiceOrigins.assemblyIdAt", () => {
  const id = "0123456789abcdef0123456789abcdef"

  it("finds the id in the URL of a Status, also below a path", () => {
    for (const path of ["/assemblies/", "/v2/service/assemblies/"]) {
      assert.strictEqual(ServiceOrigins.assemblyIdAt(`https://api2.example.com${path}${id}`), id)
    }
  })

  it("finds none in a URL of anything else", () => {
    for (const rest of ["0", "/", "/uploads", "?a=b", "#a", "/../x"]) {
      assert.isUndefined(ServiceOrigins.assemblyIdAt(`https://api2.example.com/assemblies/${id}${rest}`), rest)
    }
    assert.isUndefined(ServiceOrigins.assemblyIdAt(`https://api2.example.com/other?/assemblies/${id}`))
    for (const host of ["a.example.com?b", "a.example.com#b", "user:secret@a.example.com"]) {
      assert.isUndefined(ServiceOrigins.assemblyIdAt(`https://${host}/assemblies/${id}`), host)
    }
  })
})

describe("ServiceOrigins.withoutPrefix", () => {
  it("takes away the path of the base URL as whole segments, and nothing else", () => {
    const service = origins("https://proxy.example.com/api/")
    for (const [path, expected] of [
      ["/api/resumable/files/x", "/resumable/files/x"],
      ["/apis/resumable/files/x", "/apis/resumable/files/x"],
      ["/resumable/files/x", "/resumable/files/x"]
    ] as const) {
      assert.strictEqual(ServiceOrigins.withoutPrefix(service, path), expected)
    }
  })
})
