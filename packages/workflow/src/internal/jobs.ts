/**
 * The table of jobs: what callers and runners read and change in it, and the table of runners.
 *
 * Each UPDATE names the states in which it is allowed. So if a change moves an attempt to another state, only one of
 * two processes can make this change.
 *
 * A runner claims a job before it works on it: it writes its id into the row. Each later statement of the runner about
 * this job names the id, so that it changes nothing after another runner has taken over. A runner that does not prolong
 * its own row in the table of runners loses this row, and with it all its jobs. With Postgres, only the clock of the
 * database decides when.
 */
import { Array as Arr, Clock, Duration, Effect } from "effect"
import type { Statement } from "effect/sql"
import type { Failure, Filter, State } from "../DurableJob.ts"
import * as Database from "./database.ts"
import * as Metrics from "./metrics.ts"
import * as Row from "./row.ts"
import type { Secrets } from "./secrets.ts"

const { attempting, changesRow } = Database

/** An attempt as the runner has read it that claimed it. */
export type Claim = Pick<Row.Row, "key" | "attempt" | "runner">

/** For how long a job must have been due until a runner without its secret records why it waits, in milliseconds. */
const overdue = 2000

/** How many jobs are removed with one transaction. */
const removedAtOnce = 100

/** Whole milliseconds, as the columns have them. */
const millis = (time: Duration.Duration): number => Math.ceil(Duration.toMillis(time))

/**
 * Makes the statements. `longest` is the longest pause of a job. A job whose next work is further away is due at once,
 * because somebody has set the clock back.
 */
export const make = Effect.fnUntraced(function* (secrets: Secrets, longest: Duration.Duration) {
  const { at, free, sql } = yield* Database.make

  const isOf = ({ attempt, key, runner }: Claim) =>
    sql`job_key = ${key} AND attempt = ${attempt} AND runner = ${runner}`

  /** Rows, of which each may be damaged. */
  const read = (operation: string, where: Statement.Fragment) =>
    sql<Row.Raw>`SELECT * FROM durable_jobs WHERE ${where}`.pipe(Effect.map(Row.fromAll), attempting(operation))

  const find = (where: Statement.Fragment) =>
    sql<Row.Raw>`SELECT * FROM durable_jobs WHERE ${where}`.pipe(attempting("find"), Effect.flatMap(Row.first))

  /** Changes a row, and returns whether it was there. */
  const change = (operation: string, where: Statement.Fragment, values: Statement.Fragment) =>
    sql`UPDATE durable_jobs SET ${values} WHERE ${where} RETURNING job_key`.pipe(changesRow, attempting(operation))

  const waitingText = (failure: Failure | undefined) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      failure === undefined ? null : Row.encodeWaiting({ ...failure, at: now })
    )

  /** The conditions of a filter. `LIKE` has wildcards, and in SQLite it ignores case. */
  const selected = ({ after = "", prefix = "", state, ...times }: Filter) =>
    sql.and([
      sql`attempt > 0 AND job_key > ${after}`,
      ...(prefix === "" ? [] : [sql`substr(job_key, 1, ${Array.from(prefix).length}) = ${prefix}`]),
      ...(state === undefined ? [] : [sql`state = ${state}`]),
      ...(["queued", "ended"] as const).flatMap((name) => {
        const { from = 0, until = Number.MAX_SAFE_INTEGER } = times[name] ?? {}
        const column = sql(`${name}_at`)
        return times[name] === undefined ? [] : [sql`${column} >= ${from} AND ${column} < ${until}`]
      })
    ])

  return {
    /** Adds a runner, whose jobs are its own for the time `expiry` from now. */
    join: (id: string, expiry: Duration.Duration) =>
      at((now) => sql`INSERT INTO durable_runners (id, held_until) VALUES (${id}, ${now} + ${millis(expiry)})`).pipe(
        attempting("join")
      ),

    /** Prolongs the row of a runner. Returns false if another runner has removed it. */
    prolong: (id: string, expiry: Duration.Duration) =>
      at(
        (now) => sql`UPDATE durable_runners SET held_until = ${now} + ${millis(expiry)} WHERE id = ${id} RETURNING id`
      ).pipe(changesRow, attempting("prolong")),

    /** Removes a runner, so that the other runners take its jobs over at once. */
    leave: (id: string) => sql`DELETE FROM durable_runners WHERE id = ${id}`.pipe(attempting("leave")),

    /** Removes all runners. Only for a process that has locked the database. */
    clear: sql`DELETE FROM durable_runners`.pipe(attempting("join")),

    /**
     * Removes the runners that have not prolonged their rows, and makes the jobs of removed runners due. Such a job has
     * the time 0, so it comes before all others.
     */
    release: Effect.gen(function* () {
      yield* at((now) => sql`DELETE FROM durable_runners WHERE held_until <= ${now}`)
      const left = yield* sql`
        UPDATE durable_jobs SET runner = NULL, due_at = 0
        WHERE runner IS NOT NULL AND runner NOT IN (SELECT id FROM durable_runners) RETURNING job_key`
      yield* Metrics.takenOver(left.length)
    }).pipe(attempting("take over")),

    /**
     * Claims the jobs in the given states that are due, the longest due first. With `isLeft`, only those that another
     * runner has left.
     */
    claim: (runner: string, limit: number, states: Arr.NonEmptyReadonlyArray<State>, isLeft = false) =>
      at((now) => {
        const due = isLeft ? sql`due_at = 0` : sql`(due_at <= ${now} OR due_at > ${now} + ${millis(longest)})`
        const isKnown = sql`(secret IS NULL OR ${sql.in("secret", secrets.fingerprints)})`
        return sql<Row.Raw>`
          UPDATE durable_jobs
          SET runner = ${runner}, due_at = ${now}, secret = COALESCE(secret, ${secrets.newest}),
            state = CASE state WHEN 'Queued' THEN 'Uploading' ELSE state END
          WHERE job_key IN (
            SELECT job_key FROM durable_jobs
            WHERE ${sql.and([sql`runner IS NULL`, due, sql.in("state", states), isKnown])}
            ORDER BY due_at, job_key LIMIT ${limit} ${free}
          )
          RETURNING *`
      }).pipe(attempting("claim"), Effect.map(Row.fromAll)),

    /** The row of a key. */
    find: (key: string) => find(sql`job_key = ${key}`),

    /** The row of an attempt, if the runner still has it. */
    findClaimed: (claim: Claim) => find(isOf(claim)),

    /** The rows of these keys, or the error of a damaged row. */
    findAll: (keys: ReadonlyArray<string>) =>
      keys.length === 0 ? Effect.succeed([]) : read("read", sql.in("job_key", keys)),

    /**
     * The jobs of a runner that the runner does not work on, because the response to its claim was lost, or because they
     * shall be canceled. It works on the jobs `running`, and cancels the jobs `canceling`.
     */
    unattended: (runner: string, running: ReadonlyArray<string>, canceling: ReadonlyArray<string>) =>
      read(
        "read",
        sql`runner = ${runner} AND (NOT (${sql.in("job_key", running)})
          OR (state = 'Canceling' AND NOT (${sql.in("job_key", canceling)})))`
      ),

    /** A page of rows after the cursor. */
    page: (filter: Filter, limit: number) => read("list", sql`${selected(filter)} ORDER BY job_key LIMIT ${limit}`),

    /** How many jobs are in each state, and the oldest of those that have not ended. */
    counts: sql<Row.RawCount>`
      SELECT state, count(*) AS jobs,
        (SELECT min(queued_at) FROM durable_jobs AS open WHERE open.attempt > 0 AND open.ended_at IS NULL AND open.state = durable_jobs.state) AS oldest
      FROM durable_jobs WHERE attempt > 0 GROUP BY state`.pipe(
      Effect.map(Row.toCounts),
      attempting("count"),
      Effect.tap(Metrics.counted)
    ),

    /** Queues the jobs whose keys are not in the table, and returns the rows of these jobs. */
    insert: (rows: Arr.NonEmptyReadonlyArray<Row.NewRow>) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const values = Arr.map(rows, ({ key, pack, ...row }) => ({
          ...Row.queued(row, now),
          job_key: key,
          attempt: 1,
          state: "Queued",
          due_at: pack === undefined ? now : null,
          pack
        }))
        return yield* sql<Row.Raw>`
        INSERT INTO durable_jobs ${sql.insert(values)} ON CONFLICT (job_key) DO NOTHING RETURNING *`
      }).pipe(attempting("insert"), Effect.map(Row.fromAll)),

    /**
     * Records that the job shall be canceled. A queued job is canceled at once. Returns undefined if the job is unknown, has
     * ended, or is already being canceled. A job in a pack is canceled when its pack has ended.
     */
    cancel: (key: string) =>
      Effect.flatMap(
        Clock.currentTimeMillis,
        (now) => sql<Row.Raw>`
          UPDATE durable_jobs
          SET state = CASE state WHEN 'Queued' THEN 'Canceled' ELSE 'Canceling' END,
            ended_at = CASE state WHEN 'Queued' THEN ${now} ELSE NULL END,
            due_at = CASE WHEN state = 'Queued' OR holder IS NOT NULL THEN NULL ELSE 0 END, waited = 0, waiting = NULL
          WHERE job_key = ${key} AND state IN ('Queued', 'Uploading', 'Processing')
          RETURNING *`
      ).pipe(attempting("cancel"), Effect.flatMap(Row.first)),

    /**
     * Queues the next attempt of a job, and removes the entries of the uploads of the last attempt. Returns undefined if the
     * current attempt is not `before`, or has neither failed nor been canceled.
     */
    retry: (before: number, { key, ...row }: Row.NewRow) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* sql<Row.Raw>`
        UPDATE durable_jobs
        SET attempt = attempt + 1, state = 'Queued', due_at = ${now}, ${sql.update(Row.queued(row, now))},
          secret = NULL, assembly = NULL, lookup = NULL, ended_at = NULL, failure = NULL, waiting = NULL,
          pack = NULL, holder = NULL
        WHERE job_key = ${key} AND attempt = ${before} AND state IN ('Failed', 'Canceled')
        RETURNING *`
        // Entries that stay because this process ends here are removed by the next attempt or with the job.
        if (rows.length > 0) yield* sql`DELETE FROM durable_uploads WHERE job_key = ${key} AND attempt <= ${before}`
        return rows
      }).pipe(attempting("retry"), Effect.flatMap(Row.first)),

    /** Records why jobs wait whose secret this process does not know. */
    explainUnknown: (failure: Failure) =>
      Effect.flatMap(waitingText(failure), (waiting) =>
        at((now) => {
          const isUnknown = sql`secret IS NOT NULL AND NOT (${sql.in("secret", secrets.fingerprints)})`
          const where = sql`runner IS NULL AND due_at <= ${now} - ${overdue} AND waiting IS NULL AND ${isUnknown}`
          return change("explain", where, sql`waiting = ${waiting}`)
        })
      ),

    /** Records why an attempt waits. Without `failure`, records that the attempt no longer waits. */
    explain: (claim: Claim, failure?: Failure) =>
      Effect.flatMap(waitingText(failure), (waiting) => change("wait", isOf(claim), sql`waiting = ${waiting}`)),

    /** Records the sealed entry of the Assembly of an attempt. Returns false if the attempt is not `Uploading` any more. */
    setAssembly: (claim: Claim, sealed: string, lookup: string) =>
      change("announce", sql`${isOf(claim)} AND state = 'Uploading'`, sql`assembly = ${sealed}, lookup = ${lookup}`),

    /** The sealed entry of an upload. */
    getUpload: ({ attempt, key }: Claim, entry: string) =>
      sql<{ readonly entry: string }>`
      SELECT entry FROM durable_uploads WHERE job_key = ${key} AND attempt = ${attempt} AND entry_key = ${entry}`.pipe(
        Effect.map(([row]) => row?.entry),
        attempting("read")
      ),

    /** Records the sealed entry of an upload. Returns false if the attempt is not `Uploading` any more. */
    setUpload: (claim: Claim, entry: string, sealed: string) =>
      sql`
      INSERT INTO durable_uploads (job_key, attempt, entry_key, entry)
      SELECT job_key, attempt, ${entry}, ${sealed} FROM durable_jobs WHERE ${isOf(claim)} AND state = 'Uploading'
      ON CONFLICT (job_key, attempt, entry_key) DO UPDATE SET entry = EXCLUDED.entry
      RETURNING attempt`.pipe(changesRow, attempting("announce")),

    /** Removes the entry of an upload, if the runner still has the attempt. */
    removeUpload: (claim: Claim, entry: string) =>
      sql`
      DELETE FROM durable_uploads
      WHERE job_key = ${claim.key} AND attempt = ${claim.attempt} AND entry_key = ${entry}
        AND EXISTS (SELECT 1 FROM durable_jobs WHERE ${isOf(claim)})`.pipe(Effect.asVoid, attempting("announce")),

    /** Records that all bytes are stored. Returns false if the attempt is not `Uploading` any more. */
    stored: (claim: Claim) =>
      change(
        "stored",
        sql`${isOf(claim)} AND state IN ('Uploading', 'Processing')`,
        sql`state = 'Processing', waiting = NULL, waited = 0`
      ),

    /**
     * Makes the next look at an Assembly due now, and returns whether a job waits for this Assembly. A look that has begun
     * is repeated, because `release` keeps the time 0.
     */
    notified: (lookups: ReadonlyArray<string>) =>
      change("notify", sql`${sql.in("lookup", lookups)} AND state = 'Processing'`, sql`due_at = 0, waited = 1`),

    /**
     * Gives a job back, until `pause` has passed. If a notification has made the job due in between, or a cancellation
     * has, it stays due. The state of `claim` is that in which the work on the job began.
     */
    giveBack: (
      claim: Claim & Pick<Row.Row, "state">,
      how: { readonly pause: number; readonly waited: number; readonly failure: Failure | undefined }
    ) =>
      Effect.flatMap(waitingText(how.failure), (waiting) =>
        at((now) => {
          const isDue = sql`due_at = 0 AND (state = 'Processing' OR state <> ${claim.state})`
          const values = sql`runner = NULL, due_at = CASE WHEN ${isDue} THEN 0 ELSE ${now} + ${Math.ceil(how.pause)} END,
            waited = CASE WHEN ${isDue} THEN waited ELSE ${how.waited} END, waiting = ${waiting}`
          return change("give back", isOf(claim), values)
        })
      ),

    /** Records how an attempt ended. Changes nothing if the state of the attempt is not one of `from`. */
    end: (
      { key, runner }: Pick<Claim, "key" | "runner">,
      state: (typeof Row.ended)[number],
      from: Arr.NonEmptyReadonlyArray<State>,
      failure?: Failure
    ) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        change(
          "end",
          sql.and([sql`job_key = ${key} AND runner = ${runner}`, sql.in("state", from)]),
          sql`state = ${state}, runner = NULL, due_at = NULL, waiting = NULL, ended_at = ${now},
            failure = ${failure === undefined ? null : Row.encodeFailure(failure)}`
        )
      ),

    /** Removes jobs that ended longer ago than they are kept, with everything that is stored of them. Returns how many. */
    removeEnded: (kept: { readonly failures: Duration.Duration; readonly successes: Duration.Duration }) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const removed = yield* sql<Row.Raw>`
          DELETE FROM durable_jobs WHERE job_key IN (
            SELECT job_key FROM durable_jobs WHERE due_at IS NULL AND (
              (state = 'Failed' AND ended_at BETWEEN 0 AND ${now - Duration.toMillis(kept.failures)}) OR
              (state <> 'Failed' AND ended_at BETWEEN 0 AND ${now - Duration.toMillis(kept.successes)})) LIMIT ${removedAtOnce}
          ) RETURNING job_key`
        const keys = removed.map(({ job_key }) => job_key)
        if (keys.length > 0) yield* sql`DELETE FROM durable_uploads WHERE ${sql.in("job_key", keys)}`
        return keys.length
      }).pipe(sql.withTransaction, attempting("remove"))
  }
})

export type Jobs = Effect.Success<ReturnType<typeof make>>
