/**
 * How a program is brought to run on each kind of runtime.
 */
import * as esbuild from "esbuild"
import { execFile, spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type * as Checks from "./checks.ts"

const programOf = (name: string) => fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url))

/** Longer than any of them takes. */
const timeout = 15 * 60_000

/** The text of a program for a runtime without files. */
export const bundle = async (name: "file" | "page" | "worker"): Promise<string> => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [programOf(name)],
    bundle: true,
    format: "esm",
    target: "es2024",
    platform: name === "worker" ? "neutral" : "browser",
    minify: true,
    write: false
  })
  return outputFiles[0]?.text ?? ""
}

/** The first line of what a command says about its version. */
export const version = (command: string, args: ReadonlyArray<string> = ["--version"]): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(command, [...args], (error, stdout) => resolve(error === null ? stdout.split("\n")[0]?.trim() : undefined))
  })

/** A program with the interface of Node: the config goes in by the environment, the report is its last line. */
export const process = (
  command: string,
  args: ReadonlyArray<string>,
  config: Checks.Config,
  environment: NodeJS.ProcessEnv
): Promise<Checks.Report> =>
  new Promise((resolve, reject) => {
    const env = { ...environment, RUNTIME_CONFIG: JSON.stringify(config) }
    execFile(command, [...args, programOf("process")], { env, timeout }, (error, stdout, stderr) => {
      const line = stdout.trim().split("\n").at(-1) ?? ""
      if (error === null) resolve(JSON.parse(line))
      else reject(new Error(stderr.trim().split("\n").slice(-12).join("\n")))
    })
  })

const workerConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .program),
    (name = "internet", network = (allow = ["public", "private", "local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const program :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01"
);
`

/** Ends a process that was started here, and what it has started. */
const end = async (child: ChildProcess) => {
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once("exit", resolve))
  globalThis.process.kill(-child.pid, "SIGKILL")
  await ended
}

/** The first match in what a process writes. */
const said = (child: ChildProcess, pattern: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ""
    const hear = (piece: Buffer) => {
      text += piece.toString()
      const found = pattern.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on("data", hear)
    child.stderr?.on("data", hear)
    child.once("exit", () => reject(new Error(`it ended: ${text.slice(-400)}`)))
  })

const temporary = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "runtimes-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** workerd, with the program as its worker. */
export const workerd = (command: string, config: Checks.Config): Promise<Checks.Report> =>
  temporary(async (folder) => {
    writeFileSync(join(folder, "worker.js"), await bundle("worker"))
    writeFileSync(join(folder, "config.capnp"), workerConfig)
    const child = spawn(command, ["serve", join(folder, "config.capnp"), "--control-fd=1"], { detached: true })
    try {
      const port = await said(child, /"port":(\d+)/)
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(config) })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text.slice(0, 400))
      return JSON.parse(text)
    } finally {
      await end(child)
    }
  })

/** A browser with an empty profile, for as long as it is used. `use` gets the endpoint of its remote control. */
export const browser = <A>(
  command: string,
  args: (profile: string) => ReadonlyArray<string>,
  use: (endpoint: string, pid: number) => Promise<A>
): Promise<A> =>
  temporary(async (profile) => {
    const child = spawn(command, [...args(profile)], { detached: true })
    try {
      const endpoint = await said(child, /listening on (ws:\S+)/i)
      return await Promise.race([
        use(endpoint, child.pid ?? 0),
        sleep(timeout, undefined, { ref: false }).then(() =>
          Promise.reject(new Error("the page did not report in time"))
        )
      ])
    } finally {
      await end(child)
    }
  })
