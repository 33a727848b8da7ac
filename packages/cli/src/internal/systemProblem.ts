/** Describes errors of the file system in a few words. */
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"

const problems: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EDQUOT: "the disk is full",
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
export const codeOf = ({ reason }: PlatformError.PlatformError): string | undefined => {
  const cause = "cause" in reason ? reason.cause : undefined
  return Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : undefined
}

/** Describes a code of the operating system in words. For a code that is not in the table, the result is the code. */
export const ofCode = (code: string): string => (Object.hasOwn(problems, code) ? (problems[code] ?? code) : code)

/** Why a file or a folder cannot be used. */
export const of = (error: PlatformError.PlatformError): string => {
  const code = codeOf(error)
  return code === undefined ? error.message : ofCode(code)
}
