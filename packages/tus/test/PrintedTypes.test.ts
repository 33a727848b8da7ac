/**
 * What an editor shows of the errors of a function: the name of a union, or the names of its members.
 */
import { assert, it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { API, NodeBuilderFlags, SignatureKind, SymbolFlags, type Symbol, type Type } from "typescript/unstable/sync"

const folder = new URL("..", import.meta.url).pathname
const configuration = `${folder}tsconfig.json`
const kinds: ReadonlySet<string> = new Set(["Effect", "Stream", "Layer"])

const printed = Effect.acquireRelease(
  Effect.sync(() => new API({ cwd: folder })),
  (api) => Effect.sync(() => api.close())
).pipe(
  Effect.map((api) => {
    const project = api.updateSnapshot({ openProjects: [configuration] }).getProject(configuration)
    if (project === undefined) return assert.fail("no project")
    const { checker, program } = project
    const flags = NodeBuilderFlags.NoTruncation

    const resolved = (symbol: Symbol) => (symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
    const file = program.getSourceFile(`${folder}src/index.ts`)
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file)
    const index = module === undefined ? [] : checker.getExportsOfModule(module)
    const errorOf = (type: Type | undefined): ReadonlyArray<string> => {
      if (type === undefined || !kinds.has(type.getSymbol()?.name ?? "")) return []
      const error = (type.isTypeReference() ? checker.getTypeArguments(type) : [])[1]
      return error === undefined ? [] : [checker.typeToString(error, undefined, flags)]
    }
    const errorsOf = (symbol: Symbol): ReadonlyArray<string> => {
      const type = checker.getTypeOfSymbol(symbol)
      if (type === undefined) return []
      const calls = checker.getSignaturesOfType(type, SignatureKind.Call)
      return [...errorOf(type), ...calls.flatMap((call) => errorOf(checker.getReturnTypeOfSignature(call)))]
    }
    return index.flatMap((one) =>
      checker
        .getExportsOfModule(resolved(one))
        .flatMap((found) => errorsOf(resolved(found)).map((error) => `${one.name}.${found.name}: ${error}`))
    )
  })
)

it.effect(
  "The errors that an editor shows of each public function are the name of a union, or the names of its members",
  function* () {
    const functions = yield* printed
    assert.isAtLeast(functions.length, 26)
    // The members of `UploadError` alone would be more than 20.
    const isShort = (line: string) => /^[\w.]+: \w+(?: \| \w+){0,4}$/.test(line)
    assert.isEmpty(functions.filter((line) => !isShort(line)))
  }
)
