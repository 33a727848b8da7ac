/** Packages of npm that only one command needs, and that are too large to be installed with the workspace. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/**
 * Installs packages into a folder of the cache of the workspace when they are needed, unless the same ones are there.
 * `files` are the texts of `package.json` and, for `npm ci`, of `package-lock.json`. Returns the folder.
 */
export const install = (name: string, files: Readonly<Record<string, string>>, args: ReadonlyArray<string>): string => {
  const folder = join(import.meta.dirname, "../node_modules/.cache", name)
  const done = join(folder, "done.json")
  const wanted = JSON.stringify({ files, args })
  if (existsSync(done) && readFileSync(done, "utf8") === wanted) return folder
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  execFileSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    // `npm` is a script on Windows.
    shell: process.platform === "win32",
    stdio: ["ignore", 2, "inherit"]
  })
  writeFileSync(done, wanted)
  return folder
}
