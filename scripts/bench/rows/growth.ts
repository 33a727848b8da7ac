/** How costs grow with the size of the work. Each row is drawn. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Growth from "../growth.ts"
import * as Harness from "../harness.ts"
import * as Service from "../service.ts"
import * as Uploads from "../uploads.ts"

const steps = { ":original": { robot: "/upload/handle" } }
const create = Assemblies.create({ steps })

const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")
const pageSizes = [50, 500, 5000]

/** Runs a whole job: creates the Assembly, uploads the files, and waits for the end. */
const job = (count: number, concurrency: number) =>
  Effect.suspend(() =>
    AssemblyUpload.run({
      params: { steps },
      files: Array.from({ length: count }, (_, index) => ({
        source: UploadSource.fromBytes(new Uint8Array(1024)),
        filename: `${index}.bin`
      })),
      concurrency
    })
  )

/** Too large to be sent with its creation, so that an upload can stop after that. */
const half = new Uint8Array(512 * 1024)

let next = 0
/** An upload that no journal has seen. */
const fresh = () => ({
  source: UploadSource.fromBytes(half),
  options: { metadata: { filename: `${next++}.bin`, fieldname: "file" } }
})

/** A journal in a folder, as a process that has just started opens it. */
const opened = (folder: string) =>
  Service.orFail(Layer.provideMerge(Upload.layerJournaled, UploadJournal.layerFileSystem(folder)))

export const rows: ReadonlyArray<Harness.Row> = [
  {
    id: "P15-uploads",
    work: "uploads of 64 KiB, all at once",
    axes: { x: "uploads at once", y: "time for all (ms)" },
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const path = yield* Uploads.file(64 * 1024)
      const target = yield* Uploads.target(origin)
      return yield* Growth.measure({
        sizes: [1, 10, 100, 1000],
        rounds: 7,
        prepare: (count) => {
          const all = <E, R>(one: Effect.Effect<unknown, E, R>) =>
            Harness.millis(Effect.replicateEffect(one, count, { concurrency: "unbounded", discard: true }))
          return Effect.succeed({
            "Upload.run": all(Uploads.oursTo(target, path)),
            "tus-js-client": all(Uploads.theirs(origin, path, 64 * 1024))
          })
        }
      })
    }).pipe(Uploads.withNode)
  },
  {
    id: "P15-files",
    work: "one Assembly with files of 1 KiB, from its creation to its end",
    axes: { x: "files of the Assembly", y: "time of the job (ms)" },
    run: Effect.gen(function* () {
      const origin = yield* Service.separate
      const measured = (count: number, concurrency: number) =>
        Harness.millis(Harness.orFail(job(count, concurrency))).pipe(Effect.provide(Service.layerClient(origin)))
      return yield* Growth.measure({
        sizes: [1, 20, 200, 2000],
        rounds: 3,
        prepare: (count) =>
          Effect.succeed({ "4 files at once": measured(count, 4), "16 files at once": measured(count, 16) })
      })
    })
  },
  {
    id: "P15-pages",
    work: "one page of the list of Assemblies",
    axes: { x: "entries of the page", y: "time of the request (ms)" },
    run: Effect.gen(function* () {
      const origin = yield* Service.separate
      const stored = yield* Layer.build(Service.layerClient(origin))
      yield* Effect.replicateEffect(create, Math.max(...pageSizes), { concurrency: 8, discard: true }).pipe(
        Effect.provideContext(stored),
        Harness.orFail
      )
      return yield* Growth.measure({
        sizes: pageSizes,
        rounds: 9,
        prepare: (pageSize) =>
          Effect.gen(function* () {
            const memory = yield* Harness.child(new URL("../servers/list.ts", import.meta.url), {
              args: [String(pageSize)]
            })
            const prepared = yield* Layer.build(Service.layerClient(`http://127.0.0.1:${memory.port}`))
            const list = (context: typeof stored) =>
              Harness.meanMillis(3)(
                Harness.orFail(Effect.provideContext(Assemblies.list({ fromDate, pageSize }), context))
              )
            return { "a prepared response": list(prepared), "the emulator": list(stored) }
          })
      })
    })
  },
  {
    id: "P15-statistics",
    work: "statistics by the hour, from the emulator",
    axes: { x: "buckets", y: "time of the request (ms)" },
    run: Effect.gen(function* () {
      const origin = yield* Service.separate
      const context = yield* Layer.build(Service.layerClient(origin))
      return yield* Growth.measure({
        sizes: [24, 240, 2184],
        rounds: 9,
        prepare: (hours) =>
          Effect.map(DateTime.now, (now) => {
            // The current hour is a bucket too.
            const since = DateTime.subtract(now, { hours: hours - 1 })
            const request = Assemblies.statistics({ region: "all", since })
            return {
              "Assemblies.statistics": Harness.meanMillis(5)(Harness.orFail(Effect.provideContext(request, context)))
            }
          })
      })
    })
  },
  {
    id: "P15-journal",
    work: "an upload of 512 KiB with a journal of many entries",
    axes: { x: "entries in the journal", y: "time (ms)" },
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const target = yield* Uploads.target(origin)

      const begin = Effect.suspend(() => {
        const { options, source } = fresh()
        return Harness.orFail(Upload.run(target, source, options))
      })
      /** Stops an upload after its creation, and measures the run that continues it. */
      const resume = Effect.suspend(() => {
        const { options, source } = fresh()
        return Upload.events(target, source, options).pipe(
          Stream.takeUntil((event) => event._tag === "Created"),
          Stream.runDrain,
          Effect.andThen(Harness.millis(Upload.run(target, source, options))),
          Harness.orFail
        )
      })
      const list = Harness.orFail(UploadJournal.UploadJournal.use((journal) => journal.list))

      /**
       * A folder with this number of entries. They are copies of one entry, because no upload reads the entries of
       * others.
       */
      const filled = (count: number) =>
        Effect.gen(function* () {
          const folder = join(yield* Harness.folder, "journal")
          mkdirSync(folder)
          yield* Effect.provide(begin, opened(folder))
          const own = readdirSync(folder).find((name) => name.endsWith(".json")) ?? ""
          const text = readFileSync(join(folder, own))
          for (let index = 1; index < count; index++) {
            writeFileSync(join(folder, `${index.toString(16).padStart(64, "0")}.json`), text, { mode: 0o600 })
          }
          return folder
        })

      return yield* Growth.measure({
        sizes: [1, 10, 100, 1000, 10_000, 100_000],
        rounds: 3,
        prepare: (count) =>
          Effect.gen(function* () {
            const folder = yield* filled(count)
            const journal = yield* Layer.build(opened(folder))
            const inJournal = Effect.provideContext(journal)
            return {
              "a new upload": Harness.millis(inJournal(begin)),
              "a new upload, the first of a process": Harness.millis(
                Effect.suspend(() => Effect.provide(begin, opened(folder)))
              ),
              "an upload that continues": inJournal(resume),
              "UploadJournal.list": Harness.millis(inJournal(list))
            }
          })
      })
    }).pipe(Uploads.withNode)
  },
  {
    id: "P15-emulator",
    work: "one request to an emulator with many Assemblies",
    axes: { x: "stored Assemblies", y: "time of one request (ms)" },
    run: Effect.gen(function* () {
      const origin = yield* Service.separate
      const context = yield* Layer.build(Service.layerClient(origin))
      const since = DateTime.subtract(yield* DateTime.now, { days: 1 })
      const measured = <A, E extends { readonly message: string }>(
        runs: number,
        request: Effect.Effect<A, E, Layer.Success<ReturnType<typeof Service.layerClient>>>
      ) => Harness.meanMillis(runs)(Harness.orFail(Effect.provideContext(request, context)))

      let stored = 0
      /** Creates Assemblies until the service has `count` of them. The measurements create only a few more. */
      const fill = (count: number) =>
        Effect.suspend(() => {
          const missing = Math.max(0, count - stored)
          stored += missing
          return Effect.replicateEffect(create, missing, { concurrency: 8, discard: true })
        }).pipe(Effect.provideContext(context), Harness.orFail)

      return yield* Growth.measure({
        sizes: [1, 10, 100, 1000, 10_000],
        rounds: 5,
        prepare: (count) =>
          Effect.as(fill(count), {
            create: measured(10, create),
            "list: a page of 50": measured(10, Assemblies.list({ fromDate: since, pageSize: 50 })),
            "list: the last page of 50": measured(
              3,
              Assemblies.list({ fromDate: since, pageSize: 50, page: Math.max(1, Math.floor(count / 50)) })
            ),
            "list: a page of 50 with a keyword": measured(
              3,
              Assemblies.list({ fromDate: since, pageSize: 50, keywords: ["nothing"] })
            ),
            statistics: measured(3, Assemblies.statistics({ region: "all", since }))
          })
      })
    })
  }
]
