/**
 * Runs the commands of a page in a shell, as a reader does: in an empty folder, with the service of `assembly emulator`.
 * What differs between two runs is replaced by a sample of the same form, so that the page shows the same in every run.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn, type ChildProcess } from "node:child_process"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Command } from "./console.ts"
import { visible } from "./screen.ts"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))
const terminal = fileURLToPath(new URL("../fixtures/terminal.ts", import.meta.url))

/** When every session starts. Its minutes and seconds depend on the machine. */
const start = Date.UTC(2026, 6, 1, 12)
const day = "2026-07-01"

/** The address of the service in every page. */
const address = "127.0.0.1:8099"

/** A command that runs until the end of the session, in a terminal of its own. */
const isService = (command: string) => /^assembly emulator(?!.* -- )/.test(command)

/** The service of a page that does not start one itself. */
const service: Command = { text: "assembly emulator --key my-key --secret my-secret", isInterrupted: false }

/** The `n`-th id of a session, in the form of the id that it stands for. */
const sampleOf = (id: string, n: number): string => {
  const digest = createHash("sha256").update(`id ${n}`).digest()
  return id.length === 32 ? digest.toString("hex", 0, 16) : `${digest.toString("base64url", 0, 16).slice(0, 21)}A`
}

/** Ids: of Assemblies and Templates in hexadecimal, of assets in base64url. */
const ids = /(?<![\w-])(?:[0-9a-f]{32}|(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{21}[AQgw])(?![\w-])/g

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

/** Keeps the width of a cell in a table. */
const inPlaceOf = (sample: string) => (found: string) =>
  found.startsWith("  ") ? sample.padStart(found.length) : found.replace(/\S.*/, sample)

/** What depends on the machine and the moment, and what a page shows in its place. */
const samples: ReadonlyArray<readonly [pattern: RegExp, sample: (found: string) => string]> = [
  [/127\.0\.0\.1:\d{4,5}/g, () => address],
  [new RegExp(`(?<=${day}[ T])12:\\d\\d`, "g"), () => "12:00"],
  [/\b12:\d\d:\d\d(?:\.\d+)?/g, () => "12:00:00"],
  [/ *\b(?:\d+ min )?\d+(?:\.\d)? s\b/g, inPlaceOf("0.1 s")],
  [/ *\b\d+(?:\.\d)? [kMG]?B\/s/g, inPlaceOf("5.0 MB/s")],
  // The length of a bar depends on the texts beside it.
  [/█+(?= +100%)/g, () => "█".repeat(20)]
]

/** The progress of an upload that was interrupted. A terminal shows `^C` there. */
const unfinished = /^.*[█▓░].*$/gm

const exited = (child: ChildProcess) => new Promise<void>((resolve) => child.once("exit", () => resolve()))

/** Runs commands one after the other. Returns their outputs. */
export const run = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const programs = yield* fs.makeTempDirectoryScoped()
  const quoted = [process.execPath, "--import", terminal, bin].map((word) => `'${word}'`).join(" ")
  yield* fs.writeFileString(`${programs}/assembly`, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 })
  const { PATH = "" } = process.env
  const env: Record<string, string> = {
    PATH: `${programs}:${PATH}`,
    NO_COLOR: "1",
    XDG_CACHE_HOME: programs,
    XDG_STATE_HOME: programs,
    CLOCK_SHIFT: String(start - Date.now())
  }

  const shown = new Map<string, string>()
  let origin = address

  const toReal = (command: string): string => {
    const real = Array.from(shown).reduce((text, [id, sample]) => text.replaceAll(sample, id), command)
    return real.replaceAll(address, origin).replaceAll(/--port \d+/g, "--port 0")
  }

  const toShown = (output: string): string => {
    const md5s = md5sIn(folder)
    const known = output.replace(ids, (id) => {
      if (md5s.has(id)) return id
      const sample = shown.get(id) ?? sampleOf(id, shown.size + 1)
      shown.set(id, sample)
      return sample
    })
    return samples.reduce((text, [pattern, sample]) => text.replace(pattern, sample), known)
  }

  /** The text on the terminal when the command has ended, or when `until` accepts it. */
  const output = ({ isInterrupted, text }: Command, until: (output: string) => boolean) =>
    Effect.callback<string>((resume) => {
      const child = spawn("sh", ["-c", `exec 2>&1\n${toReal(text)}`], {
        cwd: folder,
        env,
        // A group of its own, which gets the signal as from a terminal.
        detached: true,
        stdio: ["ignore", "pipe", "inherit"]
      })
      const signal = (name: NodeJS.Signals) => process.kill(-(child.pid ?? 0), name)
      let written = ""
      let isSignaled = false
      child.stdout.on("data", (bytes: Buffer) => {
        written += String(bytes)
        if (until(written)) resume(Effect.succeed(written))
        if (isInterrupted && !isSignaled && visible(written).length > 1) {
          isSignaled = true
          signal("SIGINT")
        }
      })
      child.once("close", () => resume(Effect.succeed(written)))
      stops.push(() => {
        if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
        const ended = exited(child)
        signal("SIGTERM")
        return ended
      })
    })

  const stops: Array<() => Promise<void>> = []
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(stops.map((stop) => stop()))))

  /** The lines that a reader sees at the end. */
  const read = (written: string, isInterrupted: boolean): string => {
    const lines = visible(written).map((line) => line.trimEnd())
    const text = toShown(lines.join("\n").replace(/\n+$/, ""))
    return `${isInterrupted ? text.replace(unfinished, "^C") : text}\n`.replace(/^\n$/, "")
  }

  const perform = Effect.fnUntraced(function* (command: Command) {
    if (!isService(command.text)) return read(yield* output(command, () => false), command.isInterrupted)
    const started = yield* output(command, (written) => written.includes("Running"))
    origin = /127\.0\.0\.1:\d+/.exec(started)?.[0] ?? address
    return read(started, false)
  })

  if (!commands.some(({ text }) => isService(text))) {
    const exported = (yield* perform(service)).matchAll(/^export (\w+)=(.*)$/gm)
    for (const [, name = "", value = ""] of exported) env[name] = value.replace(address, origin)
  }
  return yield* Effect.forEach(commands, perform)
})
