/** An emulator in a process of its own, which a test can kill. */
import { Emulator } from "@assembly-effect/emulator"
import { RetryPolicy } from "@assembly-effect/api"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("./fixtures/emulator.ts", import.meta.url))

/** A client without retries. */
export const client = Client.signed().pipe(
  Layer.provide(RetryPolicy.layerNone),
  Layer.provideMerge(FetchHttpClient.layer)
)

/**
 * Starts an emulator. `command` runs before it in its shell. `within` runs a program with its client, and `kill` sends
 * SIGKILL and waits for the end of the process.
 */
export const start = Effect.fnUntraced(function* (
  options: { readonly data: string; readonly port?: number },
  command?: string
) {
  const args = [program, JSON.stringify(options)]
  const shell = ["-c", `${command} exec "$0" "$@"`, process.execPath, ...args]
  const child = spawn(command === undefined ? process.execPath : "sh", command === undefined ? args : shell, {
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  const kill = Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })
  yield* Effect.addFinalizer(() => kill)
  const said = yield* Effect.callback<Readonly<Record<string, string>>>((resume) => {
    child.once("message", (message: Readonly<Record<string, string>>) => resume(Effect.succeed(message)))
    child.once("exit", (code) => resume(Effect.die(new Error(`the emulator ended with ${code}`))))
  })
  const { baseUrl = "", key = "", secret = "" } = said
  const emulator = Layer.succeed(Emulator.Emulator, {
    baseUrl,
    localUrl: baseUrl,
    certificate: undefined,
    credentials: { key, secret: Redacted.make(secret) },
    workspace: "emulator"
  })
  const within = Effect.provideContext(yield* Layer.build(Layer.provideMerge(client, emulator)))
  return { kill, port: Number(new URL(baseUrl).port), within }
})
