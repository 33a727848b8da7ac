/**
 * The header `upload-concat`, which contains the URLs of the parts of a final upload.
 */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
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

const longest = 8192

/** Checks the length of the header `upload-concat` of these parts (spec.md, "Limits"). */
export const check = (target: UploadTarget, parts: ReadonlyArray<UploadUrl>): Effect.Effect<void, InvalidRequest> => {
  const { length } = concat(target, parts)
  if (length <= longest) return Effect.void
  const message = `Expected at most ${longest} characters of upload URLs, got ${length} for ${parts.length} parts`
  return Effect.fail(new InvalidRequest({ operation: "Tus.create", issues: [{ path: ["upload-concat"], message }] }))
}
