// Checks the links of the documents: each file that one names exists, and so does each heading.
// Prints every broken link and exits with 1 if there is one.
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

const root = join(import.meta.dirname, "..")

/** Code shows links that lead nowhere. */
const withoutCode = (text: string): string => text.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "")

/** The anchor of a heading, as the pages of repositories make it. */
const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-")

const anchorsOf = (file: string): ReadonlySet<string> =>
  new Set(
    [
      ...readFileSync(file, "utf8")
        .replaceAll(/^```.*?^```/gms, "")
        .matchAll(/^#+ +(.+)$/gm)
    ].map(([, heading = ""]) => toAnchor(heading))
  )

const problemOf = (document: string, target: string): string | undefined => {
  if (/^[a-z]+:/.test(target)) return undefined
  const [path = "", anchor] = target.split("#")
  const file = path === "" ? document : join(dirname(document), path)
  if (!existsSync(file)) return "no such file"
  return anchor === undefined || !file.endsWith(".md") || anchorsOf(file).has(anchor) ? undefined : "no such heading"
}

const documents = ["*.md", "docs/**/*.md", "packages/*/*.md"].flatMap((pattern) => globSync(join(root, pattern)))

let links = 0
const problems: Array<string> = []
for (const document of documents) {
  for (const [, target = ""] of withoutCode(readFileSync(document, "utf8")).matchAll(/\]\(([^)\s]+)\)/g)) {
    links++
    const problem = problemOf(document, target)
    if (problem !== undefined) problems.push(`${relative(root, document)}: ${target}: ${problem}`)
  }
}

for (const problem of problems) console.error(problem)
console.log(`${links} links in ${documents.length} documents, ${problems.length} broken`)
process.exitCode = problems.length === 0 ? 0 : 1
