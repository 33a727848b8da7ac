/**
 * Runs one call of an operation: its requests, each with its own proof, until one of them has an outcome.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import type * as AuthError from "@assembly-effect/auth/AuthError"
import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import type { Gathered } from "@assembly-effect/auth/unstable/Outcome"
import type * as Sender from "@assembly-effect/auth/unstable/Sender"
import type { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
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
 * The state of a call. `until` is that of its limits, later by the waits for the budget. `proof` is that of the last
 * request. `clockSkew` is the skew for the next signature, in milliseconds. `isRefused`: whether the service has refused
 * a proof of this attempt.
 */
interface Call extends Limits {
  readonly encoded: Request.Encoded
  until: number
  attemptUntil: number
  proof: Authenticator.Proof | undefined
  clockSkew: number
  isRefused: boolean
  isSkewCorrected: boolean
  failures: number
  pauseAfter: ReturnType<typeof RetryPolicy.pauses> | undefined
}

const timeLeft = ({ attemptUntil, clock }: Call): number => Math.max(0, attemptUntil - clock.currentTimeMillisUnsafe())

const timedOut = ({ encoded: { subject } }: Call, millis: number): Effect.Effect<never, Response.Failed> =>
  Effect.fail(Response.failed(new ApiError.TimedOut({ ...subject, after: Duration.millis(millis) })))

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
      return Response.failed(new ApiError.RateLimited({ ...refused, retryAfter }))
    }
    case "TokenUnavailable":
      return {
        error: new ApiError.TransportFailure({ ...told, sent: "no", permanent: error.permanent }),
        wait: Option.fromUndefinedOr(error.retryAfter)
      }
    case "UnexpectedTokenResponse": {
      const { status } = error
      const about = { ...told, status, description: `no token, ${error.description}`, excerpt: "" }
      return Response.failed(new ApiError.UnexpectedResponse(about))
    }
    default:
      return Response.failed(new ApiError.AuthenticationFailed({ ...told, status: error.status }))
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
  const read = Response.decoder(operation, maxBytes)
  const isSigned = operation.auth === "signed"
  const need = operation.creates === true ? "creation" : "request"

  /** Waits for the budget. Only an explicit deadline counts this wait. */
  const admit = (call: Call, budget: Budget.Budget): Effect.Effect<void, Response.Failed> => {
    const { clock, deadline } = call
    const { origin: url, subject } = call.encoded
    const begun = clock.currentTimeMillisUnsafe()
    const entered = Exchange.admit(budget, { url, need, until: deadline, assemblyId: subject.assemblyId }, subject)
    return Effect.mapBoth(entered, {
      onFailure: Response.failed,
      onSuccess: () => {
        if (deadline !== Infinity) return
        const waited = clock.currentTimeMillisUnsafe() - begun
        call.until += waited
        call.attemptUntil += waited
      }
    })
  }

  /** The proof of the next request, if the operation is signed. */
  const prove = (call: Call): Effect.Effect<Authenticator.Proof | undefined, Response.Failed> => {
    if (!isSigned) return Effect.undefined
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
      return Effect.timeoutOrElse(known, { duration: left, orElse: () => timedOut(call, left) })
    })
  }

  /** The outcome of a response. After a rate limit, all requests with the same budget pause. */
  const settle = (call: Call, response: Gathered): Effect.Effect<unknown, Response.Failed> => {
    const { budget, clock, encoded } = call
    const now = clock.currentTimeMillisUnsafe()
    const { path, subject } = encoded
    const answer = read(response, {
      subject,
      path,
      secrets: () => Request.secretsOf(operation, encoded, call.proof, authenticator.secrets),
      now
    })
    const error = Option.getOrUndefined(Exit.findErrorOption(answer))?.error
    if (isSigned && !isAboutExpiry(error)) ClockSkew.accepted(skew, call.clockSkew, response.headers, now)
    if (budget === undefined || !(error instanceof ApiError.RateLimited)) return answer
    // The wait of a 413 is the time until another Assembly can be created.
    return Effect.andThen(budget.pause(error.status === 413 ? need : "request", error.retryAfter), answer)
  }

  /** Sends one request, and heals its failure. */
  const request = (call: Call): Effect.Effect<unknown, Response.Failed["error"]> => {
    const { budget, encoded } = call
    call.proof = undefined
    return Effect.flatMap(
      budget === undefined ? prove(call) : Effect.flatMap(admit(call, budget), () => prove(call)),
      (proof) => {
        call.proof = proof
        const left = timeLeft(call)
        const millis = Math.min(left, call.requestTimeout)
        return Effect.matchEffect(Request.send(operation, encoded, proof, environment, { maxBytes, millis, left }), {
          onFailure: (error) =>
            error._tag === "Late"
              ? timedOut(call, millis)
              : Effect.fail(Response.failed(Exchange.toFailure(encoded.subject)(error))),
          onSuccess: (response) => settle(call, response)
        })
      }
    ).pipe(Effect.catch((failed) => recover(call, failed)))
  }

  const attempt = (call: Call): Effect.Effect<unknown, Response.Failed["error"]> => {
    const { attemptTime, clock, until } = call
    const now = clock.currentTimeMillisUnsafe()
    if (now >= until) return Effect.fail(new ApiError.TimedOut({ operation: name, after: Duration.zero }))
    call.attemptUntil = Math.min(until, now + attemptTime)
    call.isRefused = false
    return request(call)
  }

  /** Repeats the request with another proof, with a corrected clock, or after the pause that the retry policy decides. */
  const recover = Effect.fnUntraced(function* (
    call: Call,
    { error, wait }: Response.Failed
  ): Effect.fn.Return<unknown, Response.Failed["error"]> {
    const { budget, clock, policy, proof } = call
    const refusal = refusalIn(error)
    if (proof !== undefined && refusal !== undefined && !call.isRefused) {
      call.isRefused = true
      if ((yield* authenticator.refused(proof, refusal)) === "retry") return yield* request(call)
    }
    const clockSkew = ClockSkew.suggested(skew, error)
    if (clockSkew !== undefined && !call.isSkewCorrected) {
      call.clockSkew = clockSkew
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
      ...limits,
      encoded,
      attemptUntil: limits.until,
      proof: undefined,
      clockSkew: skew.kept,
      isRefused: false,
      isSkewCorrected: false,
      failures: 0,
      pauseAfter: undefined
    })
}
