/**
 * The exit codes of the command line.
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"

/**
 * - `done`: the command did its work.
 * - `failed`: the work failed: the service refused it, an Assembly failed, or the output could not be written.
 * - `usage`: the arguments, an environment variable, or an input file is missing or invalid. Nothing was sent.
 * - `authentication`: the service refused the Auth Key, its secret, its scopes, or the token.
 * - `network`: the service could not be reached, or did not answer in time.
 * - `interrupted`: Ctrl-C, SIGINT or SIGTERM.
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
  interrupted: 130
} as const

type Kind = keyof typeof codes

/** The kinds of the errors of the other packages. The errors of this package contain their exit code. */
const kinds: Readonly<Record<string, Kind>> = {
  ConfigError: "usage",
  InvalidRequest: "usage",
  InvalidCredentials: "authentication",
  AuthenticationFailed: "authentication",
  WrongCredentials: "authentication",
  ScopeNotGranted: "authentication",
  AudienceRefused: "authentication",
  TokenRefused: "authentication",
  TransportFailure: "network",
  TimedOut: "network",
  TokenUnavailable: "network",
  Stalled: "network",
  CreationUnknown: "network",
  ConcatenationUnknown: "network"
}

/** The errors that an error contains, such as the error of each file of a job. */
const causesOf = (error: object): ReadonlyArray<unknown> => {
  if (Predicate.isTagged(error, "FilesFailed") && "files" in error && Array.isArray(error.files)) {
    return error.files.flatMap((file: object) => ("error" in file ? [file.error] : []))
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
  // Effect also fails with `ShowHelp` when it shows the help of a group of commands. This is not a failure of the
  // command.
  if (Predicate.isTagged(error, "ShowHelp")) return Runtime.getErrorExitCode(error) === 0 ? codes.done : codes.usage
  if (Runtime.errorExitCode in error) return Runtime.getErrorExitCode(error)
  const tag = "_tag" in error && Predicate.isString(error._tag) ? error._tag : ""
  return Object.hasOwn(kinds, tag) ? codes[kinds[tag] ?? "failed"] : codes.failed
}

/**
 * The exit code of an outcome.
 *
 * @since 0.1.0
 * @category getters
 */
export const fromExit = <A, E>(exit: Exit.Exit<A, E>): number => {
  if (Exit.isSuccess(exit)) return codes.done
  if (Cause.hasInterruptsOnly(exit.cause)) return codes.interrupted
  return exit.cause.reasons.some(Cause.isFailReason) ? fromError(Cause.squash(exit.cause)) : codes.failed
}
