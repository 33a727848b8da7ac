import * as AssemblyClientConfig from "@assembly-effect/api/AssemblyClientConfig"
import { ApiError } from "@assembly-effect/api"
import { AuthError } from "@assembly-effect/auth"
import * as Advice from "../src/internal/advice.ts"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUploadError, TusError, UploadJournal as JournalError, UploadTarget } from "@assembly-effect/tus"
import { describe, expect, it } from "@effect/vitest"
import { effect } from "@assembly-effect/testkit/flow"
import { CliError } from "effect/cli"
import { ConfigProvider, Duration, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { text } from "./support/texts.ts"

const operation = "Dam.move"
const details = { operation, code: "DAM_RESOURCE_NOT_FOUND", status: 404, description: "No such asset." }

const invalid = (option: string, value: string, expected: string, kind: "argument" | "flag" = "flag") =>
  new CliError.InvalidValue({ option, value, expected, kind })

/** An error of a request to an upload server. */
const atTus = { request: "append", host: "tus.example.com", status: 410, description: "gone" } as const
const gone = new TusError.UploadGone(atTus)

const service = AssemblyClientConfig.layer().pipe(Layer.provide(FetchHttpClient.layer))
const id = "5a".repeat(16)
const lost = { operation, description: "the connection failed" }
const unfetched = { operation: "Results.save", host: "files.example.com", status: 404, excerpt: "" }

describe("Advice.line", () => {
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
      new ApiError.RateLimited({ ...details, status: 429, retryAfter: Duration.seconds(90) }),
      "Dam.move: too many requests (DAM_RESOURCE_NOT_FOUND, status 429: No such asset.); try again in 90 s"
    ],
    [new ApiError.TransportFailure(lost), "Dam.move: the connection failed"],
    // A result that is gone: a user knows no function of the SDK.
    [
      new ApiError.UnexpectedResponse({ ...unfetched, description: "the response is no file" }),
      "the download from files.example.com: status 404, the response is no file"
    ],
    // The command line has no option `origins`.
    [
      new UploadTarget.UnsafeLocation({
        rule: "the host evil.example does not belong to the service; if it does, add its origin to the option origins"
      }),
      "the upload URL is refused: the host evil.example does not belong to the service; check ASSEMBLY_BASE_URL"
    ],
    [
      new TusError.UploadRefused({ ...atTus, status: 403, description: "no" }),
      "append at tus.example.com: no (status 403)"
    ],
    [gone, "append at tus.example.com: gone; run the upload again to start a new upload (status 410)"],
    [
      new TusError.ProtocolViolation({ ...atTus, request: "create", status: 200, description: "no headers" }),
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
      new ApiError.AssemblyFailed({ assemblyId: id, code: "NO_COUNTRY", description: "no country" }),
      `Assembly ${id} failed with NO_COUNTRY: no country`
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
        assemblyId: id,
        assembly: "canceled",
        files: [..."abcde"].map((filename) => ({ filename, outcome: "Failed", error: gone }) as const)
      }),
      expect.stringMatching(/^5 of 5 files failed: a: append at .*; b: .*; c: .*; 2 more\. The Assembly was canceled$/)
    ],
    [
      new AssemblyUploadError.FormBroken({
        assemblyIds: [Assembly.AssemblyId.make(id)],
        isOver: true,
        description: "it was lost"
      }),
      "the request with the files broke: it was lost; the service aborted the Assembly; its Steps may have run. Get its Status, or run the job again"
    ],
    [new Error("\n  the service said:\r\n    no\n\n  asset\n"), "the service said: no asset"],
    [new RangeError(), "RangeError"],
    ["a text", "a text"]
  ])("%s", (error, line) => {
    expect(Advice.line(error)).toEqual(line)
  })

  effect.each<readonly [Record<string, string>, string]>([
    [{}, "set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET"],
    [{ ASSEMBLY_AUTH_KEY: "k" }, "set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_SECRET"],
    [
      { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "" },
      "set the environment variables ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_SECRET"
    ],
    [{ ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }, "set the environment variable ASSEMBLY_BASE_URL"]
  ])("names what %j lacks", function* ([env, line]) {
    const error = yield* Layer.build(service).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
      Effect.flip
    )
    expect(Advice.line(error)).toBe(line)
  })

  it.prop("is one line, whatever the service said", { message: text }, ({ message }) => {
    const line = Advice.line(new ApiError.DamMutationFailed({ ...details, description: message }))
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })
})

it.each([
  [new ApiError.AuthenticationFailed({ ...details, code: "INVALID_SIGNATURE" }), expect.not.stringContaining("check")],
  [new ApiError.DamMutationFailed(details), expect.stringMatching(/^Dam\.move at api2\.example\.com failed with /)],
  [
    new ApiError.TransportFailure({ ...lost, host: "api2.example.com" }),
    "Dam.move: the connection failed (api2.example.com)"
  ],
  [
    new ApiError.TransportFailure({ ...lost, operation: "Results.save", host: "files.example.com" }),
    "the download: the connection failed (files.example.com)"
  ],
  [new AuthError.TokenUnavailable({ description: "no route" }), "No token: no route (api2.example.com)"]
])("Advice.line names the host of the service, unless the error names it: %s", (error, line) => {
  expect(Advice.line(error, "api2.example.com")).toEqual(line)
})
