/**
 * The description of one operation of the service: one value that the client and the emulator use. And the service
 * `AssemblyClient` that runs operations, for modules that need only the service and not its implementation.
 */
import type { FormSender } from "@assembly-effect/auth/unstable/StreamSender"
import type { InvalidRequest, Issue } from "@assembly-effect/schema/InvalidRequest"
import { nothing } from "@assembly-effect/schema/unstable/Input"
import type * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as ApiError from "../ApiError.ts"
import type { Details } from "./ErrorDetails.ts"
import type * as Exchange from "./Exchange.ts"
import type { ServiceUrl } from "./ServiceUrl.ts"

/** A codec that needs no services. */
type Codec<Encoded = unknown> = Schema.ConstraintCodec<unknown, Encoded>

/**
 * The variables of a path, such as `"assetId"` for `"/dam/assets/:assetId"`.
 *
 * @since 0.1.0
 * @category models
 */
export type Variable<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Variable<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/**
 * An error class of `ApiError` whose instances are made from a response of the service.
 *
 * @since 0.1.0
 * @category models
 */
export type NamedError = new (details: Details) => { readonly _tag: string }

/**
 * An operation: its path, its authentication, its request and its response.
 *
 * - `carrier`: the part of the request that contains the params: the query, a urlencoded body or a multipart body.
 * - `nonceIn`: the object that contains the nonce: the params themselves, or their `auth`.
 * - `fields`: the form fields besides the params.
 * - `answers`: the kind of response. With `result`, a body with an error code is an error under any HTTP status. With
 *   `assemblyStatus`, the Status of a failed Assembly is a success too. If the path has an `assemblyId`, the Status
 *   must belong to this Assembly, else the error is `UnexpectedResponse`. A replay has `result`, because its response
 *   names a new Assembly.
 * - `errors`: the named errors of the operation, by the error codes of the service.
 * - `retry`: whether the retry policy may repeat a failed request. With `safe`, the request may be repeated even if it
 *   is unknown what the service did, because a repetition does no harm. A list of error codes is for an operation that
 *   changes something. The request is then repeated only if the service did nothing (a rate limit, or a request that
 *   was not sent), or after one of these codes, after which the service permits a retry. With `never`, the policy never
 *   repeats the request, even after a rate limit.
 * - `creates`: whether the request makes the service run an Assembly, which takes a permit of the `Budget` for creations.
 * - `check`: checks the rules that a schema cannot check, because they need the current time or several params.
 * - `confidential`: a function, present if the response may contain secrets. The function returns the texts in the
 *   encoded params that are secrets, and no error repeats these texts. If a response is neither a valid success nor an
 *   error object, the error about this response contains no excerpt of the body.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operation<
  out Path extends string,
  out Auth extends "signed" | "none",
  out Variables,
  out Params extends Codec,
  out Fields extends Codec,
  out Result extends Codec,
  out Errors
> {
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: Path
  readonly variables: Variables
  readonly auth: Auth
  readonly scope: string | undefined
  readonly carrier: "query" | "form" | "multipart"
  readonly nonceIn: "params" | "auth"
  readonly params: Params
  readonly fields: Fields
  readonly answers: "result" | "assemblyStatus"
  readonly success: Result
  readonly errors: Errors
  readonly retry: Retry
  readonly creates?: true
  readonly confidential?: (params: Schema.JsonObject) => ReadonlyArray<string>
  check?(params: Params["Type"], now: DateTime.Utc): ReadonlyArray<Issue>
}

/**
 * See `retry` of {@link Operation}.
 *
 * @since 0.1.0
 * @category models
 */
export type Retry = "safe" | "never" | ReadonlyArray<string>

/**
 * Any operation.
 *
 * @since 0.1.0
 * @category models
 */
export interface Any extends Operation<
  string,
  "signed" | "none",
  Readonly<Record<string, Codec<string>>>,
  Codec,
  Codec,
  Codec,
  Readonly<Record<string, NamedError>>
> {}

type None = typeof nothing

/** The fields of an operation that {@link make} takes. All but `success` have a default, or may be absent. */
type Described = Exclude<keyof Any, "name" | "method" | "path" | "success">

/**
 * Describes an operation by its name, its method and path, such as `"GET /dam/assets/:assetId"`, and its other fields.
 * The description does not compile if a variable of the path has no codec, or if a code in `retry` is not an error of
 * the operation.
 *
 * By default, an operation is signed, has no params, no form fields and no named errors, and returns its result. A GET
 * request carries its params in the query and is safe to repeat. Any other request carries them in a urlencoded body,
 * and is repeated only if the service did nothing.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Path extends string,
  Result extends Codec,
  const Auth extends "signed" | "none" = "signed",
  const Variables extends Readonly<Record<string, Codec<string>>> = {},
  Params extends Codec = None,
  Fields extends Codec = None,
  const Errors extends Readonly<Record<string, NamedError>> = {}
>(
  name: string,
  route: `${Any["method"]} ${Path}`,
  operation: Pick<Operation<Path, Auth, Variables, Params, Fields, Result, Errors>, "success"> &
    Partial<Pick<Operation<Path, Auth, Variables, Params, Fields, Result, Errors>, Described>> & {
      readonly retry?: "safe" | "never" | ReadonlyArray<keyof Errors>
    } & ([Variable<Path>] extends [keyof Variables]
      ? unknown
      : { readonly variables: Readonly<Record<Variable<Path>, Codec<string>>> })
): Operation<Path, Auth, Variables, Params, Fields, Result, Errors> => {
  const [method, path] = route.split(" ") as [Any["method"], Path]
  const isRead = method === "GET"
  const defaults = {
    variables: {},
    auth: "signed",
    scope: undefined,
    carrier: isRead ? "query" : "form",
    nonceIn: "params",
    params: nothing,
    fields: nothing,
    answers: "result",
    errors: {},
    retry: isRead ? "safe" : []
  }
  const described: object = { ...defaults, ...operation, name, method, path }
  // A field that the description leaves out has the type of its default.
  return described as Operation<Path, Auth, Variables, Params, Fields, Result, Errors>
}

/**
 * The decoded input of an operation: the variables of its path, its params and its form fields. With `at`, the request
 * is sent to this URL from the service instead of the base URL with the path. Only an operation without authentication
 * permits `at`. `form` sends the multipart body of the operation with files.
 *
 * @since 0.1.0
 * @category models
 */
export interface Input<Op extends Any> {
  readonly path: { readonly [Name in keyof Op["variables"]]: Op["variables"][Name]["Type"] }
  readonly params: Op["params"]["Type"]
  readonly fields: Op["fields"]["Type"]
  readonly at?: Op["auth"] extends "none" ? ServiceUrl | undefined : undefined
  readonly form?: FormSender | undefined
}

/**
 * The success type of an operation.
 *
 * @since 0.1.0
 * @category models
 */
export type Success<Op extends Any> = Op["success"]["Type"]

/**
 * Exactly the errors of an operation: its named errors, `ApiError.Common`, and `AuthenticationFailed` if the operation
 * is signed. An editor shows this type as a plain list of errors.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure<Op extends Any> = {
  // The union is the type of a property, because an editor would show the name of a named union instead of its errors.
  readonly errors:
    | (Op["errors"][keyof Op["errors"]] extends infer Class
        ? Class extends new (...args: never) => infer Named
          ? Named
          : never
        : never)
    | InvalidRequest
    | ApiError.RateLimited
    | ApiError.ServiceFailure
    | ApiError.UnexpectedResponse
    | ApiError.TransportFailure
    | ApiError.TimedOut
    | (Op["auth"] extends "signed" ? ApiError.AuthenticationFailed : never)
}["errors"]

/**
 * Runs operations against one base URL.
 *
 * - `origins`: the origins that the URLs of uploads, Statuses and update streams may have.
 * - `run`: runs one operation.
 * - `open`: sends a GET request without credentials to a URL from a Status, such as the URL of the update stream. The
 *   response headers must arrive within `requestTimeout`, and within `deadline` if it is shorter.
 *
 * @since 0.1.0
 * @category services
 */
export class AssemblyClient extends Context.Service<
  AssemblyClient,
  {
    readonly origins: ServiceOrigins.ServiceOrigins
    readonly run: <Op extends Any>(operation: Op, input: Input<Op>) => Effect.Effect<Success<Op>, Failure<Op>>
    readonly open: (
      url: ServiceUrl,
      options: Exchange.Subject & { readonly accept: string }
    ) => Effect.Effect<
      HttpClientResponse.HttpClientResponse,
      ApiError.TransportFailure | ApiError.RateLimited | ApiError.TimedOut,
      Scope.Scope
    >
  }
>()("@assembly-effect/api/AssemblyClient") {}

/**
 * Runs an operation without form fields with the client in the context.
 *
 * @since 0.1.0
 * @category utilities
 */
export const run = <Op extends Any>(
  operation: Op,
  path: Input<Op>["path"],
  params: Input<Op>["params"]
): Effect.Effect<Success<Op>, Failure<Op>, AssemblyClient> =>
  AssemblyClient.use((client) => client.run(operation, { path, params, fields: {} }))
