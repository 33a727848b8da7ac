import type { AssemblyUploadError } from "@assembly-effect/tus/AssemblyUpload"
import * as Effect from "effect/Effect"
import * as Refusal from "../Refusal.ts"

/** Whether the error is about the file name. No other option of the file can come from the user. */
const isOfFilename = (error: AssemblyUploadError): boolean =>
  error._tag === "InvalidRequest" && error.issues.every(({ path }) => path[0] === "files")

const problemOf = (error: AssemblyUploadError): string =>
  error._tag === "AssemblyFailed" ? `The Assembly failed: ${error.code}.` : "The service did not take the upload."

/**
 * Converts the error of an upload to an error that the user may see. The result does not contain the message of the
 * original error. The message of the original error is logged, unless the file name of the user was invalid.
 */
export const of = (
  error: AssemblyUploadError,
  { filename }: { readonly filename?: string | undefined }
): Effect.Effect<never, Refusal.BodyMalformed | Refusal.UploadFailed> =>
  filename === undefined && isOfFilename(error)
    ? Effect.fail(new Refusal.BodyMalformed({ description: "The name of the file is invalid." }))
    : Effect.andThen(
        Effect.logError(`An upload of a user failed: ${error.message}`),
        Effect.fail(new Refusal.UploadFailed({ description: problemOf(error) }))
      )
