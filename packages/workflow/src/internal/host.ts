/** The host of durable jobs: the service behind `Durable`. */
import * as Schema from "effect/Schema"
import type * as Budget from "@assembly-effect/api/Budget"
import * as BudgetSettings from "@assembly-effect/api/unstable/BudgetSettings"
import * as Low from "@assembly-effect/auth/unstable/Budget"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import type { RequestOptions } from "@assembly-effect/tus/Upload"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { StoreFailed } from "../DurableError.ts"
import type { Changes, Job } from "../DurableJob.ts"
import * as OverSql from "./budget.ts"
import * as Callers from "./callers.ts"
import * as Database from "./database.ts"
import * as Jobs from "./jobs.ts"
import * as Metrics from "./metrics.ts"
import * as Outage from "./outage.ts"
import * as Packs from "./packs.ts"
import * as Row from "./row.ts"
import * as Runner from "./runner.ts"
import * as Secrets from "./secrets.ts"
import * as Work from "./work.ts"

const kept = (byDefault: Duration.Input) => Rules.duration.pipe(Schema.withDecodingDefault(Effect.succeed(byDefault)))

/** How long ended jobs are kept. A canceled job is none of the failures. */
const Retention = Schema.Struct({ failures: kept("30 days"), successes: kept("7 days") })

/**
 * The options of a runner.
 *
 * - `secrets`: the secrets of the deployment, each of at least 32 bytes. The journals of jobs are encrypted with
 *   these secrets. The first secret is used for new attempts; the others are used to continue attempts that began with
 *   them. All runners and clients must have the same secrets.
 * - `uploads`: the number of places of this runner, 8 by default: how many jobs, and how many files, it uploads at the
 *   same time. The runner has as many further places for jobs that it takes over from another runner, so that these
 *   jobs do not wait for the uploads of this runner.
 * - `patience`: how long a runner retries a job after temporary failures, for example while the service does not
 *   answer, and how long it retries the cancellation of a job. 1 hour by default, for all runners of the job
 *   together. Waiting for the budget does not count. A job waits without this limit if the service refuses the credentials or the account, if the host or the
 *   certificate of the service is wrong, or if the runner does not know the secret of the attempt.
 * - `pollInterval`: the longest pause before the runner requests the Status of an Assembly in process again, 1 minute
 *   by default. `Durable.notified` ends the pause.
 * - `retention`: how long a job stays in the database after it has ended: 30 days if it failed (`failures`), 7 days if it
 *   completed or was canceled (`successes`). A runner removes such jobs at least once an hour. After the removal, another
 *   job can use the key of the job.
 * - `upload`: the options of each upload, as in `Upload.run`.
 * - `budget`: the quotas of the account, as in `Budget.layer`. All jobs of the database share them.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options {
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  readonly uploads?: number | undefined
  readonly patience?: Duration.Input | undefined
  readonly pollInterval?: Duration.Input | undefined
  readonly retention?: typeof Retention.Encoded | undefined
  readonly upload?: RequestOptions | undefined
  readonly budget?: Budget.Options | undefined
}

type Services = AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem

const defaultUploads = 8

/** How many jobs `startAll` stores with one statement. */
const pageSize = 100

/** How many jobs are removed with one transaction. */
const removedAtOnce = 100

const settingIssues = Rules.checker(
  Schema.Struct({
    uploads: Schema.optional(Rules.whole(1)),
    patience: Schema.optional(Rules.duration),
    pollInterval: Schema.optional(Rules.duration),
    retention: Schema.optional(Retention),
    upload: Schema.optional(Schema.Record(Schema.String, Schema.Unknown)),
    budget: Schema.optional(BudgetSettings.Settings)
  })
)

/** Fails if the options break a rule. `further` are the issues of the options that not every host has. */
export const check = (
  operation: string,
  options: Omit<Options, "secrets">,
  further: ReadonlyArray<Issue>
): Effect.Effect<void, InvalidRequest> => {
  const found = settingIssues(options)
  const ofUpload = found.length > 0 ? [] : Hosting.issues(options.upload ?? {}, { filename: "a", fieldname: "a" })
  const issues = [...further, ...found, ...Row.under(["upload"], ofUpload)]
  return issues.length === 0 ? Effect.void : Effect.fail(new InvalidRequest({ operation, issues }))
}

/**
 * What a process does with the jobs of a database.
 *
 * - `Alone`: runs them. No other process can use the database.
 * - `Runner`: runs them, together with other runners. If the database does not hear of this runner for the time
 *   `expiry`, the others take its jobs over.
 * - `Client`: starts and reads them, and does not run them.
 */
export type Role =
  | { readonly _tag: "Alone" }
  | { readonly _tag: "Runner"; readonly expiry: Duration.Duration }
  | { readonly _tag: "Client" }

/** Removes jobs that ended longer ago than they are kept, at an interval. */
const removing = (jobs: Jobs.Jobs, { failures, successes }: typeof Retention.Type, outage: Outage.Outage) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    jobs.removeEnded(
      { failures: now - Duration.toMillis(failures), successes: now - Duration.toMillis(successes) },
      removedAtOnce
    )
  ).pipe(
    Effect.repeat({ while: (removed) => removed === removedAtOnce }),
    Effect.catchCause((cause) => outage.reportCause("remove old jobs", cause)),
    Effect.repeat(Schedule.spaced(Duration.min(Duration.hours(1), Duration.min(failures, successes))))
  )

/** Makes the service behind `Durable`, with valid options. Creates the missing tables. */
export const make = Effect.fnUntraced(function* (options: Options, role: Role) {
  const { patience = "1 hour", pollInterval = "1 minute", retention = {} } = options
  const { upload = {}, uploads = defaultUploads } = options
  const poll = Duration.fromInputUnsafe(pollInterval)
  const secrets = yield* Secrets.make(options.secrets)
  const runs = role._tag !== "Client"
  yield* Database.migrate
  yield* Secrets.join(secrets, { isAlone: role._tag === "Alone", runs })
  const jobs = yield* Jobs.make(secrets, Duration.max(poll, Duration.millis(Work.longestPause)))
  const budget = yield* OverSql.make(secrets, options.budget)
  /** Wakes the runner of this process, if there is one. The other runners read the table. */
  let wake: (all: boolean) => void = () => {}
  const callers = yield* Callers.make({
    jobs,
    secrets,
    upload,
    queued: () => wake(false),
    changed: () => wake(true)
  })
  if (runs) {
    const outage = Outage.make()
    wake = yield* Runner.make({
      jobs,
      packs: yield* Packs.make(secrets),
      secrets,
      upload,
      patience: Duration.fromInputUnsafe(patience),
      pollInterval: poll,
      outage,
      ended: (key, state) => Effect.andThen(Metrics.ended(state), callers.wake(key)),
      uploads,
      expiry: role._tag === "Runner" ? role.expiry : undefined
    }).pipe(Effect.provideService(Low.Budget, budget))
    yield* Effect.forkScoped(removing(jobs, Schema.decodeSync(Retention)(retention), outage))
  }

  const notified = Effect.fnUntraced(function* (assemblyId: string) {
    if (yield* jobs.notified(yield* secrets.lookups(assemblyId))) wake(true)
  })

  const context = Context.add(yield* Effect.context<Services>(), Low.Budget, budget)
  const provided = Effect.provideContext(context)

  return {
    start: (job: Job) => provided(callers.start(job)),
    startAll: <E, R>(
      all: Stream.Stream<Job, E, R>,
      allOptions: Callers.AllOptions = {}
    ): Stream.Stream<Callers.StartOutcome, E | InvalidRequest | StoreFailed, R> =>
      Stream.unwrap(
        Effect.map(Callers.decodeAll(allOptions), ({ packing }) =>
          all.pipe(
            Stream.grouped(pageSize),
            Stream.mapEffect((page) => provided(callers.startAll(page, packing))),
            Stream.flatMap(Stream.fromIterable)
          )
        )
      ),
    await: (key: string) => provided(callers.wait(key)),
    status: (key: string) => provided(callers.status(key)),
    cancel: callers.cancel,
    retry: (key: string, changes?: Changes) => provided(callers.retry(key, changes)),
    list: callers.list,
    counts: callers.counts,
    notified
  }
})

/**
 * The service behind `Durable`.
 *
 * @since 0.1.0
 * @category services
 */
export type Host = Effect.Success<ReturnType<typeof make>>
