/** What the emulator costs, and a durable job. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as DurableSqlite from "@assembly-effect/workflow/DurableSqlite"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import * as Harness from "../harness.ts"
import * as Service from "../service.ts"
import * as Uploads from "../uploads.ts"

const small = UploadSource.fromBytes(new Uint8Array(1024))
const size = 1024 * Uploads.mebi
const { metadata } = Uploads
const steps = { ":original": { robot: "/upload/handle" } }
const runs = 100

const job = Effect.suspend(() =>
  AssemblyUpload.run({ params: { steps }, files: [{ source: small, filename: "a.bin" }] })
)

/** The target of a new Assembly that expects this number of files. */
const assembly = (numExpectedUploadFiles: number) =>
  Effect.flatMap(Assemblies.create({ steps, numExpectedUploadFiles }), UploadTarget.fromAssembly)

const upload = (target: UploadTarget.UploadTarget) => Upload.run(target, small, { metadata })

/** The time from the start of a server to its first response. */
const starts = Harness.alternate(
  {
    ours: Layer.build(Emulator.layer()).pipe(
      Effect.flatMap((context) => Harness.attempt(() => fetch(Context.get(context, Emulator.Emulator).localUrl))),
      Effect.scoped,
      Harness.orFail,
      Harness.meanMillis(5)
    ),
    theirs: Service.independent.pipe(
      Effect.flatMap((origin) => Harness.attempt(() => fetch(`${origin}/resumable/files`, { method: "OPTIONS" }))),
      Effect.scoped,
      Harness.meanMillis(5)
    )
  },
  { rounds: 9 }
)

/**
 * One service for all measurements except the measurement of its start. One client uploads to both servers, which share
 * the process with it.
 */
const all = Effect.gen(function* () {
  const jobs = yield* Harness.alternate<
    "job" | "create",
    number,
    AssemblyUpload.AssemblyUploadError,
    Layer.Success<typeof Service.layer>
  >(
    {
      job: Harness.meanMillis(runs)(job),
      create: Harness.meanMillis(runs)(Assemblies.create({ steps, numExpectedUploadFiles: 1 }))
    },
    { rounds: 9, warmups: 3 }
  )
  const theirs = yield* Uploads.target(yield* Service.independent)
  const each = yield* Harness.alternate(
    {
      // The Assembly waits for one more file, so that only the uploads are measured.
      ours: Effect.flatMap(assembly(runs + 1), (target) => Harness.meanMillis(runs)(upload(target))),
      theirs: Harness.meanMillis(runs)(upload(theirs))
    },
    { rounds: 9 }
  )
  const large = yield* UploadSource.fromPath(yield* Uploads.file(size))
  const send = (target: UploadTarget.UploadTarget) => Harness.millis(Upload.run(target, large, { metadata }))
  const whole = yield* Harness.alternate(
    { ours: Effect.flatMap(assembly(1), send), theirs: send(theirs) },
    { rounds: 3, warmups: 0 }
  )
  return { ...jobs, each, whole }
}).pipe(Effect.provide(Service.layer), Harness.orFail)

/** Both wait for the Assembly in the same way, so that only the work of the job is compared. */
const wait = { interval: "100 millis", maxInterval: "500 millis" } as const

let next = 0
/** Each job has another key, because the same key would be the same job. */
const durable = (path: string) =>
  Effect.suspend(() =>
    Durable.run({
      key: `job ${next++}`,
      params: { steps },
      files: [{ source: DurableJob.path(path), filename: "a.bin" }]
    })
  ).pipe(Harness.orFail)

const plain = (path: string) =>
  AssemblyUpload.run({
    params: { steps },
    files: [{ source: UploadSource.fromPath(path), filename: "a.bin" }],
    wait
  }).pipe(Harness.orFail)

type Services = Effect.Services<ReturnType<typeof durable> | ReturnType<typeof plain>>

const compare = (path: string, rounds: number) =>
  Harness.alternate<"ours" | "theirs", number, Harness.BenchError, Services>(
    { ours: Harness.seconds(durable(path)), theirs: Harness.seconds(plain(path)) },
    { rounds }
  )

export const rows: ReadonlyArray<Harness.Row> = [
  {
    id: "P12",
    work: "the emulator in the process of its client",
    run: Effect.gen(function* () {
      const beside = (peer: string, { ours, theirs }: Readonly<Record<"ours" | "theirs", ReadonlyArray<number>>>) =>
        Harness.ratio(`@tus/server: ${peer}`, Harness.unbound, "ms", ours, theirs)
      const started = yield* starts
      const { create, each, job: jobs, whole } = yield* all
      return [
        Harness.absolute("create an Assembly, upload 1 KiB, completed", Harness.atMost(5, "ms"), "ms", jobs),
        Harness.absolute("create an Assembly", Harness.unbound, "ms", create),
        beside("start, and the first response", started),
        beside("upload of 1 KiB", each),
        beside("upload of 1 GiB", whole)
      ]
    })
  },
  {
    id: "P14",
    work: "a job with one file, durable in SQLite, from its start to its end",
    run: Effect.gen(function* () {
      const origin = yield* Service.separate
      const database = join(yield* Harness.folder, "jobs.db")
      const big = yield* Uploads.file(200 * Uploads.mebi)
      const little = yield* Uploads.file(1024)
      const runner = DurableSqlite.layer(database).pipe(Layer.provideMerge(Service.layerClient(origin)), Service.orFail)
      return yield* Effect.gen(function* () {
        const long = yield* compare(big, 7)
        const short = yield* compare(little, 30)
        return [
          Harness.ratio("AssemblyUpload.run: 200 MiB", Harness.atMost(1.05), "s", long.ours, long.theirs),
          Harness.ratio("AssemblyUpload.run: 1 KiB", Harness.unbound, "s", short.ours, short.theirs)
        ]
      }).pipe(Effect.provide(runner))
    })
  }
]
