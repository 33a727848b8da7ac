/**
 * The exit codes of the command line.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"

/**
 * The exit codes. {@link meanings} says what each code means. If the output cannot be written, `internal/launch.ts`
 * sets the exit code.
 *
 * @since 0.1.0
 * @category constants
 */
export const codes = {
  done: 0,
  failed: 1,
  usage: 2,
  authentication: 3,
  network: 4,
  interrupted: 130,
  unread: 141
} as const

type Kind = keyof typeof codes

/**
 * The meaning of each exit code. The help of each command shows these texts.
 *
 * @since 0.1.0
 * @category constants
 */
export const meanings: Readonly<Record<Kind, string>> = {
  done: "The work is done",
  failed: "The work failed: the service refused it, an Assembly failed, or the output could not be written",
  usage: "An argument, a variable, an input file or the version of Node is missing or invalid. Nothing was changed",
  authentication: "The service refused the Auth Key, its secret, its scopes or the token",
  network:
    "The service could not be reached or did not answer in time, or a proxy or gateway answered 407, 502, 503 or 504",
  interrupted: "Interrupted by Ctrl-C, SIGINT or SIGTERM",
  unread: "The reader of the output, such as head, ended before the output"
}

/** The errors of the other packages that are about the invocation. */
const usage: ReadonlySet<string> = new Set(["ConfigError", "InvalidRequest", "InvalidCredentials"])

/**
 * The kind of an error of the other packages. An error of this package contains its exit code, unless the code is 1 or is
 * the code of the errors that it contains.
 */
const kindOf = (error: object): Kind => {
  if ("_tag" in error && Predicate.isString(error._tag) && usage.has(error._tag)) return "usage"
  if (ApiError.isNetwork(error)) return "network"
  return ApiError.isAuthentication(error) ? "authentication" : "failed"
}

/** The errors that an error contains, such as the error of each file of a job. */
const causesOf = (error: object): ReadonlyArray<unknown> => {
  if (Predicate.isTagged(error, "FilesFailed") && "files" in error && Array.isArray(error.files)) {
    return error.files.flatMap((file: object) => ("error" in file ? [file.error] : []))
  }
  if (Predicate.isTagged(error, "NotAllCompleted") && "causes" in error && Array.isArray(error.causes)) {
    return error.causes
  }
  const isWrapper = Predicate.isTagged(error, "NotDeleted") || Predicate.isTagged(error, "UploadFailed")
  return isWrapper && "cause" in error ? [error.cause] : []
}

/**
 * The exit code of an error. If an error contains several errors with different codes, the code is 1.
 *
 * @since 0.1.0
 * @category getters
 */
export const fromError = (error: unknown): number => {
  if (!Predicate.isObjectKeyword(error)) return codes.failed
  const [first, ...others] = new Set(causesOf(error).map(fromError))
  if (first !== undefined) return others.length === 0 ? first : codes.failed
  // Effect also fails with `ShowHelp` when it shows the help of a group of commands. Such a `ShowHelp` is not a failure
  // of the command.
  if (Predicate.isTagged(error, "ShowHelp")) return Runtime.getErrorExitCode(error) === 0 ? codes.done : codes.usage
  if (Runtime.errorExitCode in error) return Runtime.getErrorExitCode(error)
  return codes[kindOf(error)]
}

/**
 * The exit code of a command that ended with this `Exit`.
 *
 * @since 0.1.0
 * @category getters
 */
export const fromExit = <A, E>(exit: Exit.Exit<A, E>): number => {
  if (Exit.isSuccess(exit)) return codes.done
  if (Cause.hasInterruptsOnly(exit.cause)) return codes.interrupted
  return exit.cause.reasons.some(Cause.isFailReason) ? fromError(Cause.squash(exit.cause)) : codes.failed
}
