import { ApiError } from "@assembly-effect/api"
import { AuthError } from "@assembly-effect/auth"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { AssemblyUploadError, TusError } from "@assembly-effect/tus"
import type { UploadError } from "@assembly-effect/tus/TusError"
import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Failure from "../src/internal/failure.ts"
import * as Help from "../src/internal/help.ts"

const { authentication, failed, network, usage } = Failure.codes

const host = "tus.example.com"
const stalled = new TusError.Stalled({ request: "append", host, after: Duration.seconds(60) })
const unknown = new TusError.CreationUnknown({ host, description: "the connection failed" })
const gone = new TusError.UploadGone({ request: "append", host, status: 410, description: "gone" })
const lost = new ApiError.TransportFailure({ operation: "Dam.delete", description: "the connection failed" })
const refusal = { code: "TOKEN_INVALID_REQUEST", status: 400 }

const filesFailed = (...errors: ReadonlyArray<UploadError>) =>
  new AssemblyUploadError.FilesFailed({
    assemblyId: "a".repeat(32),
    assembly: "kept",
    files: errors.map((error, index) => ({ filename: `${index}.txt`, outcome: "Failed" as const, error }))
  })

const several = (...causes: ReadonlyArray<unknown>) => new Failure.CommandError({ message: "", causes })

describe("Failure.codeOf", () => {
  it.each<[string, unknown, number]>([
    ["a blank Auth Key", new AuthError.InvalidCredentials({ issues: [] }), usage],
    ["no tokens at the address", new AuthError.TokenRefused({ code: "SERVER_404", status: 404 }), failed],
    ["no response to a token request", new AuthError.TokenUnavailable({ description: "lost" }), network],
    ["a server error of a token request", new AuthError.TokenUnavailable({ description: "x", status: 500 }), failed],
    ["a gateway in a token request", new AuthError.TokenUnavailable({ description: "x", status: 502 }), network],
    ["one reason for several Assemblies", several(lost, lost), network],
    ["several reasons for several Assemblies", several(lost, gone), failed],
    ["an invalid request", new InvalidRequest({ operation: "a", issues: [] }), usage],
    ["an audience that gets no tokens", new AuthError.AudienceRefused(refusal), authentication],
    ["a refused token request", new AuthError.TokenRefused(refusal), authentication],
    ["a stalled upload", stalled, network],
    ["a lost response", unknown, network],
    ["files that failed for one reason", filesFailed(stalled, unknown), network],
    ["files that failed for several reasons", filesFailed(stalled, gone), failed],
    ["a deletion that failed", Failure.because(lost, { about: "a" }), network],
    ["a wrong argument", Failure.usage("no"), usage],
    ["an error of another package", { _tag: "toString" }, failed],
    ["no error at all", "a text", failed]
  ])("%s", (_, error, code) => {
    expect(Failure.codeOf(error)).toBe(code)
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
