/**
 * `pnpm site`: makes a static site in `dist/site` from the doc comments of the public modules and from the Markdown of
 * the repository. TypeDoc is installed on first use, because only this command needs it.
 */
import { spawnSync } from "node:child_process"
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Installed from "../installed.ts"
import * as Links from "./Links.ts"
import * as Pages from "./Pages.ts"

const here = import.meta.dirname
const root = join(here, "../..")
const cache = join(root, "node_modules/.cache/site")
const output = join(root, "dist/site")

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
    groupOrder: [...Pages.groupOrder, "Properties", "Methods", "Accessors", "*", "Constructors"],
    sort: ["source-order"],
    useFirstParagraphOfCommentAsSummary: true,
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
    highlightLanguages: ["bash", "console", "css", "html", "ini", "json", "sh", "ts"],
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

// TypeDoc, and the TypeScript that it supports.
const read = (file: string) => readFileSync(join(here, file), "utf8")
const manifests = Object.fromEntries(["package.json", "package-lock.json"].map((file) => [file, read(file)]))
Installed.install("site", manifests, ["ci", "--ignore-scripts"])
make()
const broken = Links.broken(output)
for (const line of broken) console.error(line)
if (broken.length > 0) {
  console.error(`${broken.length} links are broken`)
  process.exit(1)
}
console.log(`The site is in ${output}: open index.html.`)
