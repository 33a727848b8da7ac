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

const whole = (tag: string, status: number, body: string | Uint8Array, headers: Answer["headers"] = json): Answer => ({
  tag,
  status,
  headers,
  body,
  end: "whole"
})

/** The error object without its code. */
const errorObject = Arbitrary.schema(Schema.Struct({ message: Schema.String, reason: Schema.optionalKey(Schema.Json) }))

const withCode = (tag: string, codes: Arbitrary.Arbitrary<string>, statuses: Arbitrary.Arbitrary<number>) =>
  Arbitrary.map(Arbitrary.all([codes, statuses, errorObject]), ([error, http_code, rest]) =>
    whole(tag, http_code, JSON.stringify({ error, http_code, ...rest }))
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
      "RateLimited",
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

/** A share of a text, never all of it. */
const begun = (body: string, share: number): string => body.slice(0, Math.floor((body.length - 1) * share))

const share = Arbitrary.map(
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 }))),
  (thousandths) => thousandths / 1000
)

const broken = (
  success: Arbitrary.Arbitrary<string>
): ReadonlyArray<readonly [string, Arbitrary.Arbitrary<Answer>]> => {
  const unexpected = (status: number, body: string | Uint8Array, headers?: Answer["headers"]) =>
    whole("UnexpectedResponse", status, body, headers)
  return [
    [
      "half a body",
      Arbitrary.map(Arbitrary.all([success, share]), ([body, part]) => unexpected(200, begun(body, part)))
    ],
    [
      "a body of another type",
      Arbitrary.map(oneOf<unknown>(null, true, 5, "text", { ok: 1 }, [1]), (body) =>
        unexpected(200, JSON.stringify(body))
      )
    ],
    [
      "a page instead of JSON",
      Arbitrary.map(oneOf(200, 404, 502, 503), (status) =>
        unexpected(status, "<html>Bad Gateway</html>", { "content-type": "text/html" })
      )
    ],
    ["a body that is not UTF-8", oneOf(unexpected(200, new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])))],
    [
      "the status of a redirect",
      Arbitrary.map(Arbitrary.all([success, oneOf(301, 302, 303, 307, 308)]), ([body, status]) =>
        unexpected(status, body, { ...json, location: "https://elsewhere.example.com/" })
      )
    ]
  ]
}

/** All answers to requests of an operation. */
export const of = (operation: Operation.Any, assemblyId: string | undefined): ReadonlyArray<AnswerCase> => {
  const success = bodies(operation, assemblyId)
  const one = (name: string, tag: string, answer: AnswerCase["answer"], code?: string): AnswerCase => ({
    name,
    tag,
    code,
    answer
  })
  return [
    one(
      "a success",
      "Success",
      Arbitrary.map(success, (body) => whole("Success", 200, body))
    ),
    ...Object.entries(operation.errors).map(([code, Named]) => {
      const { _tag: tag } = new Named({ operation: operation.name, code, status: 400, description: "" })
      return one(code, tag, withCode(tag, oneOf(code), statusOf(code)), code)
    }),
    ...(operation.auth === "signed"
      ? [
          one(
            "an authentication error",
            "AuthenticationFailed",
            withCode("AuthenticationFailed", oneOf(...ServiceError.authenticationCodes), oneOf(400, 401, 403))
          )
        ]
      : []),
    one("a rate limit", "RateLimited", rateLimited),
    one(
      "an error without a name",
      "ServiceFailure",
      withCode("ServiceFailure", unnamed(operation), oneOf(400, 403, 404, 409, 500, 503))
    ),
    ...broken(success).map(([name, answer]) => one(name, "UnexpectedResponse", answer)),
    one(
      "a cut connection",
      "TransportFailure",
      Arbitrary.map(Arbitrary.all([success, share]), ([body, part]): Answer => ({
        ...whole("TransportFailure", 200, begun(body, part)),
        end: "cut"
      }))
    ),
    one("no answer in time", "TimedOut", oneOf<Answer>({ ...whole("TimedOut", 200, ""), end: "late" }))
  ]
}
