/**
 * What came of a request: its response is gathered within limits of size and time, or the request is lost. A lost request
 * is described by the codes of the causes, never by their texts, which may contain hosts and URLs. The status, the body
 * and the headers of a response say whether the request was carried out, and how long to wait. The pauses are beyond the
 * specification, which defines no rate limits.
 */
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Headers from "effect/http/Headers"
import * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/**
 * A request without a complete response. The error contains neither the URL nor the content of the request.
 *
 * - `description`: the description of the failure.
 * - `code`: the error code that the HTTP client reports, if any, such as `ECONNREFUSED`, or a code of this package:
 *   `REQUEST_REPEATED`, `REQUEST_REDIRECTED`, `BODY_CHANGED`, `BODY_READ_TWICE`, `STREAM_UNSUPPORTED`.
 * - `sent`: is `no` if no byte of the request was sent, and `maybe` if the service may have received the request.
 * - `permanent`: whether the same request would fail again in the same way.
 *
 * @since 0.1.0
 * @category errors
 */
export class Lost extends Data.TaggedError("Lost")<{
  readonly description: string
  readonly code?: string | undefined
  readonly sent: "no" | "maybe"
  readonly permanent: boolean
}> {}

/**
 * The body of an error, as far as it could be read. If `description` is undefined, `text` is the whole body as valid UTF-8.
 * If `description` is defined, `text` is the part of the body that could be read, with replacement characters for invalid
 * UTF-8. This part may contain a credential, or end in the middle of a credential.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorText {
  readonly text: string
  readonly description: string | undefined
}

/**
 * A response whose body was read as far as it could be, within a limit of bytes. `end` says how the body ended: it is
 * `whole`; it is `tooLarge`, and `bytes` includes the chunk that exceeds the limit; it did not end in time (`late`); or
 * the connection was lost.
 *
 * @since 0.1.0
 * @category models
 */
export interface Gathered {
  readonly status: number
  readonly headers: Headers.Headers
  readonly bytes: Uint8Array
  readonly end: "whole" | "tooLarge" | "late" | Lost
}

/**
 * Whether a status is a redirect. A browser reports a redirect that it did not follow as status 0.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/**
 * Whether a status is a success: any 2xx, because the specification does not name the exact status of most operations
 * (spec.md, "Endpoints").
 *
 * @since 0.1.0
 * @category predicates
 */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/**
 * Statuses from 400 to 499 that do not refuse a request for good. After 408, 409, 425 and 499 it is unknown whether the
 * request was carried out. After 429 and 423 it was not carried out, but may be sent again.
 */
const openBelow500: ReadonlySet<number> = new Set([408, 409, 423, 425, 429, 499])

/**
 * Whether a status refuses a request for good, so that the request was not carried out: 501, or a 4xx other than 408,
 * 409, 423, 425, 429 and 499. After 429 and 423 the request was not carried out either, but may be sent again. After
 * any other error status, it is unknown whether the request was carried out, whatever the body says.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRefusal = (status: number): boolean =>
  status === 501 || (status >= 400 && status < 500 && !openBelow500.has(status))

/**
 * The time for the body of a response that is not a success, in milliseconds.
 *
 * @since 0.1.0
 * @category utilities
 */
export const restMillis = 5_000

const strict = new TextDecoder("utf-8", { fatal: true })
const lenient = new TextDecoder()

/**
 * The text of a body, or as much of it as was read. `maxBytes` is the limit with which the body was gathered.
 *
 * @since 0.1.0
 * @category utilities
 */
export const textOf = ({ bytes, end }: Pick<Gathered, "bytes" | "end">, maxBytes: number): ErrorText => {
  const broken = (description: string): ErrorText => ({
    text: lenient.decode(bytes.subarray(0, maxBytes)),
    description
  })
  switch (end) {
    case "whole":
      try {
        return { text: strict.decode(bytes), description: undefined }
      } catch {
        return broken("a body that is not UTF-8")
      }
    case "tooLarge":
      return broken(`a body of more than ${maxBytes} bytes`)
    case "late":
      return broken(`a body that did not end within ${restMillis / 1000} s`)
    default:
      return broken("an incomplete body")
  }
}

/**
 * Parses a JSON text. Returns `None` if the text is not JSON or is nested deeper than `Json.maxDepth`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const parseJson = (text: string): Option.Option<unknown> => Result.getSuccess(Json.parse(text))

const propertyOf = (value: unknown, key: string): unknown =>
  Predicate.isObject(value) ? Reflect.get(value, key) : undefined

/**
 * The wait that the body names in `info.retryIn`, converted from seconds to milliseconds, or NaN. Beyond the
 * specification.
 */
const retryIn = (body: unknown): number => {
  const seconds = propertyOf(propertyOf(body, "info"), "retryIn")
  return Number.isFinite(seconds) ? Number(seconds) * 1000 : NaN
}

/** The three date formats of RFC 9110, 5.6.7. The third format names no zone; its zone is GMT. */
const httpDate =
  /^(?:[a-z]{3}, \d{2} [a-z]{3} \d{4}|[a-z]{6,9}, \d{2}-[a-z]{3}-\d{2}) \d{2}:\d{2}:\d{2} GMT$|^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i

/**
 * Parses an HTTP date into milliseconds since 1970, or NaN. `Headers.parseHttpDate` is not used, because it returns a
 * `DateTime`, which would add calendars and time zones to a bundle.
 */
const parseDate = (text = ""): number => {
  const trimmed = text.trim()
  return httpDate.test(trimmed) ? Date.parse(trimmed.replace(/( GMT)?$/i, " GMT")) : NaN
}

/**
 * The wait in `Retry-After`, in milliseconds, or NaN. If the header contains a date and the response has a `Date`, the
 * wait is the difference between these two times, so that a wrong local clock has no effect.
 */
const retryAfter = (headers: Headers.Headers, now: number): number => {
  const header = headers["retry-after"]?.trim()
  if (header !== undefined && /^\d+$/.test(header)) return Number(header) * 1000
  const date = parseDate(headers["date"])
  return Math.max(0, parseDate(header) - (Number.isNaN(date) ? now : date))
}

/**
 * The pause that a response requests, at the time `now` (in milliseconds since 1970). If the body and `Retry-After` name
 * different pauses, the longer pause counts. The pause is always finite, but may be extremely long, so the caller needs
 * a maximum.
 *
 * @since 0.1.0
 * @category utilities
 */
export const wait = (headers: Headers.Headers, body: unknown, now: number): Option.Option<Duration.Duration> => {
  const millis = Math.max(...[retryAfter(headers, now), retryIn(body)].filter((one) => one >= 0))
  // A sum of waits is finite too.
  return millis < 0 ? Option.none() : Option.some(Duration.millis(Math.min(millis, Number.MAX_SAFE_INTEGER)))
}

/**
 * The clock skew in milliseconds, at the local time `now`: positive if the clock of the service is ahead.
 *
 * @since 0.1.0
 * @category utilities
 */
export const clockSkew = ({ date }: Headers.Headers, now: number): Option.Option<number> =>
  Option.filter(Option.some(parseDate(date) - now), (skew) => !Number.isNaN(skew))

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

/**
 * - `maxBytes`: the maximum size of the body of the response. Reading stops at the chunk that exceeds it.
 * - `millis`: the time from sending the request to the end of a successful response. The body of any other response may
 *   take {@link restMillis} after its status, because the status has decided the outcome.
 * - `isDecidedByStatus`: whether this holds for a success too, because its body says nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  readonly maxBytes: number
  readonly millis: number
  readonly isDecidedByStatus?: true | undefined
}

/**
 * The time is over, and no status has decided the outcome.
 *
 * @since 0.1.0
 * @category errors
 */
export class Late extends Data.TaggedError("Late") {}

/** Calls `late` after `millis`, unless the result is called before. */
const timer = (clock: Clock.Clock, millis: number, late: () => void): (() => void) => {
  if (millis === Infinity) return () => {}
  const fiber = Effect.runFork(clock.sleep(Duration.millis(millis)))
  const forget = fiber.addObserver(late)
  return () => {
    forget()
    fiber.interruptUnsafe()
  }
}

/**
 * The response as far as it has arrived. `settle` is called once, with the outcome.
 *
 * @since 0.1.0
 * @category models
 */
export class Gathering {
  readonly #limits: Limits
  readonly #clock: Clock.Clock
  readonly #settle: (outcome: Effect.Effect<Gathered, Lost | Late>) => void
  /** The bytes that have arrived, and room for more after a second piece. */
  #bytes: Uint8Array = new Uint8Array()
  #stopTimer: () => void
  /** The number of bytes that have arrived. */
  size = 0
  head: Pick<Gathered, "status" | "headers"> | undefined
  isSettled = false

  constructor(limits: Limits, clock: Clock.Clock, settle: (outcome: Effect.Effect<Gathered, Lost | Late>) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#settle = settle
    this.#stopTimer = timer(clock, limits.millis, () => this.settle(Effect.fail(new Late())))
  }

  /** The status and the headers have arrived. The body of a redirect is not read. An empty body ends at once. */
  begin(status: number, headers: Headers.Headers): void {
    this.head = { status, headers }
    if (isSuccess(status) && this.#limits.isDecidedByStatus !== true) return
    if (isRedirect(status)) return this.end("whole")
    if (headers["content-length"] === "0") return
    this.#stopTimer()
    this.#stopTimer = timer(this.#clock, restMillis, () => this.end("late"))
  }

  /** A piece of the body has arrived. */
  take(piece: Uint8Array): void {
    const size = this.size + piece.length
    const kept = this.size === 0 ? piece : this.#bytes
    if (size > kept.length) {
      // Pieces are copied into one array, because each of many kept pieces would keep the memory of its socket.
      this.#bytes = new Uint8Array(Math.max(size, 2 * kept.length))
      this.#bytes.set(kept)
    } else this.#bytes = kept
    if (this.size > 0) this.#bytes.set(piece, this.size)
    this.size = size
    if (size > this.#limits.maxBytes) this.end("tooLarge")
  }

  /** The response has ended. Before its status, the end is a failure. */
  end(end: Gathered["end"]): void {
    if (this.head !== undefined)
      this.settle(Effect.succeed({ ...this.head, bytes: this.#bytes.subarray(0, this.size), end }))
    else if (typeof end !== "string") this.settle(Effect.fail(end))
  }

  settle(outcome: Effect.Effect<Gathered, Lost | Late>): void {
    if (this.isSettled) return
    this.stop()
    this.#settle(outcome)
  }

  /** Nobody waits for the response any more. */
  stop(): void {
    this.isSettled = true
    this.#stopTimer()
  }
}

/**
 * Gathers what `run` passes on. The scope of `run` is closed unless the response ended: that would abort the finished
 * request, which costs as much time as signing a request, and the next request can use the connection.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gather = (
  limits: Limits,
  run: (gathering: Gathering) => Effect.Effect<void, Lost, Scope.Scope>
): Effect.Effect<Gathered, Lost | Late> =>
  Effect.withFiber((caller) =>
    Effect.callback((resume) => {
      const scope = Scope.makeUnsafe()
      let running: Fiber.Fiber<void, Lost> | undefined = undefined
      let hasEnded = false
      const stop = Effect.suspend(() =>
        Effect.andThen(running === undefined ? Effect.void : Fiber.interrupt(running), Scope.close(scope, Exit.void))
      )
      const gathering = new Gathering(limits, caller.getRef(Clock.Clock), (outcome) => {
        if (hasEnded) return resume(outcome)
        // A client may be uninterruptible, so nobody waits for its end. The scope closes the connection.
        running?.interruptUnsafe()
        resume(Effect.andThen(Scope.close(scope, Exit.void), outcome))
      })
      running = Effect.runForkWith(caller.context)(Scope.provide(run(gathering), scope))
      running.addObserver((exit) => {
        hasEnded = Exit.isSuccess(exit)
        if (Exit.isSuccess(exit)) return gathering.end("whole")
        const error = Cause.findError(exit.cause)
        if (Result.isSuccess(error)) gathering.end(error.success)
        else gathering.settle(Effect.failCause(error.failure))
      })
      return Effect.suspend(() => {
        gathering.stop()
        return stop
      })
    })
  )

const enough = { _tag: "Enough" } as const

const fromStream = (
  { stream }: HttpClientResponse,
  gathering: Gathering
): Effect.Effect<void, HttpClientError.HttpClientError> =>
  stream.pipe(
    Stream.runForEachArray((pieces) => {
      for (const piece of pieces) gathering.take(piece)
      return gathering.isSettled ? Effect.fail(enough) : Effect.void
    }),
    Effect.catch((error) => (error._tag === "Enough" ? Effect.void : Effect.fail(error)))
  )

/** Takes the bytes of a body that a wrapper of the client has read, for a log for example. Effect keeps them. */
const remembered = (response: HttpClientResponse, gathering: Gathering): Effect.Effect<void> =>
  Effect.suspend(() => response.arrayBuffer).pipe(
    Effect.map((bytes) => new Uint8Array(bytes)),
    Effect.catch(() => Effect.map(response.text, (text) => new TextEncoder().encode(text))),
    Effect.map((bytes) => gathering.take(bytes)),
    // Nobody has read the body: it is empty. `Effect.ignore` would add Effect's loggers to a bundle.
    Effect.catch(() => Effect.void)
  )

/**
 * Passes a response to a gathering, which stops the reading at its limits.
 *
 * @since 0.1.0
 * @category utilities
 */
export const into = (response: HttpClientResponse, gathering: Gathering): Effect.Effect<void, Lost> =>
  Effect.suspend(() => {
    gathering.begin(response.status, response.headers)
    if (gathering.isSettled) return Effect.void
    return Effect.suspend(() => fromStream(response, gathering)).pipe(
      Effect.catch((error) =>
        // Some clients fail with `EmptyBodyError` for a response without a body.
        error.reason._tag === "EmptyBodyError" ? Effect.void : Effect.fail(diagnose(error))
      ),
      // A stream that was read is empty, or its reader throws.
      Effect.catchDefect((defect) => (gathering.size === 0 ? Effect.void : Effect.die(defect))),
      Effect.flatMap(() => (gathering.size === 0 ? remembered(response, gathering) : Effect.void))
    )
  })
