/**
 * Mutates the status, the headers and the body of responses, with a seed.
 */
import type { Draw } from "./Draw.ts"

/** A response before it is sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

const encoder = new TextEncoder()

export const text = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers,
  body: encoder.encode(body)
})

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  text(status, JSON.stringify(body), { "content-type": "application/json", ...headers })

const statuses = [
  200, 201, 202, 204, 205, 206, 226, 299, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 408, 409,
  410, 411, 412, 413, 415, 418, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 460, 499, 500, 501, 502, 503, 504,
  507, 511, 599
] as const

const names = [
  "content-length",
  "content-type",
  "content-encoding",
  "location",
  "retry-after",
  "date",
  "set-cookie",
  "tus-resumable",
  "tus-version",
  "tus-extension",
  "tus-max-size",
  "tus-checksum-algorithm",
  "upload-offset",
  "upload-length",
  "upload-defer-length",
  "upload-metadata",
  "upload-concat",
  "upload-expires"
] as const

const values = [
  "",
  " ",
  "0",
  "-0",
  "-1",
  "1",
  "5",
  "1.5",
  "0x10",
  "1e3",
  "1e400",
  "NaN",
  "Infinity",
  "5, 6",
  "9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "9".repeat(4000),
  "toString",
  "__proto__",
  "constructor",
  "\u00ff\u0080",
  "a".repeat(65_536),
  ",".repeat(10_000),
  "__proto__ YQ==,constructor YQ==,toString",
  "filename YQ=,filename YQ==",
  "final;",
  "partial",
  "gzip",
  "br",
  "/resumable/files/b",
  "/resumable/files/../x",
  "/resumable/files/%2e%2e/x",
  "/resumable/files/a?x=1",
  "//evil.example/resumable/files/a",
  "https://evil.example/resumable/files/a",
  "http://127.0.0.1:1/resumable/files/a",
  "https://user:pass@api2.example.com/resumable/files/a",
  "javascript:alert(1)",
  "http://[::1",
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "Fri, 31 Dec 9999 23:59:59 GMT",
  "Mon, 99 Foo 2026 99:99:99 GMT",
  "1.0.0",
  "0.2.2,1.0.0",
  "creation,concatenation,checksum,termination"
] as const

const prototypeNames = ["toString", "constructor", "__proto__", "valueOf", "hasOwnProperty", "then"] as const

const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels)

/** Texts of JSON values, some of them invalid. */
const fragments = (draw: Draw): string =>
  draw.of<() => string>([
    () => "null",
    () => "true",
    () => "0",
    () => "-1",
    () => "1.5",
    () => "1e308",
    () => "1e999",
    () => "-1e999",
    () => "9".repeat(1 + draw.below(400)),
    () => '""',
    () => JSON.stringify(draw.of(prototypeNames)),
    () => JSON.stringify(draw.of(values)),
    () => '"\\ud800"',
    () => '"\\u0000\\u001b]0;x\\u0007"',
    () => "{}",
    () => "[]",
    () => "[[]]",
    () => `{"${draw.of(prototypeNames)}":{"error":"X","ok":"Y","message":1}}`,
    () => nested("[", "]", 2 ** draw.below(14)),
    () => nested('{"a":', "}", 2 ** draw.below(14)).replace("}", "1}"),
    () => `[${"0,".repeat(draw.below(2000))}0]`,
    () => `"${"x".repeat(draw.below(20_000))}"`,
    () => "undefined",
    () => "NaN",
    () => "'x'",
    () => "",
    () => "{",
    () => '"'
  ])()

/** The start and end of a random JSON value in a text: a string, a number or a word. */
const scalars = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g

const withoutBytes = new Uint8Array(0)

const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

const decoder = new TextDecoder()

/** Changes one scalar or one key of a text that looks like JSON. */
export const changeJson = (draw: Draw, body: Uint8Array): Uint8Array => {
  const source = decoder.decode(body)
  const found = [...source.matchAll(scalars)]
  const match = found[draw.below(found.length)]
  if (match === undefined) return encoder.encode(fragments(draw))
  const end = match.index + match[0].length
  return encoder.encode(source.slice(0, match.index) + fragments(draw) + source.slice(end))
}

/** Adds a key before the others, sometimes with the name of an existing key. */
export const addKey = (draw: Draw, body: Uint8Array): Uint8Array => {
  const source = decoder.decode(body)
  const keys = [...source.matchAll(/"(\w+)":/g)].map(([, key = ""]) => key)
  const key = draw.chance(0.5)
    ? draw.of(prototypeNames)
    : (keys[draw.below(keys.length)] ?? draw.of(["ok", "error", "message", "reason", "info"]))
  const first = draw.chance(0.5)
  const pair = `"${key}":${fragments(draw)}`
  return encoder.encode(first ? source.replace("{", `{${pair},`) : source.replace(/\}(?=[^}]*$)/, `,${pair}}`))
}

const errorCodes = [
  ...prototypeNames,
  "RATE_LIMIT_REACHED",
  "AUTH_EXPIRED",
  "INVALID_SIGNATURE",
  "BEARER_TOKEN_EXPIRED",
  "DAM_MUTATION_FAILED",
  "ASSEMBLY_STATS_ERROR",
  "TOKEN_INVALID_SCOPE",
  "",
  "x"
] as const

export const changeBody = (draw: Draw, body: Uint8Array): Uint8Array =>
  draw.of<() => Uint8Array>([
    () => body.slice(0, draw.below(body.length + 1)),
    () => body.slice(draw.below(body.length + 1)),
    () => {
      const changed = body.slice()
      for (let flips = 1 + draw.below(8); flips > 0 && changed.length > 0; flips--) {
        const at = draw.below(changed.length)
        changed[at] = (changed[at] ?? 0) ^ (1 << draw.below(8))
      }
      return changed
    },
    () => {
      const at = draw.below(body.length + 1)
      const noise = Uint8Array.from({ length: 1 + draw.below(16) }, () => draw.below(256))
      return concat(body.slice(0, at), noise, body.slice(at))
    },
    () => {
      const at = draw.below(body.length + 1)
      return concat(body.slice(0, at), body)
    },
    () => concat(Uint8Array.of(0xef, 0xbb, 0xbf), body),
    () => concat(body, Uint8Array.of(0xc3)),
    () => encoder.encode(fragments(draw)),
    () =>
      encoder.encode(
        `{"error":${JSON.stringify(draw.of(errorCodes))},"message":${fragments(draw)},"info":{"retryIn":${fragments(draw)}}}`
      ),
    () => encoder.encode(`ERR_X: ${"words ".repeat(draw.below(3000))}\n`),
    () => withoutBytes,
    () => changeJson(draw, body),
    () => changeJson(draw, changeJson(draw, body)),
    () => changeJson(draw, body),
    () => addKey(draw, body),
    () => addKey(draw, body)
  ])()

const changeHeaders = (draw: Draw, headers: Answer["headers"]): Answer["headers"] => {
  const own = Object.keys(headers)
  const name = draw.chance(0.6) ? own[draw.below(own.length)] : undefined
  const changed = { ...headers }
  if (name !== undefined && draw.chance(0.3)) delete changed[name]
  else changed[name ?? draw.of(names)] = draw.of(values)
  return changed
}

/** The response with one to three mutations. */
export const mutate = (draw: Draw, answer: Answer): Answer => {
  let { body, headers, status } = answer
  for (let changes = 1 + draw.below(3); changes > 0; changes--) {
    const kind = draw.next()
    if (kind < 0.2) status = draw.of(statuses)
    else if (kind < 0.5) headers = changeHeaders(draw, headers)
    else body = changeBody(draw, body)
  }
  return { status, headers, body }
}
