/**
 * The service `AssemblyClient`, for modules that need only the service and not its implementation.
 */
import type * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type * as Scope from "effect/Scope"
import type * as ApiError from "../ApiError.ts"
import type * as Operation from "./Operation.ts"
import type { ServiceUrl } from "./ServiceUrl.ts"
import type * as Exchange from "./Exchange.ts"

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
    readonly run: <Op extends Operation.Any>(
      operation: Op,
      input: Operation.Input<Op>
    ) => Effect.Effect<Operation.Success<Op>, Operation.Failure<Op>>
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
export const run = <Op extends Operation.Any>(
  operation: Op,
  path: Operation.Input<Op>["path"],
  params: Operation.Input<Op>["params"]
): Effect.Effect<Operation.Success<Op>, Operation.Failure<Op>, AssemblyClient> =>
  AssemblyClient.use((client) => client.run(operation, { path, params, fields: {} }))
