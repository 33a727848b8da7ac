/**
 * What to do after an error, in terms of the flags and variables of the command line.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ExitCode from "./ExitCode.ts"
import * as Printable from "@assembly-effect/schema/Printable"
import * as Input from "@assembly-effect/schema/unstable/Input"
import type { Address } from "./internal/address.ts"
import * as Advice from "./internal/address.ts"
import * as SystemProblem from "./internal/systemProblem.ts"

export type { Address } from "./internal/address.ts"

const Tagged = Schema.Struct({
  _tag: Schema.String,
  code: Schema.optional(Schema.String),
  path: Schema.optional(Schema.String),
  description: Schema.optional(Schema.String),
  assemblyId: Schema.optional(Schema.String),
  host: Schema.optional(Schema.String),
  operation: Schema.optional(Schema.String),
  status: Schema.optional(Schema.Int),
  clockSkew: Schema.optional(Schema.Finite),
  permanent: Schema.optional(Schema.Boolean),
  reason: Schema.optional(Schema.String),
  assembly: Schema.optional(Schema.Literals(["kept", "ended", "left"])),
  isRestarted: Schema.optional(Schema.Boolean),
  isFull: Schema.optional(Schema.Boolean),
  isKept: Schema.optional(Schema.Boolean),
  cause: Schema.optional(Schema.Unknown),
  causes: Schema.optional(Schema.Array(Schema.Unknown))
})

type Tagged = typeof Tagged.Type

const decode = Schema.decodeUnknownOption(Tagged)

/**
 * What to do about a refusal of the credentials, by the error code of the service. `host` is the host that the error
 * names, else the host of ASSEMBLY_BASE_URL, else `this service`.
 */
const refusals: Readonly<Record<string, (host: string, address: Address) => string>> = {
  GET_ACCOUNT_UNKNOWN_AUTH_KEY: (host) => `Check ASSEMBLY_AUTH_KEY: ${host} has no such key.`,
  INVALID_SIGNATURE: (host) => `Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at ${host}.`,
  TOKEN_INVALID_CREDENTIALS: (host) =>
    `Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at ${host}.`,
  INSUFFICIENT_AUTH_SCOPE: (_, address) =>
    `Add the scope to the Auth Key (${Advice.command(address, "keys update")}), or set ASSEMBLY_AUTH_KEY to another key.`,
  TOKEN_INVALID_SCOPE: () => "Request only scopes that the Auth Key has, or leave out --scope.",
  AUTH_EXPIRED: () => "Set the clock of this machine."
}

const refused = ({ clockSkew, code = "", ...error }: Tagged, address: Address): string => {
  const host = error.host ?? address.baseUrl?.host ?? "this service"
  if (clockSkew !== undefined) return "Set the clock of this machine."
  return Object.hasOwn(refusals, code)
    ? (refusals[code]?.(host, address) ?? "")
    : `Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: they belong to ${host}.`
}

const sameCommand = (
  { assembly = "ended", assemblyId = "", isRestarted = false }: Tagged,
  address: Address
): string => {
  if (assembly === "left")
    return `No command can continue this upload. ${Advice.command(address, `cancel ${assemblyId}`)} cancels its Assembly; the same command uploads everything again.`
  if (assembly === "ended") return "Run the same command again to upload into a new Assembly."
  return `The upload is kept. Run the same command again${isRestarted ? " without --restart" : ""} to continue it.`
}

/**
 * Says what the same command would do if the user ran it again. If the service refused the credentials, the text begins
 * with how to correct them.
 */
const repeat = (failed: Tagged, address: Address): string => {
  const { cause } = failed
  const refusal = ExitCode.fromError(cause) === ExitCode.codes.authentication ? fromError(cause, address) : undefined
  return refusal === undefined ? sameCommand(failed, address) : `${refusal} ${sameCommand(failed, address)}`
}

/**
 * What to do if `count` variables are not set. `program` is how the user runs this program.
 *
 * @since 0.1.0
 * @category constants
 */
export const missing = (count: number, program?: string): string => {
  const those = count === 1 ? "it" : "them"
  return `Set ${those} in the environment or in the file .env; ${Advice.command({ program }, "emulator")} prints ${those} for a service on this machine.`
}

/** The number of the variables in a configuration error. */
const countOf = (cause: unknown): number =>
  Schema.isSchemaError(cause) ? new Set(Input.fromSchemaIssue(cause.issue).map(({ path }) => path.join("_"))).size : 0

/**
 * What to do after the refusal of a token request: check ASSEMBLY_BASE_URL if its path is wrong, run the command again
 * later if a proxy or a gateway responded, else check the scopes.
 */
const tokenRefused = (error: Tagged, address: Address): string =>
  Advice.refused(error, address) ?? "Check --scope: each scope must be a scope of the Auth Key."

const full = () => "Free some space, and run the same command again: it downloads only the missing files."
const unwritable = () => "Make the folder writable, or name another folder with --output."

/** What to do if a result cannot be saved, by the code of the operating system. */
const saveSteps: Readonly<Record<string, (path: string) => string>> = {
  ENOSPC: full,
  EDQUOT: full,
  EACCES: unwritable,
  EPERM: unwritable,
  EROFS: unwritable,
  EISDIR: (path) => `Remove or rename ${Printable.escape(path)}, or name another folder with --output.`,
  ENAMETOOLONG: () => "Name a folder with a shorter path with --output."
}

const steps: Readonly<Record<string, (error: Tagged, address: Address) => string | undefined>> = {
  ConfigError: ({ cause }, { program }) => missing(countOf(cause), program),
  AuthenticationFailed: refused,
  WrongCredentials: refused,
  ScopeNotGranted: refused,
  AudienceRefused: refused,
  TokenRefused: tokenRefused,
  TransportFailure: Advice.unreachable,
  TokenUnavailable: Advice.unreachable,
  TimedOut: Advice.late,
  Stalled: Advice.late,
  UnexpectedResponse: (error, address) =>
    error.operation === "Assemblies.cancel"
      ? `${Advice.command(address, `get ${error.assemblyId}`)} shows its state.`
      : Advice.unexpected(error, address),
  UnexpectedTokenResponse: Advice.unexpected,
  ServiceFailure: Advice.refused,
  StatisticsMissingRegion: () => "Set --region to a region such as eu-west-1, or to all.",
  JobSlotStatisticsMissingRegion: () => "Set --region to a region such as eu-west-1, or to all.",
  SaveFailed: ({ path = "", description = "", reason }) => {
    const code = SystemProblem.codeIn(description)
    const own = saveSteps[code ?? (reason === "NotAFile" ? "EISDIR" : "")]?.(path)
    return (
      own ?? (code === undefined ? undefined : "Name another folder with --output. The files that are complete stay.")
    )
  },
  JournalFailed: () => "Set --journal to a folder that can be written.",
  UnusableJournal: ({ isFull = false, isKept = false }) => {
    const repair = isFull ? "Free some space" : "Make the folder writable"
    return isKept
      ? `${repair}. The upload is kept. Run the same command again to continue it.`
      : `${repair}, or name another folder with --journal.`
  },
  DamagedJournal: (_, address) =>
    `Delete each damaged file. The same command then uploads into a new Assembly; ${Advice.command(address, "list --type uploading")} shows the Assemblies that still wait for files.`,
  UnreadableJournal: () => "Make the folder readable, or name another folder with --journal.",
  UploadFailed: repeat,
  UnknownTemplate: (_, address) => `${Advice.command(address, "templates list")} shows the Templates.`,
  StillRunning: ({ assemblyId = "" }, address) => `${Advice.command(address, `wait ${assemblyId}`)} waits for its end.`,
  NotDeleted: ({ cause }, address) => fromError(cause, address),
  NotAllCompleted: ({ causes = [] }, address) => fromError(causes[0], address)
}

/** The errors whose cause may be a setting: a variable of the environment, or the file `.env`. */
const ofSettings = new Set([
  "ConfigError",
  "InvalidRequest",
  "InvalidCredentials",
  "AuthenticationFailed",
  "WrongCredentials",
  "TokenUnavailable",
  "TransportFailure",
  "UnexpectedResponse",
  "UnexpectedTokenResponse"
])

/** The errors that contain the errors that caused them. */
const wrappers = new Set(["UploadFailed", "NotDeleted", "NotAllCompleted"])

/**
 * Whether the cause of an error may be a setting.
 *
 * @since 0.1.0
 * @category getters
 */
export const isOfSettings = (error: unknown): boolean =>
  Option.exists(decode(error), ({ _tag, cause, causes = [cause] }) =>
    wrappers.has(_tag) ? isOfSettings(causes[0]) : ofSettings.has(_tag)
  )

/**
 * What the user can do after an error, in one or a few sentences. The result is undefined if there is no advice beyond
 * the message of the error.
 *
 * @since 0.1.0
 * @category getters
 */
export const fromError = (error: unknown, address: Address = {}): string | undefined =>
  Option.match(decode(error), {
    onNone: () => undefined,
    onSome: (tagged) => (Object.hasOwn(steps, tagged._tag) ? steps[tagged._tag]?.(tagged, address) : undefined)
  })
