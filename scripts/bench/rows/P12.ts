import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Growth from "../growth.ts"
import * as Harness from "../harness.ts"
import * as Independent from "../independent.ts"
import * as Service from "../service.ts"
import * as Uploads from "../uploads.ts"

const small = UploadSource.fromBytes(new Uint8Array(1024))
const large = 1024 * Uploads.mebi
const metadata = { filename: "a.bin", fieldname: "file" }
const steps = { ":original": { robot: "/upload/handle" } }
const runs = 100

const job = Effect.suspend(() =>
  AssemblyUpload.run({ params: { steps }, files: [{ source: small, filename: "a.bin" }] })
)

/** The target of a new Assembly that expects this number of files. */
const assembly = (numExpectedUploadFiles: number) =>
  Effect.flatMap(Assemblies.create({ steps, numExpectedUploadFiles }), UploadTarget.fromAssembly)

const upload = (target: UploadTarget.UploadTarget) => Upload.run(target, small, { metadata })

const ratio = (peer: string, samples: Readonly<Record<"ours" | "theirs", ReadonlyArray<number>>>) =>
  Harness.ratio({ peer: `@tus/server: ${peer}`, target: Harness.unbound, unit: "ms", ...samples })

const absolute = (peer: string, target: Harness.Target, ours: ReadonlyArray<number>) =>
  Harness.absolute({ peer, target, unit: "ms", ours })

/** Measures the time from the start of a server to its first response. */
const starts = Harness.alternate<"ours" | "theirs", Harness.BenchError, never>(
  {
    ours: Growth.meanMillis(5)(
      Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(Emulator.layer())
          yield* Harness.attempt(() => fetch(Effect.runSync(Effect.provide(Emulator.Emulator, context)).localUrl))
        })
      )
    ).pipe(Service.orFail),
    theirs: Growth.meanMillis(5)(
      Effect.scoped(
        Effect.flatMap(Independent.server, ({ origin }) =>
          Harness.attempt(() => fetch(`${origin}/resumable/files`, { method: "OPTIONS" }))
        )
      )
    )
  },
  { rounds: 9 }
)

/** One client uploads to both servers, which share the process with it. */
const uploads = Effect.gen(function* () {
  const theirs = yield* Uploads.target((yield* Independent.server).origin)
  const samples = yield* Harness.alternate(
    {
      // The Assembly waits for one more file, so that only the uploads are measured.
      ours: Effect.flatMap(assembly(runs + 1), (target) => Growth.meanMillis(runs)(upload(target))),
      theirs: Growth.meanMillis(runs)(upload(theirs))
    },
    { rounds: 9 }
  )
  const path = yield* Uploads.file(large)
  const source = UploadSource.fromPath(path)
  const send = (target: UploadTarget.UploadTarget) =>
    Growth.millis(Effect.flatMap(source, (file) => Upload.run(target, file, { metadata })))
  const whole = yield* Harness.alternate(
    { ours: Effect.flatMap(assembly(1), send), theirs: send(theirs) },
    { rounds: 3, warmups: 0 }
  )
  return { small: samples, large: whole }
})

/** One service for all measurements except the measurement of its start. The scope removes its files. */
const all = Effect.gen(function* () {
  const jobs = yield* Harness.alternate(
    {
      job: Growth.meanMillis(runs)(job),
      create: Growth.meanMillis(runs)(Assemblies.create({ steps, numExpectedUploadFiles: 1 }))
    },
    { rounds: 9, warmups: 3 }
  )
  return { ...jobs, ...(yield* uploads) }
}).pipe(Effect.provide(Service.layer()), Service.orFail)

export const row: Harness.Row = {
  id: "P12",
  work: "the emulator in the process of its client",
  run: Effect.gen(function* () {
    const started = yield* starts
    const { create, job: jobs, large: whole, small: each } = yield* all
    return [
      absolute("create an Assembly, upload 1 KiB, completed", Harness.atMost(8, "ms"), jobs),
      absolute("create an Assembly", Harness.unbound, create),
      ratio("start, and the first response", started),
      ratio("upload of 1 KiB", each),
      ratio("upload of 1 GiB", whole)
    ]
  })
}
