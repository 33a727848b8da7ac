/**
 * Errors as one line of text for people.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as ResultError from "@assembly-effect/api/ResultError"
import * as AuthError from "@assembly-effect/auth/AuthError"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Printable from "@assembly-effect/schema/Printable"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as AssemblyUploadError from "@assembly-effect/tus/AssemblyUploadError"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Formatter from "effect/Formatter"
import * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as CommandError from "./CommandError.ts"
import * as SystemProblem from "./internal/systemProblem.ts"
import * as UsageLine from "./internal/usageLine.ts"

const configuration = ({ cause }: Config.ConfigError): string => {
  if (!Schema.isSchemaError(cause)) return "the configuration cannot be read"
  const names = [...new Set(Input.fromSchemaIssue(cause.issue).map(({ path }) => path.join("_")))]
  return `set the environment ${names.length === 1 ? "variable" : "variables"} ${names.join(", ")}`
}

/** An upload error with a response of the server. */
const Answer = Schema.Struct({
  request: Schema.String,
  host: Schema.String,
  message: Schema.String,
  status: Schema.Int
})
const isAnswer = Schema.is(Answer)

const isInvalidRequest = Schema.is(InvalidRequest)
const isInvalidCredentials = Schema.is(AuthError.InvalidCredentials)
/** `host` is the host of the request, which may be another host than that of the service. */
const isOfOperation = Schema.is(
  Schema.Struct({
    operation: Schema.NonEmptyString,
    message: Schema.String,
    host: Schema.optional(Schema.String)
  })
)
const isOfTokens = Schema.is(Schema.Union([AuthError.TokenUnavailable, AuthError.UnexpectedTokenResponse]))
const isEnded = Schema.is(Schema.Union([ApiError.AssemblyFailed, ApiError.AssemblyCanceled, ApiError.AssemblyAborted]))
const isUploadFailed = Schema.is(CommandError.UploadFailed)
const isFilesFailed = Schema.is(AssemblyUploadError.FilesFailed)
const isSaveFailed = Schema.is(ResultError.SaveFailed)

/** The environment variable for each option of the client. */
const variables: Readonly<Record<string, string>> = {
  baseUrl: "ASSEMBLY_BASE_URL",
  key: "ASSEMBLY_AUTH_KEY",
  secret: "ASSEMBLY_AUTH_SECRET"
}

/**
 * The operations whose input comes from the settings and arguments of the user. The error line leaves out the names of
 * these operations, because they mean nothing to the user.
 */
const settings = new Set(["AssemblyClient.layer", "AssemblyUpload", "UndiciClient.layer"])

const invalid = (issues: ReadonlyArray<{ readonly path: ReadonlyArray<PropertyKey>; readonly message: string }>) =>
  issues
    .map(({ message, path: [name = "", ...rest] }) => {
      const at = [Object.hasOwn(variables, name) ? (variables[String(name)] ?? name) : name, ...rest].join(".")
      return at === "" ? message : `${at}: ${message}`
    })
    .join("; ")

/** What the errors of the other packages advise to programs, and the same advice for a user of the command line. */
const advice = [
  ["with restart: true if the upload is in a journal", "with --restart"],
  ["remove the entry with forget, and run the upload again", "delete the entry in the folder of --journal"],
  ["if it does, add its origin to the option origins", "check ASSEMBLY_BASE_URL"],
  // This advice is removed, because `NextStep` gives the same advice with the name of the variable.
  ["; check the secret of the Auth Key", ""]
] as const

const advised = (message: string): string =>
  advice.reduce((words, [program, user]) => words.replace(program, () => user), message)

/** At most this number of files is named, so that the line stays readable. */
const mostFiles = 3

/**
 * What happened to the Assembly of the files. If the Assembly was kept, the text is empty, because `NextStep` says how
 * to continue.
 */
const fates = {
  canceled: ". The Assembly was canceled",
  "not canceled": ". The Assembly was not canceled, and may still wait for files",
  kept: ""
} as const

const failedFiles = ({ assembly, files }: AssemblyUploadError.FilesFailed, host: string | undefined): string => {
  const failed = files.flatMap((file) =>
    file.outcome === "Failed" ? [`${file.filename}: ${text(file.error, host)}`] : []
  )
  const rest = failed.length > mostFiles ? [`${failed.length - mostFiles} more`] : []
  return `${failed.length} of ${files.length} files failed: ${[...failed.slice(0, mostFiles), ...rest].join("; ")}${fates[assembly]}`
}

/** The message of an {@link Answer} with the status, unless the message names it. */
const answer = ({ message, status }: typeof Answer.Type): string =>
  message.includes(`status ${status}`) ? message : `${message} (status ${status})`

/** An error of the operating system, with the path of its file or folder. */
const platform = (error: PlatformError.PlatformError): string => {
  if (SystemProblem.codeOf(error) === undefined) return error.message
  const path = "pathOrDescriptor" in error.reason ? error.reason.pathOrDescriptor : undefined
  return path === undefined ? SystemProblem.of(error) : `${path}: ${SystemProblem.of(error)}`
}

const text = (error: unknown, host: string | undefined): string => {
  if (error instanceof Config.ConfigError) return configuration(error)
  const usage = UsageLine.of(error)
  if (usage !== undefined) return usage
  // The message of the error has only the first digits of the id of the Assembly. The line has the whole id, because a
  // user copies this id into the next command.
  if (isEnded(error)) return error.message.replace(`${error.assemblyId.slice(0, 6)}…`, () => error.assemblyId)
  if (isInvalidCredentials(error)) return invalid(error.issues)
  if (isInvalidRequest(error)) {
    return settings.has(error.operation) ? invalid(error.issues) : error.message
  }
  if (isUploadFailed(error)) return text(error.cause, host)
  if (isFilesFailed(error)) return failedFiles(error, host)
  if (PlatformError.isPlatformError(error)) return platform(error)
  if (isSaveFailed(error)) return `${error.path} was not written: ${SystemProblem.ofText(error.description)}`
  if (isAnswer(error)) return answer(error)
  if (host !== undefined && isOfTokens(error)) return `${error.message} (${host})`
  if (host !== undefined && isOfOperation(error) && !error.message.includes(error.host ?? host)) {
    return advised(error.message).replace(error.operation, () => `${error.operation} at ${error.host ?? host}`)
  }
  if (error instanceof Error && error.message !== "") return advised(error.message)
  if (error instanceof Error) return error.name
  // The error is formatted, because `String(error)` would be `[object Object]`.
  return typeof error === "string" ? error : Formatter.format(error)
}

/**
 * The error in one line. Control characters are escaped. `host` is the host of the service. The line names `host` if a
 * request of an operation failed, or if a token request got no usable response. If the error has a host of its own, the
 * line names that host instead.
 *
 * @since 0.1.0
 * @category formatting
 */
export const fromError = (error: unknown, host?: string): string =>
  Printable.escape(
    text(error, host)
      .trim()
      .replace(/\s*\n\s*/g, " ")
  )

/**
 * The error of a whole `Cause`: its first typed error in one line, or its defects with their stacks. A defect is a bug
 * in this program, so its stack is kept. The result is undefined if the cause is only an interruption.
 *
 * @since 0.1.0
 * @category formatting
 */
export const fromCause = <E>(cause: Cause.Cause<E>, host?: string): string | undefined => {
  if (Cause.hasInterruptsOnly(cause)) return undefined
  return cause.reasons.some(Cause.isFailReason) ? fromError(Cause.squash(cause), host) : Cause.pretty(cause)
}
