/**
 * The header `upload-concat`, which contains the URLs of the parts of a final upload.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as SchemaParser from "effect/SchemaParser"
import type { UploadUrl } from "../UploadTarget.ts"

/** The value of `upload-concat` for a final upload. */
export const concat = (parts: ReadonlyArray<UploadUrl>): string =>
  `final;${parts.map((part) => Redacted.value(part)).join(" ")}`

const decodeConcat = SchemaParser.decodeUnknownEffect(TusUpload.Concat)

/** Checks that the header `upload-concat` of these parts has at most 8192 characters (spec.md, "Limits"). */
export const check = (parts: ReadonlyArray<UploadUrl>): Effect.Effect<void, ApiError.InvalidRequest> =>
  decodeConcat(concat(parts)).pipe(
    Effect.asVoid,
    // The schema's issue is dropped, because it contains the URLs.
    Effect.mapError(
      () =>
        new ApiError.InvalidRequest({
          operation: "Tus.create",
          issues: [
            {
              path: ["upload-concat"],
              message: `Expected at most 8192 characters of upload URLs, got ${concat(parts).length} for ${parts.length} parts`
            }
          ]
        })
    )
  )
