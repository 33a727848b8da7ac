/**
 * Runs another program with the environment of the emulator.
 */
import * as Effect from "effect/Effect"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { constants } from "node:os"

/**
 * The program cannot be started, or was ended by a signal.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotRun extends Schema.TaggedError<NotRun>()("NotRun", {
  command: Schema.String,
  description: Schema.String,
  exitCode: Schema.Int
}) {
  override readonly [Runtime.errorExitCode] = this.exitCode
  override get message() {
    return `${this.command}: ${this.description}`
  }
}

/**
 * The program ended with an exit code other than 0. The program has reported its failure itself, so this process prints
 * nothing.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProgramFailed extends Schema.TaggedError<ProgramFailed>()("ProgramFailed", { exitCode: Schema.Int }) {
  override readonly [Runtime.errorExitCode] = this.exitCode
  override readonly [Runtime.errorReported] = false
  override get message() {
    return `the program ended with the exit code ${this.exitCode}`
  }
}

/** Why a program cannot start, and the exit codes that shells use for these problems. */
const problems: Readonly<Record<string, readonly [description: string, exitCode: number]>> = {
  NotFound: ["there is no such command", 127],
  PermissionDenied: ["permission denied", 126]
}

const toNotStarted =
  (command: string) =>
  ({ message, reason }: PlatformError.PlatformError): NotRun => {
    const [problem, exitCode] = problems[reason._tag] ?? [message, 126]
    return new NotRun({ command, description: problem, exitCode })
  }

/** A program that a signal has ended has no exit code. The error of the platform names the signal only in its cause. */
const toStopped =
  (command: string) =>
  ({ reason }: PlatformError.PlatformError): NotRun => {
    const [signal = "a signal"] = "cause" in reason ? (/SIG[A-Z0-9]+/.exec(String(reason.cause)) ?? []) : []
    const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0
    return new NotRun({ command, description: `it was ended by ${signal}`, exitCode: 128 + number })
  }

/**
 * Runs a program with its arguments, with more variables in its environment, and with the input and output of this
 * process. Fails with the exit code of the program, if this code is not 0.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  [command = "", ...args]: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
): Effect.Effect<void, NotRun | ProgramFailed, ChildProcessSpawner.ChildProcessSpawner> =>
  Effect.gen(function* () {
    const io = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const
    // A detached program would not be in the foreground of its terminal, and would not receive Ctrl-C.
    const options = { ...io, env, extendEnv: true, detached: false }
    const started = yield* Effect.mapError(ChildProcess.make(command, args, options), toNotStarted(command))
    const exitCode = yield* Effect.mapError(started.exitCode, toStopped(command))
    if (exitCode !== 0) return yield* new ProgramFailed({ exitCode })
  }).pipe(Effect.scoped)
