/**
 * One Layer with everything that a program on Node, Bun or Deno needs for operations and uploads.
 */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Budget from "@assembly-effect/api/Budget"
import type * as AuthError from "@assembly-effect/auth/AuthError"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import type * as Signer from "@assembly-effect/auth/Signer"
import * as LowBudget from "@assembly-effect/auth/unstable/Budget"
import * as Variables from "@assembly-effect/auth/unstable/Variables"
import * as Tokens from "@assembly-effect/auth/Tokens"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Redacted from "effect/Redacted"
import * as ClockWarning from "./internal/clockWarning.ts"
import * as SmallFiles from "./internal/smallFiles.ts"
import * as UndiciSettings from "./internal/undiciSettings.ts"
import * as NodeMd5 from "./NodeMd5.ts"
import * as NodeSigner from "./NodeSigner.ts"
import * as RuntimeClient from "./RuntimeClient.ts"
import type * as UndiciClient from "./UndiciClient.ts"

/**
 * The services that the Layers of this module provide: the client of the operations, `Upload` and `AssemblyUpload`
 * without a journal, the HTTP client of `RuntimeClient`, and the `NodeServices` of Effect (file system, paths, terminal,
 * standard streams and child processes). The Layers also include `NodeMd5`, which computes the MD5 of downloads and
 * verified uploads faster. For the public service, they include a `Budget` with its quotas, unless the program provides
 * another one. For uploads that resume, add {@link layerJournaled}.
 *
 * @since 0.1.0
 * @category models
 */
export type Services =
  | AssemblyClient.AssemblyClient
  | Upload.Upload
  | AssemblyUpload.AssemblyUpload
  | HttpClient.HttpClient
  | NodeServices.NodeServices

/**
 * How requests are authenticated with an Auth Key and its secret.
 *
 * - `authentication`: the default `"signed"` signs each request with `node:crypto`. `"tokens"` exchanges the
 *   credentials for bearer tokens, and reuses each token until shortly before it expires.
 * - `algorithm`: the algorithm of the signatures, `"sha384"` by default.
 * - `window`: how long a signature is valid, 5 minutes by default.
 *
 * @since 0.1.0
 * @category options
 */
export interface Authentication {
  readonly authentication?: "signed" | "tokens" | undefined
  readonly algorithm?: Signer.Algorithm | undefined
  readonly window?: Duration.Input | undefined
}

/**
 * The options of the `AssemblyClient` and of the HTTP client.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends AssemblyClient.Options {
  readonly http?: UndiciClient.Options | undefined
}

/** An Authenticator that uses the Credentials in the context. */
const authenticator = (
  options: Authentication
): Layer.Layer<Authenticator.Authenticator, InvalidRequest, Credentials.Credentials | HttpClient.HttpClient> =>
  options.authentication === "tokens"
    ? Tokens.layerAuthenticator.pipe(Layer.provide(Tokens.layer()))
    : ClockWarning.layer.pipe(
        Layer.provide(Authenticator.layerSignedNoDeps(options)),
        Layer.provide(NodeSigner.layer(options))
      )

const check = Rules.decoder(
  "AssemblyNode.layer",
  Schema.Struct({
    authentication: Schema.optional(Schema.Literals(["signed", "tokens"])),
    http: Schema.optional(UndiciSettings.Settings)
  })
)

/** Builds a Layer after the check of its options. In a JavaScript program, the options may be any value. */
const checked = <A, E, R>(options: unknown, build: () => Layer.Layer<A, E, R>): Layer.Layer<A, E | InvalidRequest, R> =>
  Layer.unwrap(Effect.map(check(options), build))

/** The client of the operations that signs with the `Credentials` among the options, and these `Credentials`. */
const signing = (options: AssemblyClient.Options & Authentication & Credentials.Credentials["Service"]) =>
  AssemblyClient.layer(options).pipe(
    Layer.provide(authenticator(options)),
    Layer.provideMerge(Credentials.layer(options))
  )

/** The budget that the program provides, or one with the quotas of the public service for that service. */
const budget = ({ baseUrl }: AssemblyClient.Options): Layer.Layer<never, InvalidRequest> =>
  Layer.unwrap(
    Effect.map(LowBudget.Budget, (provided) => {
      if (provided !== undefined) return Layer.succeed(LowBudget.Budget, provided)
      return ServiceOrigins.isPublic(ServiceOrigins.originOf(String(baseUrl)) ?? "") ? Budget.layer() : Layer.empty
    })
  )

/** Adds all other services to the client of the operations. */
const around = <A, E, E2, R>(
  client: Layer.Layer<A | AssemblyClient.AssemblyClient, E, HttpClient.HttpClient>,
  http: Layer.Layer<HttpClient.HttpClient, E2, R>,
  options: AssemblyClient.Options
): Layer.Layer<A | Services, E | E2 | InvalidRequest, R> =>
  Layer.merge(Upload.layer, AssemblyUpload.layer).pipe(
    Layer.provideMerge(client),
    Layer.provideMerge(
      Layer.mergeAll(http, Layer.provideMerge(SmallFiles.layer, NodeServices.layer), NodeMd5.layer, budget(options))
    )
  )

/**
 * Provides all {@link Services} for the service at `baseUrl`, and authenticates with an Auth Key and its secret. The
 * Layer also provides the `Credentials`, with which `Webhook` verifies notifications.
 *
 * **Details**
 *
 * - The HTTP client is undici on Node and Deno, and `fetch` on Bun (see `RuntimeClient`). By default, the client uses
 *   the proxy from the environment variables. Uploads reuse the memory of sent pieces only if the program uses the
 *   undici client as it is, without a function such as `HttpClient.mapRequest`.
 * - For a proxy with a password, a private certificate authority or a client certificate, set `http.dispatcher`. For
 *   another HTTP client, use {@link layerWith}.
 *
 * @example
 * AssemblyNode.layer({
 *   baseUrl: "https://api2.example.com",
 *   key: "my-key",
 *   secret: Redacted.make("my-secret")
 * })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options & Authentication & Credentials.Credentials["Service"]
): Layer.Layer<Services | Credentials.Credentials, InvalidRequest | AuthError.InvalidCredentials> =>
  checked(options, () => around(signing(options), RuntimeClient.layerWith(options.http), options))

/**
 * Like {@link layer}, with an HTTP client of the application: a wrapped client, `fetch` with its own options, or a
 * client in memory. The signatures by `node:crypto` and `NodeMd5` stay.
 *
 * @example
 * AssemblyNode.layerWith(
 *   FetchClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { keepalive: true }))),
 *   { baseUrl: "https://api2.example.com", key: "my-key", secret: Redacted.make("my-secret") }
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = <E, R>(
  http: Layer.Layer<HttpClient.HttpClient, E, R>,
  options: AssemblyClient.Options & Authentication & Credentials.Credentials["Service"]
): Layer.Layer<Services | Credentials.Credentials, E | InvalidRequest | AuthError.InvalidCredentials, R> =>
  checked(options, () => around(signing(options), http, options))

/**
 * Provides all {@link Services} for the service at `baseUrl`, and authenticates with a bearer token that the program
 * supplies.
 *
 * @example
 * AssemblyNode.layerBearer({ baseUrl: "https://api2.example.com", token: Redacted.make("my-token") })
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBearer = (
  options: Options & { readonly token: Redacted.Redacted }
): Layer.Layer<Services, InvalidRequest | AuthError.InvalidCredentials> =>
  checked(options, () =>
    around(
      AssemblyClient.layer(options).pipe(Layer.provide(Authenticator.layerBearer(options.token))),
      RuntimeClient.layerWith(options.http),
      options
    )
  )

/**
 * Like {@link layer}, with the URL of the service and the credentials from the configuration: `ASSEMBLY_BASE_URL`,
 * `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET`. The `ConfigError` names each variable that is missing or empty.
 *
 * @example program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Omit<Options, "baseUrl"> & Authentication = {}
): Layer.Layer<
  Services | Credentials.Credentials,
  InvalidRequest | AuthError.InvalidCredentials | Config.ConfigError
> => Layer.unwrap(Effect.map(Variables.service, (configured) => layer({ ...options, ...configured })))

/**
 * `Upload` and `AssemblyUpload` with a journal in a folder: a later run of the program continues the uploads and the
 * jobs that an earlier run has started. `Layer.provide` adds one of the other Layers of this module.
 *
 * @example AssemblyNode.layerJournaled("/var/lib/my-app/uploads").pipe(Layer.provideMerge(AssemblyNode.layerConfig()))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerJournaled = (
  folder: string,
  options?: UploadJournal.Options
): Layer.Layer<
  Upload.Upload | AssemblyUpload.AssemblyUpload | UploadJournal.UploadJournal,
  InvalidRequest | UploadJournal.JournalFailed,
  Services
> =>
  Layer.merge(Upload.layerJournaled, AssemblyUpload.layerJournaled).pipe(
    Layer.provideMerge(UploadJournal.layerFileSystem(folder, options))
  )
