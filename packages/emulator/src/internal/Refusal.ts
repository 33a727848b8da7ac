import type * as ApiError from "@assembly-effect/api/ApiError"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { StorageFailed } from "../EmulatorError.ts"

/** An answer that refuses a request: the general error object of spec.md, "Errors". */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly code: string
  readonly status: number
  readonly message: string
}> {}

/** A refusal with the status that the specification gives its code. */
export const named = (code: ServiceError.NamedCode, message: string): Refusal =>
  new Refusal({ code, status: ServiceError.statusOf[code], message })

/** What is wrong with a request, where, in one text. */
export const explain = (issues: ReadonlyArray<ApiError.Issue>): string =>
  issues.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ")

/** The refusal of a creation or replay whose form breaks a rule. Beyond the specification. */
export const invalidForm = (issues: ReadonlyArray<ApiError.Issue>): Refusal =>
  new Refusal({ code: "INVALID_FORM_DATA", status: 400, message: explain(issues) })

export const toResponse = ({ code, message, status }: Refusal): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ error: code, http_code: status, message }, { status })

/** Beyond the specification: what the service answers where no operation is. */
export const notFound = new Refusal({ code: "SERVER_404", status: 404, message: "There is no such operation." })

/** A defect of the emulator. Its cause is logged, not told. */
const defect = new Refusal({ code: "SERVER_500", status: 500, message: "The emulator failed; see its log." })

/** Beyond the specification. Where the data are is no business of a client. */
const cannotStore = (failed: StorageFailed) =>
  new Refusal({ code: "SERVER_507", status: 507, message: `The emulator cannot store: ${failed.problem}.` })

/** Answers a refusal as what it is, a disk that takes nothing with 507, and a defect with 500. The last two are logged. */
export const answered =
  (name: string) =>
  <R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal | StorageFailed, R>) =>
    handler.pipe(
      Effect.catchTags({
        Refusal: (refusal) => Effect.succeed(toResponse(refusal)),
        StorageFailed: (failed) =>
          Effect.as(Effect.logError(`${name}: ${failed.message}`), toResponse(cannotStore(failed)))
      }),
      Effect.catchDefect((cause) => Effect.as(Effect.logError(`${name} failed`, cause), toResponse(defect)))
    )
