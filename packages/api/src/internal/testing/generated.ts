/**
 * A client whose answers are generated, and the report of what it answered.
 */
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
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
import * as ApiError from "../../ApiError.ts"
import * as AssemblyClient from "../../AssemblyClient.ts"
import type * as Operation from "../../unstable/Operation.ts"
import * as RetryPolicy from "../../RetryPolicy.ts"
import * as Exchange from "../../unstable/Exchange.ts"
import * as Answers from "./answers.ts"

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
  { readonly answer: Answers.Answer; readonly delay: number; readonly count: (tag: string) => Effect.Effect<void> }
>()("@assembly-effect/api/Testing/Drawn") {}

const encoder = new TextEncoder()

const lost = new Outcome.Lost({ description: "the connection was cut", sent: "maybe", permanent: false })

/** Passes an answer on as a client of HTTP does. */
const respond = (
  { body, end, headers, status }: Answers.Answer,
  gathering: Outcome.Gathering
): Effect.Effect<void, Outcome.Lost> =>
  Effect.suspend(() => {
    if (end === "late") return Effect.sync(() => gathering.settle(Effect.fail(new Outcome.Late())))
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
      return Outcome.gather(limits, (gathering) => {
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

type Weights = Readonly<Record<string, number | undefined>>

/** The cases of an operation by tag, each as often as its weight says, and their answers. */
const weigh = (operation: string, cases: ReadonlyArray<Answers.AnswerCase>, weights: Weights) => {
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
        const cases = Answers.of(operation, Predicate.isString(assemblyId) ? assemblyId : undefined)
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
