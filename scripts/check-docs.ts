// Checks that every public export has a doc comment with @since and @category, as in Effect. A re-export is checked
// where it is declared.
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "..")

const declaration = /^export (?:declare )?(?:abstract )?(?:const|class|interface|type|function) (\w+)/gm

/** `export { a, b as c, type D } from "./internal/x.ts"` and `export type { … } from …` */
const passedOn = /^export (?:type )?\{([^}]*)\} from "(\.[^"]*)"/gm

/** The doc comment that ends directly before a position in a text. */
const commentBefore = (text: string, index: number): string => {
  const before = text.slice(0, index).trimEnd()
  return before.endsWith("*/") ? before.slice(before.lastIndexOf("/**")) : ""
}

const tags = ["@since", "@category"]

/** The exports of a file that lack a tag. With `names`, only these exports are checked. */
const lacking = (file: string, names?: ReadonlySet<string>): ReadonlyArray<string> => {
  const text = readFileSync(join(root, file), "utf8")
  const own = Array.from(text.matchAll(declaration)).flatMap(({ 1: name = "", index }) => {
    if (names !== undefined && !names.has(name)) return []
    const comment = commentBefore(text, index)
    const missing = tags.filter((tag) => !comment.includes(tag))
    return missing.length === 0 ? [] : [`${file}: ${name} has no ${missing.join(" and no ")}`]
  })
  const others = Array.from(text.matchAll(passedOn)).flatMap(([, list = "", path = ""]) => {
    const wanted = new Set(
      list.split(",").map(
        (name) =>
          name
            .trim()
            .replace(/^type /, "")
            .split(" as ")[0] ?? ""
      )
    )
    return lacking(join(dirname(file), path), wanted)
  })
  return [...own, ...others]
}

const packages = globSync("packages/*/package.json", { cwd: root }).map((file) => dirname(file))
const files = packages.flatMap((folder) => globSync(`${folder}/src/{*,unstable/*}.ts`, { cwd: root }))
const problems = [...new Set(files.flatMap((file) => lacking(file)))]

for (const problem of problems) console.error(problem)
console.log(`${files.length} modules, ${problems.length} exports without their tags`)
if (problems.length > 0) process.exitCode = 1
