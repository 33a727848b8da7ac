/**
 * Generated answers of the service to an operation: its success, each of its errors, and broken ones.
 */
import * as NamedError from "@assembly-effect/schema/unstable/NamedError"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Arbitrary from "effect/Arbitrary"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Operation from "../../unstable/Operation.ts"

/**
 * An answer of the service over HTTP.
 *
 * - `tag`: `Success`, or the `_tag` of the error that the client makes of this answer.
 * - `end`: whether the whole body arrives, or the connection is cut after `body`, or no answer comes in time.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer {
  readonly tag: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly end: "whole" | "cut" | "late"
}

/**
 * Answers of one kind. `code` is the error code of a declared error.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnswerCase {
  readonly name: string
  readonly tag: string
  readonly code: string | undefined
  readonly answer: Arbitrary.Arbitrary<Answer>
}

/** One of several values, with equal probability. */
export const oneOf = <const A>(...all: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(Arbitrary.schema(Schema.Literals(all.map((_, index) => index))), (index) => all[index] as A)

const json = { "content-type": "application/json; charset=utf-8" }

type Untagged = Omit<Answer, "tag">

const whole = (status: number, body: Answer["body"], headers: Answer["headers"] = json): Untagged => ({
  status,
  headers,
  body,
  end: "whole"
})

/** The error object without its code. */
const errorObject = Arbitrary.schema(Schema.Struct({ message: Schema.String, reason: Schema.optionalKey(Schema.Json) }))

const withCode = (codes: Arbitrary.Arbitrary<string>, statuses: Arbitrary.Arbitrary<number>) =>
  Arbitrary.map(Arbitrary.all([codes, statuses, errorObject]), ([error, http_code, rest]) =>
    whole(http_code, JSON.stringify({ error, http_code, ...rest }))
  )

/** The status of a code of the specification; for another code, the client accepts any status. */
const statusOf = (code: string): Arbitrary.Arbitrary<number> => {
  const statuses: Readonly<Record<string, number>> = NamedError.statusOf
  const known = Object.hasOwn(statuses, code) ? statuses[code] : undefined
  return known === undefined ? oneOf(400, 403, 404, 409, 500) : oneOf(known)
}

const rateLimited = Arbitrary.map(
  Arbitrary.all([
    oneOf(...ServiceError.rateLimitCodes),
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))),
    oneOf("retryIn", "retry-after", "none")
  ]),
  ([error, seconds, told]) =>
    whole(
      429,
      JSON.stringify({ error, http_code: 429, ...(told === "retryIn" ? { info: { retryIn: seconds } } : undefined) }),
      told === "retry-after" ? { ...json, "retry-after": String(seconds) } : json
    )
)

const isOwn = ({ errors }: Operation.Any, code: string): boolean =>
  Object.hasOwn(errors, code) || ServiceError.rateLimitCodes.has(code) || ServiceError.authenticationCodes.has(code)

const unnamed = (operation: Operation.Any) =>
  Arbitrary.schema(Schema.String.check(Schema.isPattern(/^[A-Z]{3,9}_[A-Z]{3,9}$/))).pipe(
    Arbitrary.filter((code) => !isOwn(operation, code))
  )

const successes = new WeakMap<Operation.Any, Arbitrary.Arbitrary<unknown>>()

/** The encoded successes of an operation. The generator is made once. */
const successesOf = (operation: Operation.Any): Arbitrary.Arbitrary<unknown> => {
  const made =
    successes.get(operation) ??
    Arbitrary.map(Arbitrary.schema(operation.success), Schema.encodeUnknownSync(operation.success))
  successes.set(operation, made)
  return made
}

/** The bodies of successes. The Status of an Assembly must be about the Assembly of the request. */
const bodies = (operation: Operation.Any, assemblyId: string | undefined): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(successesOf(operation), (body) => {
    const isAbout = operation.answers === "assemblyStatus" && assemblyId !== undefined && Predicate.isObject(body)
    return JSON.stringify(isAbout ? { ...body, assembly_id: assemblyId } : body)
  })

const share = Arbitrary.map(
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))),
  (thousandths) => thousandths / 1000
)

/** All answers to requests of an operation. */
export const of = (operation: Operation.Any, assemblyId: string | undefined): ReadonlyArray<AnswerCase> => {
  const success = bodies(operation, assemblyId)
  /** A share of a success, never all of it. */
  const half = Arbitrary.map(Arbitrary.all([success, share]), ([body, part]) =>
    whole(200, body.slice(0, Math.floor((body.length - 1) * part)))
  )
  const one = (name: string, tag: string, answer: Arbitrary.Arbitrary<Untagged>, code?: string): AnswerCase => ({
    name,
    tag,
    code,
    answer: Arbitrary.map(answer, (untagged) => ({ tag, ...untagged }))
  })
  const unexpected = (name: string, answer: Arbitrary.Arbitrary<Untagged>) => one(name, "UnexpectedResponse", answer)
  const unauthenticated = withCode(oneOf(...ServiceError.authenticationCodes), oneOf(400, 401, 403))
  const unknown = withCode(unnamed(operation), oneOf(400, 403, 404, 409, 500, 503))
  const others = [null, true, 5, "text", { ok: 1 }, [1]].map((body) => whole(200, JSON.stringify(body)))
  const html = { "content-type": "text/html" }
  const pages = [200, 404, 502, 503].map((status) => whole(status, "<html>Bad Gateway</html>", html))
  const elsewhere = { ...json, location: "https://elsewhere.example.com/" }
  const redirects = Arbitrary.all([success, oneOf(301, 302, 303, 307, 308)])
  const redirected = Arbitrary.map(redirects, ([body, status]) => whole(status, body, elsewhere))
  const succeeded = Arbitrary.map(success, (body) => whole(200, body))
  const cut = Arbitrary.map(half, (begun): Untagged => ({ ...begun, end: "cut" }))
  return [
    one("a success", "Success", succeeded),
    ...Object.entries(operation.errors).map(([code, Named]) => {
      const { _tag: tag } = new Named({ operation: operation.name, code, status: 400, description: "" })
      return one(code, tag, withCode(oneOf(code), statusOf(code)), code)
    }),
    ...(operation.auth === "signed" ? [one("an authentication error", "AuthenticationFailed", unauthenticated)] : []),
    one("a rate limit", "RateLimited", rateLimited),
    one("an error without a name", "ServiceFailure", unknown),
    unexpected("half a body", half),
    unexpected("a body of another type", oneOf(...others)),
    unexpected("a page instead of JSON", oneOf(...pages)),
    unexpected("a body that is not UTF-8", oneOf(whole(200, new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])))),
    unexpected("the status of a redirect", redirected),
    one("a cut connection", "TransportFailure", cut),
    one("no answer in time", "TimedOut", oneOf<Untagged>({ ...whole(200, ""), end: "late" }))
  ]
}
