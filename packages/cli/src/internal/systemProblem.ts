/** Describes errors of the operating system in a few words. */
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"

const problems: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EADDRINUSE: "another program uses this port",
  EADDRNOTAVAIL: "this machine does not have this address",
  EDQUOT: "the quota of the user is used up",
  EFBIG: "the file is larger than the limit of the file system or of the process",
  EIO: "the disk failed",
  EISDIR: "is a folder",
  ELOOP: "a link leads to itself",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "no such file",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of the path is a file, not a folder",
  EPERM: "permission denied",
  EROFS: "the file system is read-only"
}

/**
 * The code that the operating system gave the error, such as ENOSPC. The result is undefined if the error has no code.
 */
export const codeOf = ({ reason }: PlatformError.PlatformError): string | undefined =>
  codeOfCause("cause" in reason ? reason.cause : undefined)

/** The code in an error of Node. */
const codeOfCause = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : undefined

/** Describes an error of Node in words. The result is undefined if `problems` has no words for its code. */
export const ofCause = (cause: unknown): string | undefined => {
  const code = codeOfCause(cause)
  return code !== undefined && Object.hasOwn(problems, code) ? problems[code] : undefined
}

/** Describes a code of the operating system in words. For a code that is not in `problems`, the result is the code. */
export const ofCode = (code: string): string => (Object.hasOwn(problems, code) ? (problems[code] ?? code) : code)

/** The codes of a full disk and of a used-up quota. */
const full: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"])

/** Whether a code of the operating system means that no space or no quota was left. */
export const isFull = (code: string | undefined): boolean => code !== undefined && full.has(code)

/** The code of the operating system that a text of another package has in parentheses, such as `… (ENOSPC)`. */
export const codeIn = (text: string): string | undefined => /\((E[A-Z]+)\)/.exec(text)?.[1]

/** Describes the code in the text of another package as {@link ofCode} does. Without a code, the result is the text. */
export const ofText = (text: string): string => {
  const code = codeIn(text)
  return code === undefined ? text : ofCode(code)
}

/** Why a file or a folder cannot be used. */
export const of = (error: PlatformError.PlatformError): string => {
  const code = codeOf(error)
  return code === undefined ? error.message : ofCode(code)
}
