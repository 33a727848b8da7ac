/** Adds mistakes to requests, and converts requests to bytes. */
import type { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Buffer
}

/** Names and texts that have caused errors in programs. */
const oddTexts = [
  "",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "\u0000",
  "\uD800",
  "\u202E\u001B[31m",
  "../../../etc/passwd",
  "%00%2e%2e",
  "${fields.__proto__}${file.name}",
  "9223372036854775808",
  "-0",
  "1e999",
  "NaN",
  "💥".repeat(50),
  "a".repeat(3000),
  "(a+)+$",
  "' OR 1=1 --"
]

/** A placeholder for JSON text that is long or nested deep. `toText` replaces the placeholder. */
const raw = (what: string, size: number) => `@@${what}:${size}@@`

const written = /"@@(\w+):(\d+)@@"/g

/** Serializes a value, and replaces its placeholders. */
export const toText = (value: unknown): string =>
  JSON.stringify(value).replace(written, (_, what: string, size: string) => {
    const count = Number(size)
    if (what === "deep") return "[".repeat(count) + "]".repeat(count)
    if (what === "objects") return '{"a":'.repeat(count) + "1" + "}".repeat(count)
    if (what === "wide") return `[${Array.from({ length: count }, () => "0").join()}]`
    return "1".repeat(count)
  })

const oddValue = (draw: Draw): unknown =>
  draw.of<() => unknown>([
    () => null,
    () => true,
    () => draw.of([0, -1, 1.5, 1e308, 2 ** 53, -0]),
    () => [],
    () => ({}),
    () => [[[]], {}],
    () => draw.of(oddTexts),
    () => Object.fromEntries([[draw.of(oddTexts), draw.of(oddTexts)]]),
    () => raw("deep", draw.of([10, 90, 120, 2000, 20_000])),
    () => raw("objects", draw.of([10, 90, 120, 2000])),
    () => raw("wide", draw.of([100, 1000, 20_000])),
    () => raw("digits", draw.of([30, 400]))
  ])()

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Replaces, adds or removes a random part of a value. */
export const oddly = (value: unknown, draw: Draw): unknown => {
  if (draw.chance(0.25)) return oddValue(draw)
  if (Array.isArray(value) && value.length > 0) {
    const at = draw.below(value.length)
    return draw.chance(0.25)
      ? Array.from({ length: draw.of([2, 30, 500]) }, () => value[at])
      : value.map((one: unknown, index) => (index === at ? oddly(one, draw) : one))
  }
  if (isObject(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0 || draw.chance(0.25)) {
      return Object.fromEntries([...entries, [draw.of(oddTexts), oddValue(draw)]])
    }
    const at = draw.below(entries.length)
    if (draw.chance(0.15)) return Object.fromEntries(entries.filter((_, index) => index !== at))
    if (draw.chance(0.15))
      return Object.fromEntries(entries.map(([key, one], i) => [i === at ? draw.of(oddTexts) : key, one]))
    return Object.fromEntries(entries.map(([key, one], index) => [key, index === at ? oddly(one, draw) : one]))
  }
  return oddValue(draw)
}

const flip = (bytes: Buffer, draw: Draw): Buffer => {
  const copy = Buffer.from(bytes)
  for (let left = draw.below(4); left >= 0 && copy.length > 0; left--) copy[draw.below(copy.length)] = draw.below(256)
  return copy
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
    () => path.replace(/[^/?]+$/, draw.of(oddTexts.map(encodeSafely))),
    () => `${path}/..%2f..`,
    () => `${path}${path.includes("?") ? "&" : "?"}params=%7B&params=[]&signature=`,
    () => `http://127.0.0.1${path}`,
    () => `${path}#x`,
    () => path.slice(0, draw.below(path.length) + 1),
    () => `${path}?${"a=b&".repeat(1500)}`,
    () => "*",
    () => `${path}${"/x".repeat(1000)}`
  ])()

const encodeSafely = (text: string): string => {
  try {
    return encodeURIComponent(text)
  } catch {
    return "%ED%A0%80"
  }
}

type Change = (request: Request, draw: Draw) => Request

const changes: ReadonlyArray<Change> = [
  (request, draw) => ({ ...request, body: flip(request.body, draw) }),
  (request, draw) => ({ ...request, body: request.body.subarray(0, draw.below(request.body.length + 1)) }),
  (request, draw) => ({
    ...request,
    body: Buffer.concat([request.body, request.body.subarray(draw.below(request.body.length + 1))])
  }),
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
  if (draw.chance(0.025)) return flip(bytes, draw)
  return draw.chance(0.025) ? bytes.subarray(0, draw.below(bytes.length)) : bytes
}
