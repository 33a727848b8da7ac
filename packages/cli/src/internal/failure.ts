/** The errors of the commands, the exit code of every error, and errors of the operating system in a few words. */
import * as ApiError from "@assembly-effect/api/ApiError"
import { Cause, Exit, type PlatformError, Predicate, Runtime, Schema } from "./effect.ts"

/** The exit codes. `manual.md` says what each code means. */
export const codes = {
  done: 0,
  failed: 1,
  usage: 2,
  authentication: 3,
  network: 4,
  interrupted: 130,
  unread: 141
} as const

/**
 * A command failed for a reason of its own, or because of other errors.
 *
 * - `message`: what is wrong, for a person. It is empty if the message of the only cause says it, or if another
 *   program has reported the failure.
 * - `next`: what the user can do. A command in it begins with `assembly`.
 * - `exitCode`: by default, the code that all causes have, else 1.
 * - `causes`: the errors that made the command fail. `about` names what the only cause is about, such as an id.
 */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", {
  message: Schema.String,
  next: Schema.optional(Schema.String),
  exitCode: Schema.optional(Schema.Int),
  causes: Schema.optional(Schema.Array(Schema.Defect())),
  about: Schema.optional(Schema.String)
}) {}

/** The command cannot do its work. */
export const failed = (message: string, next?: string): CommandError => new CommandError({ message, next })

/** An argument, a flag, a variable or an input file is wrong. Nothing was sent. */
export const usage = (message: string, next?: string): CommandError =>
  new CommandError({ message, exitCode: codes.usage, next })

/** The value of a flag is wrong, which was detected only when the command used the value. */
export const invalidFlag = (flag: string, value: string, rule: string): CommandError =>
  usage(`${flag}: Expected ${rule}, got ${JSON.stringify(value)}`)

/** A file or the standard input cannot be read, is not valid JSON, or has a content that the command refuses. */
export const invalidFile = (path: string, problem: string): CommandError =>
  usage(path === "" ? problem : `${path === "-" ? "the standard input" : path}: ${problem}`)

/** The command failed because of another error. */
export const because = (cause: unknown, about: { readonly next?: string; readonly about?: string }): CommandError =>
  new CommandError({ message: "", causes: [cause], ...about })

const isCommandError = Schema.is(CommandError)

/** The errors of the other packages that are about the invocation. */
const ofInvocation: ReadonlySet<string> = new Set(["ConfigError", "InvalidRequest", "InvalidCredentials"])

/** The errors that an error contains, such as the error of each file of a job. */
const causesOf = (error: object): ReadonlyArray<unknown> => {
  if (isCommandError(error)) return error.causes ?? []
  return Predicate.isTagged(error, "FilesFailed") && "files" in error && Array.isArray(error.files)
    ? error.files.flatMap((file: object) => ("error" in file ? [file.error] : []))
    : []
}

/** The exit code of an error. If an error contains several errors with different codes, the code is 1. */
export const codeOf = (error: unknown): number => {
  if (!Predicate.isObjectKeyword(error)) return codes.failed
  if (isCommandError(error) && error.exitCode !== undefined) return error.exitCode
  const [first, ...others] = new Set(causesOf(error).map(codeOf))
  if (first !== undefined) return others.length === 0 ? first : codes.failed
  // Effect also fails with `ShowHelp` when it shows the help of a group of commands, which is no failure of the command.
  if (Predicate.isTagged(error, "ShowHelp")) return Runtime.getErrorExitCode(error) === 0 ? codes.done : codes.usage
  if (Runtime.errorExitCode in error) return Runtime.getErrorExitCode(error)
  if ("_tag" in error && Predicate.isString(error._tag) && ofInvocation.has(error._tag)) return codes.usage
  if (ApiError.isNetwork(error)) return codes.network
  return ApiError.isAuthentication(error) ? codes.authentication : codes.failed
}

/** The exit code of a command that ended with this `Exit`. */
export const codeOfExit = <A, E>(exit: Exit.Exit<A, E>): number => {
  if (Exit.isSuccess(exit)) return codes.done
  if (Cause.hasInterruptsOnly(exit.cause)) return codes.interrupted
  return exit.cause.reasons.some(Cause.isFailReason) ? codeOf(Cause.squash(exit.cause)) : codes.failed
}

type Inputs = Readonly<Record<string, unknown>>

const inputs = new WeakMap<object, Inputs>()

/** Keeps the path and the params of a request that failed. The service answers only "There is no such Template." */
export const keepInputs = (error: object, given: Inputs): void => void inputs.set(error, given)

/** The path and the params of the request that failed with this error. */
export const inputsOf = (error: unknown): Inputs =>
  (Predicate.isObjectKeyword(error) ? inputs.get(error) : undefined) ?? {}

const problems = new Map([
  ["EACCES", "permission denied"],
  ["EADDRINUSE", "another program uses this port"],
  ["EADDRNOTAVAIL", "this machine does not have this address"],
  ["EDQUOT", "the quota of the user is used up"],
  ["EFBIG", "the file is larger than the limit of the file system or of the process"],
  ["EIO", "the disk failed"],
  ["EISDIR", "is a folder"],
  ["ELOOP", "a link leads to itself"],
  ["ENAMETOOLONG", "the name is too long"],
  ["ENOENT", "no such file"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "a part of the path is a file, not a folder"],
  ["EPERM", "permission denied"],
  ["EROFS", "the file system is read-only"]
])

/** The code in an error of Node, such as ENOSPC. */
const codeOfCause = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : undefined

/** The code that the operating system gave the error. */
export const systemCodeOf = ({ reason }: PlatformError.PlatformError): string | undefined =>
  codeOfCause("cause" in reason ? reason.cause : undefined)

/** A code in words, or the code if there are no words for it. Without a code, the result is `otherwise`. */
const inWords = (code: string | undefined, otherwise: string): string =>
  code === undefined ? otherwise : (problems.get(code) ?? code)

/** Describes an error of Node in words. */
export const problemOfCause = (cause: unknown, otherwise: string): string => inWords(codeOfCause(cause), otherwise)

/** Whether a code means that no space or no quota was left. */
export const isFull = (code: string | undefined): boolean => code === "ENOSPC" || code === "EDQUOT"

/** The code that a text of another package has in parentheses, such as `… (ENOSPC)`. */
export const codeIn = (text: string): string | undefined => /\((E[A-Z]+)\)/.exec(text)?.[1]

/** Describes the code in the text of another package. Without a code, the result is the text. */
export const problemOfText = (text: string): string => inWords(codeIn(text), text)

/** Why a file or a folder cannot be used. */
export const problemOf = (error: PlatformError.PlatformError): string => inWords(systemCodeOf(error), error.message)
