import type * as ApiError from "@assembly-effect/api/ApiError"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"

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

/** Answers a refusal as what it is, and a defect, which is logged, with status 500. */
export const answered =
  (name: string) =>
  <R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal, R>) =>
    handler.pipe(
      Effect.catchTag("Refusal", (refusal) => Effect.succeed(toResponse(refusal))),
      Effect.catchDefect((cause) => Effect.as(Effect.logError(`${name} failed`, cause), toResponse(defect)))
    )
