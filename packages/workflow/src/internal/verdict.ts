/** What the error of an attempt means for its job: whether it waits, how long, or whether it ends. */
import type * as ApiError from "@assembly-effect/api/ApiError"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { AssemblyUploadError, FilesFailed } from "@assembly-effect/tus/AssemblyUploadError"
import type { UploadError } from "@assembly-effect/tus/TusError"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { InvalidSecret, StoreFailed } from "../DurableError.ts"
import type * as DurableJob from "../DurableJob.ts"
import type { Journal } from "./journal.ts"
import * as Sources from "./sources.ts"
import * as StoreError from "./storeError.ts"

/** The attempt belongs to another runner now, or it shall be canceled. */
export class Superseded {
  readonly _tag = "Superseded"
}

/** The errors of a transfer. */
export type TransferError =
  | Superseded
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
  journal: Journal,
  files: ReadonlyArray<DurableJob.File>
): TransferError => {
  if (journal.isLost()) return new Superseded()
  const errors =
    error._tag === "FilesFailed"
      ? error.files.flatMap((file, index) => {
          const failed = files[index]
          return file.outcome === "Failed" && failed !== undefined ? [Sources.mayReturn(failed)(file.error)] : []
        })
      : [error]
  const final = errors.find((one) => !mayPass(one))
  // A failure of no file is not possible.
  return journal.problem() ?? final ?? errors.find(isRefusal) ?? errors[0] ?? new Superseded()
}

/**
 * The HTTP status codes that refuse the credentials or the account: Unauthorized, Payment Required, and Proxy
 * Authentication Required.
 */
const ofAccount: ReadonlySet<number> = new Set([401, 402, 407])

/**
 * Whether an error is about the credentials, the account or the address of the service. Every job would fail with such
 * an error. Therefore a job waits without a time limit until somebody has corrected the cause.
 */
export const isRefusal = (error: TransferError): boolean => {
  switch (error._tag) {
    case "AuthenticationFailed":
      return true
    case "TransportFailure":
      return error.permanent
    case "ServiceFailure":
    case "UnexpectedResponse":
    case "UploadRefused":
      return ofAccount.has(error.status)
    default:
      return false
  }
}

/**
 * The HTTP status codes that refuse only this request, even if a proxy in front of the service sent the response. Other
 * requests may succeed.
 */
const ofRequest: ReadonlySet<number> = new Set([400, 411, 413, 414, 415, 417, 422, 431])

/**
 * True if a response means that the service fails or is unreachable. False if the response means that the request is
 * wrong.
 */
const isPassing = (error: ApiError.ServiceFailure | ApiError.UnexpectedResponse): boolean =>
  error._tag === "UnexpectedResponse"
    ? !ofRequest.has(error.status)
    : error.status >= 500 || error.status === 429 || error.status === 403

/** Whether the same transfer may succeed later. */
const isTemporary = (error: TransferError): boolean => {
  switch (error._tag) {
    case "StoreFailed":
      return !StoreError.isDamaged(error)
    case "SourceAway":
    case "TimedOut":
    // The service named a host for its uploads that this program does not trust. A later response may name another
    // host.
    case "InvalidTarget":
      return true
    case "ServiceFailure":
    case "UnexpectedResponse":
      return isPassing(error)
    default:
      return Hosting.isTemporary(error)
  }
}

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

/** Whether a pack failed because of one of its jobs. The other jobs may complete without this job. */
export const isOfJob = (cause: Cause.Cause<unknown>): boolean =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => true,
    onSome: (error) =>
      Predicate.hasProperty(error, "_tag") &&
      Predicate.isString(error._tag) &&
      !ofAll.has(error._tag) &&
      !Hosting.isTemporary({ ...error, _tag: error._tag })
  })

/**
 * Whether the error of a request for the Status is about the service only, so that the state of the Assembly stays
 * unknown.
 */
export const isAboutService = (error: TransferError): boolean => isTemporary(error) || isRefusal(error)
