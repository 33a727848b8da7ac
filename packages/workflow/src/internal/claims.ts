/**
 * The statements of runners. A runner claims a job before it works on it: it writes its id into the row. Each later
 * statement of the runner about this job names the id, so that it changes nothing after another runner has taken over.
 *
 * A runner that does not prolong its own row in the table of runners loses this row, and with it all its jobs. With
 * Postgres, only the clock of the database decides when.
 */
import type * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { Failure, State } from "../DurableJob.ts"
import * as Metrics from "./metrics.ts"
import * as Migrations from "./migrations.ts"
import * as Row from "./row.ts"
import type { Secrets } from "./secrets.ts"
import { attempting, timeOf } from "./store.ts"

/** An attempt that a runner has claimed. */
export interface Claim extends Row.Attempt {
  readonly runner: string
}

/** For how long a job must have been due until a runner without its secret records why it waits, in milliseconds. */
const overdue = 2000

/** Whole milliseconds, as the columns have them. */
const millis = (time: Duration.Duration): number => Math.ceil(Duration.toMillis(time))

/**
 * Makes the statements. `longest` is the longest pause of a job. A job whose next work is further away is due at once,
 * because somebody has set the clock back.
 */
export const make = Effect.fnUntraced(function* (secrets: Secrets, longest: Duration.Duration) {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const jobs = sql(Migrations.jobs)
  const uploads = sql(Migrations.uploads)
  const runners = sql(Migrations.runners)

  const time = timeOf(sql)
  const locked = sql.onDialectOrElse({ pg: () => sql`FOR UPDATE SKIP LOCKED`, orElse: () => sql`` })

  const isOf = ({ attempt, key, runner }: Claim) =>
    sql`job_key = ${key} AND attempt = ${attempt} AND runner = ${runner}`

  const isTrue = Effect.map(({ length }: ReadonlyArray<unknown>) => length > 0)

  const waitingText = (failure: Failure | undefined) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      failure === undefined ? null : Row.encodeWaiting({ ...failure, at: now })
    )

  return {
    /** Adds a runner, whose jobs are its own for the time `expiry` from now. */
    join: (id: string, expiry: Duration.Duration) =>
      Effect.flatMap(
        time,
        (now) => sql`INSERT INTO ${runners} (id, held_until) VALUES (${id}, ${now} + ${millis(expiry)})`
      ).pipe(Effect.asVoid, attempting("join")),

    /** Prolongs the row of a runner. Returns false if another runner has removed it. */
    prolong: (id: string, expiry: Duration.Duration) =>
      Effect.flatMap(
        time,
        (now) => sql`UPDATE ${runners} SET held_until = ${now} + ${millis(expiry)} WHERE id = ${id} RETURNING id`
      ).pipe(isTrue, attempting("prolong")),

    /** Removes a runner, so that the other runners take its jobs over at once. */
    leave: (id: string) => sql`DELETE FROM ${runners} WHERE id = ${id}`.pipe(Effect.asVoid, attempting("leave")),

    /** Removes all runners. Only for a process that has locked the database. */
    clear: sql`DELETE FROM ${runners}`.pipe(Effect.asVoid, attempting("join")),

    /**
     * Removes the runners that have not prolonged their rows, and makes the jobs of removed runners due. Such a job has
     * the time 0, so it comes before all others.
     */
    release: Effect.gen(function* () {
      const now = yield* time
      yield* sql`DELETE FROM ${runners} WHERE held_until <= ${now}`
      const left = yield* sql`
      UPDATE ${jobs} SET runner = NULL, due_at = 0
      WHERE runner IS NOT NULL AND runner NOT IN (SELECT id FROM ${runners}) RETURNING job_key`
      yield* Metrics.takenOver(left.length)
    }).pipe(attempting("take over")),

    /**
     * Claims the jobs in the given states that are due, the longest due first. With `isLeft`, only those that another
     * runner has left.
     */
    claim: (options: {
      readonly runner: string
      readonly states: Arr.NonEmptyReadonlyArray<State>
      readonly limit: number
      readonly isLeft?: boolean
    }) =>
      Effect.gen(function* () {
        const { isLeft = false, limit, runner, states } = options
        const now = yield* time
        const due = isLeft ? sql`due_at = 0` : sql`(due_at <= ${now} OR due_at > ${now} + ${millis(longest)})`
        const isKnown = sql`(secret IS NULL OR ${sql.in("secret", secrets.fingerprints)})`
        return yield* sql<Row.Raw>`
        UPDATE ${jobs}
        SET runner = ${runner}, due_at = ${now}, secret = COALESCE(secret, ${secrets.newest}),
          state = CASE state WHEN 'Queued' THEN 'Uploading' ELSE state END
        WHERE job_key IN (
          SELECT job_key FROM ${jobs}
          WHERE ${sql.and([sql`runner IS NULL`, due, sql.in("state", states), isKnown])}
          ORDER BY due_at, job_key LIMIT ${limit} ${locked}
        )
        RETURNING *`
      }).pipe(attempting("claim"), Effect.map(Row.fromAll)),

    /** The row of an attempt, if the runner still has it. */
    find: (claim: Claim) =>
      sql<Row.Raw>`SELECT * FROM ${jobs} WHERE ${isOf(claim)}`.pipe(attempting("find"), Effect.flatMap(Row.first)),

    /**
     * The jobs of a runner that the runner does not work on, because the response to its claim was lost, or because they
     * shall be canceled. It works on the jobs `running`, and cancels the jobs `canceling`.
     */
    unattended: (runner: string, running: ReadonlyArray<string>, canceling: ReadonlyArray<string>) =>
      sql<Row.Raw>`
        SELECT * FROM ${jobs} WHERE runner = ${runner} AND (NOT (${sql.in("job_key", running)})
          OR (state = 'Canceling' AND NOT (${sql.in("job_key", canceling)})))`.pipe(
        attempting("read"),
        Effect.map(Row.fromAll)
      ),

    /** Records why jobs wait whose secret this process does not know. */
    explainUnknown: (failure: Failure) =>
      Effect.gen(function* () {
        yield* sql`
          UPDATE ${jobs} SET waiting = ${yield* waitingText(failure)}
          WHERE runner IS NULL AND due_at <= ${yield* time} - ${overdue} AND waiting IS NULL
            AND secret IS NOT NULL AND NOT (${sql.in("secret", secrets.fingerprints)})`
      }).pipe(attempting("explain")),

    /** Records the sealed entry of the Assembly of an attempt. Returns false if the attempt is not `Uploading` any more. */
    setAssembly: (claim: Claim, sealed: string, lookup: string) =>
      sql`
      UPDATE ${jobs} SET assembly = ${sealed}, lookup = ${lookup}
      WHERE ${isOf(claim)} AND state = 'Uploading' RETURNING attempt`.pipe(isTrue, attempting("announce")),

    /** The sealed entry of an upload. */
    getUpload: ({ attempt, key }: Claim, entry: string) =>
      sql<{ readonly entry: string }>`
      SELECT entry FROM ${uploads} WHERE job_key = ${key} AND attempt = ${attempt} AND entry_key = ${entry}`.pipe(
        Effect.map(([row]) => row?.entry),
        attempting("read")
      ),

    /** Records the sealed entry of an upload. Returns false if the attempt is not `Uploading` any more. */
    setUpload: (claim: Claim, entry: string, sealed: string) =>
      sql`
      INSERT INTO ${uploads} (job_key, attempt, entry_key, entry)
      SELECT job_key, attempt, ${entry}, ${sealed} FROM ${jobs} WHERE ${isOf(claim)} AND state = 'Uploading'
      ON CONFLICT (job_key, attempt, entry_key) DO UPDATE SET entry = EXCLUDED.entry
      RETURNING attempt`.pipe(isTrue, attempting("announce")),

    /** Removes the entry of an upload, if the runner still has the attempt. */
    removeUpload: (claim: Claim, entry: string) =>
      sql`
      DELETE FROM ${uploads}
      WHERE job_key = ${claim.key} AND attempt = ${claim.attempt} AND entry_key = ${entry}
        AND EXISTS (SELECT 1 FROM ${jobs} WHERE ${isOf(claim)})`.pipe(Effect.asVoid, attempting("announce")),

    /** Records why an attempt waits. Without `failure`, records that the attempt no longer waits. */
    explain: (claim: Claim, failure: Failure | undefined) =>
      Effect.gen(function* () {
        yield* sql`UPDATE ${jobs} SET waiting = ${yield* waitingText(failure)} WHERE ${isOf(claim)}`
      }).pipe(attempting("wait")),

    /** Records that all bytes are stored. Returns false if the attempt is not `Uploading` any more. */
    stored: (claim: Claim) =>
      sql`
      UPDATE ${jobs} SET state = 'Processing', waiting = NULL, waited = 0
      WHERE ${isOf(claim)} AND state IN ('Uploading', 'Processing') RETURNING attempt`.pipe(
        isTrue,
        attempting("stored")
      ),

    /**
     * Gives a job back, until `pause` has passed. If a notification has made the job due in between, or a cancellation
     * has, it stays due. `from` is the state in which the work on the job began.
     */
    giveBack: (
      claim: Claim,
      from: State,
      how: { readonly pause: Duration.Duration; readonly waited: number; readonly failure: Failure | undefined }
    ) =>
      Effect.gen(function* () {
        const isDue = sql`due_at = 0 AND (state = 'Processing' OR state <> ${from})`
        yield* sql`
        UPDATE ${jobs}
        SET runner = NULL, due_at = CASE WHEN ${isDue} THEN 0 ELSE ${yield* time} + ${millis(how.pause)} END,
          waited = CASE WHEN ${isDue} THEN waited ELSE ${how.waited} END, waiting = ${yield* waitingText(how.failure)}
        WHERE ${isOf(claim)}`
      }).pipe(attempting("give back")),

    /** Records how an attempt ended. Changes nothing if the state of the attempt is not one of `from`. */
    end: (
      { key, runner }: Pick<Claim, "key" | "runner">,
      state: (typeof Row.ended)[number],
      from: Arr.NonEmptyReadonlyArray<State>,
      failure?: Failure
    ) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        return yield* sql`
        UPDATE ${jobs}
        SET state = ${state}, runner = NULL, due_at = NULL, waiting = NULL, ended_at = ${now},
          failure = ${failure === undefined ? null : Row.encodeFailure(failure)}
        WHERE ${sql.and([sql`job_key = ${key}`, sql`runner = ${runner}`, sql.in("state", from)])}
        RETURNING job_key`
      }).pipe(isTrue, attempting("end"))
  }
})

export type Claims = Effect.Success<ReturnType<typeof make>>
