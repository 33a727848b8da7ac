/** An emulator, a folder, and runners that may begin and end several times with the same database. */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { AssemblyNode } from "@assembly-effect/node"
import type { Assembly } from "@assembly-effect/schema"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as TcpProxy from "@assembly-effect/testkit/hostile/TcpProxy"
import { Durable, DurableJob, DurableSqlite } from "@assembly-effect/workflow"
import { assert } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, DateTime, Duration, Effect, FileSystem, Layer, Logger, Redacted, Schedule, Stream } from "effect"
import { HttpServer } from "effect/http"
import { createHash, randomBytes } from "node:crypto"
import { DatabaseSync } from "node:sqlite"

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** Steps that keep the uploaded file. */
export const steps = { ":original": { robot: "/upload/handle" } }

/** Steps that keep the uploaded file, and end after some seconds. */
export const slow = (seconds: number) => ({ ...steps, wait: { robot: "/emulator/wait", use: ":original", seconds } })

/** Params whose Assembly fails. */
export const failing = { steps: { fail: { robot: "/emulator/fail", error: "MINE" } } }

/** Everything that a runner needs to reach the emulator. */
const clients = Layer.unwrap(
  Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) => AssemblyNode.layer({ baseUrl, ...credentials }))
)

/** The emulator and its clients. */
export const live = Layer.provideMerge(clients, Layer.merge(Emulator.layer(), NodeFileSystem.layer))

/** An emulator behind a proxy, whose clients are not: what other processes need to reach it, and its `clients`. */
export const proxied = Effect.fnUntraced(function* (rate?: number, options?: Parameters<typeof Emulator.layer>[0]) {
  const proxy = yield* TcpProxy.make(rate)
  const baseUrl = `http://127.0.0.1:${proxy.port}`
  const emulator = yield* Layer.build(Emulator.layer({ publicUrl: baseUrl, ...options }))
  const { credentials, localUrl } = yield* Effect.provideContext(Emulator.Emulator, emulator)
  proxy.to(localUrl)
  return {
    proxy,
    orders: { baseUrl, key: credentials.key, secret: Redacted.value(credentials.secret) },
    clients: AssemblyNode.layer({ baseUrl: localUrl, ...credentials })
  }
})

/** The Assemblies of the service, or those of a type. */
export const assemblies = (type?: "uploading" | "executing" | "canceled" | "completed") =>
  Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0), ...(type === undefined ? {} : { type }) }))

/** How many Assemblies exist, of all types or of one. */
export const count = (...type: Parameters<typeof assemblies>) => Effect.map(assemblies(...type), ({ length }) => length)

/** Reads a job until it fits. */
export const until = (key: string, fits: (status: DurableJob.Status) => boolean) =>
  Durable.status(key).pipe(Effect.repeat({ until: fits, schedule: Schedule.spaced("20 millis") }))

/** The keys of the jobs that a filter selects, in their order. */
export const keysOf = (filter?: DurableJob.Filter) =>
  Effect.map(Stream.runCollect(Durable.list(filter)), (all) => all.map(({ key }) => key))

/** The paths of the issues of an `InvalidRequest`. */
export const pathsOf = (error: { readonly _tag: string; readonly issues?: ReadonlyArray<Issue> }): unknown =>
  error._tag === "InvalidRequest" ? error.issues?.map(({ path }) => path.join(".")) : error

/** Reads or changes a database behind the back of its runners. */
export const query = (database: string, sql: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(database)),
    (opened) => Effect.sync(() => opened.prepare(sql).all()),
    (opened) => Effect.sync(() => opened.close())
  )

interface Content {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

/** A folder with the database of the jobs, and with files. */
export const folder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempDirectoryScoped({ prefix: "durable-" })
  return {
    path,
    database: `${path}/jobs.db`,
    file: (name: string, size: number): Effect.Effect<Content> =>
      Effect.gen(function* () {
        const bytes = randomBytes(size)
        yield* Effect.orDie(fs.writeFile(`${path}/${name}`, bytes))
        return { path: `${path}/${name}`, size, sha256: sha256(bytes) }
      })
  }
})

/** A job that uploads these files. */
export const job = (key: string, contents: ReadonlyArray<Content>, more?: Partial<DurableJob.Job>): DurableJob.Job => ({
  key,
  params: { steps },
  files: contents.map(({ path }, index) => ({ source: DurableJob.path(path), filename: `${index}.bin` })),
  ...more
})

/** The SHA-256 of each file that the service has stored for an Assembly. */
export const storedIn = ({ uploads }: Assembly.Status): ReadonlyArray<string> =>
  (uploads ?? []).map(({ sha256: hash }) => String(hash)).toSorted()

/** Checks that one upload has stored these bytes for an Assembly. */
export const sentOnce = (status: Assembly.Status, { sha256: hash }: Pick<Content, "sha256">): void => {
  assert.deepInclude(status, { started_tus_uploads: 1, finished_tus_uploads: 1 })
  assert.deepStrictEqual(storedIn(status), [hash])
}

/** Runs a program with another time of day. */
export const withTime =
  (timeOf: (real: number) => number) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) => {
      const now = () => timeOf(clock.currentTimeMillisUnsafe())
      const other = { currentTimeMillisUnsafe: now, currentTimeMillis: Effect.sync(now) }
      return Effect.provideService(program, Clock.Clock, Object.assign(Object.create(clock), other))
    })

/** Runs a program whose clock is so many times as fast, so that the pauses of its runner are short. */
export const hurried =
  (factor = 5) =>
  <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const begun = clock.currentTimeMillisUnsafe()
      const now = () => begun + factor * (clock.currentTimeMillisUnsafe() - begun)
      const fast: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeMillisUnsafe: now,
        currentTimeMillis: Effect.sync(now),
        monotonicTimeNanosUnsafe: () => BigInt(factor) * clock.monotonicTimeNanosUnsafe(),
        sleep: (duration: Duration.Duration) => clock.sleep(Duration.times(duration, 1 / factor))
      })
      return Effect.provideService(program, Clock.Clock, fast)
    })

/** Runs a program with an embedded runner, which ends with the program. */
export const withRunner =
  (database: string, options?: DurableSqlite.Options) =>
  <A, E, R>(program: Effect.Effect<A, E, R>) =>
    Effect.provide(program, DurableSqlite.layer(database, options), { local: true })

/** The address of the server of a program. */
export const origin = Effect.map(HttpServer.HttpServer, ({ address }) => {
  assert(address._tag === "InetAddressV4")
  return `http://127.0.0.1:${address.port}`
})

/** Every value of every table, as text. */
export const dump = (path: string): string => {
  const database = new DatabaseSync(path)
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    return tables
      .flatMap(({ name }) => {
        const statement = database.prepare(`SELECT * FROM "${String(name)}"`)
        statement.setReadBigInts(true)
        return statement.all().map((row) => [name, ...Object.values(row).map(String)].join(" | "))
      })
      .join("\n")
  } finally {
    database.close()
  }
}

const secretOf = (letter: string) => Redacted.make(letter.repeat(32))
export const [old, young, other] = [secretOf("o"), secretOf("y"), secretOf("x")]

/** What a program logs at the level of a warning or above. */
export const warnings = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const said: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn" || logLevel === "Error" || logLevel === "Fatal") said.push(String(message))
    })
    return Effect.as(Effect.provide(program, Logger.layer([logger]), { local: true }), said)
  })
