/**
 * A route that signs the params of an Assembly for a browser, so that a page uploads to the service directly.
 */
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as StepRules from "@assembly-effect/schema/unstable/StepRules"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Body from "./internal/body.ts"
import * as Origin from "./internal/origin.ts"
import * as Respond from "./internal/respond.ts"
import * as Refusal from "./Refusal.ts"

/**
 * What a policy permits: the creation of one Assembly by one page.
 *
 * - `params`: the params of the Assembly. The page cannot change these params.
 * - `maxSize`: the maximum size of each file in bytes. `"unlimited"` sets no limit.
 * - `expiresIn`: how long the signature is valid, 5 minutes by default, at most a day. The page must create the
 *   Assembly within this time; the uploads may take longer.
 * - `referer`: a regular expression for the `referer` of the request that creates the Assembly.
 * - `credentials`: the Auth Key and the secret of the signature. By default these are the `Credentials` in the context.
 *
 * @since 0.1.0
 * @category models
 */
export interface Grant {
  readonly params: Assembly.CreateParams
  readonly maxSize: number | "unlimited"
  readonly expiresIn?: Duration.Input | undefined
  readonly referer?: string | undefined
  readonly credentials?: { readonly key: string; readonly secret: Redacted.Redacted } | undefined
}

const Settings = Schema.Struct({
  path: Schema.optional(Rules.path),
  origins: Schema.optional(Schema.Array(Origin.Origin)),
  maxBytes: Schema.optional(Rules.whole(1)),
  receiveTimeout: Schema.optional(Rules.duration),
  algorithm: Schema.optional(Signer.Algorithm)
})

/**
 * A value that breaks its rule fails with `InvalidRequest`.
 *
 * - `path`: the path of the route, `/assembly-signatures` by default.
 * - `origins`: other origins whose pages may use the route, as browsers write them: `https://app.example.com`, without
 *   a path or a final slash. By default only pages of the same origin may use the route.
 * - `maxBytes`: the maximum size of the body, 16 KiB by default.
 * - `receiveTimeout`: how long the body may take to arrive, 10 seconds by default.
 * - `algorithm`: the algorithm of the signatures, `"sha384"` by default.
 * - `policy`: decides for each request what is signed, or refuses the request. `asked` is the decoded body of the
 *   request. A value of `asked` is signed only if the policy puts it into the `Grant`.
 * - `body`: the schema of the JSON body. Without a schema, the body is not read, and `asked` is undefined.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options<A, R> extends Schema.Codec.Encoded<typeof Settings> {
  readonly policy: (
    asked: A,
    request: HttpServerRequest.HttpServerRequest
  ) => Effect.Effect<Grant, Refusal.PolicyRefusal, R>
  readonly body?: Schema.Codec<A, unknown> | undefined
}

/**
 * The answer: the signed text, its signature, and the time after which the service refuses the signature.
 * `@uppy/transloadit` takes the answer as its `assemblyOptions`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Signed = Schema.Struct({ params: Schema.String, signature: Schema.String, expires: Schema.String })
/**
 * @since 0.1.0
 * @category models
 */
export type Signed = typeof Signed.Type

const defaultPath = "/assembly-signatures"

const longest = Duration.days(1)

const encodeParams = Input.encoder(Assembly.CreateParams)

/** The rules of the data in a `Grant`, except its `params`. */
const GrantData = Schema.Struct({
  maxSize: Schema.Union([Schema.Literal("unlimited"), Rules.whole(0)]),
  expiresIn: Schema.optional(
    Rules.duration.check(
      Schema.makeFilter((time) => Duration.isLessThanOrEqualTo(time, longest), { expected: "at most a day" })
    )
  ),
  referer: Schema.optional(Schema.String),
  credentials: Schema.optional(Schema.Struct({ key: Rules.notBlank, secret: Schema.Redacted(Rules.notBlank) }))
})

const grantName = "Signatures: the Grant of the policy"
const decodeGrant = Rules.decoder(grantName, GrantData)
const decode = Rules.decoder("Signatures", Settings)

const stepIssues = ({ steps, templateId }: Assembly.CreateParams): ReadonlyArray<Issue> =>
  steps === undefined
    ? []
    : StepRules.problems(steps, templateId === undefined ? "whole" : "changes").map(({ message, path }) => ({
        path: ["params", "steps", ...path],
        message
      }))

/** Reads the body as JSON, and decodes it. */
const readBody = <A>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Codec<A, unknown>,
  limits: Body.Limits,
  shared: Body.Budget
): Effect.Effect<A, Body.Problem | Refusal.InvalidInput | Refusal.UnsupportedBody> =>
  Effect.gen(function* () {
    // Only JSON is accepted, because browsers let a page of another origin send some other content types without a
    // preflight.
    if (Body.mediaType(request) !== "application/json") {
      return yield* new Refusal.UnsupportedBody({ description: "The body is not application/json." })
    }
    const text = yield* Body.within(request, limits, shared, Body.text)
    const value = yield* Effect.mapError(
      Effect.fromResult(Json.parse(text)),
      (problem) => new Refusal.BodyMalformed({ description: `The body is ${problem}.` })
    )
    return yield* Body.decoded(schema, "Expected a value")(value)
  })

/**
 * Makes the function that answers a request, for a route of your own or for the handler of {@link group}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(
  function* <R, A = undefined>(options: Omit<Options<A, R>, "path">) {
    const { body, policy } = options
    const { algorithm, maxBytes = 16 * 1024, origins = [], receiveTimeout = "10 seconds" } = yield* decode(options)
    const own = yield* Credentials.Credentials
    const random = yield* SecureRandom.SecureRandom
    const mac = yield* Mac.Mac
    const limits: Body.Limits = { bytes: maxBytes, time: receiveTimeout }
    const buffered = Body.budget(512 * limits.bytes)

    /**
     * Signs the params of a grant. An invalid grant is a bug of the policy, so it is a defect: the route logs it, signs
     * nothing, and answers 500.
     */
    const sign = Effect.fnUntraced(function* (grant: Grant) {
      const { credentials, expiresIn = "5 minutes", maxSize, referer } = yield* decodeGrant(grant)
      const { key, secret } = credentials ?? own
      const expires = DateTime.addDuration(yield* DateTime.now, expiresIn)
      const encoded = yield* Effect.mapError(
        Effect.fromResult(encodeParams(grant.params)),
        (issues) => new InvalidRequest({ operation: grantName, issues })
      )
      const issues = stepIssues(grant.params)
      if (issues.length > 0) return yield* new InvalidRequest({ operation: grantName, issues })
      const granted = {
        ...encoded,
        auth: {
          ...encoded.auth,
          ...(maxSize === "unlimited" ? {} : { max_size: maxSize }),
          ...(referer === undefined ? {} : { referer })
        }
      }
      const signer = yield* Effect.provideService(Signer.make({ secret, algorithm }), Mac.Mac, mac)
      const { params, signature } = yield* Signer.signParams(signer, granted, {
        key,
        expires: expires.epochMilliseconds,
        nonce: yield* random.uuidV4(),
        nonceIn: "params"
      })
      return { params, signature: Redacted.value(signature), expires: DateTime.formatIso(expires) } satisfies Signed
    }, Effect.orDie)

    const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      yield* Origin.check(request, origins)
      // Without a schema, the type `A` is `undefined`.
      const asked = body === undefined ? (undefined as A) : yield* readBody(request, body, limits, buffered)
      return yield* sign(yield* policy(asked, request))
    })

    return (request: HttpServerRequest.HttpServerRequest) => Respond.to(answer(request))
  },
  Effect.provide(Layer.provideMerge(Mac.layerWebCrypto, SecureRandom.layerWebCrypto))
)

/**
 * Adds the route to the `HttpRouter`.
 *
 * **Details**
 *
 * - The answer contains `params` and `signature`, as the service expects them in the form that creates an Assembly.
 *   Each answer has its own nonce, so the page can create only one Assembly with an answer.
 * - The page sends the number of files (`num_expected_upload_files`) next to the signed params, so the signature cannot
 *   limit this number. `maxSize` limits each file.
 * - A page of another origin gets 403 before the policy runs; see `origins`. The policy must identify the user, for
 *   example by a cookie, and may fail with a `Refusal.PolicyRefusal`.
 *
 * **Gotchas**
 *
 * The page cannot add Steps to signed params, even if these params name a Template that permits other Steps. But an
 * unsigned request can use the same Template with other Steps, unless the Template (`require_signature_auth`) or the
 * Auth Key requires signatures.
 *
 * @example
 * Signatures.layer({
 *   policy: () => Effect.succeed({ params: { templateId: "my-template" }, maxSize: 100_000_000 })
 * })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <R, A = undefined>(options: Options<A, R>) =>
  HttpRouter.use((router) =>
    Effect.flatMap(make(options), (answer) => router.add("POST", options.path ?? defaultPath, answer))
  )

/**
 * The route as a group of an `HttpApi`, so that the OpenAPI document of the application contains it. The handler of the
 * endpoint `sign` is the function that {@link make} returns.
 *
 * - `id`: the id of the group, `signatures` by default.
 * - `path`: the path of the route, `/assembly-signatures` by default.
 * - `body`: the schema of the JSON body. Give {@link make} the same schema.
 *
 * @example
 * const Api = HttpApi.make("application").add(Signatures.group())
 *
 * HttpApiBuilder.group(Api, "signatures", (handlers) =>
 *   Effect.map(Signatures.make({ policy }), (answer) => handlers.handleRaw("sign", ({ request }) => answer(request)))
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const group = <
  const Path extends HttpRouter.PathInput = typeof defaultPath,
  Body extends Schema.Top = never,
  const Id extends string = "signatures"
>(options?: {
  readonly id?: Id | undefined
  readonly path?: Path | undefined
  readonly body?: Body | undefined
}) =>
  HttpApiGroup.make((options?.id ?? "signatures") as Id).add(
    HttpApiEndpoint.post("sign", (options?.path ?? defaultPath) as Path, {
      payload: options?.body,
      success: Signed,
      error: Respond.errorsForPages
    }).annotate(OpenApi.Summary, "Signs the params of an Assembly for a page")
  )
