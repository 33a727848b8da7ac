/**
 * The statements of packs, by the rules of `Packing`. A pack is a row with the attempt 0, whose files are those of its
 * jobs: a runner claims it and works on it as on any job. Its jobs have its key in `holder`. They are `Uploading` or
 * `Processing` with it, and `Queued` if they are the other half. When the pack ends, one transaction removes its row,
 * and ends its jobs or makes the next packs of them.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import { Array as Arr, Clock, Effect, Result, Schema, SchemaParser } from "effect"
import type { Failure } from "../DurableJob.ts"
import * as Database from "./database.ts"
import type { Claim, Jobs } from "./jobs.ts"
import * as Row from "./row.ts"
import type { Secrets } from "./secrets.ts"

const { Packing } = Hosting
const { attempting } = Database

/** What equal jobs have in the column `pack`: the limits, and the digest of the params. */
const Kind = Schema.fromJsonString(
  Schema.Struct({ files: Schema.Int, bytes: Schema.Int, within: Schema.Int, params: Schema.String })
)
const encodeKind = SchemaParser.encodeSync(Kind)
const decodeKind = SchemaParser.decodeUnknownResult(Kind)

/** What the column `pack` has for a job. */
export const kindOf = (options: Hosting.Packing.Options, { params }: Row.Stored): Effect.Effect<string> =>
  Effect.map(Hosting.digestOf([params]), (digest) => encodeKind({ ...Packing.limitsOf(options), params: digest }))

/** How many kinds of jobs without a pack that is ready are looked at. */
const kindsAtOnce = 16

/** A job whose column is damaged shares no Assembly. */
const limitsOf = (kind: string) => Result.getOrElse(decodeKind(kind), () => ({ files: 1, bytes: 1, within: 0 }))

/**
 * How a pack ended. `isOfJob`: whether the pack failed because of one of its jobs.
 */
export type End =
  | { readonly state: "Completed" }
  | { readonly state: "Failed"; readonly failure: Failure; readonly isOfJob: boolean }

export const completed: End = { state: "Completed" }

/** The rows that can be joined, and the keys of damaged rows. */
const toMembers = (rows: ReadonlyArray<Row.Raw>) =>
  Arr.separate(rows.map((raw) => Result.mapError(Row.fromRaw(raw), () => raw.job_key)))

const keysOf = (rows: ReadonlyArray<Row.Row>) => rows.map(({ key }) => key)

export const make = Effect.fnUntraced(function* ({ stored }: Jobs, secrets: Secrets) {
  const { free, locked, sql, waits } = yield* Database.make
  /** What this runner has seen of the packs of each kind. */
  const seen = new Map<string, Hosting.Packing.Seen>()
  const seenOf = (kind: string) => seen.get(kind) ?? Packing.unseen

  /** Learns from the end of a pack, or of a job that was alone in its pack. The halves of packs have no kind. */
  const remember = ({ pack: kind, sources }: Pick<Row.Row, "pack" | "sources">, how: End): void => {
    const hasFailed = how.state === "Failed"
    if (kind === undefined || (hasFailed && !how.isOfJob)) return
    const next = Packing.remember(seenOf(kind), { isHalf: false }, sources.length, hasFailed)
    if (next.failed === 0) seen.delete(kind)
    else seen.set(kind, next)
  }

  /** Changes the rows of these keys. */
  const update = (keys: ReadonlyArray<string>, values: Record<string, string | number | null | undefined>) =>
    keys.length === 0
      ? Effect.void
      : sql`UPDATE durable_jobs SET ${sql.update(values)} WHERE ${sql.in("job_key", keys)}`

  /** Stores a pack. A new pack has its runner and its kind, and a half is due at once. */
  const insert = (
    { jobs: own, other }: Omit<Hosting.Packing.Pack<Row.Row>, "isHalf">,
    { kind, runner }: { readonly kind?: string; readonly runner?: string }
  ) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const holder = `${Row.packPrefix}${yield* Assemblies.newId}`
      const job = { params: own[0].job.params, files: own.flatMap((one) => one.job.files) }
      const values = {
        ...Row.queued({ job, sources: own.flatMap(({ sources }) => sources) }, now),
        job_key: holder,
        attempt: 0,
        state: "Uploading",
        runner,
        due_at: runner === undefined ? 0 : now,
        secret: secrets.newest,
        pack: kind
      }
      yield* update(keysOf(own), { holder, state: "Uploading", assembly: null, secret: null })
      yield* update(keysOf(other), { holder, state: "Queued", assembly: null, secret: null })
      return yield* sql<Row.Raw>`INSERT INTO durable_jobs ${sql.insert(values)} RETURNING *`
    })

  /** Queues jobs, each of which gets an Assembly of its own. */
  const separate = (keys: ReadonlyArray<string>, values: { readonly pack?: null } = {}) =>
    update(keys, { state: "Queued", due_at: 0, holder: null, secret: null, assembly: null, ...values })

  /** Claims the first pack of a kind. Returns undefined if it is not ready. */
  const claim = (kind: string, runner: string, now: number) =>
    Effect.gen(function* () {
      const limits = limitsOf(kind)
      const [waiting, damaged] = toMembers(
        yield* sql<Row.Raw>`
        SELECT * FROM durable_jobs WHERE ${waits} AND pack = ${kind}
        ORDER BY queued_at, job_key LIMIT ${limits.files} ${free}`
      )
      const items = waiting.map(({ queuedAt, size, sources }) => ({
        files: sources.length,
        bytes: Number(size),
        // Somebody may have set the clock back.
        at: queuedAt > now + limits.within ? 0 : queuedAt
      }))
      const [taken] = Arr.splitAt(waiting, Packing.ready(items, limits, seenOf(kind), now))
      if (taken.length + damaged.length === 0) return undefined
      const isPack = taken.length > 1 && Arr.isReadonlyArrayNonEmpty(taken)
      yield* separate([...damaged, ...(isPack ? [] : keysOf(taken))])
      return isPack ? yield* insert({ jobs: taken, other: [] }, { kind, runner }) : []
    })

  return {
    remember,

    /**
     * Claims the packs that are ready, those of the kind whose first job has waited longest first. A job that is alone in
     * its pack becomes due as any other job.
     */
    form: (runner: string, limit: number) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const packs: Array<Row.Raw> = []
        const unready: Array<string> = []
        while (unready.length < kindsAtOnce && packs.length < limit) {
          const [head] = yield* sql<{ readonly pack: string }>`
            SELECT pack FROM durable_jobs WHERE ${waits} AND NOT (${sql.in("pack", unready)})
            ORDER BY queued_at, job_key LIMIT 1 ${free}`
          if (head === undefined) break
          const rows = yield* claim(head.pack, runner, now)
          if (rows === undefined) unready.push(head.pack)
          else packs.push(...rows)
        }
        return Row.fromAll(packs)
      }).pipe(sql.withTransaction, attempting("claim")),

    /**
     * Records that all bytes of a pack are stored. Each job gets the sealed ids of the Assembly and of its own uploads,
     * so that its caller can read its part of the Status. Returns false if the runner has lost the pack.
     */
    stored: (pack: Row.Row, assemblyId: Assembly.AssemblyId, uploads: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        if (!(yield* stored(pack))) return false
        const writtenAt = yield* Clock.currentTimeMillis
        const [members, [torn]] = toMembers(
          yield* sql<Row.Raw>`
          SELECT * FROM durable_jobs WHERE holder = ${pack.key} AND state IN ('Uploading', 'Processing', 'Canceling')
          ORDER BY queued_at, job_key ${locked}`
        )
        // Nobody knows how many files it has, and so which uploads are those of the next job.
        if (torn !== undefined) return yield* Database.damaged(torn, ["sources"])
        let start = 0
        for (const { key, sources, state } of members) {
          const ids = uploads.slice(start, (start += sources.length))
          const entry = { _tag: "Created", assemblyId, uploads: ids, writtenAt } as const
          const text = yield* Effect.orDie(Hosting.encodeAssembly(entry))
          const assembly = yield* Effect.orDie(secrets.seal({ key, secret: pack.secret }, text))
          const next = state === "Canceling" ? state : "Processing"
          yield* update([key], { assembly, secret: pack.secret, state: next })
        }
        return true
      }).pipe(sql.withTransaction, attempting("stored")),

    /** Ends a pack, and returns the keys and the states of the jobs that have ended. The other jobs are in the next packs. */
    end: ({ key, runner }: Pick<Claim, "key" | "runner">, how: End) =>
      Effect.gen(function* () {
        const ended_at = yield* Clock.currentTimeMillis
        const packs = yield* sql<Row.Raw>`
          DELETE FROM durable_jobs WHERE job_key = ${key} AND runner = ${runner} RETURNING *`
        if (packs.length === 0) return []
        const isOfJob = how.state === "Failed" && how.isOfJob
        for (const pack of Arr.getSuccesses(packs.map(Row.fromRaw))) remember(pack, how)
        const [members, damaged] = toMembers(
          yield* sql<Row.Raw>`
          SELECT * FROM durable_jobs WHERE holder = ${key} AND ended_at IS NULL ORDER BY queued_at, job_key ${locked}`
        )
        const { Canceling: canceled = [], Queued: other = [], ...rest } = Arr.groupBy(members, ({ state }) => state)
        const own = Object.values(rest).flat()
        const [suspects, done] = isOfJob ? [own, []] : [[], own]
        const failure = how.state === "Failed" ? Row.encodeFailure(how.failure) : null
        yield* update(keysOf(canceled), { state: "Canceled", ended_at, holder: null })
        yield* update(keysOf(done), { state: how.state, ended_at, failure, holder: null })
        const next = how.state === "Completed" ? Packing.completed({ other }) : Packing.next(suspects, other)
        yield* separate(damaged, { pack: null })
        for (const pack of next) {
          yield* pack.jobs.length > 1 ? insert(pack, {}) : separate(keysOf(pack.jobs), { pack: null })
        }
        return [
          ...canceled.map((row) => [row.key, "Canceled"] as const),
          ...done.map((row) => [row.key, how.state] as const)
        ]
      }).pipe(sql.withTransaction, attempting("end"))
  }
})

export type Packs = Effect.Success<ReturnType<typeof make>>
