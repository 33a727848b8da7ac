/** The host of durable jobs: its options, and what it is made of. */
import * as BudgetSettings from "@assembly-effect/api/unstable/BudgetSettings"
import * as Low from "@assembly-effect/auth/unstable/Budget"
import { isRecord } from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import type { RequestOptions } from "@assembly-effect/tus/Upload"
import { Duration, Effect, Schedule, Schema } from "effect"
import * as OverSql from "./budget.ts"
import * as Callers from "./callers.ts"
import * as Database from "./database.ts"
import * as Jobs from "./jobs.ts"
import * as Metrics from "./metrics.ts"
import * as Packs from "./packs.ts"
import * as Runner from "./runner.ts"
import * as Secrets from "./secrets.ts"
import * as Work from "./work.ts"

const lasting = (byDefault: Duration.Input) =>
  Rules.duration.pipe(Schema.withDecodingDefault(Effect.succeed(byDefault)))

const UploadOptions = Schema.declare((input): input is RequestOptions => isRecord(input), { expected: "object" }).check(
  Schema.makeFilter((options) =>
    Hosting.issues(options, { filename: "a", fieldname: "a" }).map(({ message, path }) => ({ path, issue: message }))
  )
)

/** The rules of the options that every host has. */
export const Settings = Schema.Struct({
  secrets: Secrets.Setting,
  uploads: Rules.whole(1).pipe(Schema.withDecodingDefault(Effect.succeed(8))),
  patience: lasting("1 hour"),
  pollInterval: lasting("1 minute"),
  retention: Schema.Struct({ failures: lasting("30 days"), successes: lasting("7 days") }).pipe(
    Schema.withDecodingDefault(Effect.succeed({}))
  ),
  upload: UploadOptions.pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  budget: Schema.optional(BudgetSettings.Settings)
})

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
export interface Options extends Schema.Codec.Encoded<typeof Settings> {}

/**
 * Makes the service behind `Durable`. Creates the missing tables.
 *
 * - `runs`: whether this process runs jobs. A process that does not run jobs starts and reads them.
 * - `expiry`: if the database does not hear of a runner for this time, other runners take its jobs over. Undefined if
 *   no other process can use the database.
 */
export const make = Effect.fnUntraced(function* (
  secrets: Secrets.Secrets,
  settings: Omit<typeof Settings.Type, "secrets">,
  { expiry, runs }: { readonly expiry: Duration.Duration | undefined; readonly runs: boolean }
) {
  const { pollInterval, retention, upload } = settings
  yield* Database.migrate
  yield* Secrets.join(secrets, { isAlone: expiry === undefined, runs })
  const jobs = yield* Jobs.make(secrets, Duration.max(pollInterval, Duration.millis(Work.longestPause)))
  const budget = yield* OverSql.make(secrets, settings.budget)
  /** Wakes the runner of this process, if there is one. The other runners read the table. */
  let wake: Runner.Wake = () => {}
  const callers = yield* Callers.make({ jobs, secrets, upload, wake: (all) => wake(all) }).pipe(
    Effect.provideService(Low.Budget, budget)
  )
  if (!runs) return callers.service
  const outage = Database.outage()
  const packs = yield* Packs.make(jobs, secrets)
  wake = yield* Runner.make({
    ...settings,
    jobs,
    packs,
    secrets,
    outage,
    expiry,
    ended: (key, state) => Effect.andThen(Metrics.ended(state), callers.wake(key))
  }).pipe(Effect.provideService(Low.Budget, budget))
  const { failures, successes } = retention
  yield* jobs.removeEnded(retention).pipe(
    Effect.repeat({ while: (removed) => removed > 0 }),
    Effect.catchCause((cause) => outage.reportCause("remove old jobs", cause)),
    Effect.repeat(Schedule.spaced(Duration.min(Duration.hours(1), Duration.min(failures, successes)))),
    Effect.forkScoped
  )
  return callers.service
})
