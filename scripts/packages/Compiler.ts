/**
 * Runs the TypeScript versions that users have, and returns their diagnostics of a project outside of this repository.
 */
import { createRequire } from "node:module"
import { join } from "node:path"
import * as Command from "../Command.ts"
import type { Project } from "./Foreign.ts"

const require = createRequire(import.meta.url)

const versions = {
  "TypeScript 7": (project: Project) => join(project.folder, "node_modules", "typescript", "bin", "tsc"),
  "TypeScript 5": () => require.resolve("typescript-5/bin/tsc")
} as const

type Version = keyof typeof versions

const resolutions = {
  nodenext: ["--module", "nodenext"],
  bundler: ["--module", "esnext", "--moduleResolution", "bundler"]
} as const

export interface Options {
  readonly version: Version
  readonly resolution: keyof typeof resolutions
  readonly exactOptionalPropertyTypes: boolean
  /** The libraries of the platform. `es2022` alone has no DOM. */
  readonly lib?: "es2022" | "es2022,dom"
  /** Writes declarations into this folder of the project. */
  readonly declarations?: string
}

/** The diagnostics of the compiler for files of a project. The declarations of the packages are checked too. */
export const diagnose = async (
  project: Project,
  files: ReadonlyArray<string>,
  { declarations, exactOptionalPropertyTypes, lib = "es2022,dom", resolution, version }: Options
): Promise<ReadonlyArray<string>> => {
  const args = [
    versions[version](project),
    ..."--strict --skipLibCheck false --target es2022 --types node --pretty false --lib".split(" "),
    lib,
    ...resolutions[resolution],
    ...(exactOptionalPropertyTypes ? ["--exactOptionalPropertyTypes"] : []),
    ...(declarations === undefined
      ? ["--noEmit"]
      : ["--declaration", "--emitDeclarationOnly", "--outDir", declarations]),
    ...files
  ]
  const { exitCode, output } = await Command.run(process.execPath, args, { cwd: project.folder })
  const diagnostics = output.split("\n").filter((line) => /error TS\d+/.test(line))
  if (exitCode !== 0 && diagnostics.length === 0) throw new Error(`the compiler failed without a diagnostic\n${output}`)
  return diagnostics.map((line) => line.slice(0, 300))
}
