/**
 * Runs the Assembly Processing Service on this machine, as an HTTP server that needs no account and no network.
 */
import * as Folder from "@assembly-effect/api/unstable/Folder"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import type * as Redacted from "effect/Redacted"
import type * as EmulatorError from "./EmulatorError.ts"
import type * as Faults from "./Faults.ts"
import * as AssemblyRoutes from "./internal/assembly/assemblyRoutes.ts"
import * as Authentication from "./internal/auth/authentication.ts"
import * as AuthKeyRoutes from "./internal/auth/authKeyRoutes.ts"
import * as Certificate from "./internal/http/certificate.ts"
import * as Ids from "./internal/data/ids.ts"
import * as DamRoutes from "./internal/dam/damRoutes.ts"
import * as Bills from "./internal/billing/bills.ts"
import * as Tokens from "./internal/auth/tokens.ts"
import * as Database from "./internal/data/database.ts"
import * as StorageFailure from "./internal/data/storageFailure.ts"
import * as Execution from "./internal/assembly/execution.ts"
import * as FaultQueue from "./internal/http/faults.ts"
import * as FileStore from "./internal/files/fileStore.ts"
import * as Middleware from "./internal/http/middleware.ts"
import * as NotificationRoutes from "./internal/notifications/notificationRoutes.ts"
import * as Notifications from "./internal/notifications/notifications.ts"
import * as Origin from "./internal/http/origin.ts"
import * as JobSlots from "./internal/queues/jobSlots.ts"
import * as Server from "./internal/http/server.ts"
import * as ResultRoutes from "./internal/files/resultRoutes.ts"
import * as Statistics from "./internal/statistics/statistics.ts"
import * as Templates from "./internal/templates/templates.ts"
import * as Credentials from "./internal/templateCredentials/credentials.ts"
import * as Expiry from "./internal/tus/expiry.ts"
import * as TusRoutes from "./internal/tus/tusRoutes.ts"
import * as UploadLocks from "./internal/tus/uploadLocks.ts"
import * as Updates from "./internal/assembly/updates.ts"
import * as Workspaces from "./internal/auth/workspaces.ts"
import * as Limits from "./Limits.ts"
import * as EmulatorLimits from "./internal/limits.ts"
import * as Quotas from "./Quotas.ts"
import type * as RequestLog from "./RequestLog.ts"
import * as Template from "./Template.ts"
import * as Workspace from "./Workspace.ts"

/**
 * A running emulator: its URLs, its certificate, its first Workspace, and the first Auth Key of that Workspace.
 *
 * @since 0.1.0
 * @category services
 */
export class Emulator extends Context.Service<
  Emulator,
  {
    /** The URL for clients, without a trailing slash: `publicUrl` if given, else `localUrl`. */
    readonly baseUrl: string
    /** The URL at which the server listens, without a trailing slash, e.g. `http://127.0.0.1:43210`. */
    readonly localUrl: string
    /**
     * The certificate of the emulator in PEM. Clients have to trust this certificate. `certificate` is undefined
     * without the option `tls`.
     */
    readonly certificate: string | undefined
    readonly credentials: { readonly key: string; readonly secret: Redacted.Redacted }
    /** The slug of the first Workspace. */
    readonly workspace: string
  }
>()("@assembly-effect/emulator/Emulator") {}

const Settings = Schema.Struct({
  port: Rules.whole(0, 65_535).pipe(Schema.withDecodingDefault(Effect.succeed(0))),
  tls: Schema.optional(Schema.Union([Schema.Literal("self-signed"), Certificate.Files])),
  publicUrl: Schema.optional(Origin.PublicUrl),
  allowedHosts: Schema.optional(Schema.Array(Origin.Host)),
  data: Schema.optional(Rules.notBlank),
  credentials: Schema.optional(Workspace.AuthKey),
  workspaces: Schema.optional(Schema.Array(Workspace.Workspace)),
  templates: Schema.optional(Schema.Array(Template.Template)),
  seed: Schema.optional(Schema.String),
  notificationPause: Rules.pause.pipe(Schema.withDecodingDefault(Effect.succeed("1 second"))),
  allowPrivateNotifications: Schema.Boolean.pipe(Schema.withDecodingDefault(Effect.succeed(false))),
  uploadLifetime: Rules.pause.pipe(Schema.withDecodingDefault(Effect.succeed("24 hours"))),
  tokenLifetime: Rules.pause.pipe(Schema.withDecodingDefault(Effect.succeed("1 hour"))),
  limits: Limits.Settings.pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  quotas: Schema.optional(Schema.Union([Schema.Literal("service"), Quotas.Settings]))
})
type Settings = typeof Settings.Type

/**
 * The options of an emulator.
 *
 * - `port`: the port to listen on. The default 0 selects a free port.
 * - `tls`: serves HTTP/2 and HTTP/1.1 over TLS, like the service. `self-signed` creates a certificate for the loopback
 *   names. Clients have to trust this certificate. `{ cert, key }` is your own certificate and its private key, in PEM.
 * - `publicUrl`: the origin of a proxy in front of the emulator, e.g. `https://assembly.localhost`. URLs in responses
 *   start with this origin.
 * - `allowedHosts`: host names at which the emulator answers, besides loopback and the host of `publicUrl`. Requests to
 *   other hosts are refused with status 421, which stops pages that use DNS rebinding.
 * - `data`: the folder that stores all data. By default, all data is lost when the scope closes.
 * - `credentials`: the first Auth Key of the first Workspace. By default, the emulator uses the first Auth Key of this
 *   Workspace in `workspaces`. If `workspaces` has no Auth Key of this Workspace, the emulator uses the oldest active
 *   Auth Key of this Workspace in `data`. If `data` has none either, the emulator makes a random Auth Key.
 * - `workspaces`: the Workspaces, isolated from each other. By default there is one Workspace, `emulator`. Workspaces
 *   that are stored in `data` stay. If an Auth Key in `data` has the same `key` as an Auth Key of this option, the
 *   secret, the scopes and `isActive` of this option replace the stored values. If a request has deleted an Auth Key of
 *   this option, the next start creates the Auth Key again.
 * - `templates`: Templates of the first Workspace. A stored Template with the same id is replaced.
 * - `seed`: makes ids reproducible: emulators with the same seed and new data generate the same ids in the same order.
 *   A later start with the same `data` generates other ids. The random `key` and secret of an Auth Key do not depend on
 *   `seed`; set them with `credentials`.
 * - `notificationPause`: the pause after the first failed attempt of a notification, 1 second by default. The pause
 *   doubles with each attempt. A notification has at most 8 attempts.
 * - `allowPrivateNotifications`: allows any host in a `notify_url`. By default, the host must be public; if the params
 *   are signed, the host may also be loopback. Therefore a notification cannot reach a private network by default.
 * - `uploadLifetime`: the time from the creation of an upload until it expires (status 410), 24 hours by default. Only
 *   unfinished uploads and partial uploads expire.
 * - `tokenLifetime`: the lifetime of bearer tokens, 1 hour by default.
 * - `limits`: limits of requests, connections, Assemblies, Auth Keys and notifications. A limit that is left out has
 *   its default.
 * - `quotas`: the quotas that the emulator rehearses: `"service"` are those of the public service, an object changes some
 *   of their numbers. By default there are none.
 * - `onRequest`: receives each request that reaches the routes, for a log.
 * Each duration is at most 100 years. If an option breaks a rule, the Layer fails with `InvalidRequest`, which names the
 * option and the rule.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Schema.Codec.Encoded<typeof Settings> {
  readonly onRequest?: RequestLog.Listener | undefined
}

const decode = Rules.decoder("Emulator.layer", Settings)

const emulator = (options: Settings) =>
  Layer.effect(
    Emulator,
    Effect.gen(function* () {
      const { baseUrl, localUrl } = yield* Origin.Origin
      const { files } = yield* Certificate.Certificate
      const { key, secret, slug } = yield* Workspaces.ensure(options)
      return { baseUrl, localUrl, certificate: files?.cert, credentials: { key, secret }, workspace: slug }
    })
  )

/**
 * Creates the folder `data`, if it is missing, and the file of the database. Except on Windows, only the user that runs
 * the process can access the file and a new folder.
 */
const prepare = Effect.fnUntraced(function* (data: string, database: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Folder.make(data, { mode: 0o700 })
  // SQLite creates other files beside the database, with the same mode as the database.
  yield* Effect.scoped(fs.open(database, { flag: "a", mode: 0o600 }))
  yield* fs.chmod(database, 0o600)
})

/**
 * Returns `StorageFailed` if the disk is full or read-only, or if access is denied. Every other error counts as a wrong
 * path: the result is `InvalidRequest` with the code of the system.
 */
const unusable =
  (data: string) =>
  (error: PlatformError.PlatformError): EmulatorError.EmulatorError => {
    const failed = StorageFailure.fromSystem(data)(error)
    if (failed.reason !== "Broken") return failed
    const issue = { path: ["data"], message: `Expected a folder that can be created and written (${failed.code})` }
    return new InvalidRequest({ operation: "Emulator.layer", issues: [issue] })
  }

/**
 * Provides the database and the file store, which are in the folder `data`. Without the option `data`, the database is
 * in memory and the files are in a temporary folder. Except on Windows, only the owner can read the database and the
 * files, because they contain secrets and uploads.
 */
const storage = ({ data }: Settings) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = data ?? (yield* fs.makeTempDirectoryScoped({ prefix: "assembly-emulator-" }))
      const database = path.join(folder, "emulator.sqlite")
      if (data !== undefined) yield* Effect.mapError(prepare(data, database), unusable(data))
      return Layer.mergeAll(
        Database.layer(data === undefined ? ":memory:" : database),
        FileStore.layer(path.join(folder, "files"))
      )
    })
  )

const routes = (onRequest: Options["onRequest"]) =>
  Layer.mergeAll(
    AssemblyRoutes.layer,
    AuthKeyRoutes.layer,
    NotificationRoutes.layer,
    Statistics.layer,
    Bills.layer,
    JobSlots.layer,
    DamRoutes.layer,
    ResultRoutes.layer,
    Templates.layer,
    Credentials.layer,
    Tokens.layerRoutes,
    TusRoutes.layer,
    Middleware.layer(onRequest)
  )

/** The services behind the routes. */
const services = ({ allowPrivateNotifications, notificationPause, tokenLifetime, uploadLifetime }: Settings) =>
  Authentication.layer.pipe(
    Layer.provideMerge(Expiry.layer(uploadLifetime)),
    Layer.provideMerge(Tokens.layer(tokenLifetime)),
    Layer.provideMerge(Execution.layer),
    Layer.provideMerge(Notifications.layer(notificationPause, allowPrivateNotifications)),
    Layer.provideMerge(Layer.mergeAll(FaultQueue.layer, Updates.layer, UploadLocks.layer))
  )

const parts = (options: Settings, onRequest: Options["onRequest"]) =>
  Layer.mergeAll(
    emulator(options),
    FaultQueue.layerFaults,
    HttpRouter.serve(routes(onRequest), {
      disableLogger: true,
      disableListenLog: true,
      // By default, the router matches path variables of at most 100 characters. The name of a Template may have 255
      // characters, each with up to 9 characters in percent-encoding.
      routerConfig: { maxParamLength: 255 * 9 }
    })
  ).pipe(
    Layer.provide(services(options)),
    Layer.provide(Origin.layer(options.publicUrl, options.allowedHosts)),
    Layer.provide(Ids.layer(options.seed)),
    Layer.provide(storage(options)),
    Layer.provide(Server.layer(options.port, options.limits)),
    Layer.provide(Certificate.layer(options.tls)),
    Layer.provide([NodeFileSystem.layer, NodePath.layer]),
    Layer.provide(Layer.succeed(EmulatorLimits.Limits, options.limits)),
    Layer.provide(
      Layer.succeed(
        EmulatorLimits.Quotas,
        options.quotas === "service" ? Schema.decodeSync(Quotas.Settings)({}) : options.quotas
      )
    )
  )

/**
 * An emulator that runs until its scope closes.
 *
 * **When to use**
 *
 * Use an emulator to develop and test a program without the service. The emulator checks signatures, scopes and limits,
 * and stores uploads, as the service does.
 *
 * **Details**
 *
 * The emulator listens on loopback only, and accepts only requests to known hosts. A page of another origin may create,
 * follow and cancel an Assembly, upload to the Assembly, and download its uploads and results. A page of another origin
 * cannot make any other request that changes data, and cannot read the response to any other request.
 *
 * Only one emulator at a time can use a data folder; a second emulator fails with `DataInUse`. With the option `data`,
 * acknowledged data survives the end of the process, even a crash. Except on Windows, only the user of the process can
 * read the files in the folder. When the scope closes, current requests have 50 milliseconds to end.
 *
 * If the disk is full or read-only, or access is not permitted, requests that need the disk fail as described at
 * {@link EmulatorError.StorageFailed}. The reason is logged. Acknowledged data stays. The emulator continues when the
 * disk works again.
 *
 * **Gotchas**
 *
 * The emulator and its clients need the same clock, because the emulator refuses a signature whose `auth.expires` is in
 * the past. Under a `TestClock`, the robot `/emulator/wait` and the pauses between the attempts of a notification end
 * only after the test adjusts the clock.
 *
 * @example
 * Layer.unwrap(
 *   Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
 *     AssemblyClient.layer({ baseUrl }).pipe(
 *       Layer.provide([Authenticator.layerSigned(), FetchClient.layer]),
 *       Layer.provide(Credentials.layer(credentials))
 *     )
 *   )
 * ).pipe(Layer.provideMerge(Emulator.layer()))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options = {}
): Layer.Layer<
  Emulator | Faults.Faults,
  HttpServerError.ServeError | PlatformError.PlatformError | EmulatorError.EmulatorError
> =>
  // A Layer value that is provided twice starts one emulator. Two Layer values share nothing.
  Layer.fromBuildMemo((memoMap, scope) =>
    Effect.flatMap(decode(options), (settings) =>
      Layer.buildWithMemoMap(Layer.fresh(parts(settings, options.onRequest)), memoMap, scope)
    )
  )
