import * as Mac from "effect/crypto/Mac"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as AuthKeys from "./AuthKeys.ts"
import * as BearerTokens from "./BearerTokens.ts"
import * as Form from "./Form.ts"
import * as Refusal from "./Refusal.ts"
import { grants } from "./Scopes.ts"

/** The codes are beyond the specification. */
const refuse = (status: number, code: string, message: string) => new Refusal.Refusal({ code, status, message })

const utf8 = new TextEncoder()

/** The user and password of a Basic header; a password may hold colons. */
const parseBasic = (header: string | undefined): Option.Option<readonly [key: string, secret: string]> => {
  const [, encoded] = /^basic +([a-z0-9+/=]+) *$/i.exec(header ?? "") ?? []
  if (encoded === undefined) return Option.none()
  const decoded = Base64.decodeString(encoded)
  if (Result.isFailure(decoded)) return Option.none()
  const colon = decoded.success.indexOf(":")
  return colon === -1 ? Option.none() : Option.some([decoded.success.slice(0, colon), decoded.success.slice(colon + 1)])
}

/** The Auth Key whose secret the request knows. */
const identify = Effect.fnUntraced(function* (authKeys: AuthKeys.AuthKeys["Service"], header: string | undefined) {
  const basic = parseBasic(header)
  if (Option.isNone(basic)) return yield* refuse(401, "SERVER_401", "The request has no Basic credentials.")
  const [key, secret] = basic.value
  const authKey = yield* authKeys.find(key)
  if (Option.isNone(authKey)) {
    return yield* refuse(400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY", "There is no such Auth Key.")
  }
  return Mac.timingSafeEqual(utf8.encode(secret), utf8.encode(Redacted.value(authKey.value.secret)))
    ? authKey.value
    : yield* refuse(401, "TOKEN_INVALID_CREDENTIALS", "The secret is not that of the Auth Key.")
})

/** The scopes that are asked for; without any, all those of the Auth Key. */
const grantedScopes = Effect.fnUntraced(function* (authKey: AuthKeys.AuthKey, text: string | undefined) {
  const scopes = (text ?? "").split(" ").filter((scope) => scope !== "")
  const lacking = scopes.filter((scope) => !grants(authKey.scopes, scope))
  if (lacking.length > 0) {
    return yield* refuse(403, "TOKEN_INVALID_SCOPE", `The Auth Key does not grant ${lacking.join(" ")}.`)
  }
  return scopes.length === 0 ? authKey.scopes : scopes
})

const checkForm = Effect.fnUntraced(function* ({ aud, grant_type: grantType }: Form.Fields) {
  if (grantType === undefined || aud === undefined) {
    return yield* refuse(400, "TOKEN_INVALID_REQUEST", "grant_type and aud are required.")
  }
  if (grantType !== "client_credentials") {
    return yield* refuse(400, "TOKEN_INVALID_GRANT_TYPE", "grant_type must be client_credentials.")
  }
  if (aud !== "api2") return yield* refuse(403, "TOKEN_INVALID_AUDIENCE", "aud must be api2.")
})

const route = Effect.gen(function* () {
  const authKeys = yield* AuthKeys.AuthKeys
  const tokens = yield* BearerTokens.BearerTokens

  const handler = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const authKey = yield* identify(authKeys, request.headers["authorization"])
      const form = yield* Effect.mapError(Form.readUrlEncoded(request), ({ problem }) =>
        refuse(400, "TOKEN_INVALID_REQUEST", problem)
      )
      yield* checkForm(form)
      const scopes = yield* grantedScopes(authKey, form["scope"])
      const { lifetime, token } = yield* tokens.mint({ authKey, scopes })
      return HttpServerResponse.jsonUnsafe(
        {
          access_token: Redacted.value(token),
          token_type: "Bearer",
          expires_in: Duration.toSeconds(lifetime),
          scope: scopes.join(" ")
        },
        { headers: { "cache-control": "no-store" } }
      )
    },
    Effect.catchTag("Refusal", (refusal) => Effect.succeed(Refusal.toResponse(refusal)))
  )
  return HttpRouter.route("POST", "/token", handler)
})

/** `POST /token` (spec.md, "Authentication"). */
export const layer = HttpRouter.addAll(Effect.map(route, (one) => [one]))
