/**
 * What an editor shows of the errors of a function: the name of a union, or the names of its members.
 */
import { assert, layerTest } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
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
    const moduleOf = (name: string) => {
      const file = program.getSourceFile(`${folder}src/${name}.ts`)
      const symbol = file === undefined ? undefined : checker.getSymbolAtLocation(file)
      return symbol === undefined ? [] : checker.getExportsOfModule(symbol)
    }
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
    const functions = moduleOf("index").flatMap((module) =>
      checker
        .getExportsOfModule(resolved(module))
        .flatMap((found) => errorsOf(resolved(found)).map((error) => `${module.name}.${found.name}: ${error}`))
    )
    return functions
  })
)

/** Every public function, and what an editor shows of its errors. */
const shown = [
  "AssemblyUpload.events: AssemblyUploadError",
  "AssemblyUpload.run: AssemblyUploadError",
  "AssemblyUpload.runAll: E | InvalidRequest",
  "AssemblyUpload.succeeded: AssemblyUploadError",
  "DeliveryProof.check: DeliveryMismatch",
  "Tus.append: Stalled | TransportFailure | AnswerError",
  "Tus.create: InvalidRequest | Stalled | TransportFailure | UnsafeLocation | AnswerError",
  "Tus.discover: Stalled | TransportFailure | AnswerError",
  "Tus.download: Stalled | TransportFailure | AnswerError",
  "Tus.offset: Stalled | TransportFailure | AnswerError",
  "Tus.terminate: Stalled | TransportFailure | AnswerError",
  "Upload.events: UploadError",
  "Upload.layerBandwidth: InvalidRequest",
  "Upload.resume: NoSuchUpload | UploadError",
  "Upload.resumeEvents: NoSuchUpload | UploadError",
  "Upload.run: UploadError",
  "Upload.uploaded: UploadError",
  "UploadJournal.layerFileSystem: InvalidRequest | JournalFailed",
  "UploadJournal.layerMemory: InvalidRequest | JournalFailed",
  "UploadJournal.layerStore: E | InvalidRequest | JournalFailed",
  "UploadJournal.make: InvalidRequest",
  "UploadSource.fromPath: SourceFailed",
  "UploadTarget.fromAssembly: InvalidTarget",
  "UploadTarget.make: InvalidTarget",
  "WebSource.fromResult: SourceFailed",
  "WebSource.fromUrl: SourceFailed"
]

layerTest(Layer.empty)("The errors that an editor shows", (it) => {
  it.effect("of each public function are the name of a union, or the names of its members", function* () {
    const functions = yield* printed
    assert.deepStrictEqual(
      functions.filter((line) => !line.endsWith(": E") && !line.endsWith(": never")).toSorted(),
      shown
    )
  })
})
