/**
 * Compares the proxy that an error names with the proxy that undici uses. Undici does not tell which proxy it uses.
 */
import Undici from "@effect/platform-node/Undici"
import { expect, it } from "@effect/vitest"
import * as Proxy from "../src/internal/proxy.ts"

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
    const found = Proxy.routeOf(new URL(url), { HTTP_PROXY: refused, HTTPS_PROXY: refused, NO_PROXY: noProxy })
    expect(found !== undefined, `${url} ${noProxy}`).toBe(await isProxied(url, noProxy))
  }
})

it.each<[string, Readonly<Record<string, string>>, Proxy.Route | undefined]>([
  ["http://a.test", {}, undefined],
  ["http://a.test", { HTTPS_PROXY: refused }, undefined],
  ["https://a.test", { HTTP_PROXY: refused }, { variable: "HTTP_PROXY", address: refused }],
  [
    "https://a.test",
    { HTTP_PROXY: refused, https_proxy: "http://b.test" },
    { variable: "https_proxy", address: "http://b.test" }
  ],
  ["http://a.test", { HTTP_PROXY: refused, http_proxy: "" }, undefined],
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
  expect(Proxy.routeOf(new URL(url), env)).toEqual(route)
})
