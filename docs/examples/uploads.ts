/** The programs of docs/uploads.md. */
import { ApiError } from "@assembly-effect/api"
import type { Assembly } from "@assembly-effect/schema"
import {
  UploadEvent,
  AssemblyUpload,
  AssemblyUploadEvent,
  Upload,
  UploadJournal,
  UploadSource,
  UploadTarget,
  WebSource
} from "@assembly-effect/tus"
import { Console, Effect, FileSystem, Layer, Schema, Stream } from "effect"

// #region publicStatus
/** The Status of an Assembly as JSON for any user: without ids and URLs that grant access. */
export const publicJson = (status: Assembly.Status) =>
  Schema.encodeEffect(Schema.fromJsonString(AssemblyUploadEvent.PublicStatus))(status)
// #endregion

// #region sources
export const sources = Effect.gen(function* () {
  const path = yield* UploadSource.fromPath("cat.jpg")
  const bytes = UploadSource.fromBytes(new TextEncoder().encode("hello"))
  const blob = UploadSource.fromBlob(new Blob(["hello"]))
  const stream = UploadSource.fromStream(Stream.make(new Uint8Array(1024)), { size: 1024n })
  const endless = UploadSource.fromStream(Stream.make(new Uint8Array(1024)))
  return { path, bytes, blob, stream, endless }
})
// #endregion

const metadata = { filename: "cat.jpg", fieldname: "file" }

// #region sink
/** Writes rows of a database, one JSON object on each line, to a file of the Assembly. */
export const exported = <E, R>(target: UploadTarget.UploadTarget, rows: Stream.Stream<object, E, R>) =>
  rows.pipe(
    Stream.map((row) => `${JSON.stringify(row)}\n`),
    Stream.encodeText,
    Stream.run(Upload.sink(target, { metadata: { filename: "rows.jsonl", fieldname: "file" } }))
  )
// #endregion

// #region url
export const copied = (target: UploadTarget.UploadTarget, url: string) =>
  Effect.flatMap(WebSource.fromUrl(url), (source) => Upload.run(target, source, { metadata }))
// #endregion

// #region events
export const withProgress = (target: UploadTarget.UploadTarget, source: UploadSource.UploadSource) =>
  Upload.events(target, source, { metadata }).pipe(
    Stream.tap((event) => {
      switch (event._tag) {
        case "Progress":
          return Console.log(`${event.sent} of ${event.total ?? "?"} bytes have left`)
        case "Retrying":
          return Console.log(`failure ${event.attempt}: ${event.reason}`)
        default:
          return Console.log(event._tag)
      }
    }),
    UploadEvent.result
  )
// #endregion

// #region sse
export const serverSentEvents = (target: UploadTarget.UploadTarget, source: UploadSource.UploadSource) =>
  Upload.events(target, source, { metadata, progressInterval: "250 millis" }).pipe(
    Stream.mapEffect((event) => Schema.encodeEffect(UploadEvent.Json)(event)),
    Stream.map((data) => `data: ${data}\n\n`)
  )
// #endregion

// #region resuming
export const resuming = (target: UploadTarget.UploadTarget, source: UploadSource.Replayable, folder: string) =>
  Upload.run(target, source, { metadata }).pipe(
    Effect.catchTags({
      CreationUnknown: ({ message }) => Console.error(`look at the Assembly first: ${message}`),
      UploadGone: () => Console.error("the server has removed it; the next run begins anew")
    }),
    Effect.provide(Upload.layerJournaled.pipe(Layer.provide(UploadJournal.layerFileSystem(folder))))
  )
// #endregion

// #region bandwidth
/** Uploads all files with at most 1 MB a second together. */
export const slowly = (target: UploadTarget.UploadTarget, files: ReadonlyArray<UploadSource.UploadSource>) =>
  Effect.forEach(files, (source) => Upload.run(target, source, { metadata }), { concurrency: 4 }).pipe(
    Effect.provide(Upload.layerBandwidth({ bytesPerSecond: 1_000_000 }))
  )
// #endregion

// #region parallel
export const inParts = (target: UploadTarget.UploadTarget, source: UploadSource.Replayable) =>
  Upload.run(target, source, { metadata, parallel: 4 })
// #endregion

// #region assembly
export const wholeJob = (paths: ReadonlyArray<string>) =>
  AssemblyUpload.events({
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: paths.map((path) => ({ source: UploadSource.fromPath(path), filename: path.split("/").at(-1) ?? path })),
    concurrency: 3,
    wait: { timeout: "10 minutes" }
  }).pipe(
    Stream.tap((event) =>
      event._tag === "Progress" ? Console.log(`${event.sent} of ${event.total ?? "?"} bytes`) : Effect.void
    ),
    AssemblyUploadEvent.result
  )
// #endregion

// #region form
/** Sends small files, such as thumbnails, in the request that creates their Assembly. */
export const inOneRequest = (files: ReadonlyArray<AssemblyUpload.File>) =>
  AssemblyUpload.run({ params: { steps: { ":original": { robot: "/upload/handle" } } }, files, transport: "form" })
// #endregion

// #region surviving
/** Uploads a folder and its subfolders as one job. The same files in the same order are the same job. */
export const survivingJob = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const names = yield* Effect.filter((yield* fs.readDirectory(folder, { recursive: true })).toSorted(), (name) =>
      Effect.map(fs.stat(`${folder}/${name}`), ({ type }) => type === "File")
    )
    return yield* AssemblyUpload.run({
      params: { steps: { ":original": { robot: "/upload/handle" } } },
      files: names.map((filename) => ({ source: UploadSource.fromPath(`${folder}/${filename}`), filename }))
    })
  })

/** The program has this Layer at its edge, so that a test gives `survivingJob` another. */
export const journaled = (folder: string) =>
  AssemblyUpload.layerJournaled.pipe(Layer.provide(UploadJournal.layerFileSystem(folder)))
// #endregion

// #region batch
/** Uploads each file of a folder in an Assembly of its own. With a journal, the next run skips what is completed. */
export const folderBatch = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const jobs = Stream.fromIterable(yield* fs.readDirectory(folder)).pipe(
      // A subfolder is not a file, so it would fail in every run.
      Stream.filterEffect((name) => Effect.map(fs.stat(`${folder}/${name}`), ({ type }) => type === "File")),
      Stream.map((filename) => ({
        data: filename,
        params: { steps: { ":original": { robot: "/upload/handle" } } },
        files: [{ source: UploadSource.fromPath(`${folder}/${filename}`), filename }]
      }))
    )
    return yield* jobs.pipe(
      AssemblyUpload.runAll({ assemblies: 16 }),
      Stream.tap((outcome) =>
        outcome._tag === "Failed"
          ? Console.error(`${outcome.job.data}: ${outcome.error.message}`)
          : Console.log(`${outcome.job.data}: ${outcome._tag}`)
      ),
      Stream.runCollect
    )
  })
// #endregion

// #region testing
/** The application: makes a thumbnail, and returns a default picture if the file is not a picture. */
export const thumbnail = (source: UploadSource.UploadSource) =>
  AssemblyUpload.run({
    params: { templateId: "thumbnails" },
    files: [{ source, filename: "cat.jpg" }]
  }).pipe(
    Effect.map(({ results }) => results?.["thumbs"]?.[0]?.ssl_url),
    Effect.catchTag("AssemblyFailed", () => Effect.succeed("https://example.com/no-picture.jpg"))
  )

/** Its test: one Assembly completes with a thumbnail, another one fails. */
export const thumbnailTest = Effect.gen(function* () {
  const source = UploadSource.fromBytes(new TextEncoder().encode("a picture"))
  const found = yield* thumbnail(source).pipe(
    Effect.provide(
      AssemblyUpload.layerTest((all) =>
        AssemblyUpload.succeeded(all, { thumbs: [{ ssl_url: "https://cdn.example.com/cat.jpg" }] })
      )
    )
  )
  const missing = yield* thumbnail(source).pipe(
    Effect.provide(
      AssemblyUpload.layerTest(() =>
        Stream.fail(new ApiError.AssemblyFailed({ assemblyId: "", code: "INVALID_FILE", description: "not a picture" }))
      )
    )
  )
  return [found, missing]
})
// #endregion

// #region resumeAt
export const continued = (target: UploadTarget.UploadTarget, stored: string, source: UploadSource.UploadSource) =>
  Effect.gen(function* () {
    const url = yield* Schema.decodeEffect(UploadTarget.urlAtRest(target))(stored)
    return yield* Upload.resume({ target, url, metadata }, source)
  })
// #endregion
