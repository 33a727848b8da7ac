/**
 * A project outside of this repository that installs the packages with npm.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import * as Command from "../Command.ts"
import { versionOf } from "./Repository.ts"
import * as Service from "./Service.ts"
import type { Tarball } from "./Tarballs.ts"

const require = createRequire(import.meta.url)

/** The oldest and the newest version of Node on which the packages are run. */
export const nodes = {
  oldest: join(dirname(require.resolve("node-oldest/package.json")), "bin", "node"),
  newest: join(dirname(require.resolve("node-newest/package.json")), "bin", "node")
} as const

export type Runtime = keyof typeof nodes

export type Project = Awaited<ReturnType<typeof make>>

/** The environment in which npm and programs use a version of Node. Settings of this workspace must not affect it. */
export const environment = (runtime: Runtime): Readonly<Record<string, string | undefined>> => ({
  // npm uses the first Node in PATH.
  PATH: [dirname(nodes[runtime]), process.env["PATH"]].join(delimiter),
  NODE_PATH: undefined,
  NODE_OPTIONS: undefined
})

/** The other packages that an application needs, in the versions with which the packages are developed. */
const beside = ["effect", "@effect/platform-node", "@effect/sql-pg", "typescript", "@types/node"].map(
  (name) => `${name}@${versionOf(name)}`
)

/** Creates a project, and installs the tarballs and other packages. */
export const make = async (
  runtime: Runtime,
  tarballs: ReadonlyArray<Tarball>,
  others: ReadonlyArray<string> = beside
) => {
  const folder = mkdtempSync(join(tmpdir(), "foreign-project-"))
  const env = environment(runtime)
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write("package.json", JSON.stringify({ private: true, type: "module" }))
  const packages = [...tarballs.map(({ path }) => path), ...others]
  await Command.runOrFail("npm", ["install", "--no-audit", "--no-fund", "--engine-strict", ...packages], {
    cwd: folder,
    env
  })
  return {
    folder,
    /** Runs the emulator that the project has installed, with what the programs of the READMEs need. */
    emulator: () => {
      const content = { steps: { stored: { robot: "/transloadit/store" } } }
      write("templates.json", JSON.stringify([{ id: "my-template", content }]))
      write("cat.jpg", "not really a cat")
      return Service.start("node_modules/.bin/assembly emulator --templates templates.json", { cwd: folder, env })
    },
    /** Runs a program of the project with the Node of the project. */
    node: (args: ReadonlyArray<string>, more?: Readonly<Record<string, string | undefined>>) =>
      Command.run(nodes[runtime], args, { cwd: folder, env: { ...env, ...more } }),
    write,
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
