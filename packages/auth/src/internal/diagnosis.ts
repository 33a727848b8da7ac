/**
 * What an error of an HTTP client says about a request that got no answer: from the codes of its causes, never from
 * their texts, which hold hosts and URLs.
 */
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Predicate from "effect/Predicate"
import { Lost } from "../unstable/Failure.ts"

/**
 * What is known beside the error.
 *
 * - `sends`: how often the request was handed to the network, as far as the client lets that be seen.
 * - `isSeen`: whether this client lets it be seen at all.
 * - `knowsHost`: whether the host has answered this client before.
 */
export interface Circumstances {
  readonly sends: number
  readonly isSeen: boolean
  readonly knowsHost: boolean
}

/** Nothing more than the error itself is known. */
const unknown: Circumstances = { sends: 0, isSeen: false, knowsHost: true }

/**
 * A kind of failure: its words, whether it came before the first byte of a request could leave, and whether it would
 * come again.
 */
interface Kind {
  readonly words: string
  readonly isBeforeSending?: true
  readonly isPermanent?: true
}

const reset: Kind = { words: "the connection was closed by the other side" }
const refused: Kind = { words: "the connection was refused", isBeforeSending: true }
const unreachable: Kind = { words: "the network is unreachable" }
const late: Kind = { words: "the connection timed out" }
const unknownHost: Kind = { words: "the host is unknown", isBeforeSending: true, isPermanent: true }
const noHttp: Kind = { words: "the answer is not HTTP" }
const handshake: Kind = { words: "the TLS handshake failed", isPermanent: true }
const untrusted: Kind = {
  words: "the certificate of the server is not trusted",
  isBeforeSending: true,
  isPermanent: true
}

const kinds: ReadonlyMap<string, Kind> = new Map([
  ["ECONNREFUSED", refused],
  ["ConnectionRefused", refused], // Bun
  ["ENOTFOUND", unknownHost],
  ["EAI_AGAIN", { words: "the name of the host could not be resolved for now", isBeforeSending: true }],
  ["ECONNRESET", reset],
  ["ECONNABORTED", reset],
  ["EPIPE", reset],
  ["UND_ERR_SOCKET", reset],
  ["ConnectionClosed", reset], // Bun
  ["EHOSTUNREACH", unreachable],
  ["EHOSTDOWN", unreachable],
  ["ENETUNREACH", unreachable],
  ["ENETDOWN", unreachable],
  ["EADDRNOTAVAIL", unreachable],
  ["ETIMEDOUT", late],
  ["UND_ERR_CONNECT_TIMEOUT", { ...late, isBeforeSending: true }],
  ["UND_ERR_HEADERS_TIMEOUT", { words: "the answer timed out" }],
  ["UND_ERR_BODY_TIMEOUT", { words: "the answer timed out" }],
  ["CERT_HAS_EXPIRED", { ...untrusted, words: "the certificate of the server has expired" }],
  ["CERT_NOT_YET_VALID", { ...untrusted, words: "the certificate of the server is not valid yet" }],
  ["ERR_TLS_CERT_ALTNAME_INVALID", { ...untrusted, words: "the certificate of the server is for another host" }],
  ["HOSTNAME_MISMATCH", { ...untrusted, words: "the certificate of the server is for another host" }],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", untrusted],
  ["SELF_SIGNED_CERT_IN_CHAIN", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT", untrusted],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", untrusted],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", untrusted],
  ["UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY", untrusted],
  ["UNABLE_TO_DECRYPT_CERT_SIGNATURE", untrusted],
  ["INVALID_CA", untrusted],
  ["INVALID_PURPOSE", untrusted],
  ["PATH_LENGTH_EXCEEDED", untrusted],
  // What the two sides of TLS do not agree on. A broken record, `ERR_SSL_…_BAD_RECORD_MAC`, is the network's.
  ["EPROTO", handshake],
  ["ERR_SSL_WRONG_VERSION_NUMBER", handshake],
  ["ERR_SSL_PACKET_LENGTH_TOO_LONG", handshake],
  ["ERR_SSL_HTTP_REQUEST", handshake],
  ["ERR_SSL_UNSUPPORTED_PROTOCOL", handshake],
  ["ERR_SSL_NO_PROTOCOLS_AVAILABLE", handshake],
  ["ERR_SSL_NO_SHARED_CIPHER", handshake],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", handshake],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", handshake],
  ["ERR_SSL_TLSV1_UNRECOGNIZED_NAME", handshake],
  ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", handshake],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", handshake],
  ["ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE", handshake],
  ["ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE", handshake],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", handshake]
])

const other: Kind = { words: "the connection failed" }

const kindOf = (code: string | undefined): Kind => {
  if (code === undefined) return other
  const kind = kinds.get(code)
  if (kind !== undefined) return kind
  if (code.startsWith("CERT_")) return untrusted
  return code.startsWith("HPE_") ? noHttp : other
}

/** Calls of the operating system that end before a connection is there. */
const connecting: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"])

/** What looks like a code; anything else may be a text, and a text may hold a URL. */
const isCode = (code: unknown): code is string => typeof code === "string" && /^[A-Za-z][\w/]{1,63}$/.test(code)

/** No chain of causes is longer. */
const maxDepth = 8

/** An error, its cause, the cause of that: `fetch` hides the error of the network in a `TypeError`. */
const chainOf = (error: unknown): ReadonlyArray<object> => {
  const chain: Array<object> = []
  let current = error
  while (Predicate.isObject(current) && chain.length < maxDepth) {
    chain.push(current)
    current = Reflect.get(current, "cause")
  }
  return chain
}

/** The attempts at several addresses of one host, where an error stands for them. */
const attemptsOf = (error: object): ReadonlyArray<object> => {
  const errors: unknown = Reflect.get(error, "errors")
  return Array.isArray(errors) ? errors.filter(Predicate.isObject) : []
}

const codeOf = (error: object): string | undefined => {
  const code = [error, ...attemptsOf(error)].map((one): unknown => Reflect.get(one, "code")).find(isCode)
  return code ?? (Reflect.get(error, "name") === "HTTPParserError" ? "HPE_INVALID_CONSTANT" : undefined)
}

/** Whether an error came before a connection was there; of several attempts, whether all did. */
const isBeforeSending = (error: object): boolean => {
  const attempts = attemptsOf(error)
  if (attempts.length > 0) return attempts.every(isBeforeSending)
  const syscall: unknown = Reflect.get(error, "syscall")
  if (syscall !== undefined) return connecting.has(syscall)
  return kindOf(codeOf(error)).isBeforeSending === true
}

/**
 * A request that was refused a connection has not left, whoever refused: a proxy that cannot reach the service answers
 * with a status. That holds if there was but one send; a client that hides its sends may have made another one before.
 */
const sent = (before: boolean, { isSeen, sends }: Circumstances): "no" | "maybe" =>
  (before && sends === 1) || (isSeen && sends === 0) ? "no" : "maybe"

const fromCause = (cause: unknown, circumstances: Circumstances, phase: string): Lost => {
  const chain = chainOf(cause)
  // What `fetch` says of a redirect that it was told not to follow; it has no code.
  if (chain.some((error) => Reflect.get(error, "message") === "unexpected redirect")) {
    return new Lost({
      problem: "a redirect, which is not followed",
      code: "REQUEST_REDIRECTED",
      sent: "maybe",
      permanent: false
    })
  }
  const found = chain.find((error) => codeOf(error) !== undefined)
  const code = found === undefined ? undefined : codeOf(found)
  const kind = kindOf(code)
  return new Lost({
    problem: kind.words + phase,
    code,
    sent: sent(found !== undefined && isBeforeSending(found), circumstances),
    // A host that answered before exists: the resolver is away for a while, as on a laptop without a network.
    permanent: kind.isPermanent === true && !(kind === unknownHost && circumstances.knowsHost)
  })
}

/** What became of a request whose client failed with this error. */
export const diagnose = ({ reason }: HttpClientError.HttpClientError, circumstances: Circumstances = unknown): Lost => {
  switch (reason._tag) {
    case "TransportError":
      // What stands in front of the client says itself why it let nothing through.
      return reason.description === undefined
        ? fromCause(reason.cause, circumstances, "")
        : new Lost({ problem: reason.description, sent: sent(false, circumstances), permanent: false })
    case "DecodeError":
      return fromCause(reason.cause, circumstances, " in the middle of the answer")
    case "EncodeError":
      return reason.cause === undefined
        ? new Lost({
            problem: "this runtime cannot stream the body of a request",
            code: "STREAM_UNSUPPORTED",
            sent: circumstances.sends <= 1 ? "no" : "maybe",
            permanent: true
          })
        : new Lost({ problem: "the body of the request broke off", sent: "maybe", permanent: false })
    case "InvalidUrlError":
      return new Lost({ problem: "the URL is not valid", sent: "no", permanent: true })
    default:
      return new Lost({ problem: `the request failed (${reason._tag})`, sent: "maybe", permanent: false })
  }
}

/** A body that the client cannot send: it says so by a defect, before it connects. */
export const unsupported = (defect: unknown): Lost | undefined => {
  const code = Predicate.isObject(defect) ? codeOf(defect) : undefined
  return code === "ERR_INVALID_ARG_TYPE"
    ? new Lost({ problem: "the HTTP client cannot send a body of this type", code, sent: "no", permanent: true })
    : undefined
}
