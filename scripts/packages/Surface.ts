/**
 * Reads the declarations of the installed packages: the exports of the public modules, and every type that can be
 * reached from these exports.
 */
import { join, relative } from "node:path"
import ts from "typescript-5"
import type { Project } from "./Foreign.ts"
import { libraries, modulesOf } from "./Repository.ts"

interface Value {
  readonly name: string
  /** Whether the value is a function, but not a class. */
  readonly isFunction: boolean
}

export interface Module {
  /** The specifier of an import of this module. */
  readonly specifier: string
  readonly values: ReadonlyArray<Value>
}

export interface Surface {
  readonly modules: ReadonlyArray<Module>
  /**
   * The types that public declarations use, but that are declared in modules that cannot be imported, and that no public
   * module exports. Each has the place that uses it.
   */
  readonly leaks: ReadonlyArray<string>
  /** The number of visited types. */
  readonly types: number
}

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  types: ["node"],
  skipLibCheck: true,
  noEmit: true
}

/** Names that the compiler gives to symbols of anonymous types. Such a type has no declaration that can be imported. */
const anonymous = new Set(["__type", "__function", "__object"])

export const read = (project: Project): Surface => {
  const scope = join(project.folder, "node_modules", "@assembly-effect")
  const places = libraries.flatMap((name) =>
    modulesOf(name)
      // `bin` runs a program when it is imported.
      .filter((module) => module !== "bin")
      .map((module) => ({
        specifier: `@assembly-effect/${name}/${module}`,
        file: join(scope, name, "dist", `${module}.d.ts`)
      }))
  )
  const program = ts.createProgram(
    places.map(({ file }) => file),
    { ...options, typeRoots: [join(project.folder, "node_modules", "@types")] }
  )
  const checker = program.getTypeChecker()

  /** Whether a module exports only the type of a symbol (`export type`). */
  const isTypeOnly = (exported: ts.Symbol) =>
    exported.declarations?.some(
      (declaration) => ts.isExportSpecifier(declaration) && ts.isTypeOnlyExportDeclaration(declaration)
    ) ?? false

  const fileOf = (symbol: ts.Symbol) => symbol.declarations?.[0]?.getSourceFile().fileName ?? ""
  const isOurs = (symbol: ts.Symbol) => fileOf(symbol).startsWith(scope)
  const isInternal = (symbol: ts.Symbol) => isOurs(symbol) && fileOf(symbol).includes("/dist/internal/")

  /** What the public modules export. */
  const exports = new Set<ts.Symbol>()
  const leaks = new Map<string, string>()
  const seen = new Set<ts.Type>()
  const queue: Array<readonly [type: ts.Type, path: string]> = []
  const visit = (type: ts.Type | undefined, path: string) => {
    if (type === undefined || seen.has(type)) return
    seen.add(type)
    queue.push([type, path])
  }
  const note = (symbol: ts.Symbol | undefined, path: string) => {
    if (symbol === undefined || anonymous.has(symbol.name) || (symbol.flags & ts.SymbolFlags.Type) === 0) return
    if ((symbol.flags & ts.SymbolFlags.TypeParameter) !== 0 || !isInternal(symbol) || exports.has(symbol)) return
    const place = `${relative(scope, fileOf(symbol))} ${symbol.name}`
    if (!leaks.has(place)) leaks.set(place, path)
  }

  const visitObject = (type: ts.ObjectType, path: string) => {
    if ((type.objectFlags & ts.ObjectFlags.Reference) !== 0) {
      for (const argument of checker.getTypeArguments(type as ts.TypeReference)) visit(argument, path)
    }
    // The members of a type of another package are not visited.
    if (type.symbol !== undefined && !isOurs(type.symbol) && !anonymous.has(type.symbol.name)) return
    for (const property of type.getProperties()) visit(checker.getTypeOfSymbol(property), `${path}.${property.name}`)
    for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()]) {
      visit(signature.getReturnType(), `${path}()`)
      for (const parameter of signature.getParameters()) {
        visit(checker.getTypeOfSymbol(parameter), `${path}(${parameter.name})`)
      }
      for (const parameter of signature.getTypeParameters() ?? []) visit(parameter.getConstraint(), path)
    }
    if (type.isClassOrInterface()) for (const base of checker.getBaseTypes(type)) visit(base, path)
    for (const { type: element } of checker.getIndexInfosOfType(type)) visit(element, path)
  }

  const modules = places.map(({ file, specifier }): Module => {
    const source = program.getSourceFile(file)
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${specifier}: no declarations in ${file}`)
    const values = checker.getExportsOfModule(module).flatMap((exported): ReadonlyArray<Value> => {
      const symbol = (exported.flags & ts.SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported)
      const path = `${specifier} ${exported.name}`
      exports.add(symbol)
      if ((symbol.flags & ts.SymbolFlags.Type) !== 0) visit(checker.getDeclaredTypeOfSymbol(symbol), path)
      if ((symbol.flags & ts.SymbolFlags.Value) === 0 || isTypeOnly(exported)) return []
      const type = checker.getTypeOfSymbol(symbol)
      visit(type, path)
      const isFunction = type.getCallSignatures().length > 0 && type.getConstructSignatures().length === 0
      return [{ name: exported.name, isFunction }]
    })
    return { specifier, values }
  })

  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [type, path] = next
    note(type.symbol, path)
    note(type.aliasSymbol, path)
    for (const argument of type.aliasTypeArguments ?? []) visit(argument, path)
    if (type.isUnionOrIntersection()) for (const member of type.types) visit(member, path)
    else if ((type.flags & ts.TypeFlags.Object) !== 0) visitObject(type as ts.ObjectType, path)
    else if ((type.flags & ts.TypeFlags.Conditional) !== 0) {
      const conditional = type as ts.ConditionalType
      visit(conditional.checkType, path)
      visit(conditional.extendsType, path)
    }
  }
  return { modules, types: seen.size, leaks: Array.from(leaks, ([place, path]) => `${place}, in ${path}`) }
}
