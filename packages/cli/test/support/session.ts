/**
 * Runs the commands of a page in a shell, as a reader does: in an empty folder, with the service of `assembly emulator`.
 */
import { Effect, FileSystem } from "effect"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Command } from "./console.ts"
import * as Samples from "./samples.ts"
import { visible } from "./screen.ts"
import * as Spawned from "./spawned.ts"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))
const asTerminal = fileURLToPath(new URL("../fixtures/asTerminal.ts", import.meta.url))

/** Where the commands of a session run. */
interface Place {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** An empty folder whose path is as long as the sample. */
const makeFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  // A program prints its folder without links.
  const directory = yield* fs.realPath("/tmp")
  const random = 6
  const prefix = "assembly-docs-".slice(0, Samples.folder.length - `${directory}/`.length - random)
  return yield* fs.makeTempDirectoryScoped({ directory, prefix })
})

/** An empty folder, and `assembly` in the path of the shell. */
const makePlace = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* makeFolder
  const home = yield* fs.makeTempDirectoryScoped()
  const program = [process.execPath, "--import", asTerminal, bin].map((word) => `'${word}'`).join(" ")
  yield* fs.makeDirectory(`${home}/bin`)
  yield* fs.writeFileString(`${home}/bin/assembly`, `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 })
  const env: Record<string, string> = {
    PATH: `${home}/bin:${process.env["PATH"] ?? ""}`,
    NO_COLOR: "1",
    XDG_CACHE_HOME: home,
    XDG_STATE_HOME: home,
    CLOCK_SHIFT: String(Samples.start - Date.now())
  }
  return { cwd, env }
})

interface Run {
  readonly written: string
  /** Undefined while the command runs; null if a signal has ended it. */
  readonly exitCode: number | null | undefined
}

/**
 * Starts a command in a shell. Returns when it ends, or as soon as `isReady`. It is stopped with the scope. An
 * interrupted command gets Ctrl-C when its progress has reached 10 %. An answered command gets `y` after its question.
 */
const start = (
  { isAnswered, isInterrupted, text: script }: Command,
  { cwd, env }: Place,
  isReady?: (output: string) => boolean
) =>
  Effect.gen(function* () {
    // A group of its own gets the signals, as from a terminal.
    const child = spawn("sh", ["-c", `exec 2>&1\n${script}`], {
      cwd,
      env: { ...Spawned.compiled, ...env },
      detached: true,
      stdio: [isAnswered ? "pipe" : "ignore", "pipe", "inherit"]
    })
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
    const signal = (name: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), name)
    }
    yield* Effect.addFinalizer(() =>
      Effect.promise(() => {
        signal("SIGTERM")
        return ended
      })
    )
    return yield* Effect.callback<Run>((resume) => {
      let written = ""
      let isRunning = isInterrupted
      let isAsked = false
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        written += text
        if (isReady?.(written) === true) resume(Effect.succeed({ written, exitCode: undefined }))
        if (isAnswered && !isAsked && written.includes("(y/N)")) {
          isAsked = true
          child.stdin?.end("y\r")
        }
        if (isRunning && /\b[1-9]\d%/.test(written)) {
          isRunning = false
          signal("SIGINT")
        }
      })
      void ended.then((exitCode) => resume(Effect.succeed({ written, exitCode })))
    })
  })

/** The MD5s of the files in a folder, which have the form of an id. */
const md5sIn = (folder: string): ReadonlySet<string> =>
  new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) =>
        createHash("md5")
          .update(readFileSync(join(parentPath, name)))
          .digest("hex")
      )
  )

/** The output of an interrupted command: `^C` after its first line, in place of the progress. */
const interrupted = (output: string): string => {
  const [first = "", ...others] = output.split("\n").slice(0, -1)
  const lines = [first, "^C", ...others.filter((line) => !/[█▓░]/.test(line))]
  return `${lines.join("\n")}\n`
}

/** The lines that a reader sees at the end. */
const read = (written: string): string => {
  const lines = visible(written).map((line) => line.trimEnd())
  return `${lines.join("\n").replace(/\n+$/, "")}\n`.replace(/^\n$/, "")
}

/** A command that runs until the end of the session, in a terminal of its own. */
const isService = ({ text }: Command): boolean => text.startsWith("assembly emulator") && !text.includes(" -- ")

/** The service of a page that starts none. */
const service: Command = {
  text: "assembly emulator --key my-key --secret my-secret",
  isInterrupted: false,
  isAnswered: false
}

/**
 * A page is no place for an unexpected failure, also not with `vitest -u`. A command that should fail is followed by
 * `; echo "exit code $?"`.
 */
const checkEnd = ({ isInterrupted, text }: Command, { exitCode, written }: Run) =>
  exitCode === 0 || (isInterrupted && exitCode !== 1)
    ? Effect.void
    : Effect.die(new Error(`${text}: exit code ${exitCode}\n${written}`))

/** Runs commands one after the other. Returns their outputs, with samples for what differs between two runs. */
export const run = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
  const { cwd, env } = yield* makePlace
  const { toReal, toShown } = Samples.make()
  let address = Samples.address
  const serve = Effect.fnUntraced(function* ({ text, ...how }: Command) {
    const command = { ...how, text: text.replace(/--port \d+/, "--port 0") }
    const started = yield* start(command, { cwd, env }, (output) => output.includes("Running"))
    if (started.exitCode !== undefined) return yield* Effect.die(new Error(`${text} has ended\n${started.written}`))
    address = /127\.0\.0\.1:\d+/.exec(started.written)?.[0] ?? address
    return started.written
  })
  const perform = Effect.fnUntraced(function* (command: Command) {
    if (isService(command)) return toShown(read(yield* serve(command)), new Set())
    const text = toReal(command.text).replaceAll(Samples.address, address)
    const ended = yield* start({ ...command, text }, { cwd, env })
    yield* checkEnd(command, ended)
    const shown = toShown(read(ended.written.replaceAll(cwd, Samples.folder)), md5sIn(cwd))
    return command.isInterrupted ? interrupted(shown) : shown
  })

  if (!commands.some(isService)) {
    for (const [, name = "", value = ""] of (yield* serve(service)).matchAll(/^export (\w+)=(.*)$/gm)) env[name] = value
  }
  return yield* Effect.forEach(commands, perform)
})
