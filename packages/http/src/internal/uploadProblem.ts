import type { AssemblyUploadError } from "@assembly-effect/tus/AssemblyUploadError"
import * as Effect from "effect/Effect"
import * as Refusal from "../Refusal.ts"

/** Whether an error names the file name that the user sent. */
const isOfFilename = (error: AssemblyUploadError): boolean =>
  error._tag === "InvalidRequest" && error.issues.every(({ path }) => path[0] === "files")

const problemOf = (error: AssemblyUploadError): string =>
  error._tag === "AssemblyFailed" ? `The Assembly failed: ${error.code}.` : "The service did not take the upload."

/** Fails with what the user is told of an error of the service. The message of the error goes to the log. */
export const of = (error: AssemblyUploadError): Effect.Effect<never, Refusal.BodyMalformed | Refusal.UploadFailed> =>
  isOfFilename(error)
    ? Effect.fail(new Refusal.BodyMalformed({ problem: "The name of the file is invalid." }))
    : Effect.andThen(
        Effect.logError(`An upload of a user failed: ${error.message}`),
        Effect.fail(new Refusal.UploadFailed({ problem: problemOf(error) }))
      )
