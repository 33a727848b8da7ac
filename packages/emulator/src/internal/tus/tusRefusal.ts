import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Refusal from "../http/refusal.ts"

/** The headers of every tus response, including refusals. */
export const tusHeaders = { "tus-resumable": TusUpload.tusVersion, "x-content-type-options": "nosniff" } as const

/** The codes of the refusals that are a JSON object (spec.md, "Errors"). All others are a line of text. */
const hooks: ReadonlySet<string> = new Set([
  "ERR_ASSEMBLY_NOT_FOUND",
  "ERR_ASSEMBLY_NOT_UPLOADING",
  "ERR_MAX_SIZE_EXCEEDED",
  "ERR_MAX_NUMBER_OF_FILES_EXCEEDED"
])

/** The response to a refused tus request. The specification does not define the codes and the statuses. */
export const toResponse = ({ code, message, status }: Refusal.Refusal): HttpServerResponse.HttpServerResponse => {
  const text = `${code}: ${message}`
  return HttpServerResponse.text(hooks.has(code) ? JSON.stringify({ error: text }) : `${text}\n`, {
    status,
    contentType: "text/plain; charset=utf-8",
    headers: status === 412 ? { ...tusHeaders, "tus-version": TusUpload.tusVersion } : tusHeaders
  })
}

/** The refusals that depend on nothing else. */
const refusals = {
  unsupportedVersion: ["ERR_UNSUPPORTED_VERSION", 412, `tus-resumable must be ${TusUpload.tusVersion}`],
  uploadNotFound: ["ERR_UPLOAD_NOT_FOUND", 404, "there is no such upload"],
  assemblyNotFound: ["ERR_ASSEMBLY_NOT_FOUND", 404, "assembly_url is not the URL of an Assembly of this service"],
  assemblyNotUploading: ["ERR_ASSEMBLY_NOT_UPLOADING", 403, "the Assembly no longer accepts uploads"],
  mismatchedOffset: ["ERR_MISMATCHED_OFFSET", 409, "upload-offset does not match the offset of the upload"],
  sizeExceeded: ["ERR_UPLOAD_SIZE_EXCEEDED", 413, "the body exceeds the length of the upload"],
  locked: ["ERR_UPLOAD_LOCKED", 423, "another request has taken over this upload"],
  brokenBody: ["ERR_READ_BODY", 400, "the connection broke before the body ended"],
  lengthIsSet: ["ERR_INVALID_UPLOAD_LENGTH", 400, "the upload has another length"],
  lengthBelowOffset: ["ERR_INVALID_UPLOAD_LENGTH", 400, "the upload already has more bytes"],
  uploadExpired: ["ERR_UPLOAD_EXPIRED", 410, "the upload was not finished in time"],
  finalCannotGrow: ["ERR_MODIFY_FINAL", 403, "a final upload accepts no bytes"],
  unknownPart: ["ERR_UPLOAD_NOT_FOUND", 404, "a part is not a partial upload of this Assembly"],
  partNotFinished: ["ERR_UPLOAD_NOT_FINISHED", 400, "a part is not finished"],
  notFinished: ["ERR_UPLOAD_NOT_FINISHED", 400, "the upload is not finished"],
  maxSizeExceeded: ["ERR_MAX_SIZE_EXCEEDED", 413, "the upload is larger than auth.max_size or the limit fileBytes"],
  tooManyUploads: ["ERR_MAX_NUMBER_OF_FILES_EXCEEDED", 413, "the Assembly accepts no more uploads"],
  unknownChecksum: ["ERR_UNSUPPORTED_CHECKSUM_ALGORITHM", 400, "the algorithm of upload-checksum is not supported"],
  invalidChecksum: ["ERR_INVALID_CHECKSUM", 400, "upload-checksum is not a base64 digest of its algorithm"],
  checksumMismatch: ["ERR_CHECKSUM_MISMATCH", 460, "the checksum does not match the bytes"],
  defect: ["ERR_INTERNAL_SERVER_ERROR", 500, "the emulator failed; see its log"]
} as const satisfies Readonly<Record<string, readonly [code: string, status: number, message: string]>>

export const refuse = (reason: keyof typeof refusals): Refusal.Refusal => {
  const [code, status, message] = refusals[reason]
  return Refusal.refuse(code, status, message)
}

export const cannotStore = ({ description }: StorageFailed): Refusal.Refusal =>
  Refusal.refuse("ERR_INSUFFICIENT_STORAGE", 507, `the emulator cannot store: ${description}`)

const codes: ReadonlyMap<string, readonly [code: string, status: number]> = new Map([
  ["upload-length", ["ERR_INVALID_UPLOAD_LENGTH", 400]],
  ["upload-defer-length", ["ERR_INVALID_UPLOAD_DEFER_LENGTH", 400]],
  ["upload-offset", ["ERR_INVALID_OFFSET", 400]],
  ["upload-metadata", ["ERR_INVALID_METADATA", 400]],
  ["upload-concat", ["ERR_INVALID_CONCAT", 400]],
  ["content-type", ["ERR_INVALID_CONTENT_TYPE", 415]]
])

/** The refusal of an invalid header. */
export const invalidHeader = (header: string, message: string): Refusal.Refusal => {
  const [code, status] = codes.get(header) ?? (["ERR_INVALID_HEADER", 400] as const)
  // Line breaks are replaced, because the refusal is a single line of text.
  return Refusal.refuse(code, status, `${header}: ${message.replace(/\s+/g, " ")}`)
}
