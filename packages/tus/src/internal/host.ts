import * as Redacted from "effect/Redacted"
import type { UploadUrl } from "../UploadTarget.ts"

/**
 * The host of a URL, with its port if it is not the default port. An error must not contain any other part of the URL.
 */
export const hostOf = (url: string | UploadUrl): string =>
  new URL(Redacted.isRedacted(url) ? Redacted.value(url) : url).host
