import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as NamedError from "@assembly-effect/schema/unstable/NamedError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as RequestNote from "./requestNote.ts"

/** The refusal of a request. The response is the general error object of spec.md, "Errors". */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly code: string
  readonly status: number
  readonly message: string
  readonly info?: { readonly retryIn: number }
}> {}

/** A refusal of a request that has the error code of its operation. `message` names the field and the rule. */
export class Refused extends Data.TaggedError("Refused")<{ readonly status: number; readonly message: string }> {}

export const refused = (status: number, message: string): Refused => new Refused({ status, message })

export const refuse = (code: string, status: number, message: string): Refusal => new Refusal({ code, status, message })

/** A refusal with the status of its code. Only the status of `ASSEMBLY_LIST_ERROR` is beyond the specification. */
export const named = (code: NamedError.NamedCode, message: string): Refusal =>
  refuse(code, NamedError.statusOf[code], message)

/** The maximum number of issues in a message, and the maximum number of characters in a message. */
const maxIssues = 20
const maxMessage = 2000

/** Formats the issues of a request as one message of limited length. */
export const explain = (issues: ReadonlyArray<Issue>): string => {
  const told = issues
    .slice(0, maxIssues)
    .map(({ message, path }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`))
  const more = issues.length > maxIssues ? [`and ${issues.length - maxIssues} more`] : []
  return [...told, ...more].join("; ").slice(0, maxMessage)
}

/** Refuses a request that breaks rules which the schemas of its operation do not contain. */
export const check = (issues: ReadonlyArray<Issue>): Effect.Effect<void, Refused> =>
  issues.length === 0 ? Effect.void : Effect.fail(refused(400, explain(issues)))

/** Refuses what breaks rules of an operation, with its error code. */
export const invalid =
  (code: string) =>
  (issues: ReadonlyArray<Issue>): Refusal =>
    refuse(code, 400, explain(issues))

/**
 * Refuses invalid input of an operation that has no error code for it. The specification does not define this code.
 */
export const invalidForm = invalid("INVALID_FORM_DATA")

/** A refusal whose error code contains the status. The specification does not define the error code. */
export const server = (status: number, message: string): Refusal => refuse(`SERVER_${status}`, status, message)

type Response = HttpServerResponse.HttpServerResponse

/** The error object of spec.md, "Errors". The refusal of a quota has `info` instead of `http_code`. */
export const toObject = ({ code, info, message, status }: Refusal) =>
  info === undefined ? { error: code, http_code: status, message } : { error: code, message, info }

export const toResponse = (refusal: Refusal): Response =>
  HttpServerResponse.jsonUnsafe(toObject(refusal), { status: refusal.status })

/** The response to an unknown path. The specification does not define this response. */
export const notFound = server(404, "There is no such operation.")

/** The response to headers that exceed the limit. */
export const tooLargeHeaders = server(431, "The headers are too large.")

/** The response to a defect of the emulator. The cause is logged, not sent. */
const defect = server(500, "The emulator failed; see its log.")

/**
 * The response if the disk fails. The response does not contain the path of the file. The specification does not define
 * this response.
 */
const cannotStore = (failed: StorageFailed) => server(507, `The emulator cannot store: ${failed.description}.`)

/**
 * Converts the errors of the handler of an operation to responses: its refusals, disk failures and defects. Disk
 * failures and defects are logged.
 */
export const answering =
  (respond: (refusal: Refusal) => Response, ofFailure: (failed: StorageFailed) => Refusal, ofDefect: Refusal) =>
  (name: string) =>
  <R>(handler: Effect.Effect<Response, Refusal | StorageFailed, R>): Effect.Effect<Response, never, R> =>
    Effect.andThen(RequestNote.note({ operation: name }), handler).pipe(
      Effect.catchTag("StorageFailed", (failed) =>
        Effect.andThen(Effect.logError(`${name}: ${failed.message}`), Effect.fail(ofFailure(failed)))
      ),
      Effect.catchDefect((cause) => Effect.andThen(Effect.logError(`${name} failed`, cause), Effect.fail(ofDefect))),
      Effect.catch((refusal) => Effect.succeed(respond(refusal)))
    )

/** A refusal has its own status, a disk failure has 507, and a defect has 500. */
export const answered = answering(toResponse, cannotStore, defect)
