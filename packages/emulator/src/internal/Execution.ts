import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Mime from "effect/http/Mime"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as AssemblyStore from "./AssemblyStore.ts"
import * as FileStore from "./FileStore.ts"
import * as Origin from "./Origin.ts"
import * as Robots from "./Robots.ts"
import type { StepFile } from "./robots/Robot.ts"
import * as Steps from "./Steps.ts"
import * as UploadStore from "./UploadStore.ts"

/** Brings Assemblies from their last upload to their end. */
export class Execution extends Context.Service<
  Execution,
  {
    /** Ends an Assembly at once if its Steps can never run. */
    readonly check: (assemblyId: string) => Effect.Effect<void>
    /** Executes an Assembly if every expected upload has arrived; once begun it is never broken off. */
    readonly advance: (assemblyId: string) => Effect.Effect<void>
  }
>()("@assembly-effect/emulator/Execution") {}

const splitName = (name: string): { readonly basename: string; readonly ext: string } => {
  const dot = name.lastIndexOf(".")
  return dot <= 0
    ? { basename: name, ext: "" }
    : { basename: name.slice(0, dot), ext: name.slice(dot + 1).toLowerCase() }
}

const describeUpload = (upload: UploadStore.Row, digest: FileStore.Digest, url: string): Assembly.File => {
  const { basename, ext } = splitName(upload.filename)
  const mime = ext === "" ? null : Option.getOrNull(Mime.getType(upload.filename))
  return {
    // An upload's id has the form of a file's id, and nothing else has the same.
    id: upload.id,
    original_id: upload.id,
    name: upload.filename,
    basename,
    ext,
    mime,
    type: mime?.split("/", 1)[0] ?? null,
    field: upload.fieldname,
    ...digest,
    url: null,
    ssl_url: null,
    meta: {},
    user_meta: upload.user_meta,
    is_tus_file: true,
    tus_upload_url: url
  }
}

const make = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const uploads = yield* UploadStore.UploadStore
  const files = yield* FileStore.FileStore
  const robots = yield* Robots.Robots
  const origin = yield* Origin.Origin

  const uploadedFiles = Effect.fnUntraced(function* (assemblyId: string) {
    const rows = yield* uploads.ofAssembly(assemblyId)
    return yield* Effect.forEach(
      rows.filter((upload) => upload.finished_at !== null),
      Effect.fnUntraced(function* (upload) {
        const digest = yield* files.digest(upload.id)
        const file = describeUpload(upload, digest, origin.uploadUrl(upload.id))
        return { blob: upload.id, digest, file } satisfies StepFile
      })
    )
  })

  const runSteps = Effect.fnUntraced(function* (assembly: AssemblyStore.Row, uploaded: ReadonlyArray<StepFile>) {
    const results = new Map<string, ReadonlyArray<StepFile>>()
    for (const { name, robot, step, uses } of yield* Steps.plan(assembly.steps, robots)) {
      const input = uses.length === 0 ? uploaded : uses.flatMap((used) => results.get(used) ?? [])
      results.set(name, yield* robot({ assembly, step, files: input }))
    }
    return results
  })

  const execute = Effect.fnUntraced(function* (assembly: AssemblyStore.Row) {
    const uploaded = yield* uploadedFiles(assembly.id)
    const toFiles = (all: ReadonlyArray<StepFile>) => all.map(({ file }) => file)
    const outcome = yield* runSteps(assembly, uploaded).pipe(
      Effect.map((results) => ({
        results: Object.fromEntries([...results].map(([name, made]) => [name, toFiles(made)])),
        failure: undefined
      })),
      Effect.catch((failure) => Effect.succeed({ results: {}, failure }))
    )
    yield* assemblies.end(assembly.id, { ...outcome, uploads: toFiles(uploaded) })
  })

  const executeById = (id: string) =>
    Effect.flatMap(assemblies.find(id), Option.match({ onNone: () => Effect.void, onSome: execute }))

  const advance = (id: string) =>
    assemblies.beginExecution(id).pipe(
      Effect.flatMap((began) => (began ? executeById(id) : Effect.void)),
      Effect.uninterruptible
    )

  const check = Effect.fnUntraced(function* (id: string) {
    const assembly = yield* assemblies.find(id)
    if (Option.isNone(assembly)) return
    yield* Steps.plan(assembly.value.steps, robots).pipe(
      Effect.catch((failure) => assemblies.end(id, { uploads: [], results: {}, failure }))
    )
  })

  // What a former process left is brought to its end before anybody can ask.
  for (const assembly of yield* assemblies.unfinished) {
    yield* assembly.state === "executing" ? execute(assembly) : advance(assembly.id)
  }
  return Execution.of({ check, advance })
})

export const layer: Layer.Layer<
  Execution,
  never,
  AssemblyStore.AssemblyStore | UploadStore.UploadStore | FileStore.FileStore | Robots.Robots | Origin.Origin
> = Layer.effect(Execution, make)
