/**
 * The command line in the process of the test. The test must not depend on signals, or on how the process starts and
 * ends: those need a process of their own.
 */
import * as Program from "../../src/internal/main.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import { format } from "node:util"
import * as Failure from "../../src/internal/failure.ts"
import * as Output from "../../src/internal/output.ts"

/** A console that keeps what is written. */
export const captured = () => {
  const written = { stdout: "", stderr: "" }
  const console: Console.Console = Object.assign(Object.create(globalThis.console), {
    log: (...values: ReadonlyArray<unknown>) => void (written.stdout += `${format(...values)}\n`),
    error: (...values: ReadonlyArray<unknown>) => void (written.stderr += `${format(...values)}\n`)
  })
  return { written, layer: Layer.succeed(Console.Console, console) }
}

/** The variables for a service at an origin. */
export const settings = (origin: string) =>
  Layer.succeed(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({
      ASSEMBLY_AUTH_KEY: "key",
      ASSEMBLY_AUTH_SECRET: "secret",
      ASSEMBLY_BASE_URL: origin
    })
  )

/** Runs the command line in a folder, with only these variables. */
export const assembly = (cwd: string, env: Readonly<Record<string, string>>, args: ReadonlyArray<string>) =>
  Effect.suspend(() => {
    const { layer, written } = captured()
    const stderr = process.stderr.write
    const folder = process.cwd()
    process.chdir(cwd)
    // Progress is written without the console.
    process.stderr.write = (text: string | Uint8Array) => {
      written.stderr += String(text)
      return true
    }
    const services = Layer.mergeAll(
      Stdio.layerTest({ args: Effect.succeed(args) }),
      layer,
      Layer.succeed(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )
    return Program.run("0.0.0").pipe(
      Effect.provide(
        Output.standardErrorLayer.pipe(Layer.provideMerge(services), Layer.provideMerge(NodeServices.layer))
      ),
      Effect.exit,
      Effect.map((exit) => ({ code: Failure.codeOfExit(exit), ...written })),
      Effect.ensuring(
        Effect.sync(() => {
          process.stderr.write = stderr
          process.chdir(folder)
        })
      )
    )
  })
