/**
 * What to do after an error, in terms of the flags and variables of the command line.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ExitCode from "./ExitCode.ts"

const Tagged = Schema.Struct({
  _tag: Schema.String,
  code: Schema.optional(Schema.String),
  host: Schema.optional(Schema.String),
  clockSkew: Schema.optional(Schema.Finite),
  permanent: Schema.optional(Schema.Boolean),
  reason: Schema.optional(Schema.String),
  assembly: Schema.optional(Schema.Literals(["kept", "ended"])),
  isRestarted: Schema.optional(Schema.Boolean),
  isFull: Schema.optional(Schema.Boolean),
  isKept: Schema.optional(Schema.Boolean),
  cause: Schema.optional(Schema.Unknown)
})

type Tagged = typeof Tagged.Type

const decode = Schema.decodeUnknownOption(Tagged)

/** What to do about each refusal of the credentials. `host` is the host of ASSEMBLY_BASE_URL. */
const refusals: Readonly<Record<string, (host: string) => string>> = {
  GET_ACCOUNT_UNKNOWN_AUTH_KEY: (host) => `Check ASSEMBLY_AUTH_KEY: ${host} has no such key.`,
  INVALID_SIGNATURE: (host) => `Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at ${host}.`,
  TOKEN_INVALID_CREDENTIALS: (host) =>
    `Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at ${host}.`,
  INSUFFICIENT_AUTH_SCOPE: () =>
    "Add the scope to the Auth Key (assembly keys update), or set ASSEMBLY_AUTH_KEY to another key.",
  TOKEN_INVALID_SCOPE: () => "Request only scopes that the Auth Key has, or leave out --scope.",
  AUTH_EXPIRED: () => "Set the clock of this machine."
}

const refused = ({ clockSkew, code = "" }: Tagged, host: string): string => {
  if (clockSkew !== undefined) return "Set the clock of this machine."
  return Object.hasOwn(refusals, code)
    ? (refusals[code]?.(host) ?? "")
    : `Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: they belong to ${host}.`
}

const notFound = new Set(["ENOTFOUND", "EAI_AGAIN", "EAI_NODATA"])

const unreachable = ({ code = "" }: Tagged, host: string): string => {
  if (notFound.has(code)) return "Check the host in ASSEMBLY_BASE_URL, and the network of this machine."
  if (code === "ECONNREFUSED") return `Check ASSEMBLY_BASE_URL: no service listens at ${host}.`
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code))
    return "Check ASSEMBLY_BASE_URL; NODE_EXTRA_CA_CERTS names a file with more certificates to trust."
  return "Check the network, and run the command again."
}

const sameCommand = ({ assembly = "ended", isRestarted = false }: Tagged): string => {
  if (assembly === "ended") return "Run the same command again to upload into a new Assembly."
  return `The upload is kept. Run the same command again${isRestarted ? " without --restart" : ""} to continue it.`
}

/**
 * Tells the user to run the same command again. If the service refused the credentials, the user must correct them
 * first.
 */
const repeat = (failed: Tagged, host: string): string => {
  const { cause } = failed
  const refusal = ExitCode.fromError(cause) === ExitCode.codes.authentication ? fromError(cause, host) : undefined
  return refusal === undefined ? sameCommand(failed) : `${refusal} ${sameCommand(failed)}`
}

const steps: Readonly<Record<string, (error: Tagged, host: string) => string | undefined>> = {
  ConfigError: () =>
    "Set them in the environment or in the file .env; assembly emulator prints them for a service on this machine.",
  AuthenticationFailed: refused,
  WrongCredentials: refused,
  ScopeNotGranted: refused,
  AudienceRefused: refused,
  TokenRefused: () => "Check --scope: each scope must be a scope of the Auth Key.",
  TransportFailure: unreachable,
  TokenUnavailable: unreachable,
  TimedOut: () => "Run the command again later.",
  Stalled: () => "Check the network, and run the command again.",
  StatisticsMissingRegion: () => "Set --region to a region such as eu-west-1, or to all.",
  JobSlotStatisticsMissingRegion: () => "Set --region to a region such as eu-west-1, or to all.",
  JournalFailed: () => "Set --journal to a folder that can be written.",
  UnusableJournal: ({ isFull = false, isKept = false }) => {
    const repair = isFull ? "Free some space" : "Make the folder writable"
    return isKept
      ? `${repair}. The upload is kept. Run the same command again to continue it.`
      : `${repair}, or name another folder with --journal.`
  },
  UploadFailed: repeat
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
  "UnexpectedResponse"
])

/**
 * Whether the cause of an error may be a setting.
 *
 * @since 0.1.0
 * @category getters
 */
export const isOfSettings = (error: unknown): boolean =>
  Option.exists(decode(error), ({ _tag, cause }) =>
    _tag === "UploadFailed" ? isOfSettings(cause) : ofSettings.has(_tag)
  )

/**
 * The next step after an error, as one sentence. Undefined if the error itself says what to do. `host` is the host of
 * the service.
 *
 * @since 0.1.0
 * @category getters
 */
export const fromError = (error: unknown, host = "this service"): string | undefined =>
  Option.match(decode(error), {
    onNone: () => undefined,
    onSome: (tagged) =>
      Object.hasOwn(steps, tagged._tag) ? steps[tagged._tag]?.(tagged, tagged.host ?? host) : undefined
  })
