/** Describes why a journal cannot be read or written. The error (`UnusableJournal`) names the folder of the journal. */
import * as CommandError from "../CommandError.ts"
import type { JournalFailed, JournalTorn } from "@assembly-effect/tus/UploadJournal"
import type * as UploadJob from "../UploadJob.ts"
import * as SystemProblem from "./systemProblem.ts"

/**
 * The problem of the journal that an error contains. `LeaseLost` contains such a problem if the lease was lost because
 * the journal could not be written for a long time. If several files failed, only the error of the first one counts.
 */
const problemOf = (error: UploadJob.JobError): string | undefined => {
  switch (error._tag) {
    case "JournalFailed":
      return error.description
    case "LeaseLost":
      return SystemProblem.codeIn(error.description) === undefined ? undefined : error.description
    case "FilesFailed": {
      const [first] = error.files.flatMap((file) => (file.outcome === "Failed" ? [file.error] : []))
      return first?._tag === "JournalFailed" || first?._tag === "LeaseLost" ? problemOf(first) : undefined
    }
    default:
      return undefined
  }
}

/**
 * The damaged entry of the journal that an error names. If several files failed, only the error of the first one
 * counts.
 */
const tornOf = (error: JournalFailed | UploadJob.JobError): JournalTorn | undefined => {
  if (error._tag === "JournalTorn") return error
  if (error._tag !== "FilesFailed") return undefined
  const [first] = error.files.flatMap((file) => (file.outcome === "Failed" ? [file.error] : []))
  return first?._tag === "JournalTorn" ? first : undefined
}

/**
 * Converts an error of the journal into an error of the command line. The result is undefined if the error is not an
 * error of the journal. `isKept`: whether the same command continues the upload.
 */
export const of = (
  error: JournalFailed | UploadJob.JobError,
  folder: string,
  isKept: boolean
): CommandError.UnusableJournal | CommandError.DamagedJournal | undefined => {
  const torn = tornOf(error)
  if (torn !== undefined) {
    return new CommandError.DamagedJournal({
      entries: [{ file: `${folder}/${torn.key}.json`, description: torn.description }]
    })
  }
  const problem = problemOf(error)
  if (problem === undefined) return undefined
  return new CommandError.UnusableJournal({
    folder,
    description: SystemProblem.ofText(problem),
    isFull: SystemProblem.isFull(SystemProblem.codeIn(problem)),
    isKept
  })
}
