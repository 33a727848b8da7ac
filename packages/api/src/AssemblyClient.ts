/**
 * The interpreter of operations: turns the description of an operation into a typed Effect.
 */
import { Budget } from "@assembly-effect/auth/unstable/Budget"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Attempt from "./internal/attempt.ts"
import * as Request from "./internal/request.ts"
import * as Telemetry from "./unstable/Telemetry.ts"
import * as Operation from "./unstable/Operation.ts"
import * as PerCall from "./unstable/PerCall.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import * as Exchange from "./unstable/Exchange.ts"

export { AssemblyClient } from "./unstable/Operation.ts"

const checkCall = Rules.checker(
  Schema.Struct({ withTimeout: Schema.optionalKey(Rules.duration), withDeadline: Schema.optionalKey(Rules.duration) })
)

/**
 * What {@link withTimeout}, {@link withDeadline} and {@link withAttributes} change for one call. `until`: when the call
 * must have ended, in milliseconds since 1970. `issues`: the rules that the durations break.
 */
interface Call {
  readonly timeout?: Duration.Input
  readonly until?: number
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly issues: ReadonlyArray<Issue>
}

const Call = Context.Reference<Call>("@assembly-effect/api/AssemblyClient/Call", {
  defaultValue: () => ({ issues: [] })
})

const change = (f: (outer: Call, now: number) => Call): PerCall.Combinator =>
  PerCall.provideEffect(
    Call,
    Effect.flatMap(Call, (outer) => Effect.map(Clock.currentTimeMillis, (now) => f(outer, now)))
  )

/**
 * Runs an Effect or a Stream in which each request of an operation has this `requestTimeout` instead of the client's.
 * If the duration is not positive and finite, the operation fails with `InvalidRequest`.
 *
 * @example
 * Assemblies.list(query).pipe(AssemblyClient.withTimeout("5 seconds"), RetryPolicy.none)
 *
 * @since 0.1.0
 * @category combinators
 */
export const withTimeout = (timeout: Duration.Input): PerCall.Combinator =>
  change((outer) => {
    const issues = checkCall({ withTimeout: timeout })
    return { ...outer, ...(issues.length === 0 ? { timeout } : undefined), issues: [...outer.issues, ...issues] }
  })

/**
 * Limits the time of a whole Effect or Stream, instead of the `deadline` of the client, which limits each operation. The
 * time starts when the Effect or the Stream starts. After this time, a running operation fails with `TimedOut`, and no
 * further request is sent. If the duration is not positive and finite, the operations fail with `InvalidRequest`.
 *
 * **Gotchas**
 *
 * The time of a Stream includes the time that its consumer takes. Uploads have no deadline: use `Effect.timeout`.
 *
 * @example
 * Stream.runCollect(Assemblies.listAll(query)).pipe(AssemblyClient.withDeadline("1 minute"))
 *
 * @since 0.1.0
 * @category combinators
 */
export const withDeadline = (deadline: Duration.Input): PerCall.Combinator =>
  change((outer, now) => {
    const issues = checkCall({ withDeadline: deadline })
    const until = issues.length === 0 ? now + Duration.toMillis(deadline) : now
    return { ...outer, until: Math.min(outer.until ?? Infinity, until), issues: [...outer.issues, ...issues] }
  })

/**
 * Runs an Effect or a Stream and adds these attributes to the spans of its operations.
 *
 * @example
 * Assemblies.list(query).pipe(AssemblyClient.withAttributes({ "app.tenant": "a" }))
 *
 * @since 0.1.0
 * @category combinators
 */
export const withAttributes = (attributes: Readonly<Record<string, unknown>>): PerCall.Combinator =>
  change((outer) => ({ ...outer, attributes }))

/**
 * - `baseUrl`: the URL of the service: https, or http on loopback. Credentials are sent only to URLs that begin with
 *   `baseUrl`.
 * - `origins`: further origins of the service, such as `https://upload.example.com`, or patterns such as
 *   `https://upload-*.example.com`. Responses contain URLs of uploads, Statuses and update streams. The client uses
 *   such a URL only if its origin is the origin of the base URL or matches one of `origins`. If the base URL is the
 *   public service, the origins of all cells (hosts) of the public service are permitted too. If the host of the base
 *   URL is `localhost`, then `127.0.0.1` and `[::1]` with the same port are permitted too.
 * - `requestTimeout`: the time limit from sending one request to its complete response, 1 minute by default. The wait
 *   for the budget of the account (`Budget`) does not count towards this limit.
 * - `deadline`: the time limit of all attempts of one operation and the pauses between them, without the waits for the
 *   budget of the account. By default, the limit is 5
 *   minutes; for a call with its own `RetryPolicy`, the default limits each attempt, and the policy decides how long the
 *   operation continues. {@link withDeadline} takes precedence.
 * - `maxClockSkew`: the maximum clock skew that is corrected in signatures, 1 hour by default. If the service refuses a
 *   signature because of a larger skew, the operation fails with `AuthenticationFailed`, which contains the skew.
 * - `maxResponseBytes`: the maximum size of the body of one response, 32 MiB by default.
 *
 * Each duration must be positive and finite, and `maxResponseBytes` must be an integer of at least 1. If an option
 * breaks one of these rules, the Layer fails with `InvalidRequest`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Omit<Schema.Codec.Encoded<typeof Settings>, "baseUrl"> {
  readonly baseUrl: string | URL
}

/** The {@link Options}, with the base URL as text. */
const Settings = Schema.Struct({
  baseUrl: SecureUrl.SecureUrl,
  origins: Schema.optional(Schema.Array(Schema.String)),
  requestTimeout: Schema.optional(Rules.duration),
  deadline: Schema.optional(Rules.duration),
  maxClockSkew: Schema.optional(Rules.duration),
  maxResponseBytes: Schema.optional(Rules.whole(1))
})

const decode = Rules.decoder("AssemblyClient.layer", Settings)

/** Checks the options. The base URL of the result ends with no slash. */
const settingsOf = Effect.fnUntraced(function* (options: Options) {
  const { origins: additional, ...settings } = yield* decode({ ...options, baseUrl: String(options?.baseUrl) })
  const baseUrl = SecureUrl.SecureUrl.make(settings.baseUrl.replace(/\/+$/, ""))
  const origins = yield* Effect.mapError(
    Effect.fromResult(ServiceOrigins.make(baseUrl, additional)),
    (issues) => new InvalidRequest({ operation: "AssemblyClient.layer", issues })
  )
  return { ...settings, baseUrl, origins }
})

const make = Effect.fnUntraced(function* (options: Options) {
  const { baseUrl, origins, ...settings } = yield* settingsOf(options)
  const http = yield* HttpClient.HttpClient
  const environment: Attempt.Environment = {
    baseUrl,
    authenticator: yield* Authenticator.Authenticator,
    http,
    send: Sender.of(http),
    maxBytes: settings.maxResponseBytes ?? 32 * 1024 * 1024,
    skew: { max: Duration.toMillis(settings.maxClockSkew ?? 3_600_000), kept: 0 }
  }
  const builtIn = { policy: yield* RetryPolicy.RetryPolicy, budget: yield* Budget }
  const requestTimeout = Duration.toMillis(settings.requestTimeout ?? 60_000)
  const attemptTime = Duration.toMillis(settings.deadline ?? 300_000)

  /** The options of the call, which take precedence over the options of the client, and the rules that they break. */
  const limits = (context: Context.Context<never>): Attempt.Limits & Pick<Call, "attributes" | "issues"> => {
    const ofCall = Context.get(context, RetryPolicy.RetryPolicy)
    const { attributes, issues, timeout, until } = Context.get(context, Call)
    const isSchedule = ofCall === undefined || Schedule.isSchedule(ofCall)
    const isUnlimited = ofCall !== undefined && settings.deadline === undefined
    const clock = Context.get(context, Clock.Clock)
    return {
      issues: isSchedule ? issues : [...issues, { path: ["withPolicy"], message: "Expected a Schedule" }],
      attributes,
      clock,
      requestTimeout: timeout === undefined ? requestTimeout : Duration.toMillis(timeout),
      until: until ?? (isUnlimited ? Infinity : clock.currentTimeMillisUnsafe() + attemptTime),
      attemptTime: until === undefined ? attemptTime : Infinity,
      policy: ofCall ?? builtIn.policy ?? RetryPolicy.standard,
      budget: Context.get(context, Budget) ?? builtIn.budget,
      deadline: until ?? Infinity
    }
  }

  const compile = (operation: Operation.Any) => {
    const encode = Request.encoder(operation, baseUrl)
    const attempt = Attempt.compile(operation, environment)
    const observe = Telemetry.observer(operation, baseUrl)

    return (input: Operation.Input<Operation.Any>) =>
      Effect.contextWith((context: Context.Context<never>) => {
        const call = limits(context)
        return observe(context, call, () => {
          const { clock, issues } = call
          if (issues.length > 0) return Effect.fail(new InvalidRequest({ operation: operation.name, issues }))
          const encoded = encode(input, clock.currentTimeMillisUnsafe())
          return Result.isFailure(encoded) ? Effect.fail(encoded.failure) : attempt(encoded.success, call)
        })
      })
  }

  const compiled = new WeakMap<Operation.Any, ReturnType<typeof compile>>()

  return Operation.AssemblyClient.of({
    origins,
    run: <Op extends Operation.Any>(operation: Op, input: Operation.Input<Op>) => {
      let run = compiled.get(operation)
      if (run === undefined) compiled.set(operation, (run = compile(operation)))
      // The interpreter of `operation` succeeds with `Success` and fails with `Failure`. TypeScript cannot infer these
      // types, because `compiled` contains the interpreters of all operations.
      // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
      return run(input) as Effect.Effect<Operation.Success<Op>, Operation.Failure<Op>>
    },
    open: Effect.fnUntraced(function* (address, { accept, ...about }) {
      const url = Redacted.value(address)
      const subject = { ...Exchange.hostOf(url), ...about }
      const context = yield* Effect.context<never>()
      const { budget, deadline } = limits(context)
      if (budget !== undefined) yield* Exchange.admit(budget, { url, need: "request", until: deadline }, subject)
      const { attemptTime: most, clock, requestTimeout: after, until } = limits(context)
      const millis = Math.min(after, most, Math.max(0, until - clock.currentTimeMillisUnsafe()))
      return yield* Exchange.open(http, HttpClientRequest.get(url, { accept }), subject).pipe(
        Exchange.inTime(subject, Duration.millis(millis))
      )
    })
  })
})

/**
 * A client for the service at `baseUrl`.
 *
 * @example
 * AssemblyClient.layer({ baseUrl: "https://api2.example.com" }).pipe(
 *   Layer.provide([Authenticator.layerSigned(), FetchClient.layer]),
 *   Layer.provide(CredentialsConfig.layer)
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<Operation.AssemblyClient, InvalidRequest, Authenticator.Authenticator | HttpClient.HttpClient> =>
  Layer.effect(Operation.AssemblyClient, make(options))

/**
 * The response to one operation in a test; see {@link handler}.
 *
 * @since 0.1.0
 * @category models
 */
export interface Handler {
  readonly operation: Operation.Any
  handle(input: Operation.Input<Operation.Any>): Effect.Effect<unknown, { readonly _tag: string }>
}

/**
 * Defines the response to an operation in a test: a success or an error of this operation. A success or an error of
 * another type does not compile.
 *
 * @example
 * AssemblyClient.handler(Assemblies.Get, ({ path }) =>
 *   Effect.succeed({ ok: "ASSEMBLY_COMPLETED", assembly_id: path.assemblyId })
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const handler = <Op extends Operation.Any>(
  operation: Op,
  handle: (input: Operation.Input<Op>) => Effect.Effect<Operation.Success<Op>, Operation.Failure<Op>>
): Handler => ({ operation, handle: handle as Handler["handle"] })

/**
 * A client for tests that responds to each operation with its handler, without HTTP.
 *
 * **Details**
 *
 * The input is validated as in the real client, so an invalid input fails with `InvalidRequest` in a test too. Nothing
 * is retried. An operation without a handler dies with a defect that names the operation. Without the option `open`
 * there is no update stream, so `Assemblies.watch` polls.
 *
 * @example
 * Effect.provide(
 *   program,
 *   AssemblyClient.layerTest([
 *     AssemblyClient.handler(Dam.Move, ({ path }) =>
 *       Effect.fail(
 *         new ApiError.DamResourceNotFound({
 *           operation: "Dam.move",
 *           code: "DAM_RESOURCE_NOT_FOUND",
 *           status: 404,
 *           description: `No asset ${path.assetId}`
 *         })
 *       )
 *     )
 *   ])
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerTest = (
  handlers: ReadonlyArray<Handler>,
  options?: {
    readonly baseUrl?: string | URL | undefined
    readonly origins?: ReadonlyArray<string> | undefined
    readonly open?: Operation.AssemblyClient["Service"]["open"] | undefined
  }
): Layer.Layer<Operation.AssemblyClient, InvalidRequest> =>
  Layer.effect(
    Operation.AssemblyClient,
    Effect.gen(function* () {
      const { baseUrl, origins } = yield* settingsOf({
        baseUrl: options?.baseUrl ?? "https://api2.example.com",
        origins: options?.origins
      })
      return Operation.AssemblyClient.of({
        origins,
        run: <Op extends Operation.Any>(operation: Op, input: Operation.Input<Op>) =>
          // The type of `handler` ensures that the responses have the types of the operation.
          // @effect-diagnostics-next-line unsafeEffectTypeAssertion:off
          Effect.clockWith((clock): Effect.Effect<unknown, { readonly _tag: string }> => {
            const found = handlers.findLast((one) => one.operation === operation)
            if (found === undefined) {
              return Effect.die(new Error(`AssemblyClient.layerTest has no handler for ${operation.name}`))
            }
            const encoded = Request.encoder(operation, baseUrl)(input, clock.currentTimeMillisUnsafe())
            return Result.isFailure(encoded) ? Effect.fail(encoded.failure) : found.handle(input)
          }) as Effect.Effect<Operation.Success<Op>, Operation.Failure<Op>>,
        open: options?.open ?? Exchange.withoutUpdates
      })
    })
  )
