/**
 * Installs the runtimes that npm provides into a cache folder, when they are needed. Together they are too large to be
 * installed with the workspace.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Installed from "../installed.ts"

const folder = join(import.meta.dirname, "../../node_modules/.cache/runtimes")

/** Installs the runtimes, unless the same versions are installed already. */
export const install = () =>
  Installed.install("runtimes", { "package.json": readFileSync(new URL("tools.json", import.meta.url), "utf8") }, [
    "install"
  ])

/** The possible paths of each program in `node_modules`. The first existing path is used. */
const places = {
  bun: ["@oven/bun-*/bin/bun", "bun/bin/bun.exe"],
  deno: ["@deno/*/deno"],
  workerd: ["@cloudflare/workerd-*/bin/workerd"]
} as const

export type Tool = keyof typeof places

/** The path of the program of a runtime, or undefined if npm provides none for this machine. */
export const find = (tool: Tool): string | undefined =>
  places[tool]
    .flatMap((place) => globSync(join("node_modules", place), { cwd: folder }))
    .map((found) => join(folder, found))[0]
