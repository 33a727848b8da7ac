/**
 * The description of one operation of the service: one value that the client, the embedded service and the docs use.
 */
import type * as DateTime from "effect/DateTime"
import type * as Schema from "effect/Schema"
import type * as ApiError from "./ApiError.ts"
import type { ServiceUrl } from "./ServiceUrl.ts"

/** A codec without services, because an operation is plain data. */
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
 * An error class of `ApiError` that is made from the response of the service.
 *
 * @since 0.1.0
 * @category models
 */
export type NamedError = new (details: ApiError.Details) => { readonly _tag: string }

/**
 * An operation: its path, its authentication, its request and its response.
 *
 * - `carrier`: what contains the params: the query, a urlencoded body or a multipart body.
 * - `nonceIn`: the path of the nonce in the params.
 * - `fields`: the form fields next to the params.
 * - `answers`: the kind of response. With `result`, a body with an error code is an error under any status. With
 *   `assemblyStatus`, the Status of a failed Assembly is a success too; it must belong to the `assemblyId` in the path,
 *   else the error is `UnexpectedResponse`. A replay has `result`, because it may return a new Assembly.
 * - `errors`: the named errors, by the error codes of the service.
 * - `retry`: the failures after which a request may be repeated although it is unknown what the service did. `safe`:
 *   after any of them, because a repetition does no harm. A list of codes, for a change: after the codes for which the
 *   service permits a retry. `never`: not even after a rate limit.
 * - `check`: rules of the params that a schema cannot check, because they need the current time or several params.
 * - `confidential`: present if the response contains secrets. An error then repeats nothing of a response that is not an
 *   error object. It lists the texts in the encoded params that are secrets, and errors repeat none of them.
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
  readonly confidential?: (params: Schema.JsonObject) => ReadonlyArray<string>
  check?(params: Params["Type"], now: DateTime.Utc): ReadonlyArray<ApiError.Issue>
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

/**
 * Describes an operation. It does not compile if a variable of the path has no codec, or if a code in `retry` is not an
 * error of the operation.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <
  const Path extends string,
  const Auth extends "signed" | "none",
  const Variables extends { readonly [Name in Variable<Path>]: Codec<string> },
  Params extends Codec,
  Fields extends Codec,
  Result extends Codec,
  const Errors extends Readonly<Record<string, NamedError>>
>(
  operation: Operation<Path, Auth, Variables, Params, Fields, Result, Errors> & {
    readonly retry: "safe" | "never" | ReadonlyArray<keyof Errors>
  }
): Operation<Path, Auth, Variables, Params, Fields, Result, Errors> => operation

/**
 * The decoded variables of the path, the params and the fields. An operation without authentication may be sent to a
 * URL from the service instead of the base URL.
 *
 * @since 0.1.0
 * @category models
 */
export interface Input<Op extends Any> {
  readonly path: { readonly [Name in keyof Op["variables"]]: Op["variables"][Name]["Type"] }
  readonly params: Op["params"]["Type"]
  readonly fields: Op["fields"]["Type"]
  readonly at?: Op["auth"] extends "none" ? ServiceUrl | undefined : undefined
}

/**
 * The success type of an operation.
 *
 * @since 0.1.0
 * @category models
 */
export type Success<Op extends Any> = Op["success"]["Type"]

/**
 * Exactly the errors of an operation: its named errors, `ApiError.Common`, and `AuthenticationFailed` if it is signed.
 * An editor shows a plain list of errors.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure<Op extends Any> = {
  // A property instead of a named union, because an editor would show the name of the union instead of the errors.
  readonly errors:
    | (Op["errors"][keyof Op["errors"]] extends infer Class
        ? Class extends new (...args: never) => infer Named
          ? Named
          : never
        : never)
    | ApiError.InvalidRequest
    | ApiError.RateLimited
    | ApiError.ServiceFailure
    | ApiError.UnexpectedResponse
    | ApiError.TransportFailure
    | ApiError.TimedOut
    | (Op["auth"] extends "signed" ? ApiError.AuthenticationFailed : never)
}["errors"]
