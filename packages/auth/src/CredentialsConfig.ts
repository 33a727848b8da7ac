/**
 * Credentials from the configuration. This module has its own path, because it loads `effect/Config`.
 */
import type * as Config from "effect/Config"
import * as Layer from "effect/Layer"
import { Credentials } from "./Credentials.ts"
import * as Variables from "./unstable/Variables.ts"

/**
 * The credentials in `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET`. The `ConfigError` names each variable that is
 * missing, empty or blank.
 *
 * @example
 * Authenticator.layerSigned().pipe(Layer.provide(CredentialsConfig.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Credentials, Config.ConfigError> = Layer.effect(Credentials, Variables.credentials)
