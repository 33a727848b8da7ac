import * as ApiError from "@assembly-effect/api/ApiError"
import * as AuthError from "@assembly-effect/auth/AuthError"
import * as CommandError from "@assembly-effect/cli/CommandError"
import * as ExitCode from "@assembly-effect/cli/ExitCode"
import * as ErrorLine from "@assembly-effect/cli/ErrorLine"
import * as NextStep from "@assembly-effect/cli/NextStep"
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"

const host = "api2.example.com"

const refused = (code: string, clockSkew?: number) =>
  new ApiError.AuthenticationFailed({
    operation: "Assemblies.list",
    code,
    status: 400,
    explanation: "no",
    ...(clockSkew === undefined ? {} : { clockSkew })
  })

const lost = (code?: string) =>
  new ApiError.TransportFailure({
    operation: "Assemblies.list",
    problem: "the connection failed",
    ...(code === undefined ? {} : { code })
  })

describe("NextStep.fromError", () => {
  it.each<[unknown, string | undefined]>([
    [refused("GET_ACCOUNT_UNKNOWN_AUTH_KEY"), "Check ASSEMBLY_AUTH_KEY: api2.example.com has no such key."],
    [
      refused("INVALID_SIGNATURE"),
      "Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at api2.example.com."
    ],
    [
      refused("INSUFFICIENT_AUTH_SCOPE"),
      "Add the scope to the Auth Key (assembly keys update), or set ASSEMBLY_AUTH_KEY to another key."
    ],
    [refused("AUTH_EXPIRED", 60_000), "Set the clock of this machine."],
    [refused("INVALID_SIGNATURE", -60_000), "Set the clock of this machine."],
    [refused("SOMETHING_NEW"), "Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: they belong to api2.example.com."],
    [
      new AuthError.ScopeNotGranted({ code: "TOKEN_INVALID_SCOPE", status: 403, scopes: ["read"] }),
      "Request only scopes that the Auth Key has, or leave out --scope."
    ],
    [lost("ENOTFOUND"), "Check the host in ASSEMBLY_BASE_URL, and the network of this machine."],
    [lost("EAI_AGAIN"), "Check the host in ASSEMBLY_BASE_URL, and the network of this machine."],
    [lost("ECONNREFUSED"), "Check ASSEMBLY_BASE_URL: no service listens at api2.example.com."],
    [
      lost("UNABLE_TO_VERIFY_LEAF_SIGNATURE"),
      "Check ASSEMBLY_BASE_URL; NODE_EXTRA_CA_CERTS names a file with more certificates to trust."
    ],
    [
      lost("DEPTH_ZERO_SELF_SIGNED_CERT"),
      "Check ASSEMBLY_BASE_URL; NODE_EXTRA_CA_CERTS names a file with more certificates to trust."
    ],
    [lost(), "Check the network, and run the command again."],
    [
      new ApiError.TimedOut({ operation: "Assemblies.list", after: Duration.seconds(60) }),
      "Run the command again later."
    ],
    [
      new CommandError.UploadFailed({ assembly: "kept", cause: lost("ECONNREFUSED") }),
      "The upload is kept. Run the same command again to continue it."
    ],
    [
      new CommandError.UploadFailed({ assembly: "kept", cause: refused("GET_ACCOUNT_UNKNOWN_AUTH_KEY") }),
      "Check ASSEMBLY_AUTH_KEY: api2.example.com has no such key. The upload is kept. Run the same command again to continue it."
    ],
    [
      new CommandError.UploadFailed({ assembly: "ended", cause: new Error("failed") }),
      "Run the same command again to upload into a new Assembly."
    ],
    [new ApiError.ServiceFailure({ operation: "a", code: "b", status: 400, explanation: "c" }), undefined],
    [
      new ApiError.StatisticsMissingRegion({ operation: "a", code: "b", status: 400, explanation: "c" }),
      "Set --region to a region such as eu-west-1, or to all."
    ],
    ["a text", undefined]
  ])("%s", (error, step) => {
    expect(NextStep.fromError(error, host)).toBe(step)
  })

  it("an upload that failed has the exit code and the line of its cause", () => {
    const failed = new CommandError.UploadFailed({ assembly: "kept", cause: lost("ECONNREFUSED") })
    expect(ExitCode.fromError(failed)).toBe(ExitCode.codes.network)
    expect(ErrorLine.fromError(failed, host)).toBe(
      "Assemblies.list at api2.example.com: the connection failed (ECONNREFUSED)"
    )
  })

  it("names the host of the error before the host of the service", () => {
    const error = new ApiError.TransportFailure({
      operation: "Upload",
      problem: "the connection was refused",
      code: "ECONNREFUSED",
      host: "tus.example.com"
    })
    expect(NextStep.fromError(error, host)).toBe("Check ASSEMBLY_BASE_URL: no service listens at tus.example.com.")
  })
})

describe("NextStep.isOfSettings", () => {
  it.each<[unknown, boolean]>([
    [refused("INVALID_SIGNATURE"), true],
    [new CommandError.UploadFailed({ assembly: "kept", cause: refused("INVALID_SIGNATURE") }), true],
    [new CommandError.UploadFailed({ assembly: "ended", cause: new Error("failed") }), false],
    ["a text", false]
  ])("%s", (error, isOfSettings) => {
    expect(NextStep.isOfSettings(error)).toBe(isOfSettings)
  })
})
