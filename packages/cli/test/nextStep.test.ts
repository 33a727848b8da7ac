import * as ApiError from "@assembly-effect/api/ApiError"
import * as AuthError from "@assembly-effect/auth/AuthError"
import * as Advice from "../src/internal/advice.ts"
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Failure from "../src/internal/failure.ts"

const host = "api2.example.com"
const baseUrl = new URL(`https://${host}`)

const refused = (code: string, clockSkew?: number) =>
  new ApiError.AuthenticationFailed({
    operation: "Assemblies.list",
    code,
    status: 400,
    description: "no",
    ...(clockSkew === undefined ? {} : { clockSkew })
  })

const kept = { next: "The upload is kept. Run the same command again to continue it." }

const lost = (code?: string) =>
  new ApiError.TransportFailure({
    operation: "Assemblies.list",
    description: "the connection failed",
    ...(code === undefined ? {} : { code })
  })

type Unexpected = ConstructorParameters<typeof ApiError.UnexpectedResponse>[0]

const unexpected = (about: Omit<Unexpected, "description" | "excerpt">) =>
  new ApiError.UnexpectedResponse({ ...about, description: "no", excerpt: "" })

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
    ...["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "DEPTH_ZERO_SELF_SIGNED_CERT"].map((code): [unknown, string] => [
      lost(code),
      "Check ASSEMBLY_BASE_URL; NODE_EXTRA_CA_CERTS names a file with more certificates to trust."
    ]),
    [lost(), "Check the network, and run the command again."],
    [
      new ApiError.TimedOut({ operation: "Assemblies.list", host, after: Duration.seconds(60) }),
      "Check ASSEMBLY_BASE_URL, or run the command again later."
    ],
    [
      new ApiError.TimedOut({ operation: "Results.save", host: "files.example.com", after: Duration.seconds(60) }),
      "Check the network, or run the command again later."
    ],
    [
      Failure.because(lost("ECONNREFUSED"), { about: "a" }),
      "Check ASSEMBLY_BASE_URL: no service listens at api2.example.com."
    ],
    [unexpected({ operation: "Results.save", host, status: 404 }), undefined],
    [
      new AuthError.TokenUnavailable({ description: "the service responded with status 500", status: 500 }),
      "Run the command again later."
    ],
    [
      new ApiError.ServiceFailure({ operation: "a", code: "DOWN", status: 503, description: "c" }),
      "Run the command again later."
    ],
    [Failure.because(lost("ECONNREFUSED"), kept), "The upload is kept. Run the same command again to continue it."],
    [
      Failure.because(refused("GET_ACCOUNT_UNKNOWN_AUTH_KEY"), kept),
      "Check ASSEMBLY_AUTH_KEY: api2.example.com has no such key. The upload is kept. Run the same command again to continue it."
    ],
    [new ApiError.ServiceFailure({ operation: "a", code: "b", status: 400, description: "c" }), undefined],
    [
      new ApiError.StatisticsMissingRegion({ operation: "a", code: "b", status: 400, description: "c" }),
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

  it("names the host of the error before the host of the service", () => {
    const error = new ApiError.TransportFailure({
      operation: "Upload",
      description: "the connection was refused",
      code: "ECONNREFUSED",
      host: "tus.example.com"
    })
    expect(Advice.next(error, { baseUrl })).toBe("Check the network: no service listens at tus.example.com.")
  })
})

describe("Advice.next for a user of npx", () => {
  it.each<[unknown, string]>([
    [
      refused("INSUFFICIENT_AUTH_SCOPE"),
      "Add the scope to the Auth Key (npx --no-install assembly keys update), or set ASSEMBLY_AUTH_KEY to another key."
    ],
    [
      Failure.failed("x", "assembly templates list shows the Templates."),
      "npx --no-install assembly templates list shows the Templates."
    ],
    [
      unexpected({ operation: "Assemblies.cancel", assemblyId: "5a5a", status: 200 }),
      "npx --no-install assembly get 5a5a shows its state."
    ]
  ])("names the program as the user does: %o", (error, step) => {
    expect(Advice.next(error, { baseUrl, program: "npx --no-install assembly" })).toBe(step)
    expect(Advice.next(error, { baseUrl })).toBe(step.replace("npx --no-install ", ""))
  })
})

describe("Advice.next through a proxy", () => {
  const address = "http://proxy.test:8080"
  const proxyOf = () => ({ variable: "HTTPS_PROXY", address })
  const through = `Check HTTPS_PROXY: the connection to ${host} goes through the proxy ${address}.`
  const named = `through the proxy ${address} (HTTPS_PROXY).`
  const page = (status: number) => unexpected({ operation: "a", host, status })

  it.each<[string, unknown, string]>([
    [
      "no proxy listens",
      lost("ECONNREFUSED"),
      `Check HTTPS_PROXY: no proxy listens at ${address}. NO_PROXY names the hosts that need no proxy, such as ${host}.`
    ],
    ["its host is unknown", lost("ENOTFOUND"), `Check HTTPS_PROXY: the host of the proxy ${address} is unknown.`],
    [
      "it opens no tunnel",
      lost("UND_ERR_ABORTED"),
      `Check HTTPS_PROXY: the proxy ${address} opens no connection to ${host}. It may need a name and a password.`
    ],
    ["it is silent", lost("UND_ERR_CONNECT_TIMEOUT"), through],
    ["it closes the connection", lost("ECONNRESET"), through],
    [
      "it asks for a password",
      page(407),
      `Set the name and the password in HTTPS_PROXY: the proxy ${address} asks for them.`
    ],
    [
      "it answers itself",
      page(403),
      `Check ASSEMBLY_BASE_URL: ${host} does not answer as the Assembly Processing Service does. Another program may listen there. The request went ${named}`
    ],
    [
      "nothing answers",
      new ApiError.TimedOut({ operation: "a", host, after: Duration.seconds(60) }),
      `Check ASSEMBLY_BASE_URL, or run the command again later. The request went ${named}`
    ]
  ])("%s", (_, error, step) => {
    expect(Advice.next(error, { baseUrl, proxyOf })).toBe(step)
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
