/**
 * Installs the runtimes that npm provides into a cache folder, when they are needed. Together they are too large to be
 * installed with the workspace.
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../node_modules/.cache/runtimes", import.meta.url))
const wanted = readFileSync(new URL("tools.json", import.meta.url), "utf8")

/** Installs the runtimes, unless the same versions are installed already. */
export const install = (): void => {
  const done = join(folder, "done.json")
  if (existsSync(done) && readFileSync(done, "utf8") === wanted) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), wanted)
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, stdio: "ignore" })
  writeFileSync(done, wanted)
}

/** The possible paths of each program in `node_modules`. The first existing path is used. */
const places = {
  "node-oldest": ["node-oldest/bin/node", "node-oldest/node_modules/node-*/bin/node"],
  "node-newest": ["node-newest/bin/node", "node-newest/node_modules/node-*/bin/node"],
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
