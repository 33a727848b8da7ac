/**
 * The header `upload-concat`, which contains the URLs of the parts of a final upload.
 */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as SchemaParser from "effect/SchemaParser"
import type { UploadTarget, UploadUrl } from "../UploadTarget.ts"

/**
 * The value of `upload-concat` for a final upload. A URL with the prefix of a proxy is sent as the path that the service
 * knows.
 */
export const concat = (target: UploadTarget, parts: ReadonlyArray<UploadUrl>): string => {
  const urls = parts.map((part) => {
    const url = Redacted.value(part)
    const { pathname } = new URL(url)
    const path = ServiceOrigins.withoutPrefix(target.origins, pathname)
    return path === pathname ? url : path
  })
  return `final;${urls.join(" ")}`
}

const decodeConcat = SchemaParser.decodeUnknownEffect(TusUpload.Concat)

/** Checks that the header `upload-concat` of these parts has at most 8192 characters (spec.md, "Limits"). */
export const check = (target: UploadTarget, parts: ReadonlyArray<UploadUrl>): Effect.Effect<void, InvalidRequest> =>
  decodeConcat(concat(target, parts)).pipe(
    Effect.asVoid,
    // The schema's issue is dropped, because it contains the URLs.
    Effect.mapError(
      () =>
        new InvalidRequest({
          operation: "Tus.create",
          issues: [
            {
              path: ["upload-concat"],
              message: `Expected at most 8192 characters of upload URLs, got ${concat(target, parts).length} for ${parts.length} parts`
            }
          ]
        })
    )
  )
