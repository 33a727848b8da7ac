import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as Field from "@assembly-effect/schema/unstable/Field"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AuthKeys from "./authKeys.ts"
import * as Tokens from "./tokens.ts"
import { Refusal } from "../http/refusal.ts"
import * as UsedSignatures from "./usedSignatures.ts"
import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/** The maximum lengths of a pattern and of a text, in characters. */
const maxPattern = 256
const maxText = 2048

/**
 * The maximum sum of the lower repetition counts in a pattern, such as 10 in `a{10,20}`, and the maximum number of
 * instructions in a compiled pattern.
 */
const maxRepetitions = 1000
const maxProgram = 2000

const repetitions = (pattern: string): number =>
  [...pattern.matchAll(/\{(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)

const compile = (pattern: string) => Result.try(() => RE2JS.compile(RE2JS.translateRegExp(pattern)))

/**
 * Returns whether a text matches a regular expression that a client has sent. The time is at most proportional to the
 * length of the text times the number of instructions in the compiled pattern. The backtracking engine of JavaScript
 * needs exponential time for a pattern such as `^(a+)+$`. The result is false if the pattern or the text exceeds a
 * maximum above, or if the pattern is invalid or uses back-references or look-around.
 */
const matches = (pattern: string, text: string): boolean => {
  if (pattern.length > maxPattern || text.length > maxText || repetitions(pattern) > maxRepetitions) return false
  return Result.match(compile(pattern), {
    onFailure: () => false,
    onSuccess: (compiled) => compiled.programSize() <= maxProgram && compiled.test(text)
  })
}

/**
 * The credentials of a request, and the `scope` that its operation requires. The signature covers `text`, which is the
 * JSON text of `params` as the client sent it.
 */
export interface Claim {
  readonly text: string
  readonly params: Schema.JsonObject
  readonly signature: string | undefined
  readonly authorization: string | undefined
  readonly referer: string | undefined
  readonly scope: string | undefined
}

/**
 * The authenticated caller.
 *
 * - `scopes`: the scopes of the request. A bearer token may have fewer scopes than its Auth Key.
 * - `isSigned`: whether the request has a signature, which protects its params. A bearer token does not protect the
 *   params.
 */
export interface Caller extends AuthKeys.AuthKey {
  readonly isSigned: boolean
}

const refuse = (code: string, message: string) => new Refusal({ code, status: 400, message })

const isKey = Schema.is(Auth.SignedAuthParams.fields.key)
const isText = Schema.is(Field.NonEmptyString)

/**
 * Reads `auth.key` and `auth.expires`. The fields are checked one by one, because each field has its own error code.
 */
const readAuth = Effect.fnUntraced(function* (params: Schema.JsonObject) {
  const { auth } = params
  if (!Predicate.isObject(auth)) {
    return yield* refuse("NO_AUTH_PARAMETER", "The params have no auth object.")
  }
  const { expires, key } = auth as Schema.JsonObject
  if (!isKey(key)) return yield* refuse("NO_AUTH_KEY_PARAMETER", "auth has no key.")
  if (!isText(expires)) return yield* refuse("NO_AUTH_EXPIRES_PARAMETER", "auth has no expires.")
  return { key, expires }
})

const isExpires = Schema.is(Auth.SignedAuthParams.fields.expires)

/**
 * Parses an ISO 8601 date-time. A date-time without a time zone is read as UTC, as the service does. The schema alone
 * would refuse a date-time without a time zone.
 */
const parseExpires = (text: string): Option.Option<DateTime.Utc> =>
  Option.flatMap(Option.fromUndefinedOr([text, `${text}Z`].find(isExpires)), DateTime.make)

const checkExpires = Effect.fnUntraced(function* (text: string) {
  const expires = parseExpires(text)
  if (Option.isNone(expires)) {
    return yield* refuse("INVALID_AUTH_EXPIRES_PARAMETER", "auth.expires is not an ISO 8601 date-time.")
  }
  const now = yield* DateTime.now
  if (DateTime.isLessThanOrEqualTo(expires.value, now)) {
    return yield* refuse("AUTH_EXPIRED", `auth.expires is in the past; the time is ${DateTime.formatIso(now)}.`)
  }
  return expires.value
})

const decodeReferer = Schema.decodeUnknownOption(Auth.AuthParams.fields.referer)

/**
 * Matches the `referer` header against `auth.referer`. A request without a `referer` header is accepted (spec.md,
 * "Retrieve list of Assemblies").
 */
const checkReferer = ({ params: { auth }, referer }: Claim) => {
  if (referer === undefined || !Predicate.hasProperty(auth, "referer")) return Effect.void
  return Option.exists(decodeReferer(auth.referer), (pattern) => matches(pattern, referer))
    ? Effect.void
    : refuse("REFERER_MISMATCH", "The referer does not match auth.referer.")
}

const utf8 = new TextEncoder()

const isAlgorithm = Schema.is(Signer.Algorithm)

/**
 * Returns the signature in lower case if it is valid for `text`. Used signatures are stored in lower case, because
 * otherwise a client could use a signature again with upper-case digits.
 */
const verify = Effect.fnUntraced(function* (secret: Redacted.Redacted, text: string, signature: string) {
  const canonical = signature.toLowerCase()
  const algorithm = canonical.slice(0, canonical.indexOf(":"))
  if (!isAlgorithm(algorithm)) return Option.none()
  const signer = yield* Signer.make({ secret, algorithm }).pipe(Effect.orDie)
  const expected = Redacted.value(yield* signer.sign(text))
  return Mac.timingSafeEqual(utf8.encode(canonical), utf8.encode(expected)) ? Option.some(canonical) : Option.none()
})

/** Reads the token from the value of an `Authorization: Bearer` header. */
const bearer = (header: string): string | undefined => /^bearer +(\S+) *$/i.exec(header)?.[1]

const make = Effect.gen(function* () {
  const authKeys = yield* AuthKeys.make
  const usedSignatures = yield* UsedSignatures.make
  const bearerTokens = yield* Tokens.BearerTokens
  const mac = yield* Mac.Mac

  const authenticateSigned = Effect.fnUntraced(
    function* (claim: Claim) {
      const auth = yield* readAuth(claim.params)
      const authKey = yield* authKeys.find(auth.key)
      if (Option.isNone(authKey)) {
        return yield* refuse("GET_ACCOUNT_UNKNOWN_AUTH_KEY", "There is no such Auth Key.")
      }
      const expires = yield* checkExpires(auth.expires)
      if (!isText(claim.signature)) {
        return yield* refuse(
          "NO_SIGNATURE_FIELD",
          "The request has no signature. A signature after a file is not read."
        )
      }
      const { signature_algo: only } = authKey.value
      if (only !== null && !claim.signature.toLowerCase().startsWith(`${only}:`)) {
        return yield* refuse("INVALID_SIGNATURE", `The Auth Key accepts only signatures of ${only}.`)
      }
      const signature = yield* verify(authKey.value.secret, claim.text, claim.signature)
      if (Option.isNone(signature)) {
        return yield* refuse("INVALID_SIGNATURE", "The signature does not match the params.")
      }
      if (!(yield* usedSignatures.use(signature.value, expires))) {
        return yield* refuse(
          "SIGNATURE_REUSE_DETECTED",
          "The signature was used before. Add a nonce to make each signature unique."
        )
      }
      return { authKey: authKey.value, scopes: authKey.value.scopes }
    },
    Effect.provideService(Mac.Mac, mac)
  )

  /**
   * Authenticates by bearer token. With a bearer token, `auth` is optional (spec.md, "Authentication"). If `auth` is
   * present, it is checked.
   */
  const authenticateBearer = Effect.fnUntraced(function* (claim: Claim, header: string) {
    const token = bearer(header)
    if (token === undefined) return yield* refuse("BEARER_TOKEN_INVALID", "The Authorization header has no token.")
    const granted = yield* bearerTokens.verify(token)
    if (claim.signature !== undefined) {
      return yield* refuse("INVALID_SIGNATURE", "A request with a bearer token must not have a signature.")
    }
    const { auth } = claim.params
    if (auth === undefined) return granted
    if (!Predicate.isObject(auth)) return yield* refuse("NO_AUTH_PARAMETER", "auth is not an object.")
    const { expires, key } = auth as Schema.JsonObject
    if (key !== undefined && key !== granted.authKey.key) {
      return yield* refuse("BEARER_TOKEN_AUTH_KEY_MISMATCH", "The token belongs to another Auth Key.")
    }
    if (expires !== undefined) yield* checkExpires(String(expires))
    return granted
  })

  return {
    authenticate: Effect.fnUntraced(function* (claim: Claim) {
      const { authorization, scope } = claim
      const { authKey, scopes } = yield* authorization === undefined
        ? authenticateSigned(claim)
        : authenticateBearer(claim, authorization)
      yield* checkReferer(claim)
      if (scope !== undefined && !AuthKeys.grants(scopes, scope)) {
        return yield* refuse("INSUFFICIENT_AUTH_SCOPE", `The scope ${scope} is not granted.`)
      }
      yield* authKeys.markUsed(authKey)
      return { ...authKey, scopes, isSigned: authorization === undefined }
    })
  }
})

/**
 * Authenticates requests and checks their scope (spec.md, "Authentication"). The specification defines neither the
 * error codes nor the order of the checks.
 */
export class Authentication extends Context.Service<Authentication>()("@assembly-effect/emulator/Authentication", {
  make
}) {}

export const layer = Layer.effect(Authentication, Authentication.make).pipe(Layer.provide(NodeCrypto.layerMac))
