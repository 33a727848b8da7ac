/** Sends the requests of tus, and reads the headers of their responses. */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Exchange from "@assembly-effect/api/unstable/Exchange"
import { traced } from "@assembly-effect/api/unstable/Telemetry"
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import { Budget } from "@assembly-effect/auth/unstable/Budget"
import type * as Gathering from "@assembly-effect/auth/unstable/Gathering"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as StreamSender from "@assembly-effect/auth/unstable/StreamSender"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Stream from "effect/Stream"
import * as TusError from "../TusError.ts"
import * as UploadTarget from "../UploadTarget.ts"
import { UploadBandwidth } from "./bandwidth.ts"
import * as Telemetry from "./telemetry.ts"

/**
 * The host of a URL, with its port if it is not the default port. An error must not contain any other part of the URL.
 */
export const hostOf = (url: string | Redacted.Redacted): string =>
  new URL(Redacted.isRedacted(url) ? Redacted.value(url) : url).host

const maxErrorBytes = 8 * 1024

/**
 * The bytes of one request: in memory, or a stream of exactly the given number of bytes. HTTP clients report a failing
 * or short stream in different ways, so `Upload` counts the bytes itself.
 *
 * @since 0.1.0
 * @category models
 */
export type Body<E = never> = Uint8Array | { readonly stream: Stream.Stream<Uint8Array, E>; readonly length: bigint }

const isStream = <E>(body: Body<E> | undefined): body is Exclude<Body<E>, Uint8Array> =>
  body !== undefined && "stream" in body && "length" in body

/** The header that every request except `discover` has. */
export const version = { "tus-resumable": TusUpload.tusVersion } as const

/** The method and the statuses of the successes of each request. tus 1.0.0 allows both statuses where there are two. */
const requests = {
  create: { method: "POST", success: [201] },
  append: { method: "PATCH", success: [204] },
  offset: { method: "HEAD", success: [200, 204] },
  terminate: { method: "DELETE", success: [204] },
  discover: { method: "OPTIONS", success: [200, 204] }
} as const satisfies Partial<Record<TusError.RequestName, unknown>>

const ownBytes = (body: Uint8Array): Uint8Array => {
  const bytes = Bytes.own(body)
  // Without this check, an HTTP client would send a value that it does not know as a text such as `[object Blob]`.
  if (bytes === undefined) throw new TypeError("the body is neither a Uint8Array nor a stream with its length")
  return bytes
}

/** Where a request went, and its headers. */
interface Asked {
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

/**
 * Reads the text of an error: the error line of a tus server (`<code>: <message>`), else the `message` or the code of
 * the service's error object, else the whole body.
 */
const readSaid = (body: string, json: unknown) => {
  const read = TusUpload.parseTusError(body)
  if (read._tag === "Line") return { words: `${read.code}: ${read.message}`, code: read.code }
  const { error, message } = Predicate.isObject(json) ? json : {}
  const code = isText(error) ? error : undefined
  return { words: isText(message) ? message : (code ?? read.text), code }
}

/** The minimum length of a secret. A shorter text may be an ordinary word, so it is not redacted. */
const minSecret = 8

/**
 * The secrets in a request: the upload ids in its URL and in `upload-concat`, and the URL of the Assembly, which its
 * metadata contains in Base64.
 */
const secretsOf = ({ headers, url }: Asked): ReadonlyArray<string> => {
  const named = [url, headers["upload-concat"] ?? ""].flatMap((text) =>
    Array.from(text.matchAll(/\/resumable\/files\/([^\s?#]+)/g), ([, id = ""]) => id)
  )
  const metadata = (headers["upload-metadata"] ?? "").split(",").map((pair) => pair.trim().split(" "))
  const assembly = metadata.flatMap(([key, value = ""]) => (key === "assembly_url" ? [value] : []))
  return [...named, ...assembly].filter(({ length }) => length >= minSecret)
}

/** A response that is not the expected success, with the fields of its error. */
type Refusal = Omit<ConstructorParameters<typeof TusError.UploadRefused>[0], "_tag">

/** The errors of the statuses that have an error of their own. */
const errors: { readonly [status: number]: new (refusal: Refusal) => TusError.AnswerError } = {
  404: TusError.UploadGone,
  409: TusError.OffsetConflict,
  410: TusError.UploadGone,
  413: TusError.TooLarge,
  423: TusError.UploadLocked,
  460: TusError.ChecksumMismatch
}

/** Fails with the error of a response whose status is not the expected success. A 429 pauses the budget of the account. */
const refuse = Effect.fnUntraced(function* (request: TusError.RequestName, asked: Asked, answer: Outcome.Gathered) {
  const { text: body } = Outcome.textOf(answer, maxErrorBytes)
  const { headers, status } = answer
  const json = Option.getOrUndefined(Outcome.parseJson(body))
  const secrets = secretsOf(asked)
  const { code, words } = readSaid(body, json)
  const subject = {
    host: hostOf(asked.url),
    status,
    // A response without text, such as a response to HEAD, says only its status.
    description: Redaction.text(words, { secrets }) || `status ${status} without an explanation`,
    ...(code === undefined ? undefined : { code: Redaction.code(code, secrets) }),
    ...Exchange.requestIdOf(headers, secrets)
  }
  const wait = Option.getOrUndefined(Outcome.wait(headers, json, yield* Clock.currentTimeMillis))
  if (status === 429) {
    const retryAfter = wait ?? Duration.zero
    const budget = yield* Budget
    if (budget !== undefined) yield* budget.pause("request", retryAfter)
    const limit = { code: "RATE_LIMIT_REACHED", ...subject, operation: `Tus.${request}` }
    return yield* new ApiError.RateLimited({ ...limit, retryAfter })
  }
  const refusal = { request, ...subject }
  // These requests go to `tus_url`, where no upload can be gone: a gateway may know no such path.
  const isAtTarget = request === "create" || request === "discover"
  const Known = isAtTarget && errors[status] === TusError.UploadGone ? TusError.UploadRefused : errors[status]
  if (Known !== undefined) return yield* new Known(refusal)
  if (Outcome.isRefusal(status)) return yield* new TusError.UploadRefused(refusal)
  if (status < 400) return yield* new TusError.ProtocolViolation({ ...refusal, description: "unexpected status" })
  return yield* new TusError.ServerFailure(wait === undefined ? refusal : { ...refusal, retryAfter: wait })
})

/** Fails with the error of a response that would be read as a stream if its status were the expected success. */
export const refuseStream = (request: TusError.RequestName, response: HttpClientResponse.HttpClientResponse) =>
  Effect.flatMap(Sender.gather(response, maxErrorBytes), (answer): Effect.Effect<never, TusError.AnswerError> =>
    refuse(request, response.request, answer)
  )

/**
 * Reads the headers of a response. The error names the headers that break a rule, without their values, because a value
 * may be a secret URL.
 */
const readHeaders = <A>(
  request: TusError.RequestName,
  schema: Schema.ConstraintCodec<A, unknown>,
  asked: Asked,
  { headers, status }: Outcome.Gathered
): Result.Result<A, TusError.ProtocolViolation> =>
  Result.mapError(SchemaParser.decodeUnknownResult(schema, { errors: "all" })(headers), (issue) => {
    const rules = Input.fromSchemaIssue(issue).map(({ message, path }) => [...path, message].join(": "))
    return new TusError.ProtocolViolation({
      request,
      host: hostOf(asked.url),
      status,
      ...Exchange.requestIdOf(headers, secretsOf(asked)),
      description: `invalid headers: ${rules.join("; ")}`
    })
  })

/**
 * Waits until a body may be sent, and for the budget of the account. These waits are not part of a time limit. A streamed
 * body does not wait for the bandwidth: its portions wait while they are sent, see `piece.ts`.
 */
export const permit = (request: TusError.RequestName, url: Redacted.Redacted, body?: Body<unknown>) =>
  Effect.contextWith((context: Context.Context<never>) => {
    const bandwidth = Context.get(context, UploadBandwidth)
    const budget = Context.get(context, Budget)
    const passed =
      bandwidth === undefined || body === undefined || isStream(body) ? Effect.void : bandwidth.whole(body.length)
    if (budget === undefined) return passed
    const asking = { url: Redacted.value(url), need: "request", until: Infinity } as const
    return Effect.andThen(passed, Exchange.admit(budget, asking, { operation: `Tus.${request}` }))
  })

/** See `Tus.RequestTimeout`. */
export const RequestTimeout = Context.Reference<Duration.Duration>("@assembly-effect/tus/RequestTimeout", {
  defaultValue: () => Duration.seconds(30)
})

/**
 * Limits the duration of requests without a body to `limit`. The time starts when the request is sent, so it does not
 * include the wait for the budget.
 */
export const inTime = <A, E, R>(limit: Duration.Duration, request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(request, RequestTimeout, limit)

/**
 * A request, and how its response is read.
 *
 * - `told`: converts the headers of a success. `declaresLength`: whether the request declared the length of its body.
 *   The span of the request has the result, so the result contains no URL in plain text.
 * - `limit`: the time limit of a request whose body is not a stream: by default `RequestTimeout` without a body, and
 *   none with a body.
 * - `stalled`: fails when a request with a streamed body makes no progress.
 */
interface Request<A, B, E, E2> {
  readonly request: keyof typeof requests
  readonly url: Redacted.Redacted
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Body<E> | undefined
  readonly read: Schema.ConstraintCodec<A, unknown>
  readonly told: (headers: A, declaresLength: boolean) => Result.Result<B, E2>
  readonly limit?: Duration.Duration | undefined
  readonly stalled?: Effect.Effect<never, TusError.Stalled> | undefined
}

/** Sends a request that has its permit, and if the status is a success, reads the headers of the response. */
const exchange = <A, B, E = never, E2 extends { readonly _tag: string } = never>(given: Request<A, B, E, E2>) =>
  Effect.contextWith((context: Context.Context<HttpClient.HttpClient>) => {
    const { body, headers, read, request, told } = given
    const client = Context.get(context, HttpClient.HttpClient)
    const url = Redacted.value(given.url)
    const { host, origin, pathname, search } = new URL(url)
    const { method, success } = requests[request]
    const operation = `Tus.${request}`
    const lost = Exchange.toFailure({ host, operation })
    const after = given.limit ?? (body === undefined ? Context.get(context, RequestTimeout) : Duration.infinity)

    const gathered = (content: Uint8Array | undefined) => {
      const outgoing = {
        method,
        origin,
        path: pathname + search,
        headers,
        body: content && { content: ownBytes(content), contentType: TusUpload.offsetOctetStream }
      }
      const limits = { maxBytes: maxErrorBytes, millis: Duration.toMillis(after), isDecidedByStatus: true } as const
      return Effect.map(Sender.of(client)(outgoing, limits), (answer) => ({ answer, declaresLength: true }))
    }
    const streamed = ({ length, stream }: Exclude<Body<E>, Uint8Array>) => {
      const content = HttpBody.stream(stream, TusUpload.offsetOctetStream, Number(length))
      const outgoing = HttpClientRequest.make(method)(url, { headers, body: content })
      // A body that is too long or never ends is ignored, because the headers already contain the result.
      return StreamSender.send(client, outgoing, maxErrorBytes, given.stalled)
    }
    const toError = (error: Outcome.Lost | Gathering.Late | TusError.Stalled) => {
      if (error._tag === "Stalled") return error
      return error._tag === "Late" ? new TusError.Stalled({ request, host, after }) : lost(error)
    }

    const asked = { url, headers }
    const sent = Effect.mapError(isStream(body) ? streamed(body) : gathered(body), toError)
    const answered = Effect.flatMap(sent, ({ answer, declaresLength }): Effect.Effect<B, TusError.AnswerError | E2> => {
      if (!success.some((status) => status === answer.status)) return refuse(request, asked, answer)
      return Effect.fromResult(
        Result.flatMap(readHeaders(request, read, asked, answer), (found) => told(found, declaresLength))
      )
    })
    return traced(context, operation, () => Telemetry.spanOf(method, url), answered)
  })

/** Sends a request when it is permitted. */
export const send = <A, B, E = never, E2 extends { readonly _tag: string } = never>(asked: Request<A, B, E, E2>) =>
  Effect.andThen(permit(asked.request, asked.url, asked.body), exchange(asked))

/** Requests the state of an upload, which the headers of the response describe. */
export const sendOffset = <A>(url: UploadTarget.UploadUrl, read: Schema.ConstraintCodec<A, unknown>) =>
  send({ request: "offset", url, headers: version, read, told: Result.succeed })

/**
 * Sends a creation that has its permit, and returns the URL of the upload and its offset. `limit` is the time limit of
 * the request. See `Tus.create`.
 */
export const sendCreation = (
  target: UploadTarget.UploadTarget,
  headers: Readonly<Record<string, string>>,
  body: Body | undefined,
  limit?: Duration.Duration
) =>
  exchange({
    request: "create",
    url: target.tusUrl,
    headers,
    body,
    limit,
    read: TusUpload.Created,
    told: ({ location, "upload-offset": offset = body === undefined ? 0n : undefined }) =>
      Result.map(UploadTarget.resolve(target, location), (url) => ({ url, offset }))
  }).pipe(Effect.tap(({ offset }) => Telemetry.counted(offset, body?.length)))

/**
 * Appends bytes at an offset. Returns the offset that the server reports, and whether the request declared the length of
 * its body: only then may the server have stored only the first bytes. See `Tus.append`.
 */
export const sendAppend = <E>(
  url: UploadTarget.UploadUrl,
  appended: {
    readonly offset: TusUpload.Offset
    readonly body: Body<E>
    readonly length?: TusUpload.UploadLength | undefined
    readonly checksum?: string | undefined
  },
  limits?: Pick<Request<unknown, unknown, E, never>, "limit" | "stalled">
) =>
  send({
    request: "append",
    url,
    headers: {
      ...version,
      "upload-offset": String(appended.offset),
      ...(appended.length === undefined ? undefined : { "upload-length": String(appended.length) }),
      ...(appended.checksum === undefined ? undefined : { "upload-checksum": appended.checksum })
    },
    body: appended.body,
    ...limits,
    read: TusUpload.Appended,
    told: ({ "upload-offset": offset }, declaresLength) => Result.succeed({ offset, declaresLength })
  }).pipe(Effect.tap(({ offset }) => Telemetry.counted(offset - appended.offset, appended.body.length)))

/**
 * The value of `upload-concat` for a final upload. A URL with the prefix of a proxy is sent as the path that the service
 * knows.
 */
export const concat = (target: UploadTarget.UploadTarget, parts: ReadonlyArray<UploadTarget.UploadUrl>): string => {
  const urls = parts.map((part) => {
    const url = Redacted.value(part)
    const { pathname } = new URL(url)
    const path = ServiceOrigins.withoutPrefix(target.origins, pathname)
    return path === pathname ? url : path
  })
  return `final;${urls.join(" ")}`
}
