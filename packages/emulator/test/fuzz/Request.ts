/** Adds mistakes to requests, and converts requests to bytes. */
import type { SeededRandom } from "./SeededRandom.ts"

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
] as const

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

const oddValue = (chance: SeededRandom): unknown =>
  chance.one<() => unknown>([
    () => null,
    () => true,
    () => chance.one([0, -1, 1.5, 1e308, 2 ** 53, -0]),
    () => [],
    () => ({}),
    () => [[[]], {}],
    () => chance.one(oddTexts),
    () => Object.fromEntries([[chance.one(oddTexts), chance.one(oddTexts)]]),
    () => raw("deep", chance.one([10, 90, 120, 2000, 20_000])),
    () => raw("objects", chance.one([10, 90, 120, 2000])),
    () => raw("wide", chance.one([100, 1000, 20_000])),
    () => raw("digits", chance.one([30, 400]))
  ])()

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Replaces, adds or removes a random part of a value. */
export const oddly = (value: unknown, chance: SeededRandom): unknown => {
  if (chance.once(4)) return oddValue(chance)
  if (Array.isArray(value) && value.length > 0) {
    const at = chance.int(value.length)
    return chance.once(4)
      ? Array.from({ length: chance.one([2, 30, 500]) }, () => value[at])
      : value.map((one: unknown, index) => (index === at ? oddly(one, chance) : one))
  }
  if (isObject(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0 || chance.once(4)) {
      return Object.fromEntries([...entries, [chance.one(oddTexts), oddValue(chance)]])
    }
    const at = chance.int(entries.length)
    if (chance.once(6)) return Object.fromEntries(entries.filter((_, index) => index !== at))
    if (chance.once(6))
      return Object.fromEntries(entries.map(([key, one], i) => [i === at ? chance.one(oddTexts) : key, one]))
    return Object.fromEntries(entries.map(([key, one], index) => [key, index === at ? oddly(one, chance) : one]))
  }
  return oddValue(chance)
}

const flip = (bytes: Buffer, chance: SeededRandom): Buffer => {
  const copy = Buffer.from(bytes)
  for (let left = chance.int(4); left >= 0 && copy.length > 0; left--) copy[chance.int(copy.length)] = chance.int(256)
  return copy
}

const oddHeader = (chance: SeededRandom): readonly [string, string] =>
  chance.one<readonly [string, string]>([
    ["content-length", chance.one(["0", "1", "-1", "5e3", "99999999999999999999", "7, 7", ""])],
    ["transfer-encoding", chance.one(["chunked", "gzip, chunked", "identity", "x"])],
    [
      "content-type",
      chance.one(["", "application/json", "multipart/form-data", "multipart/form-data; boundary=", "a/b; c"])
    ],
    ["content-encoding", chance.one(["gzip", "br", "x"])],
    ["host", chance.one(["", "example.com", "127.0.0.1:99999", "[::1", "a b"])],
    ["origin", chance.one(["null", "https://example.com", "\u00E9"])],
    ["referer", chance.one(["https://example.com/", "a".repeat(3000), ""])],
    [
      "authorization",
      chance.one(["Bearer ", "Bearer a.b", "Basic ", "Basic ====", `Bearer ${"x".repeat(2000)}`, "Basic Og=="])
    ],
    ["connection", chance.one(["close", "keep-alive, upgrade", "x"])],
    ["upgrade", chance.one(["websocket", "h2c", "x"])],
    ["expect", chance.one(["100-continue", "x"])],
    ["x-http-method-override", "DELETE"],
    ["upload-offset", chance.one(["-1", "01", "1e3", "9223372036854775808", "99", ""])],
    ["upload-length", chance.one(["-1", "01", "9223372036854775807", "9223372036854775808", "0"])],
    ["upload-defer-length", chance.one(["1", "0", ""])],
    [
      "upload-metadata",
      chance.one(["", ",", "a b c", "__proto__ YQ==", `k ${"A".repeat(4000)}`, "filename", "a ====,a YQ=="])
    ],
    [
      "upload-concat",
      chance.one(["partial", "final;", "final;/resumable/files/x", `final;${"/resumable/files/a ".repeat(400)}`, "x"])
    ],
    ["upload-checksum", chance.one(["sha1 ", "x y", "sha1 AAAA", "md5 1B2M2Y8AsgTpgAmY7PhCfg=="])],
    ["tus-resumable", chance.one(["0.2.2", "", "1.0.0, 1.0.0"])],
    ["accept-encoding", "gzip"],
    ["range", "bytes=0-99999999999"],
    ["cookie", "a=b"],
    [chance.one(["__proto__", "constructor", "x-odd"]), chance.one(["", "x".repeat(9000), "y"])],
    ["x-many", "z".repeat(20_000)]
  ])

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "CONNECT", "get", "X"]

const oddPath = (path: string, chance: SeededRandom): string =>
  chance.one<() => string>([
    () => `${path}%`,
    () => `${path}/%E0%A4%A`,
    () => `${path}/%00`,
    () => path.replaceAll("/", "//"),
    () => path.replace(/[^/?]+$/, chance.one(oddTexts.map(encodeSafely))),
    () => `${path}/..%2f..`,
    () => `${path}${path.includes("?") ? "&" : "?"}params=%7B&params=[]&signature=`,
    () => `http://127.0.0.1${path}`,
    () => `${path}#x`,
    () => path.slice(0, chance.int(path.length) + 1),
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

type Change = (request: Request, chance: SeededRandom) => Request

const changes: ReadonlyArray<Change> = [
  (request, chance) => ({ ...request, body: flip(request.body, chance) }),
  (request, chance) => ({ ...request, body: request.body.subarray(0, chance.int(request.body.length + 1)) }),
  (request, chance) => ({
    ...request,
    body: Buffer.concat([request.body, request.body.subarray(chance.int(request.body.length + 1))])
  }),
  (request, chance) => ({ ...request, headers: [...request.headers, oddHeader(chance)] }),
  (request, chance) => {
    const odd = oddHeader(chance)
    return { ...request, headers: [...request.headers.filter(([name]) => name !== odd[0]), odd] }
  },
  (request, chance) => {
    const at = chance.int(request.headers.length)
    return { ...request, headers: request.headers.filter((_, index) => index !== at) }
  },
  (request, chance) => ({ ...request, method: chance.one(methods) }),
  (request, chance) => ({ ...request, path: oddPath(request.path, chance) })
]

/** Adds a random number of mistakes to a request. */
export const spoil = (request: Request, chance: SeededRandom): Request => {
  let spoiled = request
  for (let left = chance.one([0, 0, 0, 1, 1, 2]); left > 0; left--) spoiled = chance.one(changes)(spoiled, chance)
  return spoiled
}

/** Converts a request to bytes. Sometimes the body does not match the headers, or the bytes are not HTTP. */
export const toBytes = (request: Request, chance: SeededRandom): Buffer => {
  const isFramed = request.headers.some(([name]) => name === "content-length" || name === "transfer-encoding")
  const length = request.body.length + (chance.once(25) ? chance.one([-1, 1, 50]) : 0)
  const headers =
    isFramed || length <= 0 ? request.headers : [...request.headers, ["content-length", String(length)] as const]
  const head = `${request.method} ${request.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
  const bytes = Buffer.concat([Buffer.from(head, "utf8"), request.body])
  if (chance.once(40)) return flip(bytes, chance)
  return chance.once(40) ? bytes.subarray(0, chance.int(bytes.length)) : bytes
}
