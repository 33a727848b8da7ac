/**
 * Compares the proxy that an error names with the proxy that undici uses. Undici does not tell which proxy it uses.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import Undici from "@effect/platform-node/Undici"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import { assembly, folderWith } from "./support/processes.ts"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Address from "../src/internal/address.ts"

const refused = "http://127.0.0.1:1"

/** Whether undici sends a request through a proxy. A direct connection fails with its own error. */
const isProxied = async (url: string, noProxy: string): Promise<boolean> => {
  const direct = new Error("direct")
  const agent = new Undici.EnvHttpProxyAgent({
    httpProxy: refused,
    httpsProxy: refused,
    noProxy,
    connect: (_, done) => done(direct, null)
  })
  try {
    await Undici.request(url, { dispatcher: agent })
  } catch (error) {
    if (error === direct) return false
    expect((error as { readonly code?: string }).code).toBe("ECONNREFUSED")
    return true
  } finally {
    await agent.destroy()
  }
  throw new Error("there was a response")
}

const urls = [
  "http://example.com",
  "https://example.com",
  "https://api2.example.com:8443",
  "http://API2.example.com.:80",
  "http://notexample.com",
  "http://127.0.0.1:4000",
  "http://[::1]:4000"
]

const exceptions = [
  "",
  "*",
  "*:443",
  "none.invalid,*",
  "example.com",
  ".example.com",
  "*.example.com",
  "EXAMPLE.com. other",
  "api2.example.com:8443",
  "api2.example.com:443",
  "example.com:80",
  "127.0.0.1",
  "127.0.0.1:4000",
  "127.0.0.1:4001",
  "::1",
  "[::1]",
  "[::1]:4000",
  "[::1]:4001"
]

it.each(exceptions)("follows undici with NO_PROXY=%s", async (noProxy) => {
  for (const url of urls) {
    const found = Address.routeOf(new URL(url), { HTTP_PROXY: refused, HTTPS_PROXY: refused, NO_PROXY: noProxy })
    expect(found !== undefined, `${url} ${noProxy}`).toBe(await isProxied(url, noProxy))
  }
})

it.each<[string, Readonly<Record<string, string>>, Address.Route | undefined]>([
  ["http://a.test", {}, undefined],
  ["http://a.test", { HTTPS_PROXY: refused }, undefined],
  ["https://a.test", { HTTP_PROXY: refused }, { variable: "HTTP_PROXY", address: refused }],
  [
    "https://a.test",
    { HTTP_PROXY: refused, https_proxy: "http://b.test" },
    { variable: "https_proxy", address: "http://b.test" }
  ],
  ["http://a.test", { HTTP_PROXY: refused, http_proxy: "" }, { variable: "HTTP_PROXY", address: refused }],
  ["https://a.test", { HTTP_PROXY: "http://b.test", all_proxy: refused }, { variable: "all_proxy", address: refused }],
  [
    "http://a.test",
    { HTTP_PROXY: "http://user:pass@proxy.test:8080/path" },
    { variable: "HTTP_PROXY", address: "http://proxy.test:8080" }
  ],
  [
    "http://a.test",
    { HTTP_PROXY: refused, NO_PROXY: "a.test", no_proxy: "b.test" },
    { variable: "HTTP_PROXY", address: refused }
  ]
])("%s with %j", (url, env, route) => {
  expect(Address.routeOf(new URL(url), env)).toEqual(route)
})

/** A proxy that refuses every request and every tunnel. */
const refusing = Effect.suspend(() => {
  const server = createServer((_, response) => {
    response.writeHead(407)
    response.end("Who are you?")
  })
  server.on("connect", (_, socket) => socket.end("HTTP/1.1 407 Who are you?\r\ncontent-length: 0\r\n\r\n"))
  return Effect.map(Loopback.listen(server), (port) => `127.0.0.1:${port}`)
})

it.live("an error names the proxy and its variable, and never its password", () =>
  Effect.gen(function* () {
    const host = yield* refusing
    const cwd = yield* folderWith({})
    const credentials = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }
    const said = (env: Readonly<Record<string, string>>) =>
      Effect.map(assembly(cwd, { ...credentials, ...env }, "token"), ({ code, stderr }) => {
        expect(stderr).not.toMatch(/user|geheim/)
        return { code, said: stderr.split("\n").slice(0, -1) }
      })
    const secure = "https://service.invalid"
    expect(yield* said({ ASSEMBLY_BASE_URL: secure, HTTPS_PROXY: `http://user:geheim@${host}` })).toEqual({
      code: 4,
      said: [
        "assembly: No token: the proxy responded with status 407 (service.invalid)",
        `Check HTTPS_PROXY: the proxy http://${host} opens no connection to service.invalid. It may need a name and a password.`
      ]
    })
    expect(yield* said({ ASSEMBLY_BASE_URL: "http://127.0.0.1:9", http_proxy: `http://user:geheim@${host}` })).toEqual({
      code: 4,
      said: [
        "assembly: No token: the proxy responded with status 407 (127.0.0.1:9)",
        `Set the name and the password in http_proxy: the proxy http://${host} asks for them.`
      ]
    })
    expect(yield* said({ ASSEMBLY_BASE_URL: secure, HTTP_PROXY: "http://user:geheim@127.0.0.1:1" })).toEqual({
      code: 4,
      said: [
        "assembly: No token: proxy 127.0.0.1:1: the connection was refused (service.invalid)",
        "Check HTTP_PROXY: no proxy listens at http://127.0.0.1:1. NO_PROXY names the hosts that need no proxy, such as service.invalid."
      ]
    })
    expect(yield* said({ ASSEMBLY_BASE_URL: secure, HTTPS_PROXY: "user:geheim@proxy.invalid" })).toEqual({
      code: 2,
      said: ["assembly: HTTPS_PROXY: Expected a URL such as http://proxy.example.com:8080"]
    })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
