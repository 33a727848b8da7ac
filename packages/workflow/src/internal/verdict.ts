/** What the error of an attempt means for its job: whether it waits, how long, whether it ends, and what is stored of it. */
import * as Redaction from "@assembly-effect/auth/Redaction"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { AssemblyUploadError, FilesFailed } from "@assembly-effect/tus/AssemblyUpload"
import type { UploadError } from "@assembly-effect/tus/TusError"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import { SourceFailed } from "@assembly-effect/tus/UploadSource"
import { Array as Arr, Predicate } from "effect"
import type { InvalidSecret, StoreFailed } from "../DurableError.ts"
import type * as DurableJob from "../DurableJob.ts"
import { isDamaged } from "./database.ts"
import * as Journal from "./journal.ts"
import * as Sources from "./sources.ts"

/** The errors of a transfer. */
export type TransferError =
  | Journal.Superseded
  | Sources.SourceAway
  | Exclude<AssemblyUploadError, FilesFailed>
  | UploadError
  | InvalidRequest
  | InvalidSecret
  | StoreFailed

/**
 * The error that decides what follows: that of the database, or else that of a file that ends the job, or else that of
 * any file.
 */
export const decisive = (
  error: AssemblyUploadError,
  journal: Journal.Journal,
  files: ReadonlyArray<DurableJob.File>
): TransferError => {
  const errors =
    error._tag === "FilesFailed"
      ? Arr.zip(error.files, files).flatMap(([sent, file]) =>
          sent.outcome === "Failed" ? [Sources.mayReturn(file)(sent.error)] : []
        )
      : [error]
  const final = errors.find((one) => !mayPass(one))
  // A failure of no file is not possible.
  return journal.problem() ?? final ?? errors.find(isRefusal) ?? errors[0] ?? new Journal.Superseded()
}

/**
 * The HTTP status codes that refuse the credentials or the account: Unauthorized, Payment Required, and Proxy
 * Authentication Required.
 */
const ofAccount: ReadonlySet<unknown> = new Set([401, 402, 407])

/**
 * Whether an error is about the credentials, the account or the address of the service. Every job would fail with such
 * an error. Therefore a job waits without a time limit until somebody has corrected the cause.
 */
export const isRefusal = (error: TransferError): boolean =>
  error._tag === "AuthenticationFailed" ||
  (error._tag === "TransportFailure" && error.permanent) ||
  ("status" in error && ofAccount.has(error.status))

/**
 * The HTTP status codes that refuse only this request, even if a proxy in front of the service sent the response. Other
 * requests may succeed.
 */
const ofRequest: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 417, 422, 431])

/** Whether the same transfer may succeed later. */
const isTemporary = (error: TransferError): boolean => {
  switch (error._tag) {
    case "StoreFailed":
      return !isDamaged(error)
    case "SourceAway":
    case "TimedOut":
    // The service named a host for its uploads that this program does not trust. A later response may name another
    // host.
    case "InvalidTarget":
      return true
    case "ServiceFailure":
      return error.status >= 500 || error.status === 429 || error.status === 403
    case "UnexpectedResponse":
      return !ofRequest.has(error.status)
    default:
      return Hosting.isTemporary(error)
  }
}

/**
 * Whether the error of a request for the Status is about the service only, so that the state of the Assembly stays
 * unknown.
 */
export const isAboutService = (error: TransferError): boolean => isTemporary(error) || isRefusal(error)

/**
 * Whether an upload may succeed later. A service of several machines may know the Assembly that it has created only a
 * moment later.
 */
export const mayPass = (error: TransferError): boolean =>
  isAboutService(error) ||
  (error._tag === "ServiceFailure" && error.status === 404 && error.operation === "Assemblies.get")

/** The errors that every job would have had in the place of the jobs of a pack. */
const ofAll: ReadonlySet<string> = new Set([
  "InvalidRequest",
  "InvalidSecret",
  "InvalidTarget",
  "AuthenticationFailed",
  "ServiceFailure",
  "UnexpectedResponse",
  "TimedOut",
  "AssemblyCanceled",
  "AssemblyAborted"
] satisfies ReadonlyArray<TransferError["_tag"]>)

const isTagged = (error: unknown): error is { readonly _tag: string } =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag)

/** Whether a pack failed because of one of its jobs. The other jobs may complete without this job. */
export const isOfJob = (error: unknown): boolean =>
  !isTagged(error) || (!ofAll.has(error._tag) && !Hosting.isTemporary(error))

/**
 * The message of an error, for the failure of a job. The message of `SourceFailed` is replaced, because its advice is
 * for an upload that belongs to no job.
 */
const messageOf = (error: Error): string =>
  error instanceof SourceFailed ? `the upload source failed: ${error.description}` : error.message

/**
 * Messages abbreviate the id of an Assembly to its first characters. `abbreviated` is the number of these characters,
 * and `abbreviation` matches an abbreviated id in a message.
 */
const abbreviated = 6
const abbreviation = /\bAssembly [0-9a-f]{6,}…/gu

/**
 * What is stored of an error: its tag, and its message without capabilities. `assemblyId` is one, so that the message has
 * no part of it, although a message may show an abbreviated id to a person.
 */
export const failureOf = (cause: unknown, assemblyId?: string): DurableJob.Failure => {
  const error = cause instanceof Sources.SourceAway ? cause.error : cause
  const message = error instanceof Error ? messageOf(error) : "a value that is not an Error"
  const secrets = assemblyId === undefined ? [] : [assemblyId]
  const named = Redaction.text(message, { secrets }).replaceAll(abbreviation, "the Assembly")
  const isPart = (run: string) => secrets.some((id) => run.toLowerCase().startsWith(id.slice(0, abbreviated)))
  return {
    reason: error instanceof Error && isTagged(error) ? error._tag : "Defect",
    message: named.replaceAll(/[0-9a-f]+/giu, (run) => (isPart(run) ? Redaction.mask : run))
  }
}
