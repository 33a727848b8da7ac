/**
 * A project outside of this repository that installs the packages with npm.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import * as Command from "./Command.ts"
import { versionOf } from "./Repository.ts"
import type { Tarball } from "./Tarballs.ts"

const require = createRequire(import.meta.url)

/** The oldest and the newest version of Node on which the packages are run. */
const nodes = {
  oldest: join(dirname(require.resolve("node-oldest/package.json")), "bin", "node"),
  newest: join(dirname(require.resolve("node-newest/package.json")), "bin", "node")
} as const

export type Runtime = keyof typeof nodes

export interface Project {
  readonly folder: string
  /** The output of `npm install`. */
  readonly installed: string
  /** Runs a program of the project with the Node of the project. */
  readonly node: (
    args: ReadonlyArray<string>,
    env?: Readonly<Record<string, string | undefined>>
  ) => Promise<Command.Outcome>
  readonly nodePath: string
  readonly write: (path: string, text: string) => void
  readonly remove: () => void
}

/** The environment in which npm and programs use a version of Node. Settings of this workspace must not affect it. */
export const environment = (runtime: Runtime): Readonly<Record<string, string | undefined>> => ({
  // npm uses the first Node in PATH.
  PATH: [dirname(nodes[runtime]), process.env["PATH"]].join(delimiter),
  NODE_PATH: undefined,
  NODE_OPTIONS: undefined
})

/** Creates a project, and installs the tarballs and the other packages that an application needs. */
export const make = async (runtime: Runtime, tarballs: ReadonlyArray<Tarball>): Promise<Project> => {
  const folder = mkdtempSync(join(tmpdir(), "foreign-project-"))
  const nodePath = nodes[runtime]
  const env = environment(runtime)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  // The same commands as in the README.
  await Command.runOrFail("npm", ["init", "-y"], { cwd: folder, env })
  await Command.runOrFail("npm", ["pkg", "set", "type=module"], { cwd: folder, env })
  const beside = ["effect", "@effect/platform-node", "@effect/sql-pg", "typescript", "@types/node"]
  const installed = await Command.runOrFail(
    "npm",
    [
      "install",
      "--no-audit",
      "--no-fund",
      "--engine-strict",
      ...tarballs.map(({ path }) => path),
      ...beside.map((name) => `${name}@${versionOf(name)}`)
    ],
    { cwd: folder, env }
  )
  return {
    folder,
    installed,
    nodePath,
    node: (args, more) => Command.run(nodePath, args, { cwd: folder, env: { ...env, ...more } }),
    write,
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
