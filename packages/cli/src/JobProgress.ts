/**
 * Shows the progress of a job: one line for the upload of all its files, then the work of the Assembly.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { AssemblyUploadEvent } from "@assembly-effect/tus/AssemblyUploadEvent"
import * as Duration from "effect/Duration"
import * as ErrorLine from "./ErrorLine.ts"
import * as Format from "./Format.ts"
import * as ProgressBar from "./ProgressBar.ts"
import * as UploadJob from "./UploadJob.ts"
import type * as UploadProgress from "./UploadProgress.ts"

/**
 * Makes a function that returns the progress after an event. The speed does not include bytes that an earlier run has
 * sent.
 */
const makeAdvance = (total: bigint | undefined) => {
  /** The files whose bytes are counted, because an event has reported that they were created, resumed or complete. */
  const begun = new Set<number>()
  /**
   * The files that the current attempt has created or resumed, and the files that it found complete before any other
   * event of the file. An attempt begins with `AssemblyCreated` or `AssemblyResumed`.
   */
  const open = new Set<number>()
  /**
   * Whether the next event `Progress` may report fewer bytes than the last one, because the server has stored fewer
   * bytes than this run has sent.
   */
  let mayFall = false

  /**
   * Returns the progress after an event that reports the `bytes` of a file on the server: the upload of the file
   * continues at this offset, or the file is already complete.
   */
  const found = (progress: ProgressBar.Progress, now: number, file: number, bytes: bigint) => {
    const isOwn = begun.has(file)
    mayFall ||= isOwn && open.has(file)
    begun.add(file)
    open.add(file)
    return isOwn
      ? ProgressBar.pauseMeasure(ProgressBar.update(progress, { now }))
      : ProgressBar.inherit(progress, { now, bytes })
  }

  /**
   * Returns the progress after an event `Progress`, which has the sum of the bytes of all files. In a new attempt, the
   * sum lacks a file until the first event of this file. Therefore a smaller sum is ignored unless `mayFall` is true,
   * so that the shown number of bytes does not fall without a reason.
   */
  const sum = (
    progress: ProgressBar.Progress,
    now: number,
    { acknowledged, sent, total: length }: Extract<AssemblyUploadEvent, { readonly _tag: "Progress" }>
  ) => {
    const isLess = sent < progress.sent && !mayFall
    mayFall = false
    return ProgressBar.update(progress, { now, total: length, ...(isLess ? undefined : { sent, acknowledged }) })
  }

  return (progress: ProgressBar.Progress, event: UploadJob.JobEvent, now: number): ProgressBar.Progress => {
    switch (event._tag) {
      case "AssemblyCreated":
        begun.clear()
        open.clear()
        return ProgressBar.pauseMeasure({ ...ProgressBar.start({ total, now }), startedAt: progress.startedAt })
      case "AssemblyResumed":
        open.clear()
        return ProgressBar.pauseMeasure(ProgressBar.update(progress, { now, total }))
      case "Progress":
        return sum(progress, now, event)
      case "Waiting":
        return ProgressBar.wait(progress, { now, until: event.until })
      case "FileEvent": {
        const { event: inner, file } = event
        switch (inner._tag) {
          case "Created":
            begun.add(file)
            open.add(file)
            return progress
          case "Resumed":
            return found(progress, now, file, inner.offset)
          case "Completed":
            return begun.has(file) ? progress : found(progress, now, file, inner.length)
          case "Waiting":
            return ProgressBar.wait(progress, { now, until: inner.until })
          case "Retrying":
            return ProgressBar.wait(progress, { now, until: now + Duration.toMillis(inner.delay) })
          default:
            return progress
        }
      }
      case "Uploaded": {
        const all = progress.total ?? progress.sent
        return ProgressBar.update(progress, { now, sent: all, acknowledged: all, total: all })
      }
      default:
        return ProgressBar.update(progress, { now })
    }
  }
}

/** With more files than this, a resumed file leaves no note. */
const mostNamed = 4

/** Returns `text` if `told` does not have `reason` yet, and adds `reason` to `told`. Otherwise returns undefined. */
const once = (told: Set<string>, reason: string, text: string): string | undefined => {
  if (told.has(reason)) return undefined
  told.add(reason)
  return text
}

/**
 * The note that an event of one file leaves on the screen. With several files, the name of the file comes first. `told`
 * holds the reasons that were shown since a file or the Assembly last resumed. Therefore an unreachable server is
 * reported once, and the progress line counts the seconds of the wait.
 */
const fileNote = (
  { event, file }: Extract<AssemblyUploadEvent, { readonly _tag: "FileEvent" }>,
  names: ReadonlyArray<string>,
  told: Set<string>
): string | undefined => {
  const prefix = names.length === 1 ? "" : `${names[file] ?? ""}: `
  switch (event._tag) {
    case "Retrying":
      return once(
        told,
        event.reason,
        `${prefix}Retrying in ${Format.duration(event.delay)} (attempt ${event.attempt}): ${event.reason}`
      )
    case "Resumed":
      // The upload continues, so a later failure with the same reason is reported again.
      told.clear()
      return event.offset === 0n || names.length > mostNamed
        ? undefined
        : `${prefix}Resumed at ${Format.bytes(event.offset)}`
    case "Waiting":
      return once(told, event.reason, `${prefix}Waiting: ${event.reason}`)
    default:
      return undefined
  }
}

/**
 * Whether this run may send bytes from this event on. If an earlier run has uploaded all files, so that the Assembly is
 * no longer uploading, the result is false for every event.
 */
const begins = (event: UploadJob.JobEvent): boolean => {
  switch (event._tag) {
    case "AssemblyCreated":
      return true
    case "AssemblyResumed":
      return event.status.ok === "ASSEMBLY_UPLOADING"
    case "FileEvent":
      return ["Created", "Resumed", "Retrying"].includes(event.event._tag)
    default:
      return false
  }
}

/** Returns a function that makes the note of each event of a job. The note is undefined if the event leaves none. */
const notes = (names: ReadonlyArray<string>) => {
  const told = new Set<string>()
  let continued: string | undefined

  return (event: UploadJob.JobEvent): string | undefined => {
    switch (event._tag) {
      case "AssemblyCreated": {
        const { assembly_id } = event.status
        return continued === undefined
          ? `Assembly ${assembly_id}`
          : `Assembly ${continued} was canceled, because it is not known which files it has. Starting again in Assembly ${assembly_id}`
      }
      case "AssemblyResumed": {
        if (Assembly.isOver(event.status)) return undefined
        continued = event.status.assembly_id
        told.clear()
        return `Continuing Assembly ${continued}`
      }
      case "Notice":
        continued = undefined
        return event.message
      case "Waiting":
        return once(told, event.reason, `Waiting: ${event.reason}`)
      case "FileEvent":
        return fileNote(event, names, told)
      case "FileFailed": {
        // If the job has one file, the error of the command says why this file failed.
        // After an undecided creation, the note of the next attempt says whether the Assembly was continued or replaced.
        if (names.length === 1 || event.error._tag === "CreationUnknown") return undefined
        const reason = ErrorLine.fromError(event.error)
        return once(told, reason, `${names[event.file] ?? ""}: ${reason}`)
      }
      default:
        return undefined
    }
  }
}

/**
 * Describes how one run of a job is shown. `total` is the size of all files in bytes, if it is known.
 *
 * @since 0.1.0
 * @category constructors
 */
export const view = (names: ReadonlyArray<string>, total?: bigint): UploadProgress.View<UploadJob.JobEvent> => ({
  label: names.length === 1 ? (names[0] ?? "") : `${names.length} files`,
  advance: makeAdvance(total),
  begins,
  isEnd: ({ _tag }) => _tag === "Uploaded",
  after: "Processing",
  work: UploadJob.workOf,
  note: notes(names)
})
