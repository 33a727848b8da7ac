/** Sends requests that are signed without the client of `@assembly-effect/api`. */
import { Emulator } from "@assembly-effect/emulator"
import { Effect, type Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import type { HttpMethod } from "effect/http/HttpMethod"
import { hmac, json, send } from "./support.ts"

/** The key and the secret of an Auth Key. */
export interface Pair {
  readonly key: string
  readonly secret: Redacted.Redacted
}

/** Makes a request with these fields, in the query of a GET request, else in a form. */
export const requestOf = (method: HttpMethod, path: string, fields: Readonly<Record<string, string>>) => {
  const request = HttpClientRequest.make(method)(path)
  return method === "GET"
    ? HttpClientRequest.setUrlParams(request, fields)
    : HttpClientRequest.bodyUrlParams(request, fields)
}

let nonce = 0

/**
 * The fields of a signed request. `params` are the params, as an object or as JSON text; `auth` changes their `auth`. By
 * default, the first Auth Key of the emulator signs the request.
 */
export const signedFields = Effect.fnUntraced(function* (
  params: object | string = {},
  signing: { readonly auth?: object; readonly signer?: Pair | undefined; readonly algorithm?: string | undefined } = {}
) {
  const { algorithm, auth = {}, signer } = signing
  const { key, secret } = signer ?? (yield* Emulator.Emulator).credentials
  const whole = JSON.stringify({ key, expires: "2999-01-01T00:00:00Z", nonce: `raw ${nonce++}`, ...auth })
  const rest = (typeof params === "string" ? params : JSON.stringify(params)).slice(1)
  const text = `{"auth":${whole}${rest === "}" ? "" : ","}${rest}`
  return { params: text, signature: hmac(text, secret, algorithm) }
})

/** Sends a signed form with more fields, which the signature does not cover. */
export const post = Effect.fnUntraced(function* (
  path: string,
  params: object,
  more: Readonly<Record<string, string>> = {}
) {
  const answer = yield* send(requestOf("POST", path, { ...(yield* signedFields(params)), ...more }))
  return { ...answer, said: json(answer) }
})

/** Sends a signed request. */
export const call = Effect.fnUntraced(function* (
  method: HttpMethod,
  path: string,
  params?: object | string,
  signer?: Pair,
  algorithm?: string
) {
  const answer = yield* send(requestOf(method, path, yield* signedFields(params, { signer, algorithm })))
  return { ...answer, said: json(answer) }
})
