/**
 * Runs one call of an operation: its requests, each with its own proof, until one of them has an outcome.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import type * as AuthError from "@assembly-effect/auth/AuthError"
import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import type * as Sender from "@assembly-effect/auth/unstable/Sender"
import type { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../unstable/Operation.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import * as Exchange from "../unstable/Exchange.ts"
import * as ClockSkew from "./clockSkew.ts"
import * as Request from "./request.ts"
import * as Response from "./response.ts"
import * as Telemetry from "./telemetry.ts"

/** The dependencies that all attempts of a client share. */
export interface Environment {
  readonly baseUrl: SecureUrl
  readonly authenticator: Authenticator.Authenticator["Service"]
  readonly http: HttpClient.HttpClient
  readonly send: Sender.Sender
  readonly maxBytes: number
  readonly skew: ClockSkew.ClockSkew
}

/**
 * The limits of one call. Times are in milliseconds.
 *
 * - `requestTimeout`: the time limit of each request, measured from the moment it is sent.
 * - `attemptTime`: the time limit of each attempt: its requests, and the time to get a token. Pauses between attempts do
 *   not count.
 * - `until`: the time when the call must have ended, not counting its waits for the budget.
 * - `deadline`: the time when the call must have ended in any case, or `Infinity`.
 */
export interface Limits {
  readonly clock: Clock.Clock
  readonly policy: RetryPolicy.Policy
  readonly budget: Budget.Budget | undefined
  readonly requestTimeout: number
  readonly attemptTime: number
  readonly until: number
  readonly deadline: number
}

/**
 * The state of a call. `until` is that of its limits, later by the waits for the budget. `proof` is that of the last request. `clockSkew` is the skew for the next signature, in milliseconds.
 */
interface Call {
  readonly encoded: Request.Encoded
  readonly limits: Limits
  until: number
  attemptUntil: number
  proof: Authenticator.Proof | undefined
  clockSkew: number
  isSkewCorrected: boolean
  failures: number
  pauseAfter: ReturnType<typeof RetryPolicy.pauses> | undefined
}

const timeLeft = ({ attemptUntil, limits }: Call): number =>
  Math.max(0, attemptUntil - limits.clock.currentTimeMillisUnsafe())

const timedOut = (subject: Exchange.Subject, millis: number): Effect.Effect<never, Response.Failed> =>
  Effect.fail(Response.withoutWait(new ApiError.TimedOut({ ...subject, after: Duration.millis(millis) })))

const isAboutExpiry = (error: Response.Failed["error"] | undefined): boolean =>
  error instanceof ApiError.AuthenticationFailed && error.code === "AUTH_EXPIRED"

/**
 * Converts an error of the authentication to the error of the operation, whose request was not sent.
 */
const toFailed = (subject: Exchange.Subject, error: AuthError.AuthError): Response.Failed => {
  const { code, message: description }: AuthError.AuthError & { readonly code?: string } = error
  const told = { ...subject, ...(code === undefined ? undefined : { code }), description, cause: error }
  switch (error._tag) {
    case "TokenRateLimited": {
      const { retryAfter, status } = error
      const refused = status === undefined ? told : { ...told, status }
      return { error: new ApiError.RateLimited({ ...refused, retryAfter }), wait: Option.some(retryAfter) }
    }
    case "TokenUnavailable":
      return {
        error: new ApiError.TransportFailure({ ...told, sent: "no", permanent: error.permanent }),
        wait: Option.fromUndefinedOr(error.retryAfter)
      }
    case "UnexpectedTokenResponse": {
      const { status } = error
      const about = { ...told, status, description: `no token, ${error.description}`, excerpt: "" }
      return Response.withoutWait(new ApiError.UnexpectedResponse(about))
    }
    default:
      return Response.withoutWait(new ApiError.AuthenticationFailed({ ...told, status: error.status }))
  }
}

/**
 * The refusal in a response, if the service did not accept the proof: an authentication code, or a 401 with any other
 * body except a rate limit or a named error.
 */
const refusalIn = (error: Response.Failed["error"]): AuthError.Refusal | undefined =>
  error instanceof ApiError.AuthenticationFailed ||
  ((error instanceof ApiError.ServiceFailure || error instanceof ApiError.UnexpectedResponse) && error.status === 401)
    ? error
    : undefined

/** A shorter Auth Secret, as in a test, may be a part of any word, such as an error code. */
const minSecret = 8

/**
 * Makes the function that sends the request of a call and reads its response. Each request has its own proof: a
 * signature with a fresh nonce and expiry, or a token. After a failure, the request is sent again
 *
 * - once in each attempt with another proof, if the service refused the proof and the `Authenticator` may have another;
 * - once in each call with a corrected clock;
 * - as often as the retry policy permits.
 *
 * If a pause would end after the deadline, the call fails with the last error instead.
 */
export const compile = (operation: Operation.Any, environment: Environment) => {
  const { authenticator, baseUrl, maxBytes, skew } = environment
  const { name, retry } = operation
  const read = Response.decoder(operation, { maxBytes })
  const isSigned = operation.auth === "signed"

  const authenticate = (call: Call): Effect.Effect<Authenticator.Proof, Response.Failed> => {
    const { params, subject } = call.encoded
    const proven = authenticator.authenticate({
      baseUrl,
      params,
      nonceIn: operation.nonceIn,
      scope: operation.scope,
      clockSkew: Duration.millis(call.clockSkew)
    })
    const known = Effect.mapError(proven, (error) => toFailed(subject, error))
    if (authenticator.isImmediate === true) return known
    return Effect.suspend(() => {
      const left = timeLeft(call)
      return Effect.timeoutOrElse(known, { duration: left, orElse: () => timedOut(subject, left) })
    })
  }

  /** Waits for the budget. Only an explicit deadline counts this wait. */
  const admit = (call: Call, budget: Budget.Budget): Effect.Effect<void, Response.Failed> => {
    const { clock, deadline } = call.limits
    const { origin: url, subject } = call.encoded
    const need = operation.creates === true ? "creation" : "request"
    const begun = clock.currentTimeMillisUnsafe()
    const entered = Exchange.admit(budget, { url, need, until: deadline, assemblyId: subject.assemblyId }, subject)
    return Effect.mapBoth(entered, {
      onFailure: Response.unsent,
      onSuccess: () => {
        if (deadline !== Infinity) return
        const waited = clock.currentTimeMillisUnsafe() - begun
        call.until += waited
        call.attemptUntil += waited
      }
    })
  }

  const secretsOf = ({ encoded, proof }: Call) => [
    ...Request.secretsOf(operation, encoded, proof),
    ...(authenticator.secrets ?? []).map(Redacted.value).filter(({ length }) => length >= minSecret)
  ]

  /** Sends an admitted request. After a rate limit, all requests with the same budget pause. */
  const exchange = (call: Call): Effect.Effect<unknown, Response.Failed> => {
    const { encoded, limits, proof } = call
    const { path, subject } = encoded
    const left = timeLeft(call)
    const millis = Math.min(left, limits.requestTimeout)
    return Effect.matchEffect(Request.send(operation, encoded, proof, environment, { maxBytes, millis, left }), {
      onFailure: (error) =>
        error._tag === "Late"
          ? timedOut(subject, millis)
          : Effect.fail(Response.withoutWait(Exchange.toFailure(subject)(error))),
      onSuccess: (response) => {
        const now = limits.clock.currentTimeMillisUnsafe()
        const answer = read(response, { subject, path, secrets: () => secretsOf(call), now })
        const error = Option.getOrUndefined(Exit.findErrorOption(answer))?.error
        if (isSigned && !isAboutExpiry(error)) ClockSkew.accepted(skew, call.clockSkew, response.headers, now)
        if (limits.budget === undefined || !(error instanceof ApiError.RateLimited)) return answer
        // The wait of a 413 is the time until another Assembly can be created.
        const need = operation.creates === true && error.status === 413 ? "creation" : "request"
        return Effect.andThen(limits.budget.pause(need, error.retryAfter), answer)
      }
    })
  }

  const request = (call: Call): Effect.Effect<unknown, Response.Failed> => {
    call.proof = undefined
    const { budget } = call.limits
    const prove = () => (isSigned ? authenticate(call) : Effect.undefined)
    return Effect.flatMap(budget === undefined ? prove() : Effect.flatMap(admit(call, budget), prove), (proof) => {
      call.proof = proof
      return exchange(call)
    })
  }

  const attempt = (call: Call): Effect.Effect<unknown, Response.Failed["error"]> => {
    const { until } = call
    const { attemptTime, clock } = call.limits
    const now = clock.currentTimeMillisUnsafe()
    if (now >= until) return Effect.fail(new ApiError.TimedOut({ operation: name, after: Duration.zero }))
    call.attemptUntil = Math.min(until, now + attemptTime)
    return request(call).pipe(
      Effect.catch((failed) => withAnotherProof(call, failed)),
      Effect.catch((failed) => recover(call, failed))
    )
  }

  /** The failure, or the outcome with another proof. */
  const withAnotherProof = (call: Call, failed: Response.Failed): Effect.Effect<unknown, Response.Failed> => {
    const { proof } = call
    const refusal = refusalIn(failed.error)
    if (proof === undefined || refusal === undefined) return Effect.fail(failed)
    return Effect.flatMap(authenticator.refused(proof, refusal), (verdict) =>
      verdict === "final" ? Effect.fail(failed) : request(call)
    )
  }

  /** Repeats the request with a corrected clock, or after the pause that the retry policy decides. */
  const recover = Effect.fnUntraced(function* (
    call: Call,
    { error, wait }: Response.Failed
  ): Effect.fn.Return<unknown, Response.Failed["error"]> {
    const { budget, clock, policy } = call.limits
    const clockSkew = ClockSkew.suggested(skew, error)
    if (Option.isSome(clockSkew) && !call.isSkewCorrected) {
      call.clockSkew = clockSkew.value
      call.isSkewCorrected = true
      return yield* attempt(call)
    }
    const failed = { operation: name, retry, error }
    // The next request waits in the budget, so this failure uses up no attempt.
    const isHeld = Budget.holds(budget, error)
    if (!isHeld) call.failures++
    call.pauseAfter ??= RetryPolicy.pauses(policy)
    const pause = isHeld
      ? yield* RetryPolicy.pauses(policy)({ ...failed, failures: 1, wait: Option.some(Duration.zero) })
      : yield* call.pauseAfter({ ...failed, failures: call.failures, wait })
    const now = clock.currentTimeMillisUnsafe()
    if (Option.isNone(pause) || now + Duration.toMillis(pause.value) >= call.until) return yield* Effect.fail(error)
    yield* Telemetry.retried(name, error, call.failures)
    yield* Effect.sleep(pause.value)
    return yield* attempt(call)
  })

  return (encoded: Request.Encoded, limits: Limits): Effect.Effect<unknown, Response.Failed["error"]> =>
    attempt({
      encoded,
      limits,
      until: limits.until,
      attemptUntil: limits.until,
      proof: undefined,
      clockSkew: skew.kept,
      isSkewCorrected: false,
      failures: 0,
      pauseAfter: undefined
    })
}
