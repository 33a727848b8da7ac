/**
 * The runtimes that npm has, installed into a folder of the cache when they are wanted. They are too large for everybody
 * who installs the workspace.
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../node_modules/.cache/runtimes", import.meta.url))
const wanted = readFileSync(new URL("tools.json", import.meta.url), "utf8")

/** Installs them, unless the same ones are there. */
export const install = (): void => {
  const done = join(folder, "done.json")
  if (existsSync(done) && readFileSync(done, "utf8") === wanted) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), wanted)
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, stdio: "ignore" })
  writeFileSync(done, wanted)
}

/** Where the programs are, below the folder; the first that is found. */
const places = {
  "node-oldest": ["node-oldest/bin/node", "node-oldest/node_modules/node-*/bin/node"],
  "node-newest": ["node-newest/bin/node", "node-newest/node_modules/node-*/bin/node"],
  bun: ["@oven/bun-*/bin/bun", "bun/bin/bun.exe"],
  deno: ["@deno/*/deno"],
  workerd: ["@cloudflare/workerd-*/bin/workerd"]
} as const

export type Tool = keyof typeof places

/** The program of a runtime, or undefined where npm has none for this machine. */
export const find = (tool: Tool): string | undefined =>
  places[tool]
    .flatMap((place) => globSync(join("node_modules", place), { cwd: folder }))
    .map((found) => join(folder, found))[0]
