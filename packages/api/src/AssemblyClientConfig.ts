/**
 * A client from the configuration. This module has its own path, because it loads `effect/Config`.
 */
import type * as AuthError from "@assembly-effect/auth/AuthError"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Variables from "@assembly-effect/auth/unstable/Variables"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as AssemblyClient from "./AssemblyClient.ts"

/**
 * A client with signed requests for the service in the configuration: `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and
 * `ASSEMBLY_AUTH_SECRET`. The `ConfigError` names each variable that is missing or empty, and a blank key or secret. An
 * invalid base URL fails with `InvalidRequest`.
 *
 * The options are the options of `AssemblyClient.layer` without `baseUrl`, and one further option. `authenticator` is a Layer
 * that replaces the signed requests with another authentication. The `authenticator` Layer may use the Credentials from
 * the configuration.
 *
 * @example
 * AssemblyClientConfig.layer({ requestTimeout: "10 seconds" }).pipe(Layer.provide(FetchClient.layer))
 *
 * @example
 * AssemblyClientConfig.layer({
 *   authenticator: Tokens.layerAuthenticator.pipe(Layer.provide(Tokens.layer()))
 * }).pipe(Layer.provide(FetchClient.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E = never, R = never>(
  options?: Omit<AssemblyClient.Options, "baseUrl"> & {
    readonly authenticator?: Layer.Layer<Authenticator.Authenticator, E, R> | undefined
  }
): Layer.Layer<
  AssemblyClient.AssemblyClient | Credentials.Credentials,
  InvalidRequest | AuthError.CryptoUnavailable | AuthError.InvalidCredentials | Config.ConfigError | E,
  HttpClient.HttpClient | Exclude<R, Credentials.Credentials>
> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { baseUrl, ...credentials } = yield* Variables.service
      const authenticator: Layer.Layer<
        Authenticator.Authenticator,
        E | InvalidRequest | AuthError.CryptoUnavailable,
        R | Credentials.Credentials
      > = options?.authenticator ?? Authenticator.layerSigned()
      return AssemblyClient.layer({ ...options, baseUrl }).pipe(
        Layer.provide(authenticator),
        Layer.provideMerge(Credentials.layer(credentials))
      )
    })
  )
