/**
 * The Auth Key and its secret.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/**
 * Who asks. For servers, edge runtimes and workers only: a browser gets no secret.
 */
export class Credentials extends Context.Service<
  Credentials,
  {
    readonly key: string
    readonly secret: Redacted.Redacted
  }
>()("@assembly-effect/auth/Credentials") {}

/**
 * Credentials from values.
 *
 * @example Credentials.layer({ key: "my-key", secret: Redacted.make("my-secret") })
 */
export const layer = (options: {
  readonly key: string
  readonly secret: Redacted.Redacted
}): Layer.Layer<Credentials> => Layer.succeed(Credentials, options)

const makeConfigured = () =>
  Layer.effect(
    Credentials,
    Config.all({
      key: Config.NonEmptyString("ASSEMBLY_AUTH_KEY"),
      secret: Config.NonEmptyString("ASSEMBLY_AUTH_SECRET").pipe(Config.map((secret) => Redacted.make(secret)))
    })
  )

/**
 * Credentials from the configuration: `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET`. A missing or empty variable is
 * a `ConfigError` that names it.
 */
export const layerConfig: Layer.Layer<Credentials, Config.ConfigError> =
  // The annotation lets a bundler drop it, and `Config` with it, where nobody reads the configuration.
  /* @__PURE__ */ makeConfigured()
