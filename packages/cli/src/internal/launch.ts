/**
 * Runs before Effect is loaded: prints the version, refuses a Node that is too old, and reports output that cannot be
 * written. This module needs only modules that every Node has, so that an old Node can load it.
 */
import * as FileSystem from "node:fs"
import * as Module from "node:module"
import * as Path from "node:path"

const readPackage = () =>
  JSON.parse(FileSystem.readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string
    readonly engines: { readonly node: string }
  }

/** Whether a version is lower than the minimum. */
const isOlder = (version: string, minimum: string): boolean =>
  version.localeCompare(minimum, "en", { numeric: true }) < 0

/**
 * The exit code if the reader of the output has ended. It is the exit code of other programs in this case: 128 plus the
 * number of SIGPIPE.
 */
const unread = 141

/**
 * Reports a standard output that cannot be written, and makes the process fail. Node ignores the failures of its
 * console, but a full disk must not look like a success: the output may be a secret that is never shown again. If the
 * reader of a pipe has ended, this reader needs no more output, so the process fails without a message.
 * A standard error that cannot be written has no place for a report, so its loss is ignored.
 */
const reportLost = (): void => {
  let isReported = false
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (isReported) return
    isReported = true
    process.exitCode = code === "EPIPE" ? unread : 1
    if (code === "EPIPE") return
    process.stderr.write(`assembly: the output cannot be written: ${message}\n`)
  })
  process.stderr.on("error", () => {})
}

/**
 * Lets Node keep the compiled modules of this program in a folder, so that the next command starts faster. The folder
 * belongs to the user, because whoever can write to this folder can change the program. If no variable names a folder
 * of the user, Node keeps nothing.
 */
const keepCompiled = (env: NodeJS.ProcessEnv): void => {
  const { HOME, LOCALAPPDATA, XDG_CACHE_HOME } = env
  // A relative path is ignored, as the XDG Base Directory Specification says.
  const folder = [XDG_CACHE_HOME, HOME && Path.join(HOME, ".cache"), LOCALAPPDATA].find(
    (at) => at && Path.isAbsolute(at)
  )
  if (folder !== undefined) Module.enableCompileCache(Path.join(folder, "assembly", "compiled"))
}

/** Runs the command line. `load` loads the part that needs Effect, and returns the function that runs this part. */
export const launch = async (load: () => Promise<(version: string) => void>): Promise<void> => {
  reportLost()
  const { engines, version } = readPackage()
  const [argument, ...others] = process.argv.slice(2)
  if (others.length === 0 && (argument === "--version" || argument === "-v")) {
    process.stdout.write(`assembly v${version}\n`)
    return
  }
  const minimum = engines.node.replace(/^>=/, "")
  if (isOlder(process.versions.node, minimum)) {
    process.stderr.write(
      `assembly: Node ${minimum} or newer is required, but this is Node ${process.versions.node}; install a newer Node from https://nodejs.org\n`
    )
    process.exitCode = 2
    return
  }
  keepCompiled(process.env)
  const run = await load()
  run(version)
}
