/**
 * Runners in processes of their own, and what happens to them. `DURABLE_FILES` says how many files a batch has, and
 * `DURABLE_STRICT=1` shows the output of the runners, prints the measured times and checks them, for which the machine has
 * to be idle; `pnpm reliability:durable` runs all.
 */
import { Durable } from "@assembly-effect/workflow"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Duration, Effect, Layer, Redacted, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Front from "@assembly-effect/testkit/cluster/Front"
import * as Wait from "@assembly-effect/testkit/cluster/Wait"
import * as TcpProxy from "@assembly-effect/testkit/hostile/TcpProxy"
import * as Postgres from "@assembly-effect/testkit/postgres/Postgres"

const files = Number(process.env["DURABLE_FILES"] ?? 30)
const isStrict = process.env["DURABLE_STRICT"] === "1"

const mebi = 1024 * 1024
const kibi = 1024

class Server extends Context.Service<Server, Postgres.Postgres>()("Server") {
  static readonly layer = Layer.effect(Server, Postgres.make)
}

let databases = 0

/** A deployment with an empty database. */
const deployment = Effect.fnUntraced(function* (options: Omit<Cluster.Options, "database">) {
  const { database } = yield* Server
  return yield* Cluster.make({ ...options, isShown: isStrict, database: yield* database(`cluster_${++databases}`) })
})

type Deployment = Effect.Success<ReturnType<typeof deployment>>

/** Waits for all jobs, and checks that each is stored once, with its bytes. Returns the bytes that came again. */
const checkAll = Effect.fnUntraced(function* ({ assemblies, front }: Deployment, made: ReadonlyArray<Cluster.Made>) {
  yield* Effect.forEach(
    made,
    Effect.fnUntraced(function* ({ job, sha256 }) {
      const status = yield* Durable.await(job.key)
      assert.strictEqual(status.uploads?.length, 1)
      assert.strictEqual(status.started_tus_uploads, 1, "one creation of an upload for each file")
      assert.strictEqual(status.uploads?.[0]?.sha256, sha256, `${job.key}: other bytes are stored`)
    }),
    { concurrency: 16, discard: true }
  )
  assert.strictEqual(yield* assemblies, made.length, "one completed Assembly for each key")
  const repeated = Front.repetitions(front)
  assert.isAtMost(Math.max(0, ...repeated), mebi, "at most 1 MiB of a file is sent again")
  return repeated.reduce((total, bytes) => total + bytes, 0)
})

/** Waits for a runner that has sent more than `bytes` bytes with an open request. */
const busyOne = Effect.fnUntraced(function* (
  front: Front.Front,
  runners: ReadonlyArray<Cluster.Runner>,
  bytes: number
) {
  const find = () => runners.find(({ name }) => Front.sendingsOf(front, name, bytes).length > 0)
  yield* Wait.until("a runner that sends", () => find() !== undefined)
  return find()!
})

/** How long it took until another runner sent bytes of these uploads, in milliseconds. */
const takeovers = (front: Front.Front, left: ReadonlyArray<Front.Sending>, since: number) =>
  left.flatMap(({ path, runner }) => {
    const next = front.sendings.find((sending) => sending.path === path && sending.runner !== runner)
    return next === undefined ? [] : [next.start - since]
  })

const makeFiles = ({ file }: Deployment, sizes: ReadonlyArray<number>) =>
  Effect.forEach(sizes, (size, index) => file(`file-${String(index).padStart(5, "0")}`, size), { concurrency: 8 })

/** A size larger than the socket buffers. The service receives their content even after the runner is dead. */
const large = 12 * mebi

/** Some of the files are large, so that a runner is busy when something happens to it. */
const mixed = (count: number) =>
  Array.from({ length: count }, (_, index) => (index < 30 && index % 10 === 0 ? large : 32 * kibi))

const startAll = (made: ReadonlyArray<Cluster.Made>) =>
  Durable.startAll(Stream.fromIterable(made.map(({ job }) => job))).pipe(
    Stream.runForEach(({ _tag, job }) => Effect.sync(() => assert.strictEqual(_tag, "Started", job.key)))
  )

/** Runs a program with the client of a deployment. */
const on = <A, E, R>(cluster: Deployment, program: Effect.Effect<A, E, R>) => Effect.provide(program, cluster.client)

/** Every statement that writes a job fails as on a full disk, until there is space again. */
const fullDisk = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* PgClient.make({ url }).pipe(Effect.provide(Reactivity.layer))
  yield* sql`
    CREATE FUNCTION refuse() RETURNS trigger AS $$
    BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$ LANGUAGE plpgsql`
  const each = (act: (table: string) => Effect.Effect<unknown, SqlError.SqlError>) =>
    Effect.orDie(Effect.forEach(["durable_jobs", "durable_uploads", "durable_runners"], act))
  const space = each((table) => sql`DROP TRIGGER full_disk ON ${sql(table)}`)
  return each(
    (table) =>
      sql`CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE OR DELETE ON ${sql(table)} EXECUTE FUNCTION refuse()`
  ).pipe(Effect.as(space))
})

layer(Server.layer)("Runners on several machines", (it) => {
  it.effect(
    `one of three is killed during ${files} files: the others store each file once`,
    function* () {
      const expiry = Duration.seconds(6)
      const cluster = yield* deployment({ expiry })
      const { front } = cluster
      front.speed = 256 * kibi
      const made = yield* makeFiles(cluster, mixed(files))
      yield* on(
        cluster,
        Effect.gen(function* () {
          const runners = yield* Effect.forEach(["A", "B", "C"], cluster.runner, { concurrency: 3 })
          yield* cluster.settled(3)
          yield* startAll(made)
          const victim = yield* busyOne(front, runners, 300 * kibi)
          const left = Front.sendingsOf(front, victim.name, 300 * kibi)
          const killed = Date.now()
          yield* victim.signal("SIGKILL")
          // The service gets the content of the socket buffers, and then the rest from another runner.
          yield* Wait.until("a takeover", () => takeovers(front, left, killed).length > 0)
          front.speed = Infinity
          const again = yield* checkAll(cluster, made)
          const waits = takeovers(front, left, killed)
          if (isStrict) assert.isAtMost(Math.max(...waits), Duration.toMillis(expiry) + 3000, "the last takeover")
          // The figures are the result of the run.
          console.log(`killed: ${left.length} uploads taken over after ${waits.join(", ")} ms, ${again} bytes again`)
        })
      )
    },
    { timeout: Math.max(600_000, files * 1000) }
  )
  it.effect("one joins during a batch, and one that ends on SIGTERM hands its jobs over at once", function* () {
    // Longer than the test, so that no lock expires.
    const cluster = yield* deployment({ expiry: Duration.minutes(5) })
    const { front } = cluster
    // So slow that no large file ends before the second runner has begun.
    front.speed = 64 * kibi
    // The first runner sends the first four files, and the others wait.
    const made = yield* makeFiles(
      cluster,
      Array.from({ length: 12 }, (_, index) => (index < 4 ? large : 32 * kibi))
    )
    const first = yield* cluster.runner("A")
    yield* on(
      cluster,
      Effect.gen(function* () {
        yield* startAll(made)
        yield* Wait.until("bytes of the first runner", () => Front.sendingsOf(front, "A").length > 0)
        const second = yield* cluster.runner("B")
        yield* Wait.until("work of the second runner", () => front.creators.has("B"))
        const ending = yield* busyOne(front, [first, second], 60 * kibi)
        const left = Front.sendingsOf(front, ending.name, 60 * kibi)
        const asked = Date.now()
        yield* ending.signal("SIGTERM")
        yield* ending.ended
        yield* Wait.until("a takeover", () => takeovers(front, left, asked).length > 0)
        front.speed = Infinity
        yield* checkAll(cluster, made)
      })
    )
  })
  for (const what of ["does not answer", "refuses connections", "is full for longer than the expiry"] as const) {
    it.effect(`Postgres ${what}: all files are stored once`, function* () {
      const { database, freeze, thaw } = yield* Server
      const direct = yield* database(`cluster_${++databases}`)
      const url = new URL(Redacted.value(direct))
      const proxy = yield* TcpProxy.make()
      proxy.to(url.href)
      url.host = `127.0.0.1:${proxy.port}`
      const options = { database: Redacted.make(url.href), isShown: isStrict }
      const isFull = what.startsWith("is full")
      const cluster = yield* Cluster.make({ ...options, ...(isFull ? { expiry: Duration.seconds(3) } : {}) })
      const { front } = cluster
      front.speed = 256 * kibi
      const made = yield* makeFiles(cluster, [large, large, ...Array.from({ length: 8 }, () => 64 * kibi)])
      yield* Effect.forEach(["A", "B"], cluster.runner, { concurrency: 2 })
      yield* on(cluster, startAll(made))
      yield* Wait.until("bytes", () => front.sendings.some(({ bytes }) => bytes > 100 * kibi))
      const set = (mode: "down" | "up") => Effect.sync(() => proxy.set(mode))
      /** Each returns what ends it. */
      const faults = {
        "does not answer": Effect.as(freeze, thaw),
        "refuses connections": Effect.as(set("down"), set("up")),
        "is full for longer than the expiry": Effect.flatten(fullDisk(direct))
      }
      yield* Effect.acquireUseRelease(
        faults[what],
        () => Effect.sleep("8 seconds"),
        (end) => Effect.asVoid<unknown, never, never>(end)
      )
      front.speed = Infinity
      yield* on(cluster, checkAll(cluster, made))
    })
  }
})
