/** Runs commands against a server that accepts connections and never answers. */
import * as Program from "@assembly-effect/cli/Program"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as TestClock from "effect/testing/TestClock"
import * as ExitCode from "@assembly-effect/cli/ExitCode"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { format } from "node:util"
import * as Screen from "./support/screen.ts"

/** A server that never answers. `asked` resolves when the first request has arrived. */
const silent = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ readonly host: string; readonly asked: Promise<void>; readonly close: () => void }>((resolve) => {
        const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
        const server = createServer(() => ask())
        server.listen(0, "127.0.0.1", () =>
          resolve({
            host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
            asked,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          })
        )
      })
  ),
  ({ close }) => Effect.sync(close)
)

const start = Effect.fnUntraced(function* (host: string, args: ReadonlyArray<string>) {
  const written = { stdout: "", stderr: "" }
  const console: Console.Console = Object.assign(Object.create(globalThis.console), {
    log: (...values: ReadonlyArray<unknown>) => void (written.stdout += `${format(...values)}\n`),
    error: (...values: ReadonlyArray<unknown>) => void (written.stderr += `${format(...values)}\n`)
  })
  const fiber = yield* Program.run("0.1.0").pipe(
    Effect.provide(
      Layer.mergeAll(
        Screen.make({ columns: 200, animated: false }).layer,
        Stdio.layerTest({ args: Effect.succeed(args) }),
        Layer.succeed(Console.Console, console),
        Layer.succeed(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromUnknown({
            ASSEMBLY_AUTH_KEY: "key",
            ASSEMBLY_AUTH_SECRET: "secret",
            ASSEMBLY_BASE_URL: `http://${host}`
          })
        )
      ).pipe(Layer.provideMerge(NodeServices.layer))
    ),
    Effect.exit,
    Effect.forkScoped
  )
  return { fiber, written }
})

it.effect("a command says what it waits for, and gives up after a minute", () =>
  Effect.gen(function* () {
    const { asked, host } = yield* silent
    const { fiber, written } = yield* start(host, ["list"])
    yield* Effect.promise(() => asked)
    yield* TestClock.adjust("5 seconds")
    expect(written).toEqual({ stdout: "", stderr: `Waiting for ${host} …\n` })
    yield* TestClock.adjust("55 seconds")
    const exit = yield* Fiber.join(fiber)
    expect(ExitCode.fromExit(exit)).toBe(ExitCode.codes.network)
    expect(Exit.isFailure(exit)).toBe(true)
    expect(written.stderr.match(/Waiting for/g)).toHaveLength(1)
  })
)

it.effect("a new upload gives up after two minutes, because nothing is kept", () =>
  Effect.gen(function* () {
    const { asked, host } = yield* silent
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/a.txt`, "meow")
    // Without a home folder, the journal is in memory, so that its leases follow the clock of the test.
    const { fiber, written } = yield* start(host, ["upload", `${folder}/a.txt`])
    yield* Effect.promise(() => asked)
    yield* TestClock.adjust("5 seconds")
    yield* Effect.forEach(Array.from({ length: 130 }), () => TestClock.adjust("1 second"), { discard: true })
    const exit = yield* Fiber.join(fiber)
    expect(ExitCode.fromExit(exit)).toBe(ExitCode.codes.network)
    expect(written.stdout).toBe("")
    expect(written.stderr).toMatch(/^assembly: Assemblies\.\w+(?: at 127\.0\.0\.1:\d+)?: .*\n/)
    expect(written.stderr).not.toContain("kept")
  }).pipe(Effect.provide(NodeServices.layer))
)

it.effect("doctor prints what it knows at once, and waits 10 seconds for an answer", () =>
  Effect.gen(function* () {
    const { asked, host } = yield* silent
    const { fiber, written } = yield* start(host, ["doctor"])
    yield* Effect.promise(() => asked)
    expect(written.stdout).toMatch(/^✓ settings .*\n$/)
    yield* TestClock.adjust("10 seconds")
    const exit = yield* Fiber.join(fiber)
    expect(ExitCode.fromExit(exit)).toBe(ExitCode.codes.network)
    expect(written.stdout).toContain(`✗ address       ${host} did not answer within 10 s\n`)
  })
)
