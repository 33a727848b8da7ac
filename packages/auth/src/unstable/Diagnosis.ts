/**
 * Describes why a request got no complete response, based on the error of an HTTP client. The description depends on
 * the codes of the causes. The description never contains the texts of the causes, which may contain hosts and URLs.
 */
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Predicate from "effect/Predicate"
import { Lost } from "./Outcome.ts"

/**
 * The facts about a request that the error of the HTTP client does not contain.
 *
 * - `sends`: how often the request was passed to the network, if the sends of the client can be observed.
 * - `isSeen`: whether the sends of this client can be observed.
 * - `knowsHost`: whether the host has responded to this client before.
 * - `url`: the URL of the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Circumstances {
  readonly sends: number
  readonly isSeen: boolean
  readonly knowsHost: boolean
  readonly url?: URL | undefined
}

/** The default if the circumstances of a request are not known. */
const unknown: Circumstances = { sends: 0, isSeen: false, knowsHost: true }

/**
 * A kind of failure: its description, whether such a failure occurs before any byte of a request is sent, and whether a
 * retry would fail again.
 */
interface Kind {
  readonly words: string
  readonly isBeforeSending?: true
  readonly isPermanent?: true
}

const other: Kind = { words: "the connection failed" }
const late: Kind = { words: "the connection timed out" }
const unknownHost: Kind = { words: "the host is unknown", isBeforeSending: true, isPermanent: true }
const invalid: Kind = { words: "the HTTP client refuses the request", isBeforeSending: true, isPermanent: true }
const untrusted = (words: string): Kind => ({
  words: `the certificate of the server ${words}`,
  isBeforeSending: true,
  isPermanent: true
})

/** The first expression that matches a code decides its kind. `ConnectionRefused` and `ConnectionClosed` are Bun's. */
const kinds: ReadonlyArray<readonly [code: RegExp, kind: Kind]> = [
  [/^(ECONN|Connection)REFUSED$/i, { words: "the connection was refused", isBeforeSending: true }],
  [/^ENOTFOUND$/, unknownHost],
  [/^EAI_AGAIN$/, { words: "the name resolution of the host failed temporarily", isBeforeSending: true }],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|ConnectionClosed)$/, { words: "the server closed the connection" }],
  [/^(E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL)$/, { words: "the network is unreachable" }],
  [/^ETIMEDOUT$/, late],
  [/^UND_ERR_CONNECT_TIMEOUT$/, { ...late, isBeforeSending: true }],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, { words: "the response timed out" }],
  // The client checks the arguments of a request before it connects, but a piece of a body while the body is sent.
  [/^ERR_INVALID_ARG_TYPE$/, { words: invalid.words, isPermanent: true }],
  [/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/, invalid],
  [/^ERR_(INVALID_(ARG_VALUE|CHAR|HTTP_TOKEN|PROTOCOL|URL)|HTTP_INVALID_HEADER_VALUE|UNESCAPED_CHARACTERS)$/, invalid],
  [/^CERT_HAS_EXPIRED$/, untrusted("has expired")],
  [/^CERT_NOT_YET_VALID$/, untrusted("is not valid yet")],
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, untrusted("is for another host")],
  [/^(CERT_|UNABLE_TO_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$)|SELF_SIGNED_CERT/, untrusted("is not trusted")],
  // The client and the server cannot agree on TLS. A broken record (`ERR_SSL_…_BAD_RECORD_MAC`) is a network failure.
  [
    /^(EPROTO$|ERR_SSL_(WRONG|PACKET|HTTP|UNSUPPORTED|NO)_|ERR_SSL_.*_(UNRECOGNIZED_NAME|ALERT_(PROTOCOL|UNKNOWN_CA|HANDSHAKE|BAD_CERT|CERT).*)$)/,
    { words: "the TLS handshake failed", isPermanent: true }
  ],
  [/^HPE_/, { words: "the response is not HTTP" }]
]

const kindOf = (code: string | undefined): Kind =>
  (code === undefined ? undefined : kinds.find(([pattern]) => pattern.test(code))?.[1]) ?? other

/** The system calls that fail before a connection exists. */
const connecting: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"])

/** Whether a value looks like an error code. A text that does not look like a code may contain a URL. */
const isCode = (code: unknown): code is string => typeof code === "string" && /^[A-Za-z][\w/]{1,63}$/.test(code)

/** The maximum length of a chain of causes. */
const maxDepth = 8

/** A property of an error of another library, whose getter may throw. */
const read = (error: object, key: string): unknown => {
  try {
    return Reflect.get(error, key)
  } catch {
    return undefined
  }
}

/** An error and its causes. `fetch`, for example, wraps the network error in a `TypeError`. */
const chainOf = (error: unknown): ReadonlyArray<object> => {
  const chain: Array<object> = []
  let current = error
  while (Predicate.isObject(current) && chain.length < maxDepth) {
    chain.push(current)
    current = read(current, "cause")
  }
  return chain
}

/** The errors of all connection attempts, if one error combines the attempts for several addresses of a host. */
const attemptsOf = (error: object): ReadonlyArray<object> => {
  const errors: unknown = read(error, "errors")
  return Array.isArray(errors) ? errors.filter(Predicate.isObject) : []
}

const codeOf = (error: object): string | undefined => {
  const code = [error, ...attemptsOf(error)].map((one): unknown => read(one, "code")).find(isCode)
  return code ?? (read(error, "name") === "HTTPParserError" ? "HPE_INVALID_CONSTANT" : undefined)
}

/**
 * Whether an error occurred before any byte of the request was sent. If the error combines several attempts, every
 * attempt must have failed that early.
 */
const isBeforeSending = (error: object): boolean => {
  const attempts = attemptsOf(error)
  if (attempts.length > 0) return attempts.every(isBeforeSending)
  const syscall: unknown = read(error, "syscall")
  if (syscall !== undefined) return connecting.has(syscall)
  return kindOf(codeOf(error)).isBeforeSending === true
}

/**
 * The host and the port of the proxy to which no connection was made, if the error shows that this was another host or
 * port than that of the request.
 */
const proxyOf = (error: object, url: URL | undefined): string | undefined => {
  const [failed = error] = attemptsOf(error)
  const { address, hostname, port }: { address?: unknown; hostname?: unknown; port?: unknown } = failed
  if (url === undefined) return undefined
  if (typeof hostname === "string") return hostname === url.hostname ? undefined : hostname
  const own = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  if (typeof address !== "string" || typeof port !== "number" || port === own) return undefined
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`
}

const messageOf = (error: object): string => {
  const message = read(error, "message")
  return typeof message === "string" ? message : ""
}

/** The messages of undici if a proxy refuses a connection. */
const proxyStatus = /^Proxy (?:response|Authentication Required) \((\d{3})\)/

/**
 * Whether the service may have received the request. The answer is `no` in two cases: if sends can be observed and no
 * send was observed, or if the only observed send failed before any byte of the request was sent (`before`). In any
 * other case, a send may have arrived.
 */
const sent = (before: boolean, { isSeen, sends }: Circumstances): "no" | "maybe" =>
  (before && sends === 1) || (isSeen && sends === 0) ? "no" : "maybe"

/**
 * The phase of a failure after the status has arrived.
 *
 * @since 0.1.0
 * @category utilities
 */
export const inResponse = " in the middle of the response"

/**
 * Describes the cause of a failure, which is an error of a runtime.
 *
 * @since 0.1.0
 * @category utilities
 */
export const fromCause = (cause: unknown, circumstances: Circumstances, phase: string): Lost => {
  const chain = chainOf(cause)
  // With this message, `fetch` reports a redirect that it does not follow. The error has no code.
  if (chain.some((error) => read(error, "message") === "unexpected redirect")) {
    return new Lost({
      description: "redirects are not followed",
      code: "REQUEST_REDIRECTED",
      sent: "maybe",
      permanent: false
    })
  }
  const found = chain.find((error) => codeOf(error) !== undefined)
  const code = found === undefined ? undefined : codeOf(found)
  const status = chain.map((error) => proxyStatus.exec(messageOf(error))?.[1]).find(Boolean)
  if (status !== undefined) {
    return new Lost({
      description: `the proxy responded with status ${status}`,
      code,
      sent: sent(true, circumstances),
      permanent: Number(status) < 500
    })
  }
  const kind = kindOf(code)
  const proxy = found === undefined ? undefined : proxyOf(found, circumstances.url)
  return new Lost({
    description: (proxy === undefined ? "" : `proxy ${proxy}: `) + kind.words + phase,
    code,
    sent: sent(found !== undefined && isBeforeSending(found), circumstances),
    // If a host has responded before, it exists. Therefore the failure of its name lookup is temporary, as on a laptop
    // without a network.
    permanent: kind.isPermanent === true && !(kind === unknownHost && circumstances.knowsHost)
  })
}

/**
 * Describes why a request got no complete response.
 *
 * @since 0.1.0
 * @category utilities
 */
export const diagnose = ({ reason }: HttpClientError.HttpClientError, circumstances: Circumstances = unknown): Lost => {
  switch (reason._tag) {
    case "TransportError":
      // If a wrapper of the client refused the request, `description` contains the reason.
      return reason.description === undefined
        ? fromCause(reason.cause, circumstances, "")
        : new Lost({ description: reason.description, sent: sent(false, circumstances), permanent: false })
    case "DecodeError":
      return fromCause(reason.cause, circumstances, inResponse)
    case "EncodeError":
      return reason.cause === undefined
        ? new Lost({
            description: "this runtime cannot stream a request body",
            code: "STREAM_UNSUPPORTED",
            sent: circumstances.sends <= 1 ? "no" : "maybe",
            permanent: true
          })
        : new Lost({ description: "the stream of the request body failed", sent: "maybe", permanent: false })
    case "InvalidUrlError":
      return new Lost({ description: "the URL is not valid", sent: "no", permanent: true })
    default:
      return new Lost({ description: `the request failed (${reason._tag})`, sent: "maybe", permanent: false })
  }
}

/**
 * Stops a request with options that no client can send.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidArgument extends TypeError {
  readonly code = "ERR_INVALID_ARG_TYPE"
}

/**
 * The failure if the client refused the arguments of the request with an exception, before it connected. Other
 * exceptions are not caused by the request.
 *
 * @since 0.1.0
 * @category utilities
 */
export const refusedBy = (defect: unknown): Lost | undefined => {
  const code = Predicate.isObject(defect) ? codeOf(defect) : undefined
  const { words } = kindOf(code)
  return words === invalid.words ? new Lost({ description: words, code, sent: "no", permanent: true }) : undefined
}
