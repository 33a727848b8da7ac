/** Adds mistakes to requests, and converts requests to bytes. */
import type { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import * as Mutation from "@assembly-effect/testkit/hostile/fuzz/Mutation"

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Buffer
}

/** JSON text of a value, with a change of a part of it, or a key more. */
export const oddly = (value: unknown, draw: Draw): string => {
  const change = draw.of([Mutation.changeJson, Mutation.addKey])
  return Buffer.from(change(draw, Buffer.from(JSON.stringify(value)))).toString()
}

const oddHeaders: Readonly<Record<string, ReadonlyArray<string>>> = {
  "content-length": ["0", "1", "-1", "5e3", "99999999999999999999", "7, 7", ""],
  "transfer-encoding": ["chunked", "gzip, chunked", "identity", "x"],
  "content-type": ["", "application/json", "multipart/form-data", "multipart/form-data; boundary=", "a/b; c"],
  "content-encoding": ["gzip", "br", "x"],
  host: ["", "example.com", "127.0.0.1:99999", "[::1", "a b"],
  origin: ["null", "https://example.com", "\u00E9"],
  referer: ["https://example.com/", "a".repeat(3000), ""],
  authorization: ["Bearer ", "Bearer a.b", "Basic ", "Basic ====", `Bearer ${"x".repeat(2000)}`, "Basic Og=="],
  connection: ["close", "keep-alive, upgrade", "x"],
  upgrade: ["websocket", "h2c", "x"],
  expect: ["100-continue", "x"],
  "x-http-method-override": ["DELETE"],
  "upload-offset": ["-1", "01", "1e3", "9223372036854775808", "99", ""],
  "upload-length": ["-1", "01", "9223372036854775807", "9223372036854775808", "0"],
  "upload-defer-length": ["1", "0", ""],
  "upload-metadata": ["", ",", "a b c", "__proto__ YQ==", `k ${"A".repeat(4000)}`, "filename", "a ====,a YQ=="],
  "upload-concat": ["partial", "final;", "final;/resumable/files/x", `final;${"/resumable/files/a ".repeat(400)}`, "x"],
  "upload-checksum": ["sha1 ", "x y", "sha1 AAAA", "md5 1B2M2Y8AsgTpgAmY7PhCfg=="],
  "tus-resumable": ["0.2.2", "", "1.0.0, 1.0.0"],
  "accept-encoding": ["gzip"],
  range: ["bytes=0-99999999999"],
  cookie: ["a=b"],
  ["__proto__"]: ["", "x".repeat(9000), "y"],
  constructor: ["", "x".repeat(9000), "y"],
  "x-many": ["z".repeat(20_000)]
}

const oddHeader = (draw: Draw): readonly [string, string] => {
  const [name, values] = draw.of(Object.entries(oddHeaders))
  return [name, draw.of(values)]
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "CONNECT", "get", "X"]

const oddPath = (path: string, draw: Draw): string =>
  draw.of<() => string>([
    () => `${path}%`,
    () => `${path}/%E0%A4%A`,
    () => `${path}/%00`,
    () => path.replaceAll("/", "//"),
    () => path.replace(/[^/?]+$/, draw.of(["__proto__", "..%2f..%2fetc%2fpasswd", "%ED%A0%80", "%F0%9F%92%A5", "-0"])),
    () => `${path}/..%2f..`,
    () => `${path}${path.includes("?") ? "&" : "?"}params=%7B&params=[]&signature=`,
    () => `http://127.0.0.1${path}`,
    () => `${path}#x`,
    () => path.slice(0, draw.below(path.length) + 1),
    () => `${path}?${"a=b&".repeat(1500)}`,
    () => "*",
    () => `${path}${"/x".repeat(1000)}`
  ])()

type Change = (request: Request, draw: Draw) => Request

const changes: ReadonlyArray<Change> = [
  (request, draw) => ({ ...request, body: Buffer.from(Mutation.changeBody(draw, request.body)) }),
  (request, draw) => ({ ...request, body: Buffer.from(Mutation.changeBody(draw, request.body)) }),
  (request, draw) => ({ ...request, headers: [...request.headers, oddHeader(draw)] }),
  (request, draw) => {
    const odd = oddHeader(draw)
    return { ...request, headers: [...request.headers.filter(([name]) => name !== odd[0]), odd] }
  },
  (request, draw) => {
    const at = draw.below(request.headers.length)
    return { ...request, headers: request.headers.filter((_, index) => index !== at) }
  },
  (request, draw) => ({ ...request, method: draw.of(methods) }),
  (request, draw) => ({ ...request, path: oddPath(request.path, draw) })
]

/** Adds a random number of mistakes to a request. */
export const spoil = (request: Request, draw: Draw): Request => {
  let spoiled = request
  for (let left = draw.of([0, 0, 0, 1, 1, 2]); left > 0; left--) spoiled = draw.of(changes)(spoiled, draw)
  return spoiled
}

/** Converts a request to bytes. Sometimes the body does not match the headers, or the bytes are not HTTP. */
export const toBytes = (request: Request, draw: Draw): Buffer => {
  const isFramed = request.headers.some(([name]) => name === "content-length" || name === "transfer-encoding")
  const length = request.body.length + (draw.chance(0.04) ? draw.of([-1, 1, 50]) : 0)
  const headers =
    isFramed || length <= 0 ? request.headers : [...request.headers, ["content-length", String(length)] as const]
  const head = `${request.method} ${request.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
  const bytes = Buffer.concat([Buffer.from(head, "utf8"), request.body])
  if (draw.chance(0.025)) return Buffer.from(Mutation.changeBody(draw, bytes))
  return draw.chance(0.025) ? bytes.subarray(0, draw.below(bytes.length)) : bytes
}
