import * as Redacted from "effect/Redacted"
import type { UploadUrl } from "../UploadTarget.ts"

/** The host of a URL, with its port where that is not the usual one: the one part of it that an error may tell. */
export const hostOf = (url: string | UploadUrl): string =>
  new URL(Redacted.isRedacted(url) ? Redacted.value(url) : url).host
