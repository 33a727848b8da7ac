/**
 * Shows the progress of a job: one line for the upload of all its files, then the work of the Assembly.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { AssemblyUploadEvent } from "@assembly-effect/tus/AssemblyUploadEvent"
import * as UploadJob from "./UploadJob.ts"
import * as Duration from "effect/Duration"
import * as Format from "./Format.ts"
import * as ProgressBar from "./ProgressBar.ts"
import type * as UploadProgress from "./UploadProgress.ts"

/**
 * The progress after an event. `begun` holds the files whose uploads this run has created. An earlier run may have sent
 * bytes of the other files, so those bytes do not count as speed.
 */
const advance =
  (begun: Set<number>) =>
  (progress: ProgressBar.Progress, event: UploadJob.JobEvent, now: number): ProgressBar.Progress => {
    switch (event._tag) {
      case "Progress":
        return ProgressBar.update(progress, { now, ...event })
      case "FileEvent": {
        const { _tag } = event.event
        if (_tag === "Created") begun.add(event.file)
        if (event.event._tag === "Retrying") {
          return ProgressBar.wait(progress, { now, until: now + Duration.toMillis(event.event.delay) })
        }
        const isEarlier = _tag === "Resumed" || (_tag === "Completed" && !begun.has(event.file))
        return isEarlier ? ProgressBar.pauseMeasure(ProgressBar.update(progress, { now })) : progress
      }
      case "Uploaded": {
        const total = progress.total ?? progress.sent
        return ProgressBar.update(progress, { now, sent: total, acknowledged: total, total })
      }
      default:
        return ProgressBar.update(progress, { now })
    }
  }

/** With more files than this, a resumed file leaves no note. */
const mostNamed = 4

/**
 * The note that an event of one file leaves on the screen. With several files, the name of the file comes first. `told`
 * holds the reasons that were shown since the last success. So an unreachable server is reported once, and the progress
 * line counts the seconds.
 */
const fileNote = (
  { event, file }: Extract<AssemblyUploadEvent, { readonly _tag: "FileEvent" }>,
  names: ReadonlyArray<string>,
  told: Set<string>
): string | undefined => {
  const prefix = names.length === 1 ? "" : `${names[file] ?? ""}: `
  switch (event._tag) {
    case "Retrying": {
      if (told.has(event.reason)) return undefined
      told.add(event.reason)
      return `${prefix}Retrying in ${Format.duration(event.delay)} (attempt ${event.attempt}): ${event.reason}`
    }
    case "Resumed":
      // The upload continues, so a later failure is reported again.
      told.clear()
      return names.length > mostNamed ? undefined : `${prefix}Resumed at ${Format.bytes(event.offset)}`
    case "Waiting":
      return `${prefix}Waiting: ${event.reason}`
    default:
      return undefined
  }
}

/**
 * Describes how one run of a job is shown.
 *
 * @since 0.1.0
 * @category constructors
 */
export const view = (names: ReadonlyArray<string>): UploadProgress.View<UploadJob.JobEvent> => {
  const told = new Set<string>()
  return {
    label: names.length === 1 ? (names[0] ?? "") : `${names.length} files`,
    advance: advance(new Set()),
    isEnd: ({ _tag }) => _tag === "Uploaded",
    after: "Processing",
    work: UploadJob.workOf,
    note: (event) => {
      switch (event._tag) {
        case "AssemblyCreated":
          return `Assembly ${event.status.assembly_id}`
        case "AssemblyResumed":
          return Assembly.isOver(event.status) ? undefined : `Continuing Assembly ${event.status.assembly_id}`
        case "Waiting":
          return `Waiting: ${event.reason}`
        case "FileEvent":
          return fileNote(event, names, told)
        case "FileFailed":
          // The error of the command says why.
          return names.length === 1 ? undefined : `${names[event.file] ?? ""}: failed`
        default:
          return undefined
      }
    }
  }
}
