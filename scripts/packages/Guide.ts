/**
 * Walks through a guide as a reader does: runs its commands and saves its programs, in the order of the page, in an
 * empty home folder. Only the port of the service is another one.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Command from "../Command.ts"
import * as Service from "./Service.ts"

/** What the guide shows as the output of a command, and what the command has printed. */
interface Printed {
  readonly command: string
  readonly shown: string
  readonly printed: string
}

export type Walk = Awaited<ReturnType<typeof walk>>

interface Block {
  /** The text of the page before the block. */
  readonly before: string
  readonly language: string
  readonly body: string
}

const blocksOf = (page: string): ReadonlyArray<Block> =>
  Array.from(page.matchAll(/(.*?)^```(\w+)\n(.*?)^```$/gms), ([, before = "", language = "", body = ""]) => ({
    before,
    language,
    body
  }))

/**
 * Walks through a page whose tarballs are in `<home>/assembly-effect` already, as its commands for the clone would have
 * put them there.
 */
export const walk = async (
  page: string,
  { env, home }: { readonly home: string; readonly env: Readonly<Record<string, string | undefined>> }
) => {
  const all: Record<string, string | undefined> = { ...process.env, ...env, HOME: home }
  const project = join(home, "first-upload")
  const outputs: Array<Printed> = []
  const services: Array<Service.Service> = []
  let cwd = home
  let last = { command: "", printed: "" }

  const perform = async (command: string) => {
    if (!command.startsWith("npx --no-install assembly emulator")) {
      return Command.runOrFail("sh", ["-ec", command], { cwd, env: all })
    }
    const [, port = ""] = /--port (\d+)/.exec(command) ?? []
    const service = await Service.start(command.replace(`--port ${port}`, "--port 0"), { cwd, env: all })
    services.push(service)
    Object.assign(all, service.env)
    return service.printed.replace(/(?<=127\.0\.0\.1:)\d+/, port)
  }

  for (const { before, body, language } of blocksOf(page)) {
    if (language === "ts") {
      const [, name] = /`(\w+\.ts)`/.exec(before.slice(before.lastIndexOf("Save this program as"))) ?? []
      if (name === undefined) throw new Error(`the guide does not name the file of a program:\n${body}`)
      writeFileSync(join(cwd, name), body)
    } else if (language === "text") {
      outputs.push({ ...last, shown: body })
    } else if (!body.includes("pnpm@12")) {
      mkdirSync(cwd, { recursive: true })
      last = { command: body, printed: await perform(body) }
      // The commands of a block leave their shell in the project.
      if (body.includes("cd ~/first-upload")) cwd = project
    }
  }
  return {
    outputs,
    /** Runs a command in the project of the guide, with the variables that the service has printed. */
    run: (command: string) => Command.run("sh", ["-c", command], { cwd, env: all }),
    stop: async () => {
      for (const { stop } of services) await stop()
    }
  }
}
