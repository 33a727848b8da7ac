/**
 * Describes why a request got no complete response, based on the error of an HTTP client. The description depends on
 * the codes of the causes. The description never contains the texts of the causes, which may contain hosts and URLs.
 */
import * as HttpClientError from "effect/http/HttpClientError"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { Lost } from "./Outcome.ts"

/**
 * The facts about a request that the error of the HTTP client does not contain.
 *
 * - `sends`: how often the request was passed to the network; undefined if this is not known.
 * - `knowsHost`: whether the host has responded to this client before.
 * - `url`: the URL of the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Circumstances {
  readonly sends: number | undefined
  readonly knowsHost: boolean
  readonly url?: URL | undefined
}

/**
 * A kind of failure. `unsent`: it occurs before any byte of a request is sent. `permanent`: a retry would fail again.
 */
type Kind = readonly [words: string, ...traits: ReadonlyArray<"unsent" | "permanent">]

const unknownHost: Kind = ["the host is unknown", "unsent", "permanent"]
const refused: Kind = ["the HTTP client refuses the request", "unsent", "permanent"]
const untrusted: Kind = ["the certificate of the server is not trusted", "unsent", "permanent"]
const handshake: Kind = ["the TLS handshake failed", "permanent"]

/** The first expression that matches a code decides its kind. `ConnectionRefused` and `ConnectionClosed` are Bun's. */
const kinds: ReadonlyArray<readonly [code: RegExp, kind: Kind]> = [
  [/^(ECONN|Connection)REFUSED$/i, ["the connection was refused", "unsent"]],
  [/^ENOTFOUND$/, unknownHost],
  [/^EAI_AGAIN$/, ["the name resolution of the host failed temporarily", "unsent"]],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|ConnectionClosed)$/, ["the server closed the connection"]],
  [/^(E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL)$/, ["the network is unreachable"]],
  [/^UND_ERR_CONNECT_TIMEOUT$/, ["the connection timed out", "unsent"]],
  [/^(ETIMEDOUT|UND_ERR_(HEADERS|BODY)_TIMEOUT)$/, ["the connection timed out"]],
  // The client checks the arguments of a request before it connects, but a piece of a body while the body is sent.
  [/^ERR_INVALID_ARG_TYPE$/, [refused[0], "permanent"]],
  [/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/, refused],
  [/^ERR_(INVALID_(ARG_VALUE|CHAR|HTTP_TOKEN|PROTOCOL|URL)|HTTP_INVALID_HEADER_VALUE|UNESCAPED_CHARACTERS)$/, refused],
  [/^(CERT_|UNABLE_TO_|ERR_TLS_CERT|INVALID_(CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_MISM)|SELF_SIGNED_CERT/, untrusted],
  // The client and the server cannot agree on TLS. A broken record (`ERR_SSL_…_BAD_RECORD_MAC`) is a network failure.
  [/^(EPROTO$|ERR_SSL_(WRONG|PACKET|HTTP|UNSUPPORTED|NO)_)/, handshake],
  [/^ERR_SSL_.*_(UNRECOGNIZED_NAME$|ALERT_(PROTOCOL|UNKNOWN_CA|HANDSHAKE|BAD_CERT|CERT))/, handshake],
  [/^HPE_/, ["the response is not HTTP"]]
]

const kindOf = (code = ""): Kind => kinds.find(([pattern]) => pattern.test(code))?.[1] ?? ["the connection failed"]

/** An error of another library. */
type Foreign = Readonly<Record<PropertyKey, unknown>>

/**
 * An error and its causes. `fetch`, for example, wraps the network error in a `TypeError`. An error about attempts to
 * connect to several addresses of a host is followed by that of the first attempt.
 */
const chainOf = (error: unknown, room = 8): ReadonlyArray<Foreign> => {
  if (room === 0 || !Predicate.isObject(error)) return []
  const { cause, errors } = error
  return [error, ...chainOf(cause ?? (Array.isArray(errors) ? errors[0] : undefined), room - 1)]
}

/** The code of an error. A text that does not look like a code may contain a URL. */
const codeOf = ({ code, name }: Foreign): string | undefined => {
  if (typeof code === "string" && /^[A-Za-z][\w/]{1,63}$/.test(code)) return code
  return name === "HTTPParserError" ? "HPE_INVALID_CONSTANT" : undefined
}

/**
 * The host and the port of the proxy to which no connection was made, if the error shows that this was another host or
 * port than that of the request.
 */
const proxyOf = ({ address, hostname, port }: Foreign, url: URL): string | undefined => {
  if (typeof hostname === "string") return hostname === url.hostname ? undefined : hostname
  const own = Number(url.port || (url.protocol === "https:" ? 443 : 80))
  if (typeof address !== "string" || typeof port !== "number" || port === own) return undefined
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`
}

/** The messages of undici if a proxy refuses a connection. */
const proxyStatus = /^Proxy (?:response|Authentication Required) \((\d{3})\)/

/**
 * Whether the service may have received the request. It has not if nothing was sent, or if the only send failed before
 * any byte of the request was sent (`before`).
 */
const sent = (before: boolean, { sends }: Circumstances) => (sends === 0 || (before && sends === 1) ? "no" : "maybe")

const lost = (description: string, about: Partial<Lost> = {}): Lost =>
  new Lost({ sent: "maybe", permanent: false, ...about, description })

/** The request cannot be sent, however often it is tried. */
const unsent = { sent: "no", permanent: true } as const

const unknown = (about: Circumstances) => lost("the HTTP client failed", { sent: sent(false, about) })

/**
 * Describes the cause of a failure, which is an error of a runtime. `hasBegun`: whether the status had arrived.
 *
 * @since 0.1.0
 * @category utilities
 */
export const fromCause = (cause: unknown, about: Circumstances, hasBegun = false): Lost =>
  // The error of a `fetch` of the application may have getters that fail.
  Result.try(() => described(cause, about, hasBegun)).pipe(Result.getOrElse(() => unknown(about)))

const described = (cause: unknown, about: Circumstances, hasBegun: boolean): Lost => {
  const chain = chainOf(cause)
  const texts = chain.map(({ message }) => String(message))
  // With this text, `fetch` reports a redirect that it does not follow. The error has no code.
  if (texts.includes("unexpected redirect")) return lost("redirects are not followed", { code: "REQUEST_REDIRECTED" })
  const found = chain.findLast((error) => codeOf(error) !== undefined) ?? {}
  const code = codeOf(found)
  const status = texts.map((text) => proxyStatus.exec(text)?.[1]).find(Boolean)
  if (status !== undefined) {
    const answered: Partial<Lost> = { code, sent: sent(true, about), permanent: Number(status) < 500 }
    return lost(`the proxy responded with status ${status}`, answered)
  }
  const kind = kindOf(code)
  const proxy = about.url && proxyOf(found, about.url)
  const words = (proxy === undefined ? "" : `proxy ${proxy}: `) + kind[0]
  const { syscall } = found
  const isUnsent = syscall === undefined ? kind.includes("unsent") : /^(connect|getaddrinfo)$/.test(String(syscall))
  // If a host has responded before, it exists. Therefore the failure of its name lookup is temporary, as on a laptop
  // without a network.
  const permanent = kind.includes("permanent") && !(kind === unknownHost && about.knowsHost)
  const description = hasBegun ? `${words} in the middle of the response` : words
  return lost(description, { code, sent: sent(isUnsent, about), permanent })
}

/**
 * Describes why a request got no complete response. The error is that of an HTTP client; a wrapper in a JavaScript
 * program may fail with any value.
 *
 * @since 0.1.0
 * @category utilities
 */
export const diagnose = (error: unknown, about: Circumstances = { sends: undefined, knowsHost: true }): Lost => {
  const reason = HttpClientError.isHttpClientError(error) ? error.reason : undefined
  switch (reason?._tag) {
    case "TransportError":
      // If a wrapper of the client refused the request, `description` contains the reason.
      if (reason.description === undefined) return fromCause(reason.cause, about)
      return lost(reason.description, { sent: sent(false, about) })
    case "DecodeError":
      return fromCause(reason.cause, about, true)
    case "EncodeError":
      if (reason.cause !== undefined) return lost("the stream of the request body failed")
      return lost("this runtime cannot stream a request body", { ...unsent, code: "STREAM_UNSUPPORTED" })
    case "InvalidUrlError":
      return lost("the URL is not valid", unsent)
    default:
      return unknown(about)
  }
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
  return kindOf(code)[0] === refused[0] ? lost(refused[0], { ...unsent, code }) : undefined
}
