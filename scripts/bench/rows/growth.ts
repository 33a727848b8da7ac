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
  Growth.row({
    id: "P15-uploads",
    work: "uploads of 64 KiB, all at once",
    axes: { x: "uploads at once", y: "time for all (ms)" },
    sizes: [1, 10, 100, 1000],
    rounds: 7,
    begin: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const path = yield* Uploads.file(64 * 1024)
      const target = yield* Uploads.target(origin)
      return (count) => {
        const all = <E, R>(one: Effect.Effect<unknown, E, R>) =>
          Harness.millis(Effect.replicateEffect(one, count, { concurrency: "unbounded", discard: true }))
        return Effect.succeed({
          "Upload.run": all(Uploads.oursTo(target, path)),
          "tus-js-client": all(Uploads.theirs(origin, path, 64 * 1024))
        })
      }
    })
  }),
  Growth.row({
    id: "P15-files",
    work: "one Assembly with files of 1 KiB, from its creation to its end",
    axes: { x: "files of the Assembly", y: "time of the job (ms)" },
    sizes: [1, 20, 200, 2000],
    rounds: 3,
    begin: Effect.map(Service.client, (client) => (count) => {
      const measured = (concurrency: number) => Service.meanMillis(1, client)(job(count, concurrency))
      return Effect.succeed({ "4 files at once": measured(4), "16 files at once": measured(16) })
    })
  }),
  Growth.row({
    id: "P15-pages",
    work: "one page of the list of Assemblies",
    axes: { x: "entries of the page", y: "time of the request (ms)" },
    sizes: pageSizes,
    rounds: 9,
    begin: Effect.gen(function* () {
      const stored = yield* Service.client
      const server = new URL("../servers/list.ts", import.meta.url)
      yield* Effect.replicateEffect(create, Math.max(...pageSizes), { concurrency: 8, discard: true }).pipe(
        Effect.provideContext(stored),
        Harness.orFail
      )
      return Effect.fnUntraced(function* (pageSize) {
        const { port } = yield* Harness.child(server, { args: [String(pageSize)] })
        const prepared = yield* Layer.build(Service.layerClient(`http://127.0.0.1:${port}`))
        const list = Assemblies.list({ fromDate, pageSize })
        return {
          "a prepared response": Service.meanMillis(3, prepared)(list),
          "the emulator": Service.meanMillis(3, stored)(list)
        }
      })
    })
  }),
  Growth.row({
    id: "P15-statistics",
    work: "statistics by the hour, from the emulator",
    axes: { x: "buckets", y: "time of the request (ms)" },
    sizes: [24, 240, 2184],
    rounds: 9,
    begin: Effect.gen(function* () {
      const client = yield* Service.client
      const now = yield* DateTime.now
      return (hours) => {
        // The current hour is a bucket too.
        const since = DateTime.subtract(now, { hours: hours - 1 })
        const statistics = Assemblies.statistics({ region: "all", since })
        return Effect.succeed({ "Assemblies.statistics": Service.meanMillis(5, client)(statistics) })
      }
    })
  }),
  Growth.row({
    id: "P15-journal",
    work: "an upload of 512 KiB with a journal of many entries",
    axes: { x: "entries in the journal", y: "time (ms)" },
    sizes: [1, 10, 100, 1000, 10_000, 100_000],
    rounds: 3,
    begin: Effect.gen(function* () {
      const target = yield* Uploads.target(yield* Uploads.sink())
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

      return Effect.fnUntraced(function* (count) {
        const folder = join(yield* Harness.folder, "journal")
        mkdirSync(folder)
        yield* Effect.provide(begin, opened(folder))
        // The others are copies of one entry, because no upload reads the entries of others.
        const own = readdirSync(folder).find((name) => name.endsWith(".json")) ?? ""
        const text = readFileSync(join(folder, own))
        for (let index = 1; index < count; index++) {
          writeFileSync(join(folder, `${index.toString(16).padStart(64, "0")}.json`), text, { mode: 0o600 })
        }
        const inJournal = Effect.provideContext(yield* Layer.build(opened(folder)))
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
  }),
  Growth.row({
    id: "P15-emulator",
    work: "one request to an emulator with many Assemblies",
    axes: { x: "stored Assemblies", y: "time of one request (ms)" },
    sizes: [1, 10, 100, 1000, 10_000],
    rounds: 5,
    begin: Effect.gen(function* () {
      const client = yield* Service.client
      const since = DateTime.subtract(yield* DateTime.now, { days: 1 })
      const page = { fromDate: since, pageSize: 50 }
      const [often, seldom] = [Service.meanMillis(10, client), Service.meanMillis(3, client)]
      let stored = 0
      /** Creates Assemblies until the service has `count` of them. The measurements create only a few more. */
      const fill = (count: number) =>
        Effect.suspend(() => {
          const missing = Math.max(0, count - stored)
          stored += missing
          return Effect.replicateEffect(create, missing, { concurrency: 8, discard: true })
        }).pipe(Effect.provideContext(client), Harness.orFail)
      return (count) =>
        Effect.as(fill(count), {
          create: often(create),
          "list: a page of 50": often(Assemblies.list(page)),
          "list: the last page of 50": seldom(Assemblies.list({ ...page, page: Math.max(1, Math.floor(count / 50)) })),
          "list: a page of 50 with a keyword": seldom(Assemblies.list({ ...page, keywords: ["nothing"] })),
          statistics: seldom(Assemblies.statistics({ region: "all", since }))
        })
    })
  })
]
