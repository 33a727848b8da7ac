/**
 * The rows of the table. Each row has a runtime, and a function that runs the program on it.
 */
import type * as Checks from "./checks.ts"
import type { Front } from "./front.ts"
import * as Launch from "./launch.ts"
import * as Remote from "./remote.ts"
import * as Tools from "./tools.ts"

/** The outcome of a row: the report of its checks, or the reason why there is no report. */
export type Outcome =
  | { readonly _tag: "Ran"; readonly version: string; readonly report: Checks.Report }
  | { readonly _tag: "Failed"; readonly version: string; readonly problem: string }
  | { readonly _tag: "NotRun"; readonly why: string }

export interface Row {
  readonly name: string
  /** The protocol of the front server. With `direct`, the program sends its requests directly to the service. */
  readonly protocol: "direct" | "HTTP/1.1" | "HTTP/2"
  readonly run: (front: Front, environment: NodeJS.ProcessEnv) => Promise<Outcome>
}

const notRun = (why: string): Outcome => ({ _tag: "NotRun", why })

const outcome = async (version: string, report: Promise<Checks.Report>): Promise<Outcome> => {
  try {
    return { _tag: "Ran", version, report: await report }
  } catch (error) {
    return { _tag: "Failed", version, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The version number in the output of `--version`. */
const numberOf = (text: string): string => /\d[\w.-]*/.exec(text)?.[0] ?? text

const processRow = (name: string, find: () => string | undefined, args: ReadonlyArray<string> = []): Row => ({
  name,
  protocol: "direct",
  run: async ({ config }, environment) => {
    const command = find()
    const version = command === undefined ? undefined : await Launch.version(command)
    return command === undefined || version === undefined
      ? notRun("npm has it not for this machine")
      : outcome(numberOf(version), Launch.process(command, args, config, environment))
  }
})

const processes: ReadonlyArray<Row> = [
  processRow("Node, oldest", () => Tools.find("node-oldest")),
  processRow("Node, of this workspace", () => process.execPath),
  processRow("Node, newest", () => Tools.find("node-newest")),
  processRow("Bun", () => Tools.find("bun"), ["run"]),
  processRow("Deno", () => Tools.find("deno"), ["run", "--allow-all", "--no-lock", "--node-modules-dir=manual"])
]

const workerd: Row = {
  name: "workerd",
  protocol: "direct",
  run: async ({ config }) => {
    const command = Tools.find("workerd")
    const version = command === undefined ? undefined : await Launch.version(command)
    return command === undefined || version === undefined
      ? notRun("npm has it not for this machine")
      : outcome(numberOf(version), Launch.workerd(command, config))
  }
}

/** The options of Chromium for a test: it sends no background requests, and does not check certificates. */
export const chromiumArgs = (profile: string): ReadonlyArray<string> => [
  "--headless=new",
  "--no-sandbox",
  "--no-first-run",
  "--disable-gpu",
  "--disable-background-networking",
  "--ignore-certificate-errors",
  "--remote-debugging-port=0",
  `--user-data-dir=${profile}`,
  "about:blank"
]

const firefoxArgs = (profile: string): ReadonlyArray<string> => [
  "--headless",
  "--no-remote",
  "--profile",
  profile,
  "--remote-debugging-port=0"
]

const browsers = {
  Chromium: {
    commands: ["chromium", "chromium-browser", "google-chrome"],
    args: chromiumArgs,
    open: Remote.openInChromium
  },
  Firefox: { commands: ["firefox-esr", "firefox"], args: firefoxArgs, open: Remote.openInFirefox }
} as const

/** The command and the version of a browser on this machine, or undefined. */
export const findBrowser = async (name: keyof typeof browsers) => {
  for (const command of browsers[name].commands) {
    const version = await Launch.version(command)
    if (version !== undefined) return { command, version: numberOf(version) }
  }
  return undefined
}

const browserRow = (name: keyof typeof browsers, protocol: "HTTP/1.1" | "HTTP/2"): Row => ({
  name: `${name}, ${protocol}`,
  protocol,
  run: async (front) => {
    const found = await findBrowser(name)
    if (found === undefined) return notRun("it is not on this machine")
    const { args, open } = browsers[name]
    const report = Launch.browser(found.command, args, async (endpoint) => {
      const reported = front.nextReport()
      await open(endpoint, front.pageUrl)
      return (await reported) as Checks.Report
    })
    return outcome(found.version, report)
  }
})

const elsewhere = (name: string): Row => ({
  name,
  protocol: "direct",
  run: () => Promise.resolve(notRun("no such machine was available"))
})

/** All rows, in the order of the table. */
export const rows: ReadonlyArray<Row> = [
  ...processes,
  workerd,
  browserRow("Chromium", "HTTP/1.1"),
  browserRow("Chromium", "HTTP/2"),
  browserRow("Firefox", "HTTP/1.1"),
  browserRow("Firefox", "HTTP/2"),
  elsewhere("Node on Windows"),
  elsewhere("Node on macOS")
]
