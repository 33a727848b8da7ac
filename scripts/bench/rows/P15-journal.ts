import * as ResumableUpload from "@assembly-effect/tus/ResumableUpload"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Growth from "../growth.ts"
import * as Harness from "../harness.ts"
import * as Service from "../service.ts"
import * as Uploads from "../uploads.ts"

/** Too large to be sent with its creation, so that an upload can stop after that. */
const bytes = new Uint8Array(512 * 1024)

const temporary = Effect.acquireRelease(
  Harness.attempt(() => mkdtemp(join(tmpdir(), "bench-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

let next = 0
/** An upload that no journal has seen. */
const fresh = () => ({
  source: UploadSource.fromBytes(bytes),
  options: { metadata: { filename: `${next++}.bin`, fieldname: "file" } }
})

/** A journal in a folder, as a process that has just started opens it. */
const opened = (folder: string) =>
  UploadJournal.layerFileSystem(folder).pipe(
    Layer.catch((error) => Layer.effectContext(Effect.fail(new Harness.BenchError(error.message))))
  )

export const row: Harness.Row = {
  id: "P15-journal",
  work: "an upload of 512 KiB with a journal of many entries",
  axes: { x: "entries in the journal", y: "time (ms)" },
  run: Effect.gen(function* () {
    const origin = yield* Uploads.sink()
    const target = yield* Uploads.target(origin)

    const begin = Effect.suspend(() => {
      const { options, source } = fresh()
      return Service.orFail(ResumableUpload.run(target, source, options))
    })
    /** Stops an upload after its creation, and measures the run that continues it. */
    const resume = Effect.suspend(() => {
      const { options, source } = fresh()
      return ResumableUpload.events(target, source, options).pipe(
        Stream.takeUntil((event) => event._tag === "Created"),
        Stream.runDrain,
        Effect.andThen(Growth.millis(ResumableUpload.run(target, source, options))),
        Service.orFail
      )
    })
    const list = Service.orFail(UploadJournal.UploadJournal.use((journal) => journal.list))

    /**
     * A folder with this number of entries. They are copies of one entry, because no upload reads the entries of
     * others.
     */
    const filled = (count: number) =>
      Effect.gen(function* () {
        const folder = join(yield* temporary, "journal")
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
            "a new upload": Growth.millis(inJournal(begin)),
            "a new upload, the first of a process": Growth.millis(
              Effect.suspend(() => Effect.provide(begin, opened(folder)))
            ),
            "an upload that continues": inJournal(resume),
            "UploadJournal.list": Growth.millis(inJournal(list))
          }
        })
    })
  }).pipe(Uploads.withNode)
}
