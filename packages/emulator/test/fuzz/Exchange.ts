/** Sends raw bytes and checks the response. */
import { Predicate } from "effect"
import { connect } from "node:net"
import type { World } from "./Routes.ts"

/** The first response, or how the connection ended without a response. */
export interface Answer {
  /** The status, or `closed` if the server closed the connection, or `silent` if no response came in time. */
  readonly outcome: number | "closed" | "silent"
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Whether `body` is the whole body. */
  readonly isWhole: boolean
}

/** The time limit for a response, in milliseconds. */
const patience = 20_000

/** The time after which the client ends a request that may be incomplete, in milliseconds. */
const politeness = 80

/** Whether the body has exactly the length in the headers. The client does not end such a request before a response. */
const isComplete = (sent: string): boolean => {
  const end = sent.indexOf("\r\n\r\n")
  const head = sent.slice(0, end)
  if (end === -1 || /^transfer-encoding/im.test(head)) return false
  const [length, ...others] = Array.from(head.matchAll(/^content-length: (.*)\r?$/gim), ([, value]) => Number(value))
  return others.length === 0 && (length ?? 0) === sent.length - end - 4
}

const nothing = (outcome: "closed" | "silent"): Answer => ({ outcome, headers: new Map(), body: "", isWhole: false })

const unchunk = (text: string, body = ""): { readonly body: string; readonly isWhole: boolean } => {
  const line = text.indexOf("\r\n")
  const size = Number.parseInt(text.slice(0, line), 16)
  const end = line + 2 + size
  if (line === -1 || (size > 0 && text.length < end + 2)) return { body, isWhole: false }
  return size === 0 ? { body, isWhole: true } : unchunk(text.slice(end + 2), body + text.slice(line + 2, end))
}

/** Parses the first response that is not an interim response (status 1xx). */
const parse = (received: string, isHead: boolean): Answer | undefined => {
  const end = received.indexOf("\r\n\r\n")
  if (end === -1) return undefined
  const [line = "", ...lines] = received.slice(0, end).split("\r\n")
  const outcome = Number(line.split(" ")[1])
  const rest = received.slice(end + 4)
  if (outcome < 200) return parse(rest, isHead)
  const headers = new Map(
    lines.map((one) => [one.slice(0, one.indexOf(":")).toLowerCase(), one.slice(one.indexOf(":") + 1).trim()])
  )
  if (isHead || outcome === 204 || outcome === 304) return { outcome, headers, body: "", isWhole: true }
  // The body of live updates ends only when the Assembly ends, so it is not read.
  if (headers.get("content-type") === "text/event-stream") return { outcome, headers, body: "", isWhole: true }
  if (headers.get("transfer-encoding") === "chunked") return { outcome, headers, ...unchunk(rest) }
  const length = Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY)
  return { outcome, headers, body: rest.slice(0, length), isWhole: rest.length >= length }
}

/** Sends bytes and returns the first response. The encoding is Latin-1, in which each character is one byte. */
export const exchange = (port: number, bytes: Buffer): Promise<Answer> =>
  new Promise((resolve) => {
    const isHead = bytes.subarray(0, 5).toString("latin1") === "HEAD "
    let received = ""
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
    const end = (answer: Answer) => {
      clearTimeout(timer)
      clearTimeout(half)
      socket.resetAndDestroy()
      resolve(answer)
    }
    const timer = setTimeout(() => end(nothing("silent")), patience)
    // Ends a request that may be incomplete, so that the server does not wait for the rest of the body.
    const half = isComplete(bytes.toString("latin1")) ? undefined : setTimeout(() => socket.end(), politeness)
    socket.setEncoding("latin1")
    socket.on("connect", () => {
      socket.write(bytes)
    })
    socket.on("data", (chunk) => {
      received += chunk
      const answer = parse(received, isHead)
      if (answer?.isWhole === true) end(answer)
    })
    for (const event of ["error", "end", "close"]) {
      socket.on(event, () => end(parse(received, isHead) ?? nothing("closed")))
    }
  })

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, "latin1").toString("utf8"))
  } catch {
    return undefined
  }
}

/** Why a response is wrong; undefined if it is right. A closed connection is right, because some requests never end. */
export const wrong = (sent: Buffer, { body, headers, isWhole, outcome }: Answer): string | undefined => {
  if (outcome === "silent") return "no answer"
  if (outcome === "closed" || outcome < 400) return undefined
  if (outcome >= 500) return `status ${outcome}: ${body.slice(0, 200)}`
  if (sent.subarray(0, 5).toString("latin1") === "HEAD ") return undefined
  if (!isWhole) return `a broken error, ${outcome}`
  const { error, http_code } = Object(parseJson(body))
  if (typeof error === "string" && http_code === outcome) return undefined
  const isTus = headers.get("content-type")?.startsWith("text/plain") === true
  return isTus && (/^ERR_[A-Z0-9_]+: .+\n$/s.test(body) || String(error).startsWith("ERR_"))
    ? undefined
    : `no error object, ${outcome}: ${body.slice(0, 200)}`
}

const field = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((part, key) => (Object.hasOwn(Object(part), key) ? Object(part)[key] : undefined), value)

/** Records the ids and tokens of a response, so that later requests can use them. */
export const learn = ({ known }: World, { body, headers, outcome }: Answer): void => {
  if (typeof outcome !== "number" || outcome >= 300) return
  const value = parseJson(body)
  const files: ReadonlyArray<unknown> = Object.values(Object(field(value, "results"))).flat()
  const found: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    upload: [headers.get("location")?.split("/").at(-1)],
    assemblyId: [field(value, "assembly_id")],
    token: [field(value, "access_token")],
    // The list of Auth Keys is not recorded, because no request may change the Auth Key that signs.
    authKeyId: [field(value, "auth_key", "id")],
    templateIdOrName: field(value, "content") === undefined ? [] : [field(value, "id")],
    credentialId: [field(value, "credential", "id")],
    assetId: files.map((file) => field(file, "asset_id"))
  }
  for (const [name, ids] of Object.entries(found)) {
    const all = new Set([...(known.get(name) ?? []), ...ids.filter(Predicate.isString)])
    known.set(name, [...all].slice(-40))
  }
}
