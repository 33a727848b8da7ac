/**
 * The description of one operation of the service: one value that the client, the embedded service and the docs read.
 */
import type * as DateTime from "effect/DateTime"
import type * as Schema from "effect/Schema"
import type * as ApiError from "./ApiError.ts"
import type { ServiceUrl } from "./ServiceUrl.ts"

/** A codec without services: an operation is data. */
type Codec<Encoded = unknown> = Schema.ConstraintCodec<unknown, Encoded>

/**
 * The variables of a path, `"assetId"` for `"/dam/assets/:assetId"`.
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
 * An error class of `ApiError` that is made from what the service said.
 *
 * @since 0.1.0
 * @category models
 */
export type NamedError = new (details: ApiError.Details) => { readonly _tag: string }

/**
 * An operation: where it is, who may ask, how it is asked and what it answers.
 *
 * - `carrier`: how the params travel, in the query, as a form or as multipart.
 * - `nonceIn`: where the params carry their nonce.
 * - `fields`: what travels beside the params, one form field each.
 * - `answers`: `result` when a body with an error code is an error under any status, `assemblyStatus` when the Status
 *   of a failed Assembly is an answer like another. The Status has to be of the `assemblyId` in the path; that of
 *   another Assembly is `UnexpectedResponse`. A replay answers a `result`, since it may name a new Assembly.
 * - `errors`: the named errors, by the service's code.
 * - `retry`: what may be repeated after a failure that tells nothing about what the service did. `safe`, when repeating
 *   does no harm; the codes after which the service says to retry, for a change; `never`, not even after a rate limit.
 * - `check`: rules of the params that need the clock.
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
 * Describes an operation. A variable of the path without its codec does not compile, nor does a code to retry that is
 * no error of the operation.
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
 * The decoded variables of the path, params and fields. An operation without authentication may go to an address that
 * the service named, instead of the base URL.
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
 * What the operation answers.
 *
 * @since 0.1.0
 * @category models
 */
export type Success<Op extends Any> = Op["success"]["Type"]

/**
 * Exactly what the operation can fail with: its named errors, `ApiError.Common`, and `AuthenticationFailed` where it is
 * signed. An editor shows a plain list of errors.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure<Op extends Any> = {
  // A property, and members without the name of a union: either name would be shown in the place of the list.
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
