/** Errors as one line of text for people, and what the user can do about them. */
import { ApiError } from "@assembly-effect/api"
import { AuthError } from "@assembly-effect/auth"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { AssemblyUpload } from "@assembly-effect/tus"
import { CliError } from "effect/cli"
import { Formatter, Option, PlatformError, Predicate, Schema } from "./effect.ts"
import * as Failure from "./failure.ts"
import * as Address from "./address.ts"

/** The fields of the errors that the texts and the advice need. */
const Tagged = Schema.Struct({
  _tag: Schema.String,
  message: Schema.optional(Schema.String),
  code: Schema.optional(Schema.String),
  path: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  assemblyId: Schema.optional(Schema.String),
  host: Schema.optional(Schema.String),
  operation: Schema.optional(Schema.String),
  request: Schema.optional(Schema.String),
  status: Schema.optional(Schema.Int),
  clockSkew: Schema.optional(Schema.Finite),
  reason: Schema.optional(Schema.Unknown),
  issues: Schema.optional(Schema.Unknown),
  cause: Schema.optional(Schema.Unknown)
})
type Tagged = typeof Tagged.Type

const decode = Schema.decodeUnknownOption(Tagged)

const isCommandError = Schema.is(Failure.CommandError)
const isFilesFailed = Schema.is(AssemblyUpload.FilesFailed)
const isInvalidValue = Schema.is(CliError.InvalidValue)
const isMistyped = Schema.is(Schema.Union([CliError.UnrecognizedOption, CliError.UnknownSubcommand]))
const isEnded = Schema.is(Schema.Union([ApiError.AssemblyFailed, ApiError.AssemblyCanceled, ApiError.AssemblyAborted]))
const isOfTokens = Schema.is(Schema.Union([AuthError.TokenUnavailable, AuthError.UnexpectedTokenResponse]))

/** Says once what a flag or an argument expects, and names the value once. The parser and the schemas repeat both. */
const invalidValue = ({ expected, kind, option, value }: CliError.InvalidValue): string => {
  const rule = expected
    .replace(/^(?:Schema validation failed: *)+/, "")
    .replace(/^(?:Expected:? +){2,}/, "Expected ")
    .replace(/^Invalid key=value format.*/, "key=value, such as name=cat")
  const repeated = `, got ${JSON.stringify(value)}`
  const once = rule.endsWith(repeated) ? rule.slice(0, -repeated.length) : rule
  if (kind !== "flag" || value !== "") return new CliError.InvalidValue({ option, value, kind, expected: once }).message
  const missing = once.replace(/^Expected:? +/, "")
  // This is the rule of a text that must not be empty.
  if (/^a value with a length of at least 1\b/.test(missing)) return `--${option} needs a value`
  if (missing.includes(" | ")) return `--${option} needs a value: ${missing.replaceAll(" | ", ", ")}`
  return `--${option} needs a value: ${/^[\w=:-]+$/.test(missing) ? `--${option} <${missing}>` : missing}`
}

const mistyped = (error: CliError.UnrecognizedOption | CliError.UnknownSubcommand): string => {
  const [first = ""] = error.message.split("\n")
  return error.suggestions.length === 0 ? first : `${first}; did you mean ${error.suggestions.join(" or ")}?`
}

/** The environment variable for each option of the client. */
const variables = new Map<unknown, string>([
  ["baseUrl", "ASSEMBLY_BASE_URL"],
  ["key", "ASSEMBLY_AUTH_KEY"],
  ["secret", "ASSEMBLY_AUTH_SECRET"]
])

/** The operations whose input comes from the user. Their names mean nothing to the user. */
const ofUser = new Set([undefined, "AssemblyClient.layer", "AssemblyUpload", "UndiciClient.layer"])

const Issues = Schema.Array(Schema.Struct({ path: Schema.Array(Schema.Any), message: Schema.String }))
const issuesOf = Schema.decodeUnknownOption(Issues)

const invalid = (issues: Tagged["issues"]): string =>
  Option.getOrElse(issuesOf(issues), () => [])
    .map(({ message, path: [name, ...rest] }) => {
      const at = [variables.get(name) ?? name ?? "", ...rest].join(".")
      return at === "" ? message : `${at}: ${message}`
    })
    .join("; ")

/** What the errors of the other packages advise to programs, and the same advice for a user of the command line. */
const adapted = [
  ["with restart: true if the upload is in a journal", "with --restart"],
  ["remove the entry with forget, and run the upload again", "delete the entry in the folder of --journal"],
  [", with `resend: true` to send the files again after such a failure", ""],
  ["if it does, add its origin to the option origins", "check ASSEMBLY_BASE_URL"],
  // `next` gives this advice with the name of the variable.
  ["; check the secret of the Auth Key", ""]
] as const

/** What happened to the Assembly of the files. If it was kept, `next` says how to continue. */
const fates = {
  canceled: ". The Assembly was canceled",
  "not canceled": ". The Assembly was not canceled, and may still wait for files",
  kept: ""
} as const

/** At most this number of files is named, so that the line stays readable. */
const mostFiles = 3

const failedFiles = ({ assembly, files }: AssemblyUpload.FilesFailed, host: string | undefined): string => {
  const failed = files.flatMap((file) =>
    file.outcome === "Failed" ? [`${file.filename}: ${text(file.error, host)}`] : []
  )
  const rest = failed.length > mostFiles ? [`${failed.length - mostFiles} more`] : []
  return `${failed.length} of ${files.length} files failed: ${[...failed.slice(0, mostFiles), ...rest].join("; ")}${fates[assembly]}`
}

/** The names of the variables in a configuration error. */
const namesIn = (cause: unknown): ReadonlyArray<string> =>
  Schema.isSchemaError(cause) ? [...new Set(Input.fromSchemaIssue(cause.issue).map(({ path }) => path.join("_")))] : []

/** An error of the operating system, with the path of its file or folder. */
const platform = (error: PlatformError.PlatformError): string => {
  if (Failure.systemCodeOf(error) === undefined) return error.message
  const path = "pathOrDescriptor" in error.reason ? error.reason.pathOrDescriptor : undefined
  return path === undefined ? Failure.problemOf(error) : `${path}: ${Failure.problemOf(error)}`
}

/**
 * The things that a request may name: the error code of the service, the words for the thing, the keys of the name in
 * the path or the params of the request, and the command that lists the things.
 */
const things: ReadonlyArray<readonly [code: RegExp, words: string, keys: string, list?: string]> = [
  [/^ASSEMBLY_NOT_FOUND$/, "is no Assembly", "assemblyId", "list"],
  [/^TEMPLATE_CREDENTIALS_NOT_/, "are no Template Credentials", "credentialId", "credentials list"],
  [/^TEMPLATE_NOT_FOUND$/, "is no Template", "templateIdOrName templateId", "templates list"],
  [/^AUTH_(?:KEY|SECRET)_NOT_/, "is no Auth Key", "authKeyId", "keys list"],
  [/^DAM_RESOURCE_NOT_FOUND$/, "is no asset or folder", "assetId source", "assets list"],
  [/^BILL_NOT_FOUND$/, "is no bill of", "month"],
  [/_MISSING_REGION$/, "is no region", "region"]
]

/** The text and the command for a thing that does not exist, if the request named only this thing. */
const absentThing = (error: unknown) => {
  const inputs = Failure.inputsOf(error)
  const { code = "", status } = Option.getOrElse(decode(error), (): Tagged => ({ _tag: "" }))
  const [, words, keys = "", list] = things.find(([codes]) => codes.test(code)) ?? []
  const name = keys.split(" ").flatMap((key) => inputs[key] ?? [])[0]
  // The service does not say whether the asset, its version or the folder is missing.
  const isOne = (inputs["destinationFolderId"] ?? inputs["versionId"] ?? undefined) === undefined
  return Predicate.isString(name) && isOne && (status === 404 || list === undefined)
    ? { text: `there ${words} ${name}`, list }
    : undefined
}

/** The text of an error that is known by its tag or by its request. */
const tagged = (error: Tagged, host: string | undefined): string | undefined => {
  const { host: own = host, message = "", operation, status } = error
  const said = aboutOf(error)?.said?.(error)
  if (said !== undefined) return said
  // A user knows no function, but knows that files are downloaded.
  if (operation?.startsWith("Results.") === true) {
    const words = own === undefined || message.includes(own) ? "the download" : `the download from ${own}`
    return message.replace(operation, () => words)
  }
  // A request of an upload: its host is in the message, its status may be.
  if (error.request !== undefined && status !== undefined) {
    return message.includes(`status ${status}`) ? message : `${message} (status ${status})`
  }
  // A request of an operation names the host, which may be another host than that of the service.
  return host === undefined || !operation || own === undefined || message.includes(own)
    ? undefined
    : message.replace(operation, () => `${operation} at ${own}`)
}

const text = (error: unknown, host: string | undefined): string => {
  if (isCommandError(error)) {
    const [cause] = error.causes ?? []
    const said = error.message === "" && cause !== undefined ? text(cause, host) : error.message
    return error.about === undefined || said.includes(error.about) ? said : `${error.about}: ${said}`
  }
  if (isInvalidValue(error)) return invalidValue(error)
  if (isMistyped(error)) return mistyped(error)
  // The message has only the first digits of the id, and a user copies this id into the next command.
  if (isEnded(error)) return error.message.replace(`${error.assemblyId.slice(0, 6)}…`, () => error.assemblyId)
  if (isFilesFailed(error)) return failedFiles(error, host)
  if (PlatformError.isPlatformError(error)) return platform(error)
  if (host !== undefined && isOfTokens(error)) return `${error.message} (${host})`
  const absent = absentThing(error)
  if (absent !== undefined) return absent.text
  const known = Option.flatMapNullishOr(decode(error), (one) => tagged(one, host))
  if (typeof error === "string") return error
  // The error is formatted, because `String(error)` would be `[object Object]`.
  const said = Option.getOrElse(known, () =>
    error instanceof Error ? error.message || error.name : Formatter.format(error)
  )
  return adapted.reduce((words, [program, user]) => words.replace(program, () => user), said)
}

/**
 * The error in one line, without control characters. `host` is the host of the service. The line names it if a request
 * of an operation failed, or if a token request got no usable response.
 */
export const line = (error: unknown, host?: string): string =>
  Printable.escape(
    text(error, host)
      .trim()
      .replace(/\s*\n\s*/g, " ")
  )

const wrongSecret = (host: string): string =>
  `Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at ${host}.`

/** What to do about a refusal of the credentials, by the error code of the service. */
const refusals: Readonly<Record<string, (host: string) => string>> = {
  GET_ACCOUNT_UNKNOWN_AUTH_KEY: (host) => `Check ASSEMBLY_AUTH_KEY: ${host} has no such key.`,
  INVALID_SIGNATURE: wrongSecret,
  TOKEN_INVALID_CREDENTIALS: wrongSecret,
  INSUFFICIENT_AUTH_SCOPE: () =>
    `Add the scope to the Auth Key (assembly keys update), or set ASSEMBLY_AUTH_KEY to another key.`,
  TOKEN_INVALID_SCOPE: () => "Request only scopes that the Auth Key has, or leave out --scope.",
  AUTH_EXPIRED: () => "Set the clock of this machine."
}

const refused = ({ clockSkew, code = "", ...error }: Tagged, address: Address.Address): string => {
  if (clockSkew !== undefined) return "Set the clock of this machine."
  const host = error.host ?? address.baseUrl?.host ?? "this service"
  const advise = Object.hasOwn(refusals, code) ? refusals[code] : undefined
  return advise?.(host) ?? `Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: they belong to ${host}.`
}

/** What to do if `count` variables are not set. */
export const missing = (count: number): string => {
  const those = count === 1 ? "it" : "them"
  return `Set ${those} in the environment or in the file .env; assembly emulator prints ${those} for a service on this machine.`
}

/** What to do if a result cannot be saved, by the code of the operating system. */
const notSaved = ({ description = "", path = "", reason }: Tagged): string | undefined => {
  const code = Failure.codeIn(description) ?? ""
  if (Failure.isFull(code)) {
    return "Free some space, and run the same command again: it downloads only the missing files."
  }
  if (code === "EISDIR" || reason === "NotAFile") {
    return `Remove or rename ${Printable.escape(path)}, or name another folder with --output.`
  }
  if (code === "ENAMETOOLONG") return "Name a folder with a shorter path with --output."
  return code && "Make the folder writable, or name another folder with --output. The files that are complete stay."
}

/**
 * An error of the other packages: its text, if its message is for programs, what to do about it, and whether its cause
 * may be a setting.
 */
interface About {
  readonly said?: (error: Tagged) => string | undefined
  readonly next?: (error: Tagged, address: Address.Address) => string | undefined
  readonly isOfSettings?: true
}

const ofInput: About = {
  said: ({ issues, operation }) => (ofUser.has(operation) ? invalid(issues) : undefined),
  next: ({ issues }) =>
    Option.exists(issuesOf(issues), ([first]) => first !== undefined && variables.has(first.path[0]))
      ? "assembly help environment shows an example."
      : undefined,
  isOfSettings: true
}

const scopes: About = { next: () => "assembly keys scopes lists the scopes." }

const types: About = { next: () => "assembly credentials types lists the fields of each type." }

const noRegion: About = { next: () => "Set --region to a region such as eu-west-1, or to all." }

const abouts: Readonly<Record<string, About>> = {
  ConfigError: {
    said: ({ cause }) => {
      const names = namesIn(cause)
      if (names.length === 0) return "the configuration cannot be read"
      return `set the environment ${names.length === 1 ? "variable" : "variables"} ${names.join(", ")}`
    },
    next: ({ cause }) => missing(namesIn(cause).length),
    isOfSettings: true
  },
  InvalidCredentials: ofInput,
  InvalidRequest: ofInput,
  AuthenticationFailed: { next: refused, isOfSettings: true },
  WrongCredentials: { next: refused, isOfSettings: true },
  ScopeNotGranted: { next: refused },
  AudienceRefused: { next: refused },
  TokenRefused: {
    next: (error, address) =>
      Address.refused(error, address) ?? "Check --scope: each scope must be a scope of the Auth Key."
  },
  TransportFailure: { next: Address.unreachable, isOfSettings: true },
  TokenUnavailable: { next: Address.unreachable, isOfSettings: true },
  TimedOut: { next: Address.late },
  Stalled: { next: Address.late },
  UnexpectedResponse: {
    next: (error, address) =>
      error.operation === "Assemblies.cancel"
        ? `assembly get ${error.assemblyId} shows its state.`
        : Address.unexpected(error, address),
    isOfSettings: true
  },
  UnexpectedTokenResponse: { next: Address.unexpected, isOfSettings: true },
  ServiceFailure: { next: Address.refused },
  AuthKeyNotCreated: scopes,
  AuthKeyNotUpdated: scopes,
  TemplateCredentialsNotCreated: types,
  TemplateCredentialsNotUpdated: types,
  StatisticsMissingRegion: noRegion,
  JobSlotStatisticsMissingRegion: noRegion,
  SaveFailed: {
    said: ({ description = "", path }) => `${path} was not written: ${Failure.problemOfText(description)}`,
    next: notSaved
  },
  JournalFailed: { next: () => "Set --journal to a folder that can be written." }
}

const aboutOf = ({ _tag }: Tagged): About | undefined => (Object.hasOwn(abouts, _tag) ? abouts[_tag] : undefined)

/**
 * What the user can do after an error, in one or a few sentences. The result is undefined if there is no advice beyond
 * the text of the error.
 */
export const next = (error: unknown, address: Address.Address = {}): string | undefined => {
  if (isCommandError(error)) {
    const [cause] = error.causes ?? []
    if (error.next === undefined) return cause === undefined ? undefined : next(cause, address)
    // If the service refused the credentials, the user must correct them first.
    const isRefused = Failure.codeOf(cause) === Failure.codes.authentication
    return [isRefused ? next(cause, address) : undefined, error.next].filter((one) => one !== undefined).join(" ")
  }
  const absent = absentThing(error)
  if (absent?.list !== undefined) return `Run assembly ${absent.list} to see what there is.`
  return Option.getOrUndefined(Option.flatMapNullishOr(decode(error), (one) => aboutOf(one)?.next?.(one, address)))
}

/** Whether the cause of an error may be a setting: a variable of the environment, or the file `.env`. */
export const isOfSettings = (error: unknown): boolean =>
  isCommandError(error)
    ? isOfSettings(error.causes?.[0])
    : Option.exists(decode(error), (one) => aboutOf(one)?.isOfSettings === true)
