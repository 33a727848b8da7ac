import { ApiError } from "@assembly-effect/api"
import { AuthError } from "@assembly-effect/auth"
import * as Advice from "../src/internal/advice.ts"
import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import * as Failure from "../src/internal/failure.ts"

const host = "api2.example.com"
const baseUrl = new URL(`https://${host}`)

const operation = "Assemblies.list"
const refused = (code: string, clockSkew?: number) =>
  new ApiError.AuthenticationFailed({
    operation,
    code,
    status: 400,
    description: "no",
    ...(clockSkew && { clockSkew })
  })

const kept = { next: "The upload is kept; run the same command again to continue it." }

const lost = (code?: string, at?: string) =>
  new ApiError.TransportFailure({
    operation,
    description: "the connection failed",
    ...(code && { code }),
    ...(at && { host: at })
  })

const failure = { operation: "a", code: "DOWN", status: 503, description: "c" }
const unexpected = { description: "no", excerpt: "" }
const after = Duration.seconds(60)
const noServer = { description: "the service responded with status 500", status: 500 }

const certificate = "Check ASSEMBLY_BASE_URL; NODE_EXTRA_CA_CERTS names a file with more certificates to trust."
const unknownHost = "Check the host in ASSEMBLY_BASE_URL, and the network of this machine."
const notListening = "Check ASSEMBLY_BASE_URL: no service listens at api2.example.com."
const later = "Run the command again later."

describe("Advice.next", () => {
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
    [Failure.failed("x", "assembly list shows it."), "assembly list shows it."],
    [
      new ApiError.UnexpectedResponse({
        ...unexpected,
        operation: "Assemblies.cancel",
        assemblyId: "5a5a",
        status: 200
      }),
      "assembly get 5a5a shows its state."
    ],
    [refused("AUTH_EXPIRED", 60_000), "Set the clock of this machine."],
    [refused("INVALID_SIGNATURE", -60_000), "Set the clock of this machine."],
    [refused("SOMETHING_NEW"), "Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: they belong to api2.example.com."],
    [
      new AuthError.ScopeNotGranted({ code: "TOKEN_INVALID_SCOPE", status: 403, scopes: ["read"] }),
      "Request only scopes that the Auth Key has, or leave out --scope."
    ],
    [lost("ENOTFOUND"), unknownHost],
    [lost("EAI_AGAIN"), unknownHost],
    [lost("ECONNREFUSED"), notListening],
    [lost("ECONNREFUSED", "tus.example.com"), "Check the network: no service listens at tus.example.com."],
    [lost("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), certificate],
    [lost("DEPTH_ZERO_SELF_SIGNED_CERT"), certificate],
    [lost(), "Check the network, and run the command again."],
    [new ApiError.TimedOut({ operation, host, after }), "Check ASSEMBLY_BASE_URL, or run the command again later."],
    [
      new ApiError.TimedOut({ operation: "Results.save", host: "files.example.com", after }),
      "Check the network, or run the command again later."
    ],
    [Failure.because(lost("ECONNREFUSED"), { about: "a" }), notListening],
    [new ApiError.UnexpectedResponse({ ...unexpected, operation: "Results.save", host, status: 404 }), undefined],
    [new AuthError.TokenUnavailable(noServer), later],
    [new ApiError.ServiceFailure(failure), later],
    [Failure.because(lost("ECONNREFUSED"), kept), kept.next],
    [
      Failure.because(refused("GET_ACCOUNT_UNKNOWN_AUTH_KEY"), kept),
      `Check ASSEMBLY_AUTH_KEY: api2.example.com has no such key. ${kept.next}`
    ],
    [new ApiError.ServiceFailure({ ...failure, code: "b", status: 400 }), undefined],
    [
      new ApiError.StatisticsMissingRegion({ ...failure, code: "b", status: 400 }),
      "Set --region to a region such as eu-west-1, or to all."
    ],
    ["a text", undefined]
  ])("%s", (error, step) => {
    expect(Advice.next(error, { baseUrl })).toBe(step)
  })

  it("an upload that failed has the exit code and the line of its cause", () => {
    const failed = Failure.because(lost("ECONNREFUSED"), kept)
    expect(Failure.codeOf(failed)).toBe(Failure.codes.network)
    expect(Advice.line(failed, host)).toBe("Assemblies.list at api2.example.com: the connection failed (ECONNREFUSED)")
  })

  it("names the variable of a proxy, because the proxy may be the cause", () => {
    expect(Advice.next(lost("ENOTFOUND"), { baseUrl, proxy: "HTTPS_PROXY" })).toBe(
      `${unknownHost} The request may have gone through the proxy of HTTPS_PROXY.`
    )
  })
})

describe("Advice.isOfSettings", () => {
  it.each<[unknown, boolean]>([
    [refused("INVALID_SIGNATURE"), true],
    [Failure.because(refused("INVALID_SIGNATURE"), kept), true],
    [Failure.because(new Error("failed"), kept), false],
    [Failure.because(refused("INVALID_SIGNATURE"), { about: "a" }), true],
    ["a text", false]
  ])("%s", (error, isOfSettings) => {
    expect(Advice.isOfSettings(error)).toBe(isOfSettings)
  })
})
