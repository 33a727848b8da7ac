/**
 * `pnpm build [package …]` marks the top-level calls of each built module as pure. A bundler can then remove values
 * that a program does not use: the `Schema.Struct({ … })` of a resource that the program never reads, an unused error,
 * a Layer.
 *
 * Without the mark, a bundler keeps every call, because a call may have side effects. The top-level calls of our
 * modules have no side effects: each only creates a value.
 */
import { decode, encode } from "@jridgewell/sourcemap-codec"
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseSync } from "oxc-parser"

const mark = "/* @__PURE__ */ "

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

/** A text to insert into the code, and its position. */
interface Insertion {
  readonly at: number
  readonly text: string
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** Whether the code in a node does not run when the module is loaded, for example the body of a function. */
const isDeferred = ({ type }: Node): boolean =>
  type.includes("Function") || type === "ClassBody" || type.startsWith("TS")

/** The expression and those of its parts that run when the module is loaded. The expression itself is the first. */
const partsOf = (node: Node): ReadonlyArray<Node> =>
  isDeferred(node)
    ? []
    : [
        node,
        ...Object.values(node)
          .flat()
          .filter(isNode)
          .flatMap((part) => partsOf(part))
      ]

const isCall = ({ type }: Node): boolean => type === "CallExpression" || type === "NewExpression"

/**
 * Whether a node may run a getter or a `toString`. A bundler keeps such a node even if it is an argument of a pure call,
 * because these functions may have side effects.
 */
const mayRunCode = (node: Node, namespaces: ReadonlySet<string>): boolean => {
  if (node.type === "SpreadElement") return true
  if (node.type === "TemplateLiteral")
    return (node as Node & { expressions: ReadonlyArray<Node> }).expressions.length > 0
  if (node.type !== "MemberExpression") return false
  const { object } = node as Node & { readonly object: Node & { readonly name?: string } }
  return !namespaces.has(object.name ?? "")
}

const insertionsFor = (code: string, value: Node, namespaces: ReadonlySet<string>): ReadonlyArray<Insertion> => {
  const parts = partsOf(value)
  // The callee of a call is not checked, because a bundler removes it together with its call.
  const callees = new Set(
    parts.filter(isCall).flatMap((call) => partsOf((call as Node & { readonly callee: Node }).callee))
  )
  const isMarked = ({ start }: Node) => /[@#]__PURE__ \*\/ ?$/.test(code.slice(Math.max(0, start - 24), start))
  if (parts.some((part) => !callees.has(part) && mayRunCode(part, namespaces))) {
    return [
      { at: value.start, text: `${mark}(() => (` },
      { at: value.end, text: "))()" }
    ]
  }
  const starts = new Set(parts.filter((part) => isCall(part) && !isMarked(part)).map(({ start }) => start))
  return [...starts].map((at) => ({ at, text: mark }))
}

/** The insertions for a module in JavaScript or TypeScript, in ascending order of their positions. */
const insertionsIn = (file: string, code: string): ReadonlyArray<Insertion> => {
  const { body } = parseSync(file, code).program
  const namespaces = new Set(
    body
      .flatMap((statement) => (statement.type === "ImportDeclaration" ? statement.specifiers : []))
      .flatMap((specifier) => (specifier.type === "ImportNamespaceSpecifier" ? [specifier.local.name] : []))
  )
  return body
    .flatMap((statement): ReadonlyArray<unknown> => {
      const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
      if (declaration?.type === "VariableDeclaration") return declaration.declarations.map(({ init }) => init)
      return declaration?.type === "ClassDeclaration" ? [declaration.superClass] : []
    })
    .filter(isNode)
    .flatMap((value) => insertionsFor(code, value, namespaces))
    .toSorted((a, b) => a.at - b.at)
}

const withInsertions = (code: string, insertions: ReadonlyArray<Insertion>): string => {
  let at = 0
  let text = ""
  for (const insertion of insertions) {
    text += code.slice(at, insertion.at) + insertion.text
    at = insertion.at
  }
  return text + code.slice(at)
}

/** Adds the marks to the code of a module. */
export const annotate = (file: string, code: string): string => withInsertions(code, insertionsIn(file, code))

/** Adapts the mappings of a source map to the inserted marks. */
const shifted = (mappings: string, code: string, insertions: ReadonlyArray<Insertion>): string => {
  let lineStart = 0
  const lines = decode(mappings)
  code.split("\n").forEach((line, index) => {
    const here = insertions.filter(({ at }) => at >= lineStart && at <= lineStart + line.length)
    for (const segment of lines[index] ?? []) {
      const column = segment[0]
      segment[0] += here.reduce((sum, { at, text }) => (at - lineStart <= column ? sum + text.length : sum), 0)
    }
    lineStart += line.length + 1
  })
  return encode(lines)
}

const build = (file: string): number => {
  const code = readFileSync(file, "utf8")
  const insertions = insertionsIn(file, code)
  if (insertions.length === 0) return 0
  const map = `${file}.map`
  if (existsSync(map)) {
    const source: { mappings: string } = JSON.parse(readFileSync(map, "utf8"))
    writeFileSync(map, JSON.stringify({ ...source, mappings: shifted(source.mappings, code, insertions) }))
  }
  writeFileSync(file, withInsertions(code, insertions))
  return insertions.length
}

/** The packages that applications bundle. Only these packages are marked. */
export const bundled: ReadonlyArray<string> = ["schema", "auth", "api", "tus", "browser"]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url))
  const names = process.argv.length > 2 ? process.argv.slice(2) : bundled
  const files = names.flatMap((name) => globSync(`packages/${name}/dist/**/*.js`, { cwd: root }))
  const count = files.reduce((sum, file) => sum + build(`${root}${file}`), 0)
  console.log(`${count} marks in ${files.length} modules`)
}
