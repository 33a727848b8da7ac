/**
 * The requests with a body, with headers that were checked before.
 */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as TusError from "../TusError.ts"
import * as UploadTarget from "../UploadTarget.ts"
import { type Body, exchange, request } from "./exchange.ts"
import * as Telemetry from "./telemetry.ts"

/** Sends a creation that has its permit, and returns the URL of the upload and its offset. See `Tus.create`. */
export const sendCreation = (
  target: UploadTarget.UploadTarget,
  headers: Readonly<Record<string, string>>,
  body: Body | undefined,
  sending?: { readonly limit: Duration.Duration }
) =>
  exchange({
    request: "create",
    url: target.tusUrl,
    headers,
    body,
    ...sending,
    read: TusUpload.Created,
    told: ({ location, "upload-offset": told }) => {
      const url = UploadTarget.resolve(target, location)
      if (Result.isFailure(url)) return Effect.fail(url.failure)
      const offset = told ?? (body === undefined ? 0n : undefined)
      const created = { url: url.success, offset }
      return body === undefined
        ? Effect.succeed(created)
        : Effect.as(Telemetry.stored(offset, BigInt(body.length)), created)
    }
  })

/**
 * Appends bytes at an offset. Returns the offset that the server reports, and whether the request declared the length of
 * its body: only then may the server have stored only the first bytes. See `Tus.append`.
 */
export const sendAppend = <E>(
  url: UploadTarget.UploadUrl,
  options: {
    readonly offset: TusUpload.Offset
    readonly body: Body<E>
    readonly length?: TusUpload.UploadLength | undefined
    readonly checksum?: string | undefined
  },
  limits?: { readonly limit: Duration.Duration } | { readonly stalled: Effect.Effect<never, TusError.Stalled> }
) =>
  Effect.suspend(() => {
    const { body, checksum, length } = options
    const headers = {
      "tus-resumable": TusUpload.tusVersion,
      "upload-offset": String(options.offset),
      ...(length === undefined ? undefined : { "upload-length": String(length) }),
      ...(checksum === undefined ? undefined : { "upload-checksum": checksum })
    }
    return request({
      request: "append",
      url,
      headers,
      body,
      ...limits,
      read: TusUpload.Appended,
      told: ({ "upload-offset": offset }, declaresLength) =>
        Effect.as(Telemetry.stored(offset - options.offset, BigInt(body.length)), { offset, declaresLength })
    })
  })

/**
 * The value of `upload-concat` for a final upload. A URL with the prefix of a proxy is sent as the path that the service
 * knows.
 */
export const concat = (target: UploadTarget.UploadTarget, parts: ReadonlyArray<UploadTarget.UploadUrl>): string => {
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
export const checkConcat = (
  target: UploadTarget.UploadTarget,
  parts: ReadonlyArray<UploadTarget.UploadUrl>
): Effect.Effect<void, InvalidRequest> => {
  const { length } = concat(target, parts)
  if (length <= longest) return Effect.void
  const message = `Expected at most ${longest} characters of upload URLs, got ${length} for ${parts.length} parts`
  return Effect.fail(new InvalidRequest({ operation: "Tus.create", issues: [{ path: ["upload-concat"], message }] }))
}
