/**
 * The whole job: the files of one Assembly, and what is to become of them. In a module of its own, since the rules of its
 * options and the upload of its files are below `AssemblyUpload`.
 */
import type * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Upload from "../Upload.ts"
import type { SourceFailed, UploadSource } from "../UploadSource.ts"

/**
 * One file. `source` is a source, or an Effect that makes one such as `UploadSource.fromPath`. These Effects run before the
 * Assembly is created; the bytes of a file are read when its upload begins. `fieldname` is `file` by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface File<R = never, Source extends UploadSource = UploadSource> {
  readonly source: Source | Effect.Effect<Source, SourceFailed, R>
  readonly filename: string
  readonly fieldname?: string | undefined
  readonly metadata?: Readonly<Record<string, string | null>> | undefined
}

/**
 * - `params`: creates the Assembly; the number of files is added.
 * - `concurrency`: how many files are uploaded at once, 4 by default, or `"unbounded"`.
 * - `upload`: the options of each upload, see `Upload.Options`.
 * - `onFailure`: what happens to the Assembly when a file fails for good. `cancel` cancels it and stops the other files.
 *   `keep` uploads the other files, and the Assembly waits for the missing one. After a defect, and when the server may
 *   hold wrong bytes as a whole file (`UploadUntrusted` with `mayBeWhole`), the Assembly is canceled in any case.
 * - `progressInterval`: the shortest time between two `Progress` events of the job. By default every step is told.
 * - `wait`: the options of the wait for the results, or false to end when the last byte is stored.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job<Files> {
  readonly params: Omit<Assemblies.CreateOptions, "numExpectedUploadFiles">
  readonly files: ReadonlyArray<Files>
  readonly concurrency?: number | "unbounded" | undefined
  readonly upload?: Omit<Upload.Options, "metadata" | "progressInterval"> | undefined
  readonly onFailure?: "cancel" | "keep" | undefined
  readonly progressInterval?: Duration.Input | undefined
  readonly wait?: false | Assemblies.AwaitOptions | undefined
}
