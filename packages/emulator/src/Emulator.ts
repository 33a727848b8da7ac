/**
 * The Assembly Processing Service on this machine: a real server, without an account and a network.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import type * as Auth from "@assembly-effect/schema/Auth"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type * as Redacted from "effect/Redacted"
import type * as EmulatorError from "./EmulatorError.ts"
import type * as Faults from "./Faults.ts"
import * as Assemblies from "./internal/Assemblies.ts"
import * as AssemblyListing from "./internal/AssemblyListing.ts"
import * as AssemblyStatus from "./internal/AssemblyStatus.ts"
import * as AssemblyStore from "./internal/AssemblyStore.ts"
import * as Authentication from "./internal/Authentication.ts"
import * as AuthKeys from "./internal/AuthKeys.ts"
import * as Cancellation from "./internal/Cancellation.ts"
import * as Creation from "./internal/Creation.ts"
import * as Chance from "./internal/Chance.ts"
import * as Dam from "./internal/Dam.ts"
import * as DamStore from "./internal/DamStore.ts"
import * as BearerTokens from "./internal/BearerTokens.ts"
import * as Database from "./internal/Database.ts"
import * as Endings from "./internal/Endings.ts"
import * as Execution from "./internal/Execution.ts"
import * as FaultQueue from "./internal/FaultQueue.ts"
import * as FileStore from "./internal/FileStore.ts"
import * as FormFiles from "./internal/FormFiles.ts"
import * as LiveUpdates from "./internal/LiveUpdates.ts"
import * as Middleware from "./internal/Middleware.ts"
import * as NotificationRoutes from "./internal/NotificationRoutes.ts"
import * as Notifications from "./internal/Notifications.ts"
import * as NotificationStore from "./internal/NotificationStore.ts"
import * as Origin from "./internal/Origin.ts"
import * as Outbound from "./internal/Outbound.ts"
import * as Robots from "./internal/Robots.ts"
import * as Server from "./internal/Server.ts"
import * as Statistics from "./internal/Statistics.ts"
import * as StatisticsStore from "./internal/StatisticsStore.ts"
import * as TemplateRoutes from "./internal/TemplateRoutes.ts"
import * as TemplateStore from "./internal/TemplateStore.ts"
import * as TokenRoute from "./internal/TokenRoute.ts"
import * as Expiry from "./internal/tus/Expiry.ts"
import * as Tus from "./internal/tus/Tus.ts"
import * as UploadLocks from "./internal/tus/UploadLocks.ts"
import * as Uploads from "./internal/tus/Uploads.ts"
import * as UploadStore from "./internal/UploadStore.ts"
import * as Turns from "./internal/Turns.ts"
import * as Updates from "./internal/Updates.ts"
import * as UploadedFiles from "./internal/UploadedFiles.ts"
import * as UsedSignatures from "./internal/UsedSignatures.ts"
import * as Workspaces from "./internal/Workspaces.ts"
import * as Limits from "./Limits.ts"
import type * as Template from "./Template.ts"

/**
 * A running emulator: where it is, its first Workspace and the first Auth Key of that.
 */
export class Emulator extends Context.Service<
  Emulator,
  {
    /** Where clients reach it, without a slash at its end: the `publicUrl` if there is one, else `localUrl`. */
    readonly baseUrl: string
    /** Where it listens, without a slash at its end, e.g. `http://127.0.0.1:43210`. */
    readonly localUrl: string
    readonly credentials: { readonly key: string; readonly secret: Redacted.Redacted }
    /** The slug of the first Workspace. */
    readonly workspace: string
  }
>()("@assembly-effect/emulator/Emulator") {}

/**
 * An Auth Key as an emulator is given it. `scopes` are all by default.
 */
export interface AuthKey {
  readonly key: string
  readonly secret: Redacted.Redacted
  readonly scopes?: ReadonlyArray<Auth.Scope> | undefined
}

/**
 * A Workspace by its slug, and the Auth Keys that act for it. A key belongs to one Workspace (`KeyInTwoWorkspaces`).
 */
export interface Workspace {
  readonly slug: string
  readonly keys: ReadonlyArray<AuthKey>
  /** What requests with their keys may name as `template_id`. */
  readonly templates?: ReadonlyArray<Template.Template> | undefined
}

/**
 * - `port`: 0, the default, takes a free one.
 * - `publicUrl`: the origin of a proxy in front of it, e.g. `https://assembly.localhost`. The URLs that it hands out have
 *   this one in place of its own.
 * - `allowedHosts`: names beside that of `publicUrl` and those of loopback at which it answers; `Host` has any other
 *   where a page was pointed to this machine (DNS rebinding), and is refused with status 421.
 * - `data`: the folder that keeps everything; by default nothing outlives the scope.
 * - `credentials`: the first Auth Key; by default that of the first of `workspaces`, else the one that `data` holds, else
 *   a random one.
 * - `workspaces`: what they hold is apart from each other; by default one, `emulator`. Those that `data` holds stay.
 * - `templates`: those of the first Workspace. One that `data` holds under the same id is changed to what is given.
 * - `seed`: ids are the same with every run, in the order in which they are asked for. Auth Keys and their secrets are
 *   not: `credentials` fixes them.
 * - `notificationPause`: between the first notification that is not answered with 200 and the second, 1 second by
 *   default. It doubles with every further one; there are 8.
 * - `allowPrivateNotifications`: a `notify_url` may name any host. By default it may name a public one, and where the
 *   params of its Assembly are signed this machine as well: a notification would else be a way into the network.
 * - `uploadLifetime`: of uploads that are not finished, and of parts, 24 hours by default. Then they are gone (410).
 * - `tokenLifetime`: of the bearer tokens that it gives, 1 hour by default.
 * - `limits`: of requests, Assemblies and connections; those that are left out have their defaults.
 */
export interface Options {
  readonly port?: number | undefined
  readonly publicUrl?: string | undefined
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  readonly data?: string | undefined
  readonly credentials?: AuthKey | undefined
  readonly workspaces?: ReadonlyArray<Workspace> | undefined
  readonly templates?: ReadonlyArray<Template.Template> | undefined
  readonly seed?: string | undefined
  readonly notificationPause?: Duration.Input | undefined
  readonly allowPrivateNotifications?: boolean | undefined
  readonly uploadLifetime?: Duration.Input | undefined
  readonly tokenLifetime?: Duration.Input | undefined
  readonly limits?: Partial<Limits.Values> | undefined
}

const emulator = (options: Options) =>
  Layer.effect(
    Emulator,
    Effect.gen(function* () {
      const { baseUrl, localUrl } = yield* Origin.Origin
      const { key, secret, slug } = yield* Workspaces.ensure(options)
      return { baseUrl, localUrl, credentials: { key, secret }, workspace: slug }
    })
  )

/**
 * Where state and bytes are kept: in the folder, or in memory and a folder that the scope removes. It holds secrets, and
 * what was uploaded, so it is for its owner alone.
 */
const storage = ({ data }: Options) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = data ?? (yield* fs.makeTempDirectoryScoped({ prefix: "assembly-emulator-" }))
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      const database = path.join(folder, "emulator.sqlite")
      if (data !== undefined) {
        // SQLite gives its other files the permissions of this one.
        yield* Effect.scoped(fs.open(database, { flag: "a", mode: 0o600 }))
        yield* fs.chmod(database, 0o600)
      }
      return Layer.mergeAll(
        Database.layer(data === undefined ? ":memory:" : database),
        FileStore.layer(path.join(folder, "files"))
      )
    })
  )

const routes = Layer.mergeAll(
  Assemblies.layer,
  LiveUpdates.layer,
  NotificationRoutes.layer,
  Statistics.layer,
  Dam.layer,
  TemplateRoutes.layer,
  TokenRoute.layer,
  Tus.layer,
  Middleware.layer
)

const stores = Layer.mergeAll(
  AssemblyListing.layer,
  AssemblyStore.layer,
  AuthKeys.layer,
  DamStore.layer,
  NotificationStore.layer,
  StatisticsStore.layer,
  TemplateStore.layer,
  UploadStore.layer,
  UsedSignatures.layer
)

/** What the routes work with, from the top down. */
const services = ({
  allowPrivateNotifications = false,
  notificationPause = "1 second",
  tokenLifetime = "1 hour",
  uploadLifetime = "24 hours"
}: Options) =>
  Layer.mergeAll(Uploads.layer, Authentication.layer, Creation.layer, Cancellation.layer).pipe(
    Layer.provideMerge(Expiry.layer(Duration.fromInputUnsafe(uploadLifetime))),
    Layer.provideMerge(BearerTokens.layer(Duration.fromInputUnsafe(tokenLifetime))),
    Layer.provideMerge(Layer.mergeAll(Execution.layer, FormFiles.layer)),
    Layer.provideMerge(Endings.layer),
    Layer.provideMerge(
      Notifications.layer({
        firstPause: Duration.fromInputUnsafe(notificationPause),
        allowPrivate: allowPrivateNotifications
      })
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        AssemblyStatus.layer,
        FaultQueue.layer,
        Outbound.layer(),
        Robots.layer,
        Updates.layer,
        UploadLocks.layer,
        UploadedFiles.layer
      )
    ),
    Layer.provideMerge(stores),
    Layer.provideMerge(Turns.layer)
  )

const limitsOf = ({ limits }: Options): Limits.Values => ({ ...Limits.defaults, ...limits })

const parts = (options: Options) =>
  Layer.mergeAll(
    emulator(options),
    FaultQueue.layerFaults,
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })
  ).pipe(
    Layer.provide(services(options)),
    Layer.provide(Origin.layer(options)),
    Layer.provide(Chance.layer(options.seed)),
    Layer.provide(storage(options)),
    Layer.provide(Server.layer(options.port ?? 0, limitsOf(options))),
    Layer.provide([NodeFileSystem.layer, NodePath.layer]),
    Layer.provide(Layer.succeed(Limits.Limits, limitsOf(options)))
  )

/**
 * An emulator that runs as long as its scope.
 *
 * **When to use**
 *
 * To develop and test against the service: signatures, scopes, limits and errors are real, and so are the uploads.
 *
 * **Details**
 *
 * It listens on loopback only, answers only at hosts that it knows, and lets a page of another origin create, follow,
 * cancel and upload, and nothing else. A data folder belongs to one emulator at a time (`DataInUse`), and outlives the process
 * however that ends: what was answered is kept. Its files are readable by its owner only. When the scope closes, requests
 * under way get 50 milliseconds, then they are cut.
 *
 * Where the disk takes no more – full, read-only, not permitted – a request is answered with status 507 and the reason
 * is logged. What was acknowledged stays, and it goes on by itself when there is room again.
 *
 * **Gotchas**
 *
 * A real server needs a real clock: under a test clock that stands still, signatures of clients on another clock are
 * refused.
 *
 * @example
 * Layer.unwrap(
 *   Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
 *     AssemblyClient.layer({ baseUrl }).pipe(
 *       Layer.provide([Authenticator.layerSigned(), FetchHttpClient.layer]),
 *       Layer.provide(Credentials.layer(credentials))
 *     )
 *   )
 * ).pipe(Layer.provideMerge(Emulator.layer()))
 */
export const layer = (
  options: Options = {}
): Layer.Layer<
  Emulator | Faults.Faults,
  HttpServerError.ServeError | PlatformError.PlatformError | EmulatorError.EmulatorError
> =>
  // One value is one emulator, wherever it is provided, and two share nothing of what they are made of.
  Layer.fromBuildMemo((memoMap, scope) => Layer.buildWithMemoMap(Layer.fresh(parts(options)), memoMap, scope))
