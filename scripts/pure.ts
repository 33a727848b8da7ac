/**
 * `pnpm build [package …]` marks the calls at the top of each built module as pure, so that a bundler leaves out what a program does
 * not use: `Schema.Struct({ … })` of a resource that it never reads, an error that nothing raises, a Layer.
 *
 * Without the mark a bundler keeps every call, since a call may do something. No module of ours does: what it calls at its
 * top only makes a value.
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

/** What is put into the code, and where. */
interface Insertion {
  readonly at: number
  readonly text: string
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

/** What runs when it is called, not when the module is loaded. */
const isDeferred = ({ type }: Node): boolean =>
  type.includes("Function") || type === "ClassBody" || type.startsWith("TS")

/** The parts of an expression that run when the module is loaded, itself first. */
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

/** What a bundler takes for an effect even in the arguments of a pure call: a getter may run. */
const mayRunGetter = (node: Node, namespaces: ReadonlySet<string>): boolean => {
  if (node.type === "SpreadElement") return true
  if (node.type !== "MemberExpression") return false
  const { object } = node as Node & { readonly object: Node & { readonly name?: string } }
  return !namespaces.has(object.name ?? "")
}

const insertionsFor = (code: string, value: Node, namespaces: ReadonlySet<string>): ReadonlyArray<Insertion> => {
  const parts = partsOf(value)
  // The function that a call calls goes with the call.
  const callees = new Set(
    parts.filter(isCall).flatMap((call) => partsOf((call as Node & { readonly callee: Node }).callee))
  )
  const isMarked = ({ start }: Node) => /[@#]__PURE__ \*\/ ?$/.test(code.slice(Math.max(0, start - 24), start))
  if (isMarked(value)) return []
  if (parts.some((part) => !callees.has(part) && mayRunGetter(part, namespaces))) {
    return [
      { at: value.start, text: `${mark}(() => (` },
      { at: value.end, text: "))()" }
    ]
  }
  const starts = new Set(parts.filter((part) => isCall(part) && !isMarked(part)).map(({ start }) => start))
  return [...starts].map((at) => ({ at, text: mark }))
}

/** What a module needs, JavaScript or TypeScript, in its order. */
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

/** The code of a module with its marks. */
export const annotate = (file: string, code: string): string => withInsertions(code, insertionsIn(file, code))

/** The mappings of a source map, after the marks were put into the code. */
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

/** The packages that are bundled: the others run on Node alone. */
export const bundled: ReadonlyArray<string> = ["schema", "auth", "api", "tus", "browser"]

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url))
  const names = process.argv.length > 2 ? process.argv.slice(2) : bundled
  const files = names.flatMap((name) => globSync(`packages/${name}/dist/**/*.js`, { cwd: root }))
  const count = files.reduce((sum, file) => sum + build(`${root}${file}`), 0)
  console.log(`${count} marks in ${files.length} modules`)
}
