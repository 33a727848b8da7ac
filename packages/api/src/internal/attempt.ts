import * as Admission from "@assembly-effect/auth/unstable/Admission"
import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import type * as Sender from "@assembly-effect/auth/unstable/Sender"
import type { SecureUrl } from "@assembly-effect/schema/SecureUrl"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import * as Transport from "../unstable/Transport.ts"
import * as AuthError from "./authError.ts"
import * as ClockSkew from "./clockSkew.ts"
import * as Request from "./request.ts"
import * as Response from "./response.ts"

/** The dependencies that all attempts of a client share. */
export interface Environment {
  readonly baseUrl: SecureUrl
  readonly authenticator: Authenticator.Authenticator["Service"]
  readonly send: Sender.Sender
  readonly maxBytes: number
  readonly skew: ClockSkew.ClockSkew
}

/**
 * The time limits and the clock skew of one attempt of an operation. Times are in milliseconds.
 *
 * - `requestTimeout`: the time limit of each request, measured from the moment it is sent.
 * - `until`: the time when the attempt must have ended, pauses included.
 * - `clockSkew`: the difference of the clocks by which the expiry of the signature is corrected.
 */
export interface Conditions {
  readonly clock: Clock.Clock
  readonly requestTimeout: number
  readonly until: number
  readonly clockSkew: number
  readonly gate: Admission.Gate
}

const timeLeft = ({ clock, until }: Conditions): number => Math.max(0, until - clock.currentTimeMillisUnsafe())

const timedOut = (subject: Transport.Subject, millis: number): Effect.Effect<never, Response.Failed> =>
  Effect.fail(Response.withoutWait(new ApiError.TimedOut({ ...subject, after: Duration.millis(millis) })))

const isAboutExpiry = ({ error }: Response.Failed): boolean =>
  error instanceof ApiError.AuthenticationFailed && error.code === "AUTH_EXPIRED"

/** A shorter Auth Secret, as in a test, may be a part of any word, such as an error code. */
const minSecret = 8

/**
 * Makes the function that sends one request and reads its response. The `Authenticator` makes the proof of each attempt:
 * a signature with a fresh nonce and expiry, or a token. If the service refuses the proof, and the `Authenticator` may
 * have another proof, the request is sent once more with the other proof.
 */
export const compile = (operation: Operation.Any, environment: Environment) => {
  const { authenticator, baseUrl, maxBytes, send, skew } = environment
  const read = Response.decoder(operation, { maxBytes })
  const isSigned = operation.auth === "signed"

  const authenticate = ({ params, subject }: Request.Encoded, conditions: Conditions) => {
    const proven = authenticator
      .authenticate({
        baseUrl,
        params,
        nonceIn: operation.nonceIn,
        scope: operation.scope,
        clockSkew: Duration.millis(conditions.clockSkew)
      })
      .pipe(Effect.mapError((error) => AuthError.toFailed(subject, error)))
    if (authenticator.isImmediate === true) return proven
    return Effect.suspend(() => {
      const left = timeLeft(conditions)
      return Effect.timeoutOrElse(proven, { duration: left, orElse: () => timedOut(subject, left) })
    })
  }

  /** Sends an admitted request. After a rate limit, all requests to this origin that pass the same gate pause. */
  const exchange = (
    encoded: Request.Encoded,
    conditions: Conditions,
    proof: Authenticator.Proof | undefined
  ): Effect.Effect<unknown, Response.Failed> => {
    const { origin, path, subject } = encoded
    const { clock, clockSkew, gate, requestTimeout } = conditions
    const millis = Math.min(timeLeft(conditions), requestTimeout)
    return Effect.matchEffect(send(Request.toOutgoing(operation, encoded, proof), { maxBytes, millis }), {
      onFailure: (error) =>
        error._tag === "Late"
          ? timedOut(subject, millis)
          : Effect.fail(Response.withoutWait(Transport.toFailure(subject)(error))),
      onSuccess: (response) => {
        const now = clock.currentTimeMillisUnsafe()
        const secrets = () => [
          ...Request.secretsOf(operation, encoded, proof),
          ...(authenticator.secrets ?? []).map(Redacted.value).filter(({ length }) => length >= minSecret)
        ]
        const answer = read(response, { subject, path, secrets, now })
        if (isSigned && !Option.exists(Exit.findErrorOption(answer), isAboutExpiry)) {
          ClockSkew.accepted(skew, clockSkew, response.headers, now)
        }
        return Exit.isSuccess(answer)
          ? answer
          : Effect.tapError(answer, ({ error }) =>
              error instanceof ApiError.RateLimited ? Admission.pause(gate, origin, error.retryAfter) : Effect.void
            )
      }
    })
  }

  /**
   * Makes the proof of a request, and waits until the request is admitted. After a wait, makes another proof, because
   * the expiry of the first proof may be too early.
   */
  const prove = (encoded: Request.Encoded, conditions: Conditions) => {
    const { origin, subject } = encoded
    const { gate } = conditions
    const proven: Effect.Effect<Authenticator.Proof | undefined, Response.Failed> = isSigned
      ? authenticate(encoded, conditions)
      : Effect.undefined
    if (Admission.isOpen(gate)) return proven
    return Effect.flatMap(proven, (proof) =>
      Transport.admit(gate, origin, subject, Duration.millis(timeLeft(conditions))).pipe(
        Effect.mapError(Response.unsent),
        Effect.flatMap((waited) => (Duration.isZero(waited) ? Effect.succeed(proof) : proven))
      )
    )
  }

  const replaced = (proof: Authenticator.Proof | undefined, { error }: Response.Failed) => {
    const refusal = AuthError.refusal(error)
    return proof === undefined || refusal === undefined
      ? Effect.succeed("final" as const)
      : authenticator.refused(proof, refusal)
  }

  return (encoded: Request.Encoded, conditions: Conditions): Effect.Effect<unknown, Response.Failed> =>
    Effect.flatMap(prove(encoded, conditions), (proof) =>
      exchange(encoded, conditions, proof).pipe(
        Effect.catch((failed) =>
          Effect.flatMap(replaced(proof, failed), (verdict) =>
            verdict === "final"
              ? Effect.fail(failed)
              : Effect.flatMap(prove(encoded, conditions), (another) => exchange(encoded, conditions, another))
          )
        )
      )
    )
}
