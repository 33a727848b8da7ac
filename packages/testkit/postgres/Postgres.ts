/**
 * A Postgres for tests and demos, on a free port with an empty folder. It needs no installation, no container and no
 * separate user, and also runs for root.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Redacted, Schema } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import * as Signal from "./Signal.ts"
import type { Ready } from "./supervisor.ts"

/** Postgres did not start. */
export class PostgresFailed extends Schema.TaggedError<PostgresFailed>()("PostgresFailed", {
  description: Schema.String
}) {
  override get message() {
    return `Postgres did not start: ${this.description}`
  }
}

export interface Postgres {
  readonly url: Redacted.Redacted
  /** Creates an empty database, and returns its URL. */
  readonly database: (name: string) => Effect.Effect<Redacted.Redacted>
  /** Suspends the processes of the server: connections stay open, but get no answer. `thaw` resumes the processes. */
  readonly freeze: Effect.Effect<void>
  readonly thaw: Effect.Effect<void>
}

/** Starts a Postgres. It stops when the scope ends, and also when this process is killed. */
export const make = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(new URL("supervisor.ts", import.meta.url), { execArgv: [], stdio: "inherit" })),
    (supervisor) =>
      Effect.promise(async () => {
        if (supervisor.exitCode !== null || supervisor.signalCode !== null) return
        const ended = once(supervisor, "exit")
        if (supervisor.connected) supervisor.disconnect()
        await ended
      })
  )
  const { password, pid, port } = yield* Effect.callback<Ready, PostgresFailed>((resume) => {
    const fail = (problem: string) => resume(Effect.fail(new PostgresFailed({ description: problem })))
    child.on("message", (message: { readonly ready?: Ready; readonly description?: string }) => {
      if (message.ready === undefined) fail(message.description ?? "no reason was given")
      else resume(Effect.succeed(message.ready))
    })
    child.on("exit", (code) => fail(`its process ended with ${code}`))
  })
  const urlOf = (name: string) => Redacted.make(`postgres://postgres:${password}@127.0.0.1:${port}/${name}`)
  const url = urlOf("postgres")
  return {
    url,
    database: (name) =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql`CREATE DATABASE ${sql(name)}`
        return urlOf(name)
      }).pipe(Effect.provide(PgClient.layer({ url })), Effect.orDie),
    freeze: Effect.sync(() => Signal.family("SIGSTOP", pid)),
    thaw: Effect.sync(() => Signal.family("SIGCONT", pid))
  } satisfies Postgres
})
