/**
 * Starts a program on each kind of runtime.
 */
import * as esbuild from "esbuild"
import { execFile, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as Command from "../Command.ts"
import * as Page from "../browser/Page.ts"
import type * as Checks from "./checks.ts"
import type { Front } from "./front.ts"

const programOf = (name: string) => fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url))

/** The time limit of one program in milliseconds. Every program needs less time. */
const timeout = 15 * 60_000

/** Bundles a program into one script, for a runtime that loads no files. */
export const bundle = async (name: "page" | "worker"): Promise<string> => {
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

/**
 * Runs the program on Node, Bun or Deno. An environment variable contains the config, and the last line of the output
 * is the report.
 */
export const process = async (
  command: string,
  args: ReadonlyArray<string>,
  config: Checks.Config
): Promise<Checks.Report> => {
  const env = { ...globalThis.process.env, RUNTIME_CONFIG: JSON.stringify(config) }
  const { stdout } = await promisify(execFile)(command, [...args, programOf("process")], { env, timeout })
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "")
}

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

/** Runs workerd with the program as its worker. */
export const workerd = async (command: string, config: Checks.Config): Promise<Checks.Report> => {
  const folder = mkdtempSync(join(tmpdir(), "runtimes-"))
  writeFileSync(join(folder, "worker.js"), await bundle("worker"))
  writeFileSync(join(folder, "config.capnp"), workerConfig)
  const child = spawn(command, ["serve", join(folder, "config.capnp"), "--control-fd=1"], { detached: true })
  try {
    const [, port] = /"port":(\d+)/.exec(await Command.said(child, /"port":\d+/)) ?? []
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(config) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(text.slice(0, 400))
    return JSON.parse(text)
  } finally {
    await Command.end(child, "SIGKILL")
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Opens the page of the program in a browser, and waits for its report. */
export const browser = async (kind: Page.Kind, { nextReport, pageUrl }: Front): Promise<Checks.Report> => {
  const started = await Page.launch(kind)
  try {
    const reported = nextReport()
    await (await started.newPage()).goto(pageUrl)
    const late = sleep(timeout, undefined, { ref: false }).then(() => ({
      statistics: "the page did not report in time"
    }))
    return await Promise.race([reported, late])
  } finally {
    await started.close()
  }
}
