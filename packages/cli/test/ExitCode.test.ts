import * as ApiError from "@assembly-effect/api/ApiError"
import * as AuthError from "@assembly-effect/auth/AuthError"
import * as CommandError from "@assembly-effect/cli/CommandError"
import * as ExitCode from "@assembly-effect/cli/ExitCode"
import * as AssemblyUploadError from "@assembly-effect/tus/AssemblyUploadError"
import type * as ResumableUpload from "@assembly-effect/tus/ResumableUpload"
import * as TusError from "@assembly-effect/tus/TusError"
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"

const { authentication, failed, network, usage } = ExitCode.codes

const host = "tus.example.com"
const stalled = new TusError.Stalled({ request: "append", host, after: Duration.seconds(60) })
const unknown = new TusError.CreationUnknown({ host, problem: "the connection failed" })
const gone = new TusError.UploadGone({ request: "append", host, status: 410, message: "gone" })
const lost = new ApiError.TransportFailure({ operation: "Dam.delete", problem: "the connection failed" })
const refusal = { code: "TOKEN_INVALID_REQUEST", status: 400 }

const filesFailed = (...errors: ReadonlyArray<ResumableUpload.ResumableUploadError>) =>
  new AssemblyUploadError.FilesFailed({
    assemblyId: "a".repeat(32),
    assembly: "kept",
    files: errors.map((error, index) => ({ filename: `${index}.txt`, outcome: "Failed" as const, error }))
  })

describe("ExitCode.fromError", () => {
  it.each<[string, unknown, number]>([
    ["an invalid request", new ApiError.InvalidRequest({ operation: "a", issues: [] }), usage],
    ["an audience that gets no tokens", new AuthError.AudienceRefused(refusal), authentication],
    ["a refused token request", new AuthError.TokenRefused(refusal), authentication],
    ["a stalled upload", stalled, network],
    ["a lost response", unknown, network],
    ["files that failed for one reason", filesFailed(stalled, unknown), network],
    ["files that failed for several reasons", filesFailed(stalled, gone), failed],
    ["a deletion that failed", new CommandError.NotDeleted({ id: "a", cause: lost }), network],
    ["an error of another package", { _tag: "toString" }, failed],
    ["no error at all", "a text", failed]
  ])("%s", (_, error, code) => {
    expect(ExitCode.fromError(error)).toBe(code)
  })
})
