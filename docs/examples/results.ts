/** The programs of docs/results.md. */
import { RetryPolicy } from "@assembly-effect/api"
import * as Results from "@assembly-effect/api/Results"
import type { Assembly } from "@assembly-effect/schema"
import { AssemblyUpload, type UploadSource } from "@assembly-effect/tus"
import * as DeliveryProof from "@assembly-effect/tus/DeliveryProof"
import { Effect, Stream } from "effect"

// #region save
/** Saves the results of one Step in a folder, four at a time. */
export const saveAll = (status: Assembly.Status, step: string, folder: string) =>
  Effect.forEach(
    Results.downloadable(status).get(step) ?? [],
    (file, index) => Results.save(file, `${folder}/${index}`, { maxBytes: 1024 ** 3 }),
    { concurrency: 4 }
  )
// #endregion

// #region download
/** Counts the lines of a text of any size. */
export const countLines = (file: Assembly.File) =>
  Results.download(file).pipe(
    RetryPolicy.withPolicy(RetryPolicy.make({ retries: 10 })),
    Stream.decodeText,
    Stream.splitLines,
    Stream.runCount
  )
// #endregion

// #region errors
export const backUp = (file: Assembly.File, path: string) =>
  Results.save(file, path).pipe(
    Effect.map(({ size }) => `${size} bytes`),
    Effect.catchTags({
      ResultChanged: () => Effect.succeed("changed, try again"),
      ResultMismatch: ({ message }) => Effect.succeed(`damaged: ${message}`),
      SaveFailed: ({ reason }) => Effect.succeed(reason === "Full" ? "the disk is full" : "not written")
    })
  )
// #endregion

// #region proof
/** Uploads a file, and proves that the service has exactly its bytes. */
export const deliver = (source: UploadSource.UploadSource, filename: string) =>
  AssemblyUpload.run({
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: [{ source, filename }],
    verify: DeliveryProof.md5
  }).pipe(
    Effect.as("delivered"),
    Effect.catchTag("DeliveryMismatch", ({ message }) => Effect.succeed(`damaged: ${message}`))
  )
// #endregion
