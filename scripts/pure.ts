/**
 * `pnpm build` marks the calls at the top of each built module as pure, so that a bundler leaves out what a program does
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

/** What runs when it is called, not when the module is loaded. */
const isDeferred = (type: string): boolean => type.includes("Function") || type === "ClassBody" || type.startsWith("TS")

/** Where the calls begin that run when a module is loaded, and whose value has a name. */
const callsIn = (node: unknown, found: Set<number>): void => {
  if (Array.isArray(node)) return node.forEach((each) => callsIn(each, found))
  if (typeof node !== "object" || node === null) return
  const { start, type } = node as { readonly start?: number; readonly type?: string }
  if (type === undefined || isDeferred(type)) return
  if ((type === "CallExpression" || type === "NewExpression") && start !== undefined) found.add(start)
  Object.values(node).forEach((each) => callsIn(each, found))
}

/** The places of a module, JavaScript or TypeScript, where a mark belongs, in their order. */
const placesOf = (file: string, code: string): ReadonlyArray<number> => {
  const found = new Set<number>()
  for (const statement of parseSync(file, code).program.body) {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    if (declaration?.type === "VariableDeclaration" || declaration?.type === "ClassDeclaration") {
      callsIn(declaration, found)
    }
  }
  return [...found]
    .filter((place) => !/[@#]__PURE__ \*\/ ?\(?$/.test(code.slice(Math.max(0, place - 24), place)))
    .toSorted((a, b) => a - b)
}

const marked = (code: string, places: ReadonlyArray<number>): string =>
  [0, ...places].map((place, index) => code.slice(place, places[index])).join(mark)

/** The code of a module with its marks. */
export const annotate = (file: string, code: string): string => marked(code, placesOf(file, code))

/** The mappings of a source map, after the marks were put into the code. */
const shifted = (mappings: string, code: string, places: ReadonlyArray<number>): string => {
  let lineStart = 0
  const lines = decode(mappings)
  code.split("\n").forEach((line, index) => {
    const columns = places.filter((place) => place >= lineStart && place <= lineStart + line.length)
    for (const segment of lines[index] ?? []) {
      segment[0] += mark.length * columns.filter((place) => place - lineStart <= segment[0]).length
    }
    lineStart += line.length + 1
  })
  return encode(lines)
}

const build = (file: string): number => {
  const code = readFileSync(file, "utf8")
  const places = placesOf(file, code)
  if (places.length === 0) return 0
  const map = `${file}.map`
  if (existsSync(map)) {
    const source: { mappings: string } = JSON.parse(readFileSync(map, "utf8"))
    writeFileSync(map, JSON.stringify({ ...source, mappings: shifted(source.mappings, code, places) }))
  }
  writeFileSync(file, marked(code, places))
  return places.length
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("..", import.meta.url))
  // The packages that are bundled: the others run on Node alone.
  const files = globSync("packages/{schema,auth,api,tus}/dist/**/*.js", { cwd: root })
  const count = files.reduce((sum, file) => sum + build(`${root}${file}`), 0)
  console.log(`${count} calls marked as pure in ${files.length} modules`)
}
