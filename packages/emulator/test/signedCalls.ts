/** Sends requests that are signed without the client of `@assembly-effect/api`. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import type * as Workspace from "@assembly-effect/emulator/Workspace"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpMethod from "effect/http/HttpMethod"
import { hmac, json, send } from "./support.ts"

/** Sends params that are not a JSON object, without a signature. Returns the error code. */
export const malformed = Effect.fnUntraced(function* (method: HttpMethod.HttpMethod, path: string) {
  const request = HttpClientRequest.make(method)(path)
  const fields = { params: "[" }
  const { error } = json(
    yield* send(
      request.pipe(method === "GET" ? HttpClientRequest.setUrlParams(fields) : HttpClientRequest.bodyUrlParams(fields))
    )
  )
  return error
})

let nonce = 0

/**
 * Sends a signed request. `params` are the params without `auth`, as an object or as JSON text. By default, the first
 * Auth Key of the emulator signs the request.
 */
export const call = Effect.fnUntraced(function* (
  method: HttpMethod.HttpMethod,
  path: string,
  params: object | string = {},
  signer?: Workspace.AuthKey
) {
  const { credentials } = yield* Emulator.Emulator
  const { key, secret } = signer ?? credentials
  const auth = JSON.stringify({ key, expires: "2999-01-01T00:00:00Z", nonce: `raw ${nonce++}` })
  const rest = (typeof params === "string" ? params : JSON.stringify(params)).slice(1)
  const text = `{"auth":${auth}${rest === "}" ? "" : ","}${rest}`
  const fields = { params: text, signature: hmac(text, secret) }
  const request = HttpClientRequest.make(method)(path)
  const answer = yield* send(
    request.pipe(method === "GET" ? HttpClientRequest.setUrlParams(fields) : HttpClientRequest.bodyUrlParams(fields))
  )
  return { status: answer.status, text: answer.text, said: json(answer) }
})
