/** Sends requests with a given Auth Key, as raw requests or with the client. */
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import type { Workspace } from "@assembly-effect/emulator"
import type * as Auth from "@assembly-effect/schema/unstable/Auth"
import type * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { HttpMethod } from "effect/http/HttpMethod"
import { HttpClientRequest } from "effect/http"
import * as SignedCalls from "./signedCalls.ts"
import { json, send } from "./support.ts"

import type { Pair } from "./signedCalls.ts"

export type { Pair } from "./signedCalls.ts"

export const given = (key: string, scopes?: ReadonlyArray<Auth.Scope>): Workspace.AuthKey => ({
  key,
  secret: Redacted.make(`the secret of ${key}`),
  scopes
})

export const north = given("north")
export const south = given("south")

/** An Auth Key of the first Workspace that may only read Assemblies. */
export const reader = given("north-reader", ["assemblies:read"])

/** Two Workspaces, one with two Auth Keys and one with one. */
export const withReader = [
  { slug: "north", keys: [north, reader] },
  { slug: "south", keys: [south] }
]

/** Two Workspaces with an Auth Key each. */
export const workspaces = [
  { slug: "north", keys: [north] },
  { slug: "south", keys: [south] }
]

/** Runs a program with a client that signs with an Auth Key. */
export const { as } = Client

/** Creates an Auth Key with a client that signs with another Auth Key. */
export const createKey = (by: Pair, request: AuthKey.CreateRequest) =>
  Effect.map(as(by)(AuthKeys.create(request)), ({ auth_key }) => ({
    id: auth_key.id,
    record: auth_key,
    pair: { key: auth_key.auth_key, secret: auth_key.auth_secret }
  }))

/** The Auth Key with this `auth_key` in the list. */
export const recordOf = (by: Pair, key: string) =>
  Effect.map(as(by)(AuthKeys.list), ({ auth_keys }) => {
    const found = auth_keys.find(({ auth_key }) => auth_key === key)
    assert(found !== undefined, key)
    return found
  })

const since = { fromdate: "2026-01-01 00:00:00" }

/** Lists Assemblies, which needs the scope `assemblies:read`. */
export const list = (pair: Pair, algorithm?: string) => call("GET", "/assemblies", pair, since, algorithm)
export const listWithToken = (token: string) => callWithToken("GET", "/assemblies", token, since)

/** Sends a signed request. */
export const call = (method: HttpMethod, path: string, pair: Pair, params?: object, algorithm?: string) =>
  SignedCalls.call(method, path, params, pair, algorithm)

/** Sends a request with a bearer token. */
export const callWithToken = (method: HttpMethod, path: string, token: string, params: object = {}) =>
  send(
    HttpClientRequest.setHeader(
      SignedCalls.requestOf(method, path, { params: JSON.stringify(params) }),
      "authorization",
      `Bearer ${token}`
    )
  )

export const basic = ({ key, secret }: Pair) =>
  `Basic ${Buffer.from(`${key}:${Redacted.value(secret)}`).toString("base64")}`

/** Sends a form to `/token`. */
export const askWith = (fields: Readonly<Record<string, string>>, authorization: string | undefined) =>
  send(
    HttpClientRequest.post("/token", { headers: authorization === undefined ? {} : { authorization } }).pipe(
      HttpClientRequest.bodyUrlParams(fields)
    )
  )

/** Requests a token with all scopes of an Auth Key, or with the given scopes. */
export const ask = (pair: Pair, ...scopes: ReadonlyArray<string>) => {
  const form = { grant_type: "client_credentials", aud: "api2" }
  return askWith(scopes.length === 0 ? form : { ...form, scope: scopes.join(" ") }, basic(pair))
}

export const tokenOf = (pair: Pair, ...scopes: ReadonlyArray<string>) =>
  Effect.map(ask(pair, ...scopes), (answer) => {
    assert.strictEqual(answer.status, 200, answer.text)
    return String(json(answer)["access_token"])
  })

type Answer = Pick<Effect.Success<ReturnType<typeof send>>, "status" | "text">

/** Checks that a request was refused, and returns its message. */
export const refused = (answer: Answer, status: number, code: string): string => {
  const { error, http_code, message } = json(answer)
  assert.deepStrictEqual({ status: answer.status, error, http_code }, { status, error: code, http_code: status })
  return String(message)
}

export const accepted = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return json(answer)
}
