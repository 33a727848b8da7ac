/** What the command line says about each error: its line, what to do next, and the exit code. */
import { ApiError } from "@assembly-effect/api"
import * as ResultError from "@assembly-effect/api/ResultError"
import { AuthError } from "@assembly-effect/auth"
import { Assembly } from "@assembly-effect/schema"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { AssemblyUpload, TusError, UploadJournal, UploadTarget } from "@assembly-effect/tus"
import { describe, expect, it } from "@effect/vitest"
import { Duration, PlatformError } from "effect"
import { CliError } from "effect/cli"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Advice from "../src/internal/advice.ts"
import * as Failure from "../src/internal/failure.ts"
import * as Help from "../src/internal/help.ts"
import { text as anyText } from "./support/texts.ts"

const { authentication, failed, network, usage } = Failure.codes

const host = "api2.example.com"
const baseUrl = new URL(`https://${host}`)
const id = Assembly.AssemblyId.make("5a".repeat(16))
const after = Duration.seconds(60)

const details = { operation: "Dam.move", code: "DAM_RESOURCE_NOT_FOUND", status: 404, description: "No such asset." }
const failing = (code: string, status: number) => new ApiError.ServiceFailure({ ...details, code, status })
const refused = (code: string, more: { readonly clockSkew?: number } = {}) =>
  new ApiError.AuthenticationFailed({ ...details, code, status: 400, ...more })
const unexpected = (status: number, more: { readonly operation: string; readonly host?: string }) =>
  new ApiError.UnexpectedResponse({ description: "the response is no file", excerpt: "", status, ...more })
const lost = (more: Partial<ConstructorParameters<typeof ApiError.TransportFailure>[0]> = {}) =>
  new ApiError.TransportFailure({ operation: "Dam.move", description: "the connection failed", ...more })
const noToken = (description: string, status?: number) =>
  new AuthError.TokenUnavailable({ description, ...(status && { status }) })

/** Errors of requests to an upload server. */
const atTus = { request: "append", host: "tus.example.com", status: 410, description: "gone" } as const
const gone = new TusError.UploadGone(atTus)
const stalled = new TusError.Stalled({ request: "append", host: atTus.host, after })
const unknown = new TusError.CreationUnknown({ host: atTus.host, description: "the connection failed" })

const filesFailed = (assembly: "canceled" | "kept", ...errors: ReadonlyArray<TusError.UploadError>) =>
  new AssemblyUpload.FilesFailed({
    assemblyId: id,
    assembly,
    files: errors.map((error, index) => ({ filename: `${index}.txt`, outcome: "Failed" as const, error }))
  })
const several = (...causes: ReadonlyArray<unknown>) => new Failure.CommandError({ message: "", causes })
const kept = { next: "The upload is kept; run the same command again to continue it." }

const invalid = (option: string, value: string, expected: string, kind: "argument" | "flag" = "flag") =>
  new CliError.InvalidValue({ option, value, expected, kind })

const notSaved = (reason: "Other" | "NotAFile", description: string) =>
  new ResultError.SaveFailed({ path: "out/a.bin", reason, description })
const codes = ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "ENAMETOOLONG", "EISDIR", "EIO"]

const errors: Readonly<Record<string, unknown>> = {
  "an asset that does not exist": new ApiError.DamResourceNotFound(details),
  "a failure that the service names twice": new ApiError.ServiceFailure({ ...details, description: details.code }),
  "a failed move": new ApiError.DamMutationFailed(details),
  "too many requests": new ApiError.RateLimited({ ...details, status: 429, retryAfter: Duration.seconds(90) }),
  "a service that is down": failing("DOWN", 503),
  "a refused request": failing("BAD", 400),
  "statistics without a region": new ApiError.StatisticsMissingRegion({ ...details, code: "b", status: 400 }),
  "a failed Assembly": new ApiError.AssemblyFailed({ assemblyId: id, code: "NO_COUNTRY", description: "no country" }),
  "a cancellation without a usable response": new ApiError.UnexpectedResponse({
    operation: "Assemblies.cancel",
    assemblyId: id,
    status: 200,
    description: "no",
    excerpt: ""
  }),
  "a result that is gone": unexpected(404, { operation: "Results.save", host: "files.example.com" }),
  "a result that the service does not have": unexpected(404, { operation: "Results.save", host }),
  "an invalid request": new InvalidRequest({ operation: "a", issues: [] }),
  "an unknown Auth Key": refused("GET_ACCOUNT_UNKNOWN_AUTH_KEY"),
  "a wrong signature": refused("INVALID_SIGNATURE"),
  "a wrong signature of a clock that is behind": refused("INVALID_SIGNATURE", { clockSkew: -60_000 }),
  "an expired request": refused("AUTH_EXPIRED", { clockSkew: 60_000 }),
  "a missing scope": refused("INSUFFICIENT_AUTH_SCOPE"),
  "a new code of a refusal": refused("SOMETHING_NEW"),
  "a blank Auth Key": new AuthError.InvalidCredentials({ issues: [] }),
  "a scope that is not granted": new AuthError.ScopeNotGranted({
    code: "TOKEN_INVALID_SCOPE",
    status: 403,
    scopes: ["read"]
  }),
  "an audience that gets no tokens": new AuthError.AudienceRefused({ code: "TOKEN_INVALID_REQUEST", status: 400 }),
  "a refused token request": new AuthError.TokenRefused({ code: "TOKEN_INVALID_REQUEST", status: 400 }),
  "no tokens at the address": new AuthError.TokenRefused({ code: "SERVER_404", status: 404 }),
  "no response to a token request": noToken("no route"),
  "a server error of a token request": noToken("the service responded with status 500", 500),
  "a gateway in a token request": noToken("the service responded with status 502", 502),
  "a failed connection": lost(),
  "a failed connection to the service": lost({ host }),
  "a failed connection to a file": lost({ operation: "Results.save", host: "files.example.com" }),
  "an unknown host": lost({ code: "ENOTFOUND" }),
  "a host that is not known now": lost({ code: "EAI_AGAIN" }),
  "a refused connection": lost({ code: "ECONNREFUSED" }),
  "a refused connection to an upload server": lost({ code: "ECONNREFUSED", host: atTus.host }),
  "an unknown certificate": lost({ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" }),
  "a certificate of its own": lost({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
  "no answer in time": new ApiError.TimedOut({ operation: "Dam.move", host, after }),
  "no file in time": new ApiError.TimedOut({ operation: "Results.save", host: "files.example.com", after }),
  "an upload URL of another host": new UploadTarget.UnsafeLocation({
    rule: "the host evil.example does not belong to the service; if it does, add its origin to the option origins"
  }),
  "a refused upload": new TusError.UploadRefused({ ...atTus, status: 403, description: "no" }),
  "an upload that is gone": gone,
  "an upload server that breaks the protocol": new TusError.ProtocolViolation({
    ...atTus,
    request: "create",
    status: 200,
    description: "no headers"
  }),
  "an upload of another length": new TusError.UploadMismatch({ field: "upload-length", expected: "1", found: "2" }),
  "a stalled upload": stalled,
  "a lost response": unknown,
  "a damaged entry of the journal": new UploadJournal.JournalTorn({ key: "k", description: "no JSON" }),
  "files that failed for one reason": filesFailed("kept", stalled, unknown),
  "files that failed for several reasons": filesFailed("canceled", stalled, gone, gone, gone, gone),
  "a broken form": new AssemblyUpload.FormBroken({ assemblyIds: [id], isOver: true, description: "it was lost" }),
  "one reason for several Assemblies": several(lost(), lost()),
  "several reasons for several Assemblies": several(lost(), gone),
  "a deletion that failed": Failure.because(lost({ code: "ECONNREFUSED" }), { about: "photo-1" }),
  "a kept upload": Failure.because(lost({ code: "ECONNREFUSED" }), kept),
  "a kept upload of an unknown Auth Key": Failure.because(refused("GET_ACCOUNT_UNKNOWN_AUTH_KEY"), kept),
  "a kept upload that failed": Failure.because(new Error("failed"), kept),
  ...Object.fromEntries(
    codes.map((code) => [`a result and ${code}`, notSaved("Other", `Unknown: FileSystem.writeAll (${code})`)])
  ),
  "a result in place of a folder": notSaved("NotAFile", "it is not a file (Directory)"),
  "a file that cannot be opened": PlatformError.systemError({
    _tag: "PermissionDenied",
    module: "FileSystem",
    method: "open",
    pathOrDescriptor: "out/a.bin",
    cause: Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" })
  }),
  "a failure with a next step": Failure.failed("x", "assembly list shows it."),
  "a wrong use": Failure.usage("no"),
  "a wrong argument": invalid("assetId", "xyz", "Schema validation failed: Expected 22 characters", "argument"),
  "a wrong flag": invalid("page", "x", "an integer"),
  "a wrong flag whose rule repeats its value": invalid(
    "scope",
    "x",
    'Schema validation failed: Expected a scope, got "x"'
  ),
  "a mistyped command": new CliError.UnknownSubcommand({
    subcommand: "lst",
    parent: ["assembly"],
    suggestions: ["list"]
  }),
  "a mistyped flag": new CliError.UnrecognizedOption({
    option: "--jsn",
    command: ["assembly", "list"],
    suggestions: ["--json", "--j"]
  }),
  "an error of another package": { _tag: "toString", description: "no error at all" },
  "an error in several lines": new Error("\n  the service said:\r\n    no\n\n  asset\n"),
  "an error without a message": new RangeError(),
  "no error at all": "a text"
}

describe("An error", () => {
  it("has the line, the advice and the exit code of the file", async () => {
    const told = Object.entries(errors).map(([what, error]) => {
      const [line, atHost] = [Advice.line(error), Advice.line(error, host)]
      const next = Advice.next(error, { baseUrl })
      const proxied = Advice.next(error, { baseUrl, proxy: "HTTPS_PROXY" })
      return [
        `# ${what}`,
        line,
        ...(atHost === line ? [] : [`at a host: ${atHost}`]),
        ...(next === undefined ? [] : [`next: ${next}`]),
        ...(proxied === next ? [] : [`with a proxy: ${proxied}`]),
        `exit code ${Failure.codeOf(error)}${Advice.isOfSettings(error) ? ", of settings" : ""}\n`
      ].join("\n")
    })
    await expect(told.join("\n")).toMatchFileSnapshot("fixtures/errors.txt")
  })

  it.prop("is one line, whatever the service said", { message: anyText }, ({ message }) => {
    const line = Advice.line(new ApiError.DamMutationFailed({ ...details, description: message }))
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
  })
})

const packages = fileURLToPath(new URL("../..", import.meta.url))

/** The tags of the errors in the sources of some packages, each with the source of its class. */
const tagsOf = (...names: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(
    names
      .flatMap((name) => globSync(`${packages}/${name}/src/**/*.ts`))
      .flatMap((path) =>
        readFileSync(path, "utf8")
          .split(/\nexport class /)
          .slice(1)
      )
      .flatMap((text) => {
        const [, tag] = /^\w+\s+extends (?:\w+\(\s*)?[^(]*(?:TaggedError|refusal)<\w+>\(\)\(\s*"(\w+)"/.exec(text) ?? []
        return tag === undefined ? [] : [[tag, text] as const]
      })
  )

/** The errors whose exit code is not 1, if they have no status. The code of every other error is 1. */
const notFailed: Readonly<Record<string, number>> = {
  InvalidRequest: usage,
  InvalidCredentials: usage,
  AuthenticationFailed: authentication,
  WrongCredentials: authentication,
  ScopeNotGranted: authentication,
  AudienceRefused: authentication,
  TransportFailure: network,
  TimedOut: network,
  TokenUnavailable: network,
  Stalled: network,
  CreationUnknown: network
}

/** The errors whose exit code does not depend on the status. */
const isFixed = (tag: string): boolean => Object.hasOwn(notFailed, tag) && tag !== "TokenUnavailable"

const statuses = [200, 301, 400, 401, 403, 404, 407, 408, 413, 423, 429, 500, 501, 502, 503, 504, 507]

describe("the exit codes", () => {
  const tags = tagsOf("schema", "auth", "api", "tus", "node")

  it("are known for every error of the other packages", () => {
    expect(tags.size).toBeGreaterThan(60)
    for (const tag of Object.keys(notFailed)) expect([...tags.keys()]).toContain(tag)
    for (const tag of tags.keys()) expect(Failure.codeOf({ _tag: tag }), tag).toBe(notFailed[tag] ?? failed)
  })

  it("are those of the network for a gateway, whatever the error, except a rate limit", () => {
    for (const tag of tags.keys()) {
      for (const status of statuses) {
        const isGateway = [407, 502, 503, 504].includes(status)
        const isRefusedToken = tag === "TokenRefused" && status !== 404
        const expected = isGateway && !tag.endsWith("RateLimited") ? network : isRefusedToken ? authentication : failed
        expect(Failure.codeOf({ _tag: tag, status }), `${tag} ${status}`).toBe(isFixed(tag) ? notFailed[tag] : expected)
      }
    }
  })

  it("have the meanings that the README and the help show", () => {
    const readme = readFileSync(`${packages}/cli/README.md`, "utf8")
    const { rows } = Help.page("help exit-codes")
    expect(rows.map(([code]) => Number(code))).toEqual(Object.values(Failure.codes))
    const table = rows.map(([code, meaning]) => `| ${code} | ${meaning} |`)
    expect(readme).toContain(`| code | meaning |\n|---|---|\n${table.join("\n")}\n`)
  })
})
