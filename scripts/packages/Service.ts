/**
 * Runs the emulator that a project outside of this repository has installed, in a separate process: `assembly
 * emulator`.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import type { Project } from "./Foreign.ts"

export interface Service {
  /** The environment variables that the emulator prints for its clients. */
  readonly env: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

const templates = [{ id: "my-template", content: { steps: { stored: { robot: "/transloadit/store" } } } }]

/** The path of the program `assembly` in a project. */
export const binOf = (project: Project): string => join(project.folder, "node_modules", ".bin", "assembly")

export const start = (project: Project): Promise<Service> => {
  project.write("templates.json", JSON.stringify(templates))
  const child = spawn(project.nodePath, [binOf(project), "emulator", "--templates", "templates.json"], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const ended = new Promise<void>((resolve) => {
    child.on("exit", () => resolve())
  })
  const stop = async () => {
    child.kill("SIGTERM")
    await ended
  }
  return new Promise((resolve, reject) => {
    let output = ""
    let errors = ""
    child.stderr.on("data", (text: Buffer) => {
      errors += text
    })
    child.stdout.on("data", (text: Buffer) => {
      output += text
      if (!output.includes("Running")) return
      const lines = output.matchAll(/^export (\w+)=(.*)$/gm)
      resolve({ env: Object.fromEntries(Array.from(lines, ([, name = "", value = ""]) => [name, value])), stop })
    })
    child.on("exit", (code) => reject(new Error(`the emulator ended with ${code}: ${errors}`)))
  })
}
