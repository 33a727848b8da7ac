/**
 * Writes a second form of a built package, for Node alone: `dist/internal/bundled`. In this form, one file contains the
 * code of all modules that the index of the package loads. Each module stays importable, because it re-exports its
 * values from that file.
 *
 * Node looks up the name of each import in each file, so many small files make a slow start. `scripts/bench/rows/operations.ts`
 * measures the difference. Bundlers for browsers get the form with one file for each module, because they remove unused
 * modules more surely than unused parts of a module. The condition `node` in the exports of the package chooses the form.
 */
import { build, type Plugin } from "esbuild"
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, posix, relative } from "node:path"
import { parseSync } from "oxc-parser"

/** The packages whose index loads many modules. Each may load those before it. */
export const bundledForNode: ReadonlyArray<string> = ["schema", "auth", "api", "tus"]

/** The folder of the second form in `dist`. */
export const folder = "internal/bundled"

/** The file in this folder that contains the code. */
const bundle = "bundle.js"

interface Module {
  /** The path in `dist`, for example `internal/lenient.js`. */
  readonly path: string
  /** The paths of the modules of the same package that this module loads. */
  readonly loads: ReadonlyArray<string>
  /** The modules of other packages that this module loads. */
  readonly imports: ReadonlyArray<string>
  /** The names of the exported values. */
  readonly values: ReadonlyArray<string>
}

const read = (dist: string, path: string): Module => {
  const { module } = parseSync(path, readFileSync(join(dist, path), "utf8"))
  const exported = module.staticExports.flatMap(({ entries }) => entries)
  const requests = [...module.staticImports, ...exported].flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])
  return {
    path,
    loads: requests.filter((request) => request.startsWith(".")).map((request) => posix.join(dirname(path), request)),
    imports: requests.filter((request) => !request.startsWith(".")),
    values: exported.map(({ exportName }) => {
      if (exportName.name === null) throw new Error(`${path}: the names that \`export *\` exports are not known`)
      return exportName.name
    })
  }
}

/** A module and the modules that it loads. Each comes after the modules that it loads, as in the order of evaluation. */
const loadedBy = (dist: string, entry: string): ReadonlyArray<Module> => {
  const visited = new Set<string>()
  const visit = (path: string): ReadonlyArray<Module> => {
    if (visited.has(path)) return []
    visited.add(path)
    const module = read(dist, path)
    return [...module.loads.flatMap(visit), module]
  }
  return visit(entry)
}

/** The name of a package of these, and its module, in an import. */
const parsed = (request: string) => {
  const [, name = "", file = ""] = /^@assembly-effect\/(\w+)\/(.+)$/.exec(request) ?? []
  return { name, path: `${file}.js` }
}

const bundles = new Map<string, ReadonlyMap<string, Module>>()

/** The modules in the bundle: those that the index loads, and those that the bundles of the packages after it load. */
const bundledIn = (dist: string): ReadonlyMap<string, Module> => {
  const own = basename(dirname(dist))
  const found = bundles.get(own)
  if (found !== undefined) return found
  const later = bundledForNode.slice(bundledForNode.indexOf(own) + 1).map((name) => join(dist, "../..", name, "dist"))
  const requested = later
    .filter((other) => existsSync(join(other, "index.js")))
    .flatMap((other) => Array.from(bundledIn(other).values(), ({ imports }) => imports.map(parsed)).flat())
    .filter(({ name }) => name === own)
  const entries = new Set(["index.js", ...requested.map(({ path }) => path)])
  const modules = new Map(
    Array.from(entries, (entry) => loadedBy(dist, entry))
      .flat()
      .map((module) => [module.path, module])
  )
  bundles.set(own, modules)
  return modules
}

/** The name of a value in the bundle, for example `internal$lenient$orAbsent`. */
const inBundle = ({ path }: Module, value: string): string =>
  `${path.slice(0, -".js".length).replaceAll("/", "$")}$${value}`

/** The code that re-exports the values of a module under other names. A module of types has no values. */
const reExport = ({ values }: Module, from: string, rename: (value: string) => string): string =>
  values.length === 0 ? "export {};\n" : `export { ${values.map(rename).join(", ")} } from "${from}";\n`

/** The code of a module of another of these packages, if the bundle of that package has the module. */
const fromBundle = (dist: string, request: string): string | undefined => {
  const { name, path } = parsed(request)
  if (!bundledForNode.includes(name)) return undefined
  const module = bundledIn(join(dist, "../..", name, "dist")).get(path)
  if (module === undefined) return undefined
  return reExport(
    module,
    `@assembly-effect/${name}/${folder}/${bundle}`,
    (value) => `${inBundle(module, value)} as ${value}`
  )
}

/**
 * Leaves the imports of other packages as they are, and the modules of this package that are loaded later. Imports the
 * modules of the other packages from their bundles, so that Node looks up fewer files.
 */
const outside = (dist: string): Plugin => ({
  name: "outside",
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ namespace, path }) =>
      namespace === "file" && fromBundle(dist, path) !== undefined
        ? { path, namespace: "bundled" }
        : { path, external: true }
    )
    onLoad({ filter: /^/, namespace: "bundled" }, ({ path }) => ({ contents: fromBundle(dist, path) ?? "" }))
    onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
      kind === "dynamic-import" ? { path: `./${relative(dist, join(resolveDir, path))}`, external: true } : undefined
    )
  }
})

/** Copies a module that the index does not load. Its source map gets the paths of the sources as seen from the copy. */
const copy = (from: string, to: string, up: string): void => {
  copyFileSync(from, to)
  if (!existsSync(`${from}.map`)) return
  const map: { readonly sources: ReadonlyArray<string> } = JSON.parse(readFileSync(`${from}.map`, "utf8"))
  writeFileSync(`${to}.map`, JSON.stringify({ ...map, sources: map.sources.map((source) => `${up}${source}`) }))
}

/** Writes the second form of the package whose output of the compiler is in a folder `dist`. */
export const write = async (dist: string): Promise<void> => {
  const target = join(dist, folder)
  const modules = bundledIn(dist)
  await build({
    stdin: {
      contents: Array.from(modules.values(), (module) =>
        reExport(module, `./${module.path}`, (value) => `${value} as ${inBundle(module, value)}`)
      ).join(""),
      resolveDir: dist
    },
    bundle: true,
    format: "esm",
    target: "es2024",
    outfile: join(target, bundle),
    sourcemap: true,
    sourcesContent: false,
    logLevel: "warning",
    plugins: [outside(dist)]
  })
  // The re-exports of other packages have no source.
  const map = `${join(target, bundle)}.map`
  writeFileSync(map, readFileSync(map, "utf8").replaceAll(/"bundled:[^"]*"/g, `"${bundle}"`))
  const paths = globSync("**/*.js", { cwd: dist, exclude: [`${folder}/**`] })
  for (const path of paths) {
    mkdirSync(join(target, dirname(path)), { recursive: true })
    const module = modules.get(path)
    if (module === undefined) copy(join(dist, path), join(target, path), "../../")
    else {
      const way = posix.relative(posix.dirname(path), bundle)
      const from = way.startsWith(".") ? way : `./${way}`
      writeFileSync(
        join(target, path),
        reExport(module, from, (value) => `${inBundle(module, value)} as ${value}`)
      )
    }
  }
}
