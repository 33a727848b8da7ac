/** Describes why a journal cannot be read or written. The error (`UnusableJournal`) names the folder of the journal. */
import * as CommandError from "../CommandError.ts"
import type { JournalFailed } from "@assembly-effect/tus/JournalError"
import type * as UploadJob from "../UploadJob.ts"
import * as SystemProblem from "./systemProblem.ts"

const full: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"])

/** The code of the operating system in the problem of the journal, such as ENOSPC. */
const codeIn = (problem: string): string | undefined => /\((E[A-Z]+)\)/.exec(problem)?.[1]

/**
 * The problem of the journal that an error contains. `LeaseLost` contains such a problem if the lease was lost because
 * the journal could not be written for long.
 */
const problemOf = (error: UploadJob.JobError): string | undefined => {
  switch (error._tag) {
    case "JournalFailed":
      return error.problem
    case "LeaseLost":
      return codeIn(error.problem) === undefined ? undefined : error.problem
    case "FilesFailed": {
      const [first] = error.files.flatMap((file) => (file.outcome === "Failed" ? [file.error] : []))
      return first?._tag === "JournalFailed" || first?._tag === "LeaseLost" ? problemOf(first) : undefined
    }
    default:
      return undefined
  }
}

/**
 * The error of a journal in words. The result is undefined if the error is not an error of the journal. `isKept`:
 * whether the same command continues the upload.
 */
export const of = (
  error: JournalFailed | UploadJob.JobError,
  folder: string,
  isKept: boolean
): CommandError.UnusableJournal | undefined => {
  const problem = problemOf(error)
  if (problem === undefined) return undefined
  const code = codeIn(problem)
  return new CommandError.UnusableJournal({
    folder,
    problem: code === undefined ? problem : SystemProblem.ofCode(code),
    isFull: code !== undefined && full.has(code),
    isKept
  })
}
