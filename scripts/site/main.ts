/**
 * `pnpm site`: makes a static site in `dist/site` from the doc comments of the public modules and from the Markdown of
 * the repository. TypeDoc is installed on first use, because only this command needs it.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Links from "./Links.ts"
import * as Pages from "./Pages.ts"

const here = import.meta.dirname
const root = join(here, "../..")
const cache = join(root, "node_modules/.cache/site")
const output = join(root, "dist/site")

/** Installs TypeDoc and the TypeScript that it supports, unless the same versions are installed already. */
const install = (): void => {
  const done = join(cache, "done.json")
  const lockfile = readFileSync(join(here, "package-lock.json"), "utf8")
  if (existsSync(done) && readFileSync(done, "utf8") === lockfile) return
  mkdirSync(cache, { recursive: true })
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, name), join(cache, name))
  // `npm` is a script on Windows.
  const how = { cwd: cache, shell: process.platform === "win32", stdio: "inherit" } as const
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"], how)
  writeFileSync(done, lockfile)
}

const make = (): void => {
  const pages = join(cache, "pages")
  rmSync(pages, { recursive: true, force: true })
  rmSync(output, { recursive: true, force: true })
  const options = {
    entryPoints: globSync("packages/*/src/*.ts", { cwd: root })
      .filter((path) => !/\/(?:index|bin)\.ts$/.test(path))
      .toSorted()
      .map((path) => join(root, path)),
    projectDocuments: Pages.write(root, pages),
    readme: join(pages, "README.md"),
    tsconfig: join(here, "tsconfig.json"),
    plugin: [join(here, "plugin.js")],
    customCss: join(here, "style.css"),
    out: output,
    name: "assembly-effect",
    basePath: root,
    groupOrder: Pages.groupOrder,
    sort: ["source-order"],
    navigation: { includeGroups: true },
    router: "kind",
    includeHierarchySummary: false,
    // `tsc` of the workspace checks the types. TypeDoc uses an older TypeScript, which may report other errors.
    skipErrorChecking: true,
    disableGit: true,
    disableSources: true,
    excludeExternals: true,
    excludeInternal: true,
    excludePrivate: true,
    githubPages: false,
    hideGenerator: true,
    // A file name such as spec.md in a comment is no link to a domain.
    markdownItOptions: { html: true, linkify: false },
    searchInComments: true,
    searchInDocuments: true,
    validation: { notExported: false, invalidLink: true, invalidPath: true, rewrittenLink: true },
    treatWarningsAsErrors: true,
    blockTags: ["@category", "@since", "@example", "@param", "@returns", "@see", "@deprecated"]
  }
  const file = join(cache, "typedoc.json")
  writeFileSync(file, JSON.stringify(options))
  const typedoc = join(cache, "node_modules/typedoc/bin/typedoc")
  const { status } = spawnSync(process.execPath, [typedoc, "--options", file], { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(1)
}

install()
make()
const broken = Links.broken(output)
for (const line of broken) console.error(line)
if (broken.length > 0) {
  console.error(`${broken.length} links are broken`)
  process.exit(1)
}
console.log(`The site is in ${output}: open index.html.`)
