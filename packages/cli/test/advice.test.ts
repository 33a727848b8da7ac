import * as AssemblyClientConfig from "@assembly-effect/api/AssemblyClientConfig"
import * as ApiError from "@assembly-effect/api/ApiError"
import * as AuthError from "@assembly-effect/auth/AuthError"
import * as Advice from "../src/internal/advice.ts"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyUploadError from "@assembly-effect/tus/AssemblyUploadError"
import * as JournalError from "@assembly-effect/tus/UploadJournal"
import * as TusError from "@assembly-effect/tus/TusError"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { describe, expect, it } from "@effect/vitest"
import * as CliError from "effect/cli/CliError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import { text } from "./support/texts.ts"

const details = {
  operation: "Dam.move",
  code: "DAM_RESOURCE_NOT_FOUND",
  status: 404,
  description: "No such asset."
}

const invalid = (option: string, value: string, expected: string, kind: "argument" | "flag" = "flag") =>
  new CliError.InvalidValue({ option, value, expected, kind })

const gone = (request: "append" | "offset") =>
  new TusError.UploadGone({ request, host: "tus.example.com", status: 410, description: "gone" })

const service = AssemblyClientConfig.layer().pipe(Layer.provide(FetchHttpClient.layer))

describe("Advice.line", () => {
  it("names no function of the SDK for a result that is gone", () => {
    const error = new ApiError.UnexpectedResponse({
      operation: "Results.save",
      host: "files.example.com",
      status: 404,
      description: "the response is no file",
      excerpt: ""
    })
    for (const host of [undefined, "api2.example.com"]) {
      expect(Advice.line(error, host)).toBe("the download from files.example.com: status 404, the response is no file")
    }
  })

  it.each([
    [
      new ApiError.DamResourceNotFound(details),
      "Dam.move failed with DAM_RESOURCE_NOT_FOUND, status 404: No such asset."
    ],
    [
      new ApiError.ServiceFailure({ ...details, description: details.code }),
      "Dam.move failed with DAM_RESOURCE_NOT_FOUND, status 404"
    ],
    [
      new ApiError.RateLimited({
        operation: "Dam.move",
        code: "RATE_LIMIT_REACHED",
        status: 429,
        description: "Slow down.",
        retryAfter: Duration.seconds(90)
      }),
      "Dam.move: too many requests (RATE_LIMIT_REACHED, status 429: Slow down.); try again in 90 s"
    ],
    [
      new ApiError.TransportFailure({ operation: "Dam.move", description: "the connection failed" }),
      "Dam.move: the connection failed"
    ],
    // The command line has no option `origins`.
    [
      new UploadTarget.UnsafeLocation({
        rule: "the host evil.example does not belong to the service; if it does, add its origin to the option origins"
      }),
      "the upload URL is refused: the host evil.example does not belong to the service; check ASSEMBLY_BASE_URL"
    ],
    [
      new TusError.UploadRefused({ request: "append", host: "tus.example.com", status: 403, description: "no" }),
      "append at tus.example.com: no (status 403)"
    ],
    [gone("offset"), "offset at tus.example.com: gone; run the upload again to start a new upload (status 410)"],
    [
      new TusError.ProtocolViolation({
        request: "create",
        host: "tus.example.com",
        status: 200,
        description: "no headers"
      }),
      "create at tus.example.com: status 200, no headers"
    ],
    [
      invalid("assetId", "xyz", "Schema validation failed: Expected 22 characters of Base64URL", "argument"),
      'Invalid value for argument <assetId>: "xyz". Expected 22 characters of Base64URL'
    ],
    [invalid("page", "x", "an integer"), 'Invalid value for flag --page: "x". Expected: an integer'],
    [
      invalid("scope", "x", 'Schema validation failed: Expected a scope, got "x"'),
      'Invalid value for flag --scope: "x". Expected a scope'
    ],
    [
      new CliError.UnknownSubcommand({ subcommand: "lst", parent: ["assembly"], suggestions: ["list", "stats"] }),
      'Unknown subcommand "lst" for "assembly"; did you mean list or stats?'
    ],
    [
      new CliError.UnrecognizedOption({ option: "--jsn", command: ["assembly", "list"], suggestions: ["--json"] }),
      "Unrecognized flag: --jsn in command assembly list; did you mean --json?"
    ],
    [
      new ApiError.AssemblyFailed({ assemblyId: "5a".repeat(16), code: "NO_COUNTRY", description: "no country" }),
      `Assembly ${"5a".repeat(16)} failed with NO_COUNTRY: no country`
    ],
    [{ _tag: "Odd", description: "no error at all" }, `{"_tag":"Odd","description":"no error at all"}`],
    [
      new TusError.UploadMismatch({ field: "upload-length", expected: "1", found: "2" }),
      expect.stringMatching(/start a new upload \(with --restart\)$/)
    ],
    [
      new JournalError.JournalTorn({ key: "k", description: "no JSON" }),
      "the upload journal: the entry k is invalid: no JSON; delete the entry in the folder of --journal"
    ],
    [
      new AssemblyUploadError.FilesFailed({
        assemblyId: "a".repeat(32),
        assembly: "canceled",
        files: ["a", "b", "c", "d", "e"].map((filename) => ({
          filename,
          outcome: "Failed" as const,
          error: gone("append")
        }))
      }),
      expect.stringMatching(
        /^5 of 5 files failed: a: append at tus\.example\.com: gone; run the upload again to start a new upload \(status 410\); b: .*; c: .*; 2 more\. The Assembly was canceled$/
      )
    ],
    [
      new AssemblyUploadError.FormBroken({
        assemblyIds: [Assembly.AssemblyId.make("5a".repeat(16))],
        isOver: true,
        description: "it was lost"
      }),
      "the request with the files broke: it was lost; the service aborted the Assembly; its Steps may have run. Get its Status, or run the job again"
    ],
    [new RangeError(), "RangeError"],
    ["a text", "a text"]
  ])("%s", (error, line) => {
    expect(Advice.line(error)).toEqual(line)
  })

  it.effect.each<readonly [Record<string, string>, string]>([
    [{}, "set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET"],
    [{ ASSEMBLY_AUTH_KEY: "k" }, "set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_SECRET"],
    [
      { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "" },
      "set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_SECRET"
    ],
    [{ ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }, "set the environment variable ASSEMBLY_BASE_URL"]
  ])("names what %j lacks", ([env, line]) =>
    Effect.gen(function* () {
      const error = yield* Layer.build(service).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
        Effect.flip
      )
      expect(Advice.line(error)).toBe(line)
    })
  )

  it.prop("is one line, whatever the service said", { message: text }, ({ message }) => {
    const line = Advice.line(new ApiError.DamMutationFailed({ ...details, description: message }))
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })
})

describe("Advice.line with the host of the service", () => {
  it("names the host, unless the error names it", () => {
    const line = (error: unknown) => Advice.line(error, "api2.example.com")
    expect(line(new ApiError.AuthenticationFailed({ ...details, code: "INVALID_SIGNATURE" }))).not.toContain("check")
    expect(line(new ApiError.DamMutationFailed(details))).toMatch(/^Dam\.move at api2\.example\.com failed with /)
    const lost = { operation: "Dam.move", description: "the connection failed", host: "api2.example.com" }
    expect(line(new ApiError.TransportFailure(lost))).toBe("Dam.move: the connection failed (api2.example.com)")
    const file = { ...lost, operation: "Results.save", host: "files.example.com" }
    expect(line(new ApiError.TransportFailure(file))).toBe("the download: the connection failed (files.example.com)")
    expect(line(new AuthError.TokenUnavailable({ description: "no route" }))).toBe(
      "No token: no route (api2.example.com)"
    )
  })
})

describe("Advice.line of several lines", () => {
  it("joins the lines with spaces", () => {
    expect(Advice.line(new Error("\n  the service said:\r\n    no\n\n  asset\n"))).toBe("the service said: no asset")
  })
})
