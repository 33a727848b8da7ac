/**
 * The Markdown of the repository as pages of the site. Each page gets a title and a group, and its links to other files
 * of the repository get targets that exist in the site.
 */
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

/** The groups of the site in their order, with the files of each. The guides are in the order of reading. */
const groups = {
  Guides: [
    "docs/guides/README.md",
    "docs/guides/getting-started.md",
    "docs/guides/command-line.md",
    "docs/guides/uploads.md",
    "docs/guides/surviving-restarts.md",
    "docs/guides/lists-and-statistics.md",
    "docs/guides/authentication.md",
    "docs/guides/errors.md",
    "docs/guides/retries.md",
    "docs/guides/testing.md",
    "docs/guides/production.md",
    "docs/guides/troubleshooting.md",
    "docs/guides/*.md"
  ],
  Documentation: ["docs/uploads.md", "docs/operations.md", "docs/results.md", "docs/testing.md", "docs/*.md"],
  Packages: ["packages/*/README.md"],
  Project: ["SECURITY.md", "CONTRIBUTING.md"]
} as const

export const groupOrder = Object.keys(groups)

/** The pages of a repository, each with its group. */
const find = (root: string): ReadonlyMap<string, string> => {
  const pages = new Map<string, string>()
  for (const [group, patterns] of Object.entries(groups)) {
    for (const path of patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())) {
      if (!pages.has(path)) pages.set(path, group)
    }
  }
  return pages
}

const fence = /^(?:```|~~~)/

/** Applies a function to every line that is not in a code block. */
const outsideCode = (text: string, change: (line: string) => string): string => {
  let inside = false
  return text
    .split("\n")
    .map((line) => {
      if (fence.test(line.trimStart())) {
        inside = !inside
        return line
      }
      return inside ? line : change(line)
    })
    .join("\n")
}

const link = /(!?)\[([^\]]*)\]\(([^()\s]+)\)/g

const isExternal = (target: string) => /^(?:[a-z]+:|#)/.test(target)

const isPublicModule = (path: string) => /^packages\/[a-z]+\/src\/[A-Z]\w*\.ts$/.test(path)

/**
 * Writes the pages of `root` into `folder` at the same paths, and returns these paths. A link to a page or to a public
 * module becomes a link to its page in the site. Any other file is copied, because the site has no repository to link
 * to. Sources are copied as text, because a browser treats a file `.ts` as a video.
 */
export const write = (root: string, folder: string): ReadonlyArray<string> => {
  const pages = find(root)
  const isPage = (path: string) => path === "README.md" || pages.has(path)

  const copied = (path: string): string => {
    const copy = path.endsWith(".ts") ? `${path}.txt` : path
    mkdirSync(dirname(join(folder, copy)), { recursive: true })
    writeFileSync(join(folder, copy), readFileSync(join(root, path)))
    return join(folder, copy)
  }

  /** The file that a link in the site points to, or undefined if a folder has no page. */
  const inSite = (path: string): string | undefined => {
    if (isPage(path)) return join(folder, path)
    if (isPublicModule(path)) return join(root, path)
    if (!statSync(join(root, path)).isDirectory()) return copied(path)
    return isPage(join(path, "README.md")) ? join(folder, path, "README.md") : undefined
  }

  const rewritten = (page: string, text: string): string =>
    outsideCode(text, (line) =>
      // TypeDoc omits code from its list of headings.
      (line.startsWith("#") ? line.replaceAll("`", "") : line).replace(
        link,
        (whole, image: string, label: string, target: string) => {
          if (isExternal(target)) return whole
          const [path = "", anchor] = target.split("#")
          const wanted = join(dirname(page), path)
          if (!existsSync(join(root, wanted))) throw new Error(`${page} links to ${target}, which does not exist`)
          const found = inSite(wanted)
          if (found === undefined) return label
          const to = relative(dirname(join(folder, page)), found).replaceAll("\\", "/")
          return `${image}[${label}](${to.startsWith(".") ? to : `./${to}`}${anchor === undefined ? "" : `#${anchor}`})`
        }
      )
    )

  for (const page of [...pages.keys(), "README.md"]) {
    const text = readFileSync(join(root, page), "utf8")
    const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "")
    if (title === undefined) throw new Error(`${page} has no title`)
    const group = pages.get(page)
    mkdirSync(dirname(join(folder, page)), { recursive: true })
    const body = rewritten(page, text)
    // The first page shows the name of the site above its text.
    const written =
      group === undefined
        ? body.replace(/^# .+\n/, "")
        : `---\ntitle: ${JSON.stringify(title)}\ngroup: ${group}\n---\n\n${body}`
    writeFileSync(join(folder, page), written)
  }
  return [...pages.keys()].map((page) => join(folder, page))
}
