import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AuthKeys from "./authKeys.ts"
import * as Ids from "../data/ids.ts"
import { Refusal } from "../http/refusal.ts"
import { shared } from "./scopes.ts"

/** An Auth Key and the scopes that are granted to a token. */
export interface Granted {
  readonly authKey: AuthKeys.AuthKey
  readonly scopes: ReadonlyArray<Auth.Scope>
}

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

const invalid = new Refusal({ code: "BEARER_TOKEN_INVALID", status: 400, message: "The token is invalid." })
const expired = new Refusal({ code: "BEARER_TOKEN_EXPIRED", status: 400, message: "The token has expired." })

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
    mint: Effect.fnUntraced(function* ({ authKey, scopes }: Granted) {
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
        : { authKey: authKey.value, scopes: shared(scopes, authKey.value.scopes) }
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
