import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ExitCode from "../ExitCode.ts"
import * as Program from "../Program.ts"
import * as StandardError from "../StandardError.ts"
import * as Fate from "./fate.ts"
import * as Invocation from "./invocation.ts"
import * as LostTerminal from "./lostTerminal.ts"

/** Runs the program to its end, and exits with the code of its outcome. */
export const main = (version: string): void =>
  Program.run(version).pipe(
    Effect.provide(Layer.provideMerge(StandardError.layer, NodeServices.layer)),
    // `Fate.run` also surrounds the layers, so that it prints what became of the work even if Ctrl-C arrives while the
    // layers are built.
    Fate.run(process.argv.slice(2)),
    Effect.provideService(Invocation.Program, Invocation.ofProcess({ env: process.env, path: process.argv[1] ?? "" })),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      teardown: (exit, onExit) => {
        const isLost = Exit.isFailure(exit) && LostTerminal.is(exit.cause)
        // If the output was lost, `launch.ts` has set the exit code.
        onExit(isLost ? Number(process.exitCode ?? ExitCode.codes.failed) : ExitCode.fromExit(exit))
      }
    })
  )
