/**
 * The runtimes, each with a function that runs the program on it.
 */
import { spawnSync } from "node:child_process"
import * as Foreign from "../packages/Foreign.ts"
import * as Page from "../browser/Page.ts"
import type * as Checks from "./checks.ts"
import type { Front } from "./front.ts"
import * as Launch from "./launch.ts"
import * as Tools from "./tools.ts"

export interface Row {
  readonly name: string
  /** The protocol of the front server. With `direct`, the program sends its requests directly to the service. */
  readonly protocol: "direct" | "HTTP/1.1" | "HTTP/2"
  /** Undefined if this machine does not have the runtime. */
  readonly run: (front: Front) => Promise<Checks.Report | undefined>
}

const runs = (command: string): boolean => spawnSync(command, ["--version"], { stdio: "ignore" }).status === 0

const direct = (
  name: string,
  find: () => string | undefined,
  run: (command: string, config: Checks.Config) => Promise<Checks.Report>
): Row => ({
  name,
  protocol: "direct",
  run: async ({ config }) => {
    const command = find()
    return command !== undefined && runs(command) ? run(command, config) : undefined
  }
})

const processRow = (name: string, find: () => string | undefined, args: ReadonlyArray<string> = []): Row =>
  direct(name, find, (command, config) => Launch.process(command, args, config))

const browserRow = (title: string, browser: Page.Kind["name"], protocol: "HTTP/1.1" | "HTTP/2"): Row => ({
  name: `${title}, ${protocol}`,
  protocol,
  run: async (front) => {
    const kind = Page.find(browser)
    return kind && Launch.browser(kind, front)
  }
})

export const rows: ReadonlyArray<Row> = [
  processRow("Node, oldest", () => Foreign.nodes.oldest),
  processRow("Node, of this workspace", () => process.execPath),
  processRow("Node, newest", () => Foreign.nodes.newest),
  processRow("Bun", () => Tools.find("bun"), ["run"]),
  processRow("Deno", () => Tools.find("deno"), ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual"]),
  direct("workerd", () => Tools.find("workerd"), Launch.workerd),
  browserRow("Chromium", "chrome", "HTTP/1.1"),
  browserRow("Chromium", "chrome", "HTTP/2"),
  browserRow("Firefox", "firefox", "HTTP/1.1"),
  browserRow("Firefox", "firefox", "HTTP/2")
]
