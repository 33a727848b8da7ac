/**
 * A deployment on one machine: the emulator behind a proxy (`Front`), a database, and runners in separate
 * processes.
 */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { AssemblyNode } from "@assembly-effect/node"
import { type Durable, DurableJob } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Context, DateTime, Duration, Effect, Layer, Redacted, Schedule, Schema, Scope, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { fork, type ChildProcess } from "node:child_process"
import { createHash, randomFillSync } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Front from "./Front.ts"
import type { Args } from "./runner.ts"

/** A runner did not start. */
export class RunnerFailed extends Schema.TaggedError<RunnerFailed>()("RunnerFailed", { name: Schema.String }) {
  override get message() {
    return `the runner ${this.name} did not start`
  }
}

/** A process that runs jobs. */
export interface Runner {
  readonly name: string
  readonly process: ChildProcess
  readonly signal: (name: NodeJS.Signals) => Effect.Effect<void>
  /** Waits until the process has ended. */
  readonly ended: Effect.Effect<void>
}

/** A file of a job, and the SHA-256 of its bytes. */
export interface Made {
  readonly job: DurableJob.Job
  readonly size: number
  readonly sha256: string
}

const secret = Redacted.make("the secret of a deployment for tests, not for use")

export interface Options {
  readonly database: Redacted.Redacted
  readonly expiry?: Duration.Duration
  readonly uploads?: number
  /** Whether the output of the runners is shown. */
  readonly isShown?: boolean
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** Starts a deployment without runners. It ends with the scope. */
export const make = Effect.fnUntraced(function* ({ database, expiry, isShown = true, uploads = 4 }: Options) {
  const scope = yield* Effect.scope
  const front = yield* Front.make
  const emulator = yield* Layer.build(Emulator.layer({ publicUrl: front.url })).pipe(
    Effect.map(Context.get(Emulator.Emulator))
  )
  front.passTo(emulator.localUrl)
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "cluster-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )

  /** Starts a runner, and returns when it is ready. */
  const runner = (name: string): Effect.Effect<Runner, RunnerFailed> =>
    Effect.gen(function* () {
      const args: Args = {
        name,
        baseUrl: emulator.baseUrl,
        key: emulator.credentials.key,
        secret: Redacted.value(emulator.credentials.secret),
        database: Redacted.value(database),
        deployment: Redacted.value(secret),
        expiry: expiry === undefined ? undefined : Duration.toMillis(expiry),
        uploads
      }
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          fork(new URL("runner.ts", import.meta.url), [JSON.stringify(args)], {
            execArgv: [],
            stdio: isShown ? "inherit" : ["ignore", "ignore", "ignore", "ipc"]
          })
        ),
        (started) =>
          Effect.promise(async () => {
            if (hasEnded(started)) return
            const ended = once(started, "exit")
            started.kill("SIGKILL")
            await ended
          })
      )
      yield* Effect.callback<void, RunnerFailed>((resume) => {
        child.once("message", () => resume(Effect.void))
        child.once("exit", () => resume(Effect.fail(new RunnerFailed({ name }))))
      })
      return {
        name,
        process: child,
        signal: (signal) => Effect.sync(() => void child.kill(signal)),
        ended: Effect.promise(async () => {
          if (!hasEnded(child)) await once(child, "exit")
        })
      } satisfies Runner
    }).pipe(Scope.provide(scope))

  /** Writes a file of random bytes, and describes the job that uploads it. */
  const file = (key: string, size: number): Effect.Effect<Made> =>
    Effect.promise(async () => {
      const bytes = randomFillSync(new Uint8Array(size))
      const path = join(folder, key)
      await writeFile(path, bytes)
      return {
        size,
        sha256: createHash("sha256").update(bytes).digest("hex"),
        job: {
          key,
          params: { steps: { ":original": { robot: "/upload/handle" } } },
          files: [{ source: DurableJob.path(path), filename: `${key}.bin` }]
        }
      }
    })

  const services = AssemblyNode.layer({
    baseUrl: emulator.baseUrl,
    key: emulator.credentials.key,
    secret: emulator.credentials.secret
  })
  /**
   * How many Assemblies have completed. A job cancels an Assembly that may get a file twice, and starts again in another
   * one.
   */
  const assemblies = Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0), type: "completed" }).pipe(
    Stream.runCount,
    Effect.provide(services),
    Effect.orDie
  )
  /** Waits until so many runners have joined. */
  const settled = (count: number) =>
    Effect.gen(function* () {
      const sql = yield* PgClient.make({ url: database })
      const runners = sql`SELECT id FROM durable_runners`
      yield* Effect.repeat(runners, { until: ({ length }) => length === count, schedule: Schedule.spaced("50 millis") })
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.timeout("1 minute"), Effect.orDie)

  const options: DurablePostgres.Options = { database: { url: database }, secrets: [secret], expiry }
  const client: Layer.Layer<Durable.Durable, unknown> = DurablePostgres.client(options).pipe(Layer.provide(services))
  return { database, front, runner, file, client, emulator, assemblies, settled }
})

export type Cluster = Effect.Success<ReturnType<typeof make>>
