/**
 * Assemblies: create, look up, list, and count (spec.md, "Endpoints" 1 and 2).
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import { AssemblyClient } from "./AssemblyClient.ts"
import * as Completion from "./internal/completion.ts"
import * as Lookback from "./internal/lookback.ts"
import * as Pages from "./internal/pages.ts"
import * as Watch from "./internal/watch.ts"
import * as Operation from "./Operation.ts"
import * as ServiceUrl from "./ServiceUrl.ts"

/** `GET /assembly_stats` */
export const Statistics = Operation.make({
  name: "Assemblies.statistics",
  method: "GET",
  path: "/assembly_stats",
  variables: {},
  auth: "signed",
  scope: "assemblies:read",
  carrier: "query",
  nonceIn: "params",
  params: AssemblyStatistics.Query,
  fields: Operation.nothing,
  answers: "result",
  success: AssemblyStatistics.Statistics,
  errors: {
    ASSEMBLY_STATS_INVALID_TIME: ApiError.StatisticsInvalidTime,
    ASSEMBLY_STATS_MISSING_REGION: ApiError.StatisticsMissingRegion,
    ASSEMBLY_STATS_ERROR: ApiError.StatisticsUnavailable
  },
  retry: "safe",
  check: Lookback.check
})

/** `GET /assemblies` */
export const List = Operation.make({
  name: "Assemblies.list",
  method: "GET",
  path: "/assemblies",
  variables: {},
  auth: "signed",
  scope: "assemblies:read",
  carrier: "query",
  nonceIn: "auth",
  params: AssemblyList.Query,
  fields: Operation.nothing,
  answers: "result",
  success: AssemblyList.Listing,
  errors: { ASSEMBLY_LIST_ERROR: ApiError.AssemblyListFailed },
  retry: "safe"
})

/** `POST /assemblies/:assemblyId`. Beyond the specification, which names the operation only. */
export const Create = Operation.make({
  name: "Assemblies.create",
  method: "POST",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "signed",
  scope: "assemblies:write",
  carrier: "multipart",
  nonceIn: "params",
  params: Assembly.CreateParams,
  fields: Assembly.CreateForm,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: []
})

/** `GET /assemblies/:assemblyId`. Beyond the specification, which names the operation only. */
export const Get = Operation.make({
  name: "Assemblies.get",
  method: "GET",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  scope: undefined,
  carrier: "query",
  nonceIn: "params",
  params: Operation.nothing,
  fields: Operation.nothing,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: "safe"
})

/**
 * `DELETE /assemblies/:assemblyId`, at the address that the Status names. Beyond the specification, which names the
 * operation only.
 */
export const Cancel = Operation.make({
  name: "Assemblies.cancel",
  method: "DELETE",
  path: "/assemblies/:assemblyId",
  variables: { assemblyId: Assembly.AssemblyId },
  auth: "none",
  scope: undefined,
  carrier: "query",
  nonceIn: "params",
  params: Operation.nothing,
  fields: Operation.nothing,
  answers: "assemblyStatus",
  success: Assembly.Status,
  errors: {},
  retry: "safe"
})

/**
 * The statistics of a region since a moment.
 *
 * A `since` more than 91 days ago, as a `DateTime` or an ISO 8601 text with its offset, is `InvalidRequest` and is not
 * sent; any other text is the service's to judge (`StatisticsInvalidTime`).
 *
 * @example Assemblies.statistics({ region: "all", since: "2026-01-01T00:00:00Z" })
 */
export const statistics = (query: AssemblyStatistics.Query) =>
  AssemblyClient.use((client) => client.run(Statistics, { path: {}, params: query, fields: {} }))

/**
 * One page of the Assemblies created after a moment, newest first.
 *
 * @example Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z"), pageSize: 100 })
 */
export const list = (query: AssemblyList.Query) =>
  AssemblyClient.use((client) => client.run(List, { path: {}, params: query, fields: {} }))

/**
 * The pages of a list, from `query.page` on. A page is requested when the one before is handed out, so one request is
 * under way while a page is worked on, and nothing is requested before the first page is asked for.
 *
 * **Stability.** The service lists newest first, so Assemblies created while paging shift the rest towards later
 * pages. What was on one of the last two pages is left out when it comes again: nothing is missed and nothing comes
 * twice, as long as fewer than `pageSize` Assemblies are created between two requests. The new ones themselves are not
 * listed. With `toDate` in the past the list does not shift at all. Assemblies that leave the list while paging, such
 * as with `type: "executing"`, shift it the other way, and as many others may be missed.
 */
export const listPages = (query: AssemblyList.Query) => Pages.walk(query, list)

/**
 * The entries of all pages, newest first, each once; see {@link listPages}. Holds two pages in memory.
 *
 * @example
 * Assemblies.listAll({ fromDate, type: "failed", pageSize: 500 }).pipe(
 *   Stream.runForEach((entry) => Console.log(entry.id))
 * )
 */
export const listAll = (query: AssemblyList.Query) =>
  Stream.flatMap(listPages(query), ({ items }) => Stream.fromIterable(items))

/**
 * The params and form fields of a new Assembly, and its id where the caller has chosen one.
 */
export interface CreateOptions extends Assembly.CreateParams, Assembly.CreateForm {
  readonly assemblyId?: Assembly.AssemblyId
}

const randomId = SecureRandom.SecureRandom.use((random) => random.randomBytes(16)).pipe(
  Effect.map((bytes) => Assembly.AssemblyId.make(Hex.encode(bytes))),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/** Whether the failure of a creation leaves open what the service did. */
const isLost = (error: Operation.Failure<typeof Create>): boolean =>
  error._tag === "TransportFailure" ||
  error._tag === "TimedOut" ||
  (error._tag === "UnexpectedResponse" && (error.status >= 500 || (error.status >= 200 && error.status < 300)))

/**
 * Creates an Assembly under an id of our own choice, drawn from a cryptographic source: an id alone reads the status.
 *
 * When the answer is lost, the id decides: if the service knows the Assembly, its Status is the answer, else the error
 * stands. It carries the `assemblyId`, as every error of this operation does, so that a caller can ask again later. The
 * creation itself is repeated only after a rate limit.
 *
 * @example
 * Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } }, numExpectedUploadFiles: 1 })
 */
export const create = Effect.fnUntraced(function* (options: CreateOptions) {
  const { assemblyId = yield* randomId, numExpectedUploadFiles, ...params } = options
  const client = yield* AssemblyClient
  return yield* client
    .run(Create, {
      path: { assemblyId },
      params,
      fields: numExpectedUploadFiles === undefined ? {} : { numExpectedUploadFiles }
    })
    .pipe(Effect.catchIf(isLost, (error) => Effect.mapError(get(assemblyId), () => error)))
})

/**
 * The Status of an Assembly. A failed Assembly is a Status, not a failure of this operation.
 */
export const get = (assemblyId: Assembly.AssemblyId) =>
  AssemblyClient.use((client) => client.run(Get, { path: { assemblyId }, params: {}, fields: {} }))

/** The address that a Status names for its own Assembly. */
const addressOf = (status: Assembly.Status, assemblyId: Assembly.AssemblyId) =>
  Option.filter(ServiceUrl.make(status.assembly_ssl_url), (url) =>
    new URL(Redacted.value(url)).pathname.endsWith(`/assemblies/${assemblyId}`)
  )

/**
 * Cancels an Assembly and answers its Status then, which is not "canceled" when it was over before. The request goes to
 * the `assembly_ssl_url` of the Status, which is read first, and to the base URL where that is missing or unsafe.
 */
export const cancel = Effect.fnUntraced(function* (assemblyId: Assembly.AssemblyId) {
  const client = yield* AssemblyClient
  const at = addressOf(yield* get(assemblyId), assemblyId)
  return yield* client.run(Cancel, { path: { assemblyId }, params: {}, fields: {}, at: Option.getOrUndefined(at) })
})

/**
 * How an Assembly is followed. `interval` is the first pause between two readings, 1 second by default; it grows to
 * `maxInterval`, 10 seconds by default.
 */
export interface FollowOptions {
  readonly interval?: Duration.Input | undefined
  readonly maxInterval?: Duration.Input | undefined
}

const paceOf = (options: FollowOptions | undefined): Completion.Pace => ({
  first: Duration.fromInputUnsafe(options?.interval ?? "1 second"),
  max: Duration.fromInputUnsafe(options?.maxInterval ?? "10 seconds")
})

/**
 * Waits until an Assembly has completed, by reading its Status again and again. An Assembly that ends in another way is
 * `AssemblyFailed`, `AssemblyCanceled` or `AssemblyAborted`. Rate limits are waited for. `timeout` is for the whole
 * wait, 1 hour by default; then the error is `TimedOut`.
 *
 * @example Assemblies.awaitCompletion(assemblyId, { timeout: "10 minutes" })
 */
export const awaitCompletion = (
  assemblyId: Assembly.AssemblyId,
  options?: FollowOptions & { readonly timeout?: Duration.Input | undefined }
) => {
  const after = Duration.fromInputUnsafe(options?.timeout ?? "1 hour")
  const pace = paceOf(options)
  return Completion.poll(Completion.patiently(get(assemblyId), pace), pace).pipe(
    Effect.timeoutOrElse({
      duration: after,
      orElse: () => Effect.fail(new ApiError.TimedOut({ operation: "Assemblies.awaitCompletion", assemblyId, after }))
    }),
    Effect.flatMap(Completion.outcome)
  )
}

/**
 * The Status of an Assembly as a Stream: now, each time it has changed, and a last time when the Assembly is over.
 *
 * Where the Status names an update stream (`update_stream_url`), its events say when to read again, and a reading every
 * 30 seconds finds what they do not tell; without one, or while it is broken, the Status is polled. A broken update
 * stream never fails the watch, and rate limits are waited for.
 */
export const watch = (assemblyId: Assembly.AssemblyId, options?: FollowOptions) => {
  const pace = paceOf(options)
  const read = Completion.patiently(get(assemblyId), pace)
  return Stream.unwrap(AssemblyClient.use(({ updates }) => Effect.succeed(Watch.watch({ read, updates }, pace))))
}
