import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as Mac from "effect/crypto/Mac"
import * as Base64 from "effect/encoding/Base64"
import * as Base64Url from "effect/encoding/Base64Url"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Ids from "../data/ids.ts"
import * as Form from "../http/form.ts"
import * as Refusal from "../http/refusal.ts"
import * as Limits from "../limits.ts"
import * as AuthKeys from "./authKeys.ts"

const Content = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.String,
    /** The id of the Auth Key. */
    authKey: Schema.String,
    scopes: Schema.Array(Auth.Scope),
    expires: Schema.Int
  })
)
const encodeContent = Schema.encodeEffect(Content)
const decodeContent = Schema.decodeUnknownOption(Content)

const invalid = Refusal.refuse("BEARER_TOKEN_INVALID", 400, "The token is invalid.")
const expired = Refusal.refuse("BEARER_TOKEN_EXPIRED", 400, "The token has expired.")

const utf8 = new TextEncoder()

/**
 * The bytes that the tag of a token covers. The secret that makes the tag also signs params. The prefix ensures that no
 * signature of params is a valid tag.
 */
const sealed = (content: string): Uint8Array => utf8.encode(`token.${content}`)

const keyOf = (secret: Redacted.Redacted) =>
  Effect.orDie(Mac.key(Mac.hmacSha256, new Uint8Array(utf8.encode(Redacted.value(secret)))))

const textOf = (encoded: string) => Result.getSuccess(Base64Url.decodeString(encoded))

/** Splits a token into its content as text and the bytes of its tag. */
const parse = (token: string) => {
  const [content = "", tag = "", ...more] = token.split(".")
  return more.length > 0 ? Option.none() : Option.all([textOf(content), Result.getSuccess(Base64Url.decode(tag))])
}

const make = Effect.fnUntraced(function* (lifetime: Duration.Duration) {
  const authKeys = yield* AuthKeys.make
  const mac = yield* Mac.Mac
  const newId = yield* Ids.hex

  return {
    mint: Effect.fnUntraced(function* (authKey: AuthKeys.AuthKey, scopes: ReadonlyArray<Auth.Scope>) {
      const now = yield* DateTime.now
      const content = yield* Effect.orDie(
        encodeContent({
          id: yield* newId,
          authKey: authKey.id,
          scopes,
          expires: Math.floor(now.epochMilliseconds + Duration.toMillis(lifetime))
        })
      )
      const tag = yield* Effect.orDie(mac.sign(yield* keyOf(authKey.secret), sealed(content)))
      return { token: Redacted.make(`${Base64Url.encode(content)}.${Base64Url.encode(tag)}`), lifetime }
    }),

    /** Returns the Auth Key of a token, and the scopes that both the token and the Auth Key grant at this moment. */
    verify: Effect.fnUntraced(function* (token: string) {
      const parts = parse(token)
      if (Option.isNone(parts)) return yield* invalid
      const [content, tag] = parts.value
      const claimed = decodeContent(content)
      if (Option.isNone(claimed)) return yield* invalid
      const { authKey: id, expires, scopes } = claimed.value
      const authKey = yield* authKeys.findById(id)
      if (Option.isNone(authKey)) return yield* invalid
      const genuine = yield* Effect.orDie(mac.verify(yield* keyOf(authKey.value.secret), tag, sealed(content)))
      if (!genuine) return yield* invalid
      const now = yield* DateTime.now
      return expires <= now.epochMilliseconds
        ? yield* expired
        : { authKey: authKey.value, scopes: AuthKeys.shared(scopes, authKey.value.scopes) }
    })
  }
})

/**
 * Issues and verifies bearer tokens. A token contains the id of its Auth Key, its scopes, its expiry, and a tag: a MAC
 * made with the secret of the Auth Key. Tokens are not stored: a token stays valid after a restart if its Auth Key is
 * stored. A token becomes invalid if the Auth Key is deleted, even if a later Auth Key has the same `key` and secret.
 * The specification does not define the error codes.
 */
export class BearerTokens extends Context.Service<BearerTokens>()("@assembly-effect/emulator/BearerTokens", { make }) {}

export const layer = (lifetime: Duration.Duration) =>
  Layer.effect(BearerTokens, make(lifetime)).pipe(Layer.provide(NodeCrypto.layerMac))

/** Parses the value of an `Authorization: Basic` header. The secret may contain colons. */
const parseBasic = (header: string | undefined): Option.Option<readonly [key: string, secret: string]> => {
  const [, encoded] = /^basic +([a-z0-9+/=]+) *$/i.exec(header ?? "") ?? []
  if (encoded === undefined) return Option.none()
  const decoded = Base64.decodeString(encoded)
  if (Result.isFailure(decoded)) return Option.none()
  const colon = decoded.success.indexOf(":")
  return colon === -1 ? Option.none() : Option.some([decoded.success.slice(0, colon), decoded.success.slice(colon + 1)])
}

/** Finds the Auth Key of a Basic header, and compares the secrets in constant time. */
const identify = Effect.fnUntraced(function* (
  authKeys: Effect.Success<typeof AuthKeys.make>,
  header: string | undefined
) {
  const basic = parseBasic(header)
  if (Option.isNone(basic)) return yield* Refusal.refuse("SERVER_401", 401, "The request has no Basic credentials.")
  const [key, secret] = basic.value
  const authKey = yield* authKeys.find(key)
  if (Option.isNone(authKey)) {
    return yield* Refusal.refuse("GET_ACCOUNT_UNKNOWN_AUTH_KEY", 400, "There is no such Auth Key.")
  }
  return Mac.timingSafeEqual(utf8.encode(secret), utf8.encode(Redacted.value(authKey.value.secret)))
    ? authKey.value
    : yield* Refusal.refuse("TOKEN_INVALID_CREDENTIALS", 401, "The secret does not match the Auth Key.")
})

const decodeForm = SchemaParser.decodeUnknownEffect(Auth.TokenRequest, { errors: "all" })
const encodeAnswer = Schema.encodeEffect(Auth.TokenResponse)

/** The status and the error code for a field that is present and invalid. */
const ofField: ReadonlyMap<string, readonly [status: number, code: string]> = new Map([
  ["grant_type", [400, "TOKEN_INVALID_GRANT_TYPE"]],
  ["aud", [403, "TOKEN_INVALID_AUDIENCE"]],
  ["scope", [403, "TOKEN_INVALID_SCOPE"]]
])

/** Refuses an invalid form. A missing field is reported before an invalid field. */
const refuseForm = (form: Form.Fields, issue: SchemaIssue.Issue) => {
  const broken = Input.fromSchemaIssue(issue).map(({ message, path: [name = ""] }) => ({ name: String(name), message }))
  const first = broken.find(({ name }) => !Object.hasOwn(form, name)) ?? broken[0] ?? { name: "", message: "" }
  const [status, code] = (Object.hasOwn(form, first.name) ? ofField.get(first.name) : undefined) ?? [
    400,
    "TOKEN_INVALID_REQUEST"
  ]
  return Refusal.refuse(code, status, `${first.name}: ${first.message}`)
}

const route = Effect.gen(function* () {
  const authKeys = yield* AuthKeys.make
  const tokens = yield* BearerTokens
  const limits = yield* Limits.Limits

  const handler = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const authKey = yield* identify(authKeys, request.headers["authorization"])
    const form = yield* Effect.catchTag(Form.readUrlEncoded(request, limits), "Malformed", ({ description }) =>
      Effect.fail(Refusal.refuse("TOKEN_INVALID_REQUEST", 400, description))
    )
    const { scope: asked = [] } = yield* Effect.mapError(decodeForm(form), (issue) => refuseForm(form, issue))
    const refused = AuthKeys.lacking(authKey.scopes, asked)
    if (refused.length > 0) {
      return yield* Refusal.refuse("TOKEN_INVALID_SCOPE", 403, `The Auth Key does not grant ${refused.join(" ")}.`)
    }
    const scopes = asked.length === 0 ? authKey.scopes : asked
    yield* authKeys.markUsed(authKey)
    const { lifetime, token } = yield* tokens.mint(authKey, scopes)
    return HttpServerResponse.jsonUnsafe(
      yield* Effect.orDie(
        encodeAnswer({
          access_token: token,
          token_type: "Bearer",
          expires_in: Math.floor(Duration.toSeconds(lifetime)),
          scope: scopes.join(" ")
        })
      ),
      { headers: { "cache-control": "no-store" } }
    )
  }, Refusal.answered("POST /token"))
  return HttpRouter.route("POST", "/token", handler)
})

/** `POST /token` (spec.md, "Authentication"). */
export const layerRoutes = HttpRouter.addAll(Effect.map(route, (one) => [one]))
