/**
 * A model of CORS in a browser (https://fetch.spec.whatwg.org/#http-cors-protocol). The model sends preflights, blocks
 * requests that are not allowed, and hides responses and headers that are not exposed.
 */
import type { HttpRequest, HttpResponse, HttpStack } from "tus-js-client"

const simpleMethods = new Set(["GET", "HEAD", "POST"])

const simpleTypes = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]

/** https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
const isSimple = (name: string, value: string): boolean =>
  ["accept", "accept-language", "content-language"].includes(name) ||
  (name === "content-type" && simpleTypes.some((type) => value.startsWith(type)))

/** https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name */
const readable = ["cache-control", "content-language", "content-length", "content-type", "expires", "last-modified"]

const listed = (headers: Headers, name: string): ReadonlyArray<string> =>
  (headers.get(name) ?? "")
    .toLowerCase()
    .split(",")
    .map((item) => item.trim())

const isShared = (headers: Headers, origin: string): boolean =>
  [origin, "*"].includes(headers.get("access-control-allow-origin") ?? "")

const fail = (problem: string): never => {
  throw new TypeError(`CORS: ${problem}`)
}

/** Sends the preflight of a request, if the request needs a preflight. Returns whether a preflight was sent. */
const preflight = async (origin: string, url: string, method: string, headers: Headers): Promise<boolean> => {
  const unsafe = [...headers].filter(([name, value]) => !isSimple(name, value)).map(([name]) => name)
  if (simpleMethods.has(method) && unsafe.length === 0) return false
  const asked = {
    "access-control-request-method": method,
    "access-control-request-headers": unsafe.toSorted().join(",")
  }
  const answer = await fetch(url, { method: "OPTIONS", headers: { origin, ...asked } })
  if (!answer.ok || !isShared(answer.headers, origin)) fail(`the preflight is answered with ${answer.status}`)
  const methods = listed(answer.headers, "access-control-allow-methods")
  if (!simpleMethods.has(method) && !methods.includes(method.toLowerCase())) fail(`${method} is not allowed`)
  const allowed = listed(answer.headers, "access-control-allow-headers")
  const missing = unsafe.find((name) => !allowed.includes(name))
  if (missing !== undefined) fail(`${missing} is not allowed`)
  return true
}

/** The `fetch` of pages of an origin. `asked` counts the preflights. */
export const make = (origin: string) => {
  let asked = 0

  const fetchAs = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input)
    const method = (init.method ?? "GET").toUpperCase()
    const headers = new Headers(init.headers)
    if (await preflight(origin, url, method, headers)) asked += 1
    headers.set("origin", origin)
    const answer = await fetch(url, { ...init, method, headers })
    if (!isShared(answer.headers, origin)) fail("the answer is not for this page")
    const exposed = new Set([...readable, ...listed(answer.headers, "access-control-expose-headers")])
    const shown = [...answer.headers].filter(([name]) => exposed.has(name))
    return new Response(answer.body, { status: answer.status, headers: shown })
  }

  const request = (method: string, url: string): HttpRequest => {
    const headers = new Headers()
    const interruption = new AbortController()
    return {
      getMethod: () => method,
      getURL: () => url,
      setHeader: (name, value) => headers.set(name, value),
      getHeader: (name) => headers.get(name) ?? undefined,
      setProgressHandler: () => undefined,
      getUnderlyingObject: () => undefined,
      abort: async () => interruption.abort(),
      send: async (body: BodyInit | undefined): Promise<HttpResponse> => {
        const signal = interruption.signal
        const response = await fetchAs(url, { method, headers, signal, ...(body === undefined ? {} : { body }) })
        const text = await response.text()
        return {
          getStatus: () => response.status,
          getHeader: (name) => response.headers.get(name) ?? undefined,
          getBody: () => text,
          getUnderlyingObject: () => undefined
        }
      }
    }
  }

  const httpStack: HttpStack = { createRequest: request, getName: () => "a browser" }
  return { fetch: fetchAs, httpStack, asked: () => asked }
}
