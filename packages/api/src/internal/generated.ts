/**
 * Generated answers of the service to an operation: its success, each of its errors, and broken ones. And a client with
 * these answers, and the report of what it answered.
 */
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Gathering from "@assembly-effect/auth/unstable/Gathering"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as NamedError from "@assembly-effect/schema/unstable/NamedError"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Arbitrary from "effect/Arbitrary"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as ApiError from "../ApiError.ts"
import * as AssemblyClient from "../AssemblyClient.ts"
import type * as Operation from "../unstable/Operation.ts"
import * as RetryPolicy from "../RetryPolicy.ts"
import * as Exchange from "../unstable/Exchange.ts"

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

const upTo = (maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))

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
  Arbitrary.all([oneOf(...ServiceError.rateLimitCodes), upTo(60), oneOf("retryIn", "retry-after", "none")]),
  ([error, seconds, told]) =>
    whole(
      429,
      JSON.stringify({ error, http_code: 429, ...(told === "retryIn" ? { info: { retryIn: seconds } } : undefined) }),
      told === "retry-after" ? { ...json, "retry-after": String(seconds) } : json
    )
)

/** Codes that are neither an error of the operation nor a code of every operation. */
const unnamed = ({ errors }: Operation.Any) => {
  const named = new Set([...Object.keys(errors), ...ServiceError.rateLimitCodes, ...ServiceError.authenticationCodes])
  const codes = Arbitrary.schema(Schema.String.check(Schema.isPattern(/^[A-Z]{3,9}_[A-Z]{3,9}$/)))
  return Arbitrary.filter(codes, (code) => !named.has(code))
}

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

/** All answers to requests of an operation. */
export const answersOf = (operation: Operation.Any, assemblyId: string | undefined): ReadonlyArray<AnswerCase> => {
  const success = bodies(operation, assemblyId)
  /** A share of a success, never all of it. */
  const half = Arbitrary.map(Arbitrary.all([success, upTo(1000)]), ([body, thousandths]) =>
    whole(200, body.slice(0, Math.floor(((body.length - 1) * thousandths) / 1000)))
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

/**
 * An operation was never answered with some of its errors, or never with a success. `missing` has the tags by operation,
 * and none if no operation was answered.
 *
 * @since 0.1.0
 * @category errors
 */
export class NeverDrawn extends Data.TaggedError("NeverDrawn")<{
  readonly missing: Readonly<Record<string, ReadonlyArray<string>>>
}> {
  override get message() {
    const told = Object.entries(this.missing).map(([operation, tags]) => `${operation}: ${tags.join(", ")}`)
    return `never answered: ${told.join("; ") || "any operation"}`
  }
}

/**
 * The answers that the clients with this report gave.
 *
 * - `seen`: the number of answers by operation and tag.
 * - `complete`: fails if an operation that was called was never answered with one of its tags, or if none was answered.
 *
 * @since 0.1.0
 * @category models
 */
export interface Report {
  readonly seen: Effect.Effect<Readonly<Record<string, Readonly<Record<string, number>>>>>
  readonly complete: Effect.Effect<void, NeverDrawn>
  /** Counts an answer. `expected` is every tag that the operation may be answered with. */
  readonly count: (operation: string, tag: string, expected: ReadonlyArray<string>) => void
}

/**
 * An empty report, for all runs of a property.
 *
 * @since 0.1.0
 * @category constructors
 */
export const report = (): Report => {
  const seen: Record<string, Record<string, number>> = {}
  return {
    seen: Effect.sync(() => structuredClone(seen)),
    complete: Effect.suspend(() => {
      const missing = Object.entries(seen)
        .map(([operation, counts]) => [operation, Object.keys(counts).filter((tag) => counts[tag] === 0)] as const)
        .filter(([, tags]) => tags.length > 0)
      const isComplete = missing.length === 0 && Object.keys(seen).length > 0
      return isComplete ? Effect.void : Effect.fail(new NeverDrawn({ missing: Object.fromEntries(missing) }))
    }),
    count: (operation, tag, expected) => {
      const counts = (seen[operation] ??= {})
      for (const one of expected) counts[one] ??= 0
      counts[tag] = (counts[tag] ?? 0) + 1
    }
  }
}

type TagsIn<Module> = {
  [Name in keyof Module]: Module[Name] extends new (...args: never) => { readonly _tag: infer Tag } ? Tag : never
}[keyof Module]

/** `Success`, or the tag of an error of an operation. */
type Tag = "Success" | Extract<TagsIn<typeof ApiError>, string>

/** The classes of errors have the names of their tags. */
const tags = new Set(["Success", ...Object.keys(ApiError)])

const weight = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1e9 }))

const decode = Rules.decoder(
  "Testing.layerGenerated",
  Schema.Struct({
    seed: Schema.Union([Schema.Finite, Schema.String]),
    weights: Schema.optional(
      Schema.Record(Schema.String, Schema.UndefinedOr(weight)).check(
        Schema.makeFilter((all) =>
          Object.keys(all)
            .filter((tag) => !tags.has(tag))
            .map((tag) => ({ path: [tag], issue: "Expected Success or the tag of an error" }))
        )
      )
    ),
    delay: Schema.optional(Rules.pause)
  })
)

/** The answer to the next request. */
class Drawn extends Context.Service<
  Drawn,
  { readonly answer: Answer; readonly delay: number; readonly count: (tag: string) => Effect.Effect<void> }
>()("@assembly-effect/api/Testing/Drawn") {}

const encoder = new TextEncoder()

const lost = new Outcome.Lost({ description: "the connection was cut", sent: "maybe", permanent: false })

/** Passes an answer on as a client of HTTP does. */
const respond = (
  { body, end, headers, status }: Answer,
  gathering: Gathering.Gathering
): Effect.Effect<void, Outcome.Lost> =>
  Effect.suspend(() => {
    if (end === "late") return Effect.sync(() => gathering.settle(Effect.fail(new Gathering.Late())))
    gathering.begin(status, Headers.fromInput(headers))
    gathering.take(typeof body === "string" ? encoder.encode(body) : body)
    return end === "cut" ? Effect.fail(lost) : Effect.void
  })

/** A client that never sends a request: each of its requests is answered with the drawn answer. */
const offline = Effect.gen(function* () {
  const http = HttpClient.make(() => Effect.die(new Error("a client with generated answers sends no request")))
  Sender.register(http, (_, limits) =>
    Effect.flatMap(Effect.serviceOption(Drawn), (drawn) => {
      if (Option.isNone(drawn)) return Effect.die(new Error("there is no drawn answer"))
      const { answer, count, delay } = drawn.value
      return Gathering.gather(limits, (gathering) => {
        const answered = respond(answer, gathering)
        return delay === 0 ? answered : Effect.delay(answered, delay)
      }).pipe(
        Effect.tap(() => count(answer.tag)),
        Effect.tapError(() => count("TimedOut"))
      )
    })
  )
  const bearer = Authenticator.layerBearer(Redacted.make("token-of-generated-answers"))
  return yield* AssemblyClient.AssemblyClient.pipe(
    Effect.provide(AssemblyClient.layer({ baseUrl: "https://api2.example.com" })),
    Effect.provide([bearer, Layer.succeed(HttpClient.HttpClient, http)])
  )
}).pipe(Effect.orDie)

/** A number of at least 0 and below `limit`. A generator would prefer the limits. */
const below = (limit: number, seed: string): Effect.Effect<number> =>
  Effect.map(Random.withSeed(Random.next, seed), (share) => share * limit)

/** The first value of a generator for a seed. */
const first = <A>(arbitrary: Arbitrary.Arbitrary<A>, seed: string): Effect.Effect<A> =>
  Arbitrary.sampleEffect(arbitrary, { count: 1, size: 10, maxDiscards: 100, seed }).pipe(
    Effect.flatMap(([value]) => Effect.fromNullishOr(value)),
    Effect.orDie
  )

/** The cases of an operation by tag, each as often as its weight says, and their answers. */
const weigh = (
  operation: string,
  cases: ReadonlyArray<AnswerCase>,
  weights: Readonly<Record<string, number | undefined>>
) => {
  const byTag = Map.groupBy(cases, ({ tag }) => tag)
  const drawn = [...byTag].filter(([tag]) => (weights[tag] ?? 1) > 0)
  const total = drawn.reduce((sum, [tag]) => sum + (weights[tag] ?? 1), 0)
  const nothing = { path: ["weights"], message: `Expected a weight above 0 for one of ${[...byTag.keys()].join(", ")}` }
  return {
    tags: drawn.map(([tag]) => tag),
    draw: (seed: string) =>
      Effect.gen(function* () {
        let left = yield* below(total, `${seed}/tag`)
        const [, chosen = []] = drawn.find(([tag]) => (left -= weights[tag] ?? 1) < 0) ?? []
        const one = chosen[Math.floor(yield* below(chosen.length, `${seed}/case`))]
        return one === undefined
          ? yield* new InvalidRequest({ operation, issues: [nothing] })
          : yield* first(one.answer, seed)
      })
  }
}

/**
 * A client whose operations are answered with generated successes, each of their declared errors, broken and cut
 * answers, and none in time. Nothing is sent and nothing is retried. An invalid input fails with `InvalidRequest`, and
 * there is no update stream. The Layer fails with `InvalidRequest` if an option is invalid.
 *
 * **Details**
 *
 * - `seed`: the same seed gives the same answers, in the order in which each operation is called.
 * - `weights`: how often each tag is drawn, 1 by default, and 0 for never: `{ Success: 5, TimedOut: 0 }`.
 * - `delay`: the longest time that an answer takes, none by default. A test with a `TestClock` has to adjust it. An
 *   answer that takes longer than the time limit of the request is `TimedOut`.
 * - `report`: counts the answers.
 *
 * It is not part of `AssemblyClient`, because programs in production do not need the generators.
 *
 * @example
 * const report = Testing.report()
 * Arbitrary.checkEffect(Arbitrary.schema(Schema.Int), (seed) =>
 *   Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }).pipe(
 *     Effect.isSuccess,
 *     Effect.as(true),
 *     Effect.provide(Testing.layerGenerated({ seed, report }))
 *   )
 * ).pipe(Effect.andThen(report.complete))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerGenerated = (options: {
  readonly seed: number | string
  readonly weights?: { readonly [Name in Tag]?: number | undefined } | undefined
  readonly delay?: Duration.Input | undefined
  readonly report?: Report | undefined
}): Layer.Layer<AssemblyClient.AssemblyClient, InvalidRequest> =>
  Layer.effect(
    AssemblyClient.AssemblyClient,
    Effect.gen(function* () {
      const { delay = Duration.zero, seed, weights = {} } = yield* decode(options)
      const client = yield* offline
      const calls = new Map<string, number>()
      const longest = Duration.toMillis(delay)

      const draw = Effect.fnUntraced(function* (
        operation: Operation.Any,
        { path }: Operation.Input<Operation.Any>
      ): Effect.fn.Return<Drawn["Service"], InvalidRequest> {
        const number = calls.get(operation.name) ?? 0
        calls.set(operation.name, number + 1)
        const own = `${seed}/${operation.name}/${number}`
        const { assemblyId } = path
        const cases = answersOf(operation, Predicate.isString(assemblyId) ? assemblyId : undefined)
        const weighed = weigh(operation.name, cases, weights)
        return {
          answer: yield* weighed.draw(own),
          delay: longest === 0 ? 0 : yield* below(longest, `${own}/delay`),
          count: (tag) => Effect.sync(() => options.report?.count(operation.name, tag, weighed.tags))
        }
      })

      return AssemblyClient.AssemblyClient.of({
        origins: client.origins,
        run: (operation, input) =>
          Effect.flatMap(draw(operation, input), (drawn) =>
            client.run(operation, input).pipe(RetryPolicy.none, Effect.provideService(Drawn, drawn))
          ),
        open: Exchange.withoutUpdates
      })
    })
  )
