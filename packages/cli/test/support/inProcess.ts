/**
 * The command line in the process of the test. The test must not depend on signals, or on how the process starts and
 * ends: those need a process of their own.
 */
import * as Program from "../../src/internal/main.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect, Fiber, Layer, Stdio } from "effect"
import { format } from "node:util"
import * as Failure from "../../src/internal/failure.ts"

interface Written {
  stdout: string
  stderr: string
}

/** A console that keeps what is written, and then calls `heard`. */
export const captured = (heard: (written: Written) => void = () => {}) => {
  const written: Written = { stdout: "", stderr: "" }
  const write = (to: keyof Written, text: string): void => {
    written[to] += text
    heard(written)
  }
  const console: Console.Console = Object.assign(Object.create(globalThis.console), {
    log: (...values: ReadonlyArray<unknown>) => write("stdout", `${format(...values)}\n`),
    error: (...values: ReadonlyArray<unknown>) => write("stderr", `${format(...values)}\n`)
  })
  return { written, write, layer: Layer.succeed(Console.Console, console) }
}

/** The variables for a service at an origin. */
export const settings = (origin: string) =>
  Layer.succeed(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({ ASSEMBLY_AUTH_KEY: "key", ASSEMBLY_AUTH_SECRET: "secret", ASSEMBLY_BASE_URL: origin })
  )

/** The working directory of the tests, and the number of commands that run in another one. */
const folder = process.cwd()
let running = 0

/**
 * Runs a command in a folder. Its progress, which is written without the console, goes to `write`. A command that runs
 * beside another one has no progress.
 */
const inFolder = <A, E, R>(
  cwd: string,
  args: ReadonlyArray<string>,
  write: (text: string) => void,
  run: Effect.Effect<A, E, R>
) =>
  Effect.suspend(() => {
    const isFirst = running === 0
    const { argv } = process
    const stderr = process.stderr.write
    running += 1
    process.chdir(cwd)
    if (isFirst) {
      process.argv = [process.execPath, "assembly", ...args]
      process.stderr.write = (text: string | Uint8Array) => {
        write(String(text))
        return true
      }
    }
    return Effect.ensuring(
      run,
      Effect.sync(() => {
        running -= 1
        if (isFirst) {
          process.argv = argv
          process.stderr.write = stderr
        }
        if (running === 0) process.chdir(folder)
      })
    )
  })

/**
 * Runs the command line in a folder, with only these variables. `heard` gets what the command has written so far, and a
 * function that interrupts the command as Ctrl-C does.
 */
export const assembly = (
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: ReadonlyArray<string>,
  heard: (written: Readonly<Written>, interrupt: () => void) => void = () => {}
) =>
  Effect.gen(function* () {
    const interrupt = () => void setImmediate(() => command.interruptUnsafe())
    const { layer, write, written } = captured((all) => heard({ ...all }, interrupt))
    const services = Layer.mergeAll(
      Stdio.layerTest({ args: Effect.succeed(args) }),
      layer,
      Layer.succeed(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )
    const program = Effect.provide(Program.run("0.0.0"), Layer.provideMerge(services, NodeServices.layer))
    const command = yield* Effect.forkChild(inFolder(cwd, args, (text) => write("stderr", text), program))
    const exit = yield* Fiber.await(command)
    return { code: Failure.codeOfExit(exit), ...written }
  })
