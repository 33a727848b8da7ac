/**
 * The configuration variables of a client. `effect/Config` is loaded when they are read.
 */
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * @since 0.1.0
 * @category models
 */
export interface Credentials {
  readonly key: string
  readonly secret: Redacted.Redacted
}

const load = Effect.promise(() => import("../internal/variables.ts"))

/**
 * `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET`. The `ConfigError` names each variable that is missing, empty or blank.
 *
 * @since 0.1.0
 * @category utilities
 */
export const credentials: Effect.Effect<Credentials, Config.ConfigError> = Effect.flatMap(
  load,
  (variables) => variables.credentials
)

/**
 * {@link credentials}, and `ASSEMBLY_BASE_URL`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const service: Effect.Effect<Credentials & { readonly baseUrl: string }, Config.ConfigError> = Effect.flatMap(
  load,
  (variables) => variables.service
)
