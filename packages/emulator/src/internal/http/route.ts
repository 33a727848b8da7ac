import * as Json from "@assembly-effect/schema/unstable/Json"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Scope from "effect/Scope"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../limits.ts"
import * as Authentication from "../auth/authentication.ts"
import * as Form from "./form.ts"
import * as Refusal from "./refusal.ts"
import * as RequestNote from "./requestNote.ts"
import * as Turns from "./turns.ts"

/** A success: `ok` is for programs, `message` is for people, and the other fields follow. */
export const success = <const Ok extends string, Fields extends object>(ok: Ok, message: string, fields: Fields) => ({
  ok,
  message,
  ...fields
})

/** The decoded parts of a request, and the Auth Key that proves who sends it. */
interface Call<Op extends Operation.Any, AuthKey> {
  readonly path: Schema.Struct<Op["variables"]>["Type"]
  readonly params: Op["params"]["Type"]
  readonly fields: Op["fields"]["Type"]
  /** The params before decoding, with `auth` and with unknown keys. */
  readonly raw: Schema.JsonObject
  /** The files of the form, if the operation accepts files. */
  readonly files: Form.Form["files"]
  /** Form fields that the operation does not define. */
  readonly others: Form.Fields
  readonly authKey: AuthKey
}

type Problem = Refusal.Refusal | Refusal.Refused | StorageFailed

type Invalid = (issues: ReadonlyArray<Issue>) => Refusal.Refusal | Refusal.Refused

/**
 * How a request is decoded, handled and answered.
 *
 * - `code`: the error code of the refusals, by default the only named error of the operation. The specification does not
 *   define the code of an operation without named errors.
 * - `invalid`: makes the refusal of input that does not match the schemas of the operation, by default with `code`.
 * - `unknown`: the refusal of a variable of the path that does not match its schema, by default that of other input.
 * - `takesFiles`: whether the form may contain files. The handler reads the files.
 * - `aliases`: maps other names of form fields to the names that the operation defines.
 * - `encode`: encodes a long response piece by piece. By default, the schema of the operation encodes the whole response
 *   at once.
 */
interface Options<Op extends Operation.Any, AuthKey> {
  readonly code?: string | undefined
  readonly invalid?: Invalid | undefined
  readonly unknown?: Refusal.Refusal | Refusal.Refused | undefined
  readonly aliases?: Readonly<Record<string, string>> | undefined
  readonly takesFiles?: boolean | undefined
  readonly handle: (call: Call<Op, AuthKey>) => Effect.Effect<Operation.Success<Op>, Problem>
  readonly encode?: ((said: Operation.Success<Op>) => Effect.Effect<unknown>) | undefined
}

const decodeJsonObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** The field `name`, if it exists. */
const fieldOf = (fields: Form.Fields, name: string): string | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Removes `auth` and `nonce` from the params. A nonce may be inside `auth` or next to `auth`. */
const withoutAuth = ({ auth: _auth, nonce: _nonce, ...params }: Schema.JsonObject): Schema.JsonObject => params

const isNonce = Schema.is(Auth.Nonce)

/** Refuses a nonce that is neither text nor an integer (spec.md, "Endpoints"). */
const checkNonce = Effect.fnUntraced(function* ({ auth, ...params }: Schema.JsonObject, invalid: Invalid) {
  const wrong = [params, auth].some((seat) => Predicate.hasProperty(seat, "nonce") && !isNonce(seat.nonce))
  if (wrong) return yield* invalid([{ path: ["nonce"], message: "Expected a text or an integer" }])
})

const splitFields = (all: Form.Fields, aliases: Readonly<Record<string, string>>): Form.Fields =>
  Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => name !== "params" && name !== "signature")
      .map(([name, value]) => [Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name, value])
  )

const otherFields = (fields: Form.Fields, named: unknown): Form.Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(Object(named), name)))

/** Refuses numbers that are not written in the canonical way, such as `01` and `1e0`. */
const checkCanonical = Effect.fnUntraced(function* (fields: Form.Fields, named: unknown, invalid: Invalid) {
  const changed = Object.entries(Object(named)).find(([name, text]) => fieldOf(fields, name) !== text)
  if (changed === undefined) return
  return yield* invalid([{ path: [changed[0]], message: `Expected ${JSON.stringify(changed[1])}` }])
})

/**
 * A decoder that fails with the refusal of the operation. `errors`: whether a refusal names all issues or only the
 * first issue.
 */
const decoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  invalid: Invalid,
  errors: "all" | "first" = "all"
) => {
  const decode = SchemaParser.decodeUnknownEffect(schema, { errors })
  return (input: unknown) => decode(input).pipe(Effect.mapError((issue) => invalid(Input.fromSchemaIssue(issue))))
}

/**
 * The length of params, in characters, from which a refusal names only the first issue. A list of a megabyte may have
 * hundreds of thousands of invalid items. The search for all of these items would block other clients.
 */
const longParams = 65_536

/**
 * Makes the route of an operation. A request is read in this order: the form, the JSON, authentication by `prove`, the
 * schemas of the operation. The schemas come after the authentication, so that an unauthenticated caller does not learn
 * which values are invalid.
 */
const make = Effect.fnUntraced(function* <Op extends Operation.Any, AuthKey>(
  operation: Op,
  options: Options<Op, AuthKey>,
  prove: (claim: Authentication.Claim) => Effect.Effect<AuthKey, Refusal.Refusal | StorageFailed>
) {
  const limits = yield* Limits.Limits
  const code = options.code ?? Object.keys(operation.errors)[0] ?? "SERVER_400"
  const encodeWhole = SchemaParser.encodeUnknownEffect(operation.success)
  const {
    aliases = {},
    encode = (said) => Turns.share(Effect.orDie(encodeWhole(said))),
    handle,
    invalid = Refusal.invalid(code),
    takesFiles = false,
    unknown
  } = options
  const decodePath = decoder(
    Schema.Struct<Op["variables"]>(operation.variables),
    unknown === undefined ? invalid : () => unknown
  )
  const decodeParams = decoder<Op["params"]>(operation.params, invalid)
  const decodeLongParams = decoder<Op["params"]>(operation.params, invalid, "first")
  // Form fields are texts, so numbers are decoded from digits.
  const fieldsCodec = Schema.toCodecStringTree<Op["fields"]>(operation.fields)
  const decodeFields = decoder(fieldsCodec, invalid)
  const encodeFields = SchemaParser.encodeUnknownEffect(fieldsCodec)

  const read = Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest
  ): Effect.fn.Return<Call<Op, AuthKey>, Problem, HttpRouter.RouteContext | Scope.Scope> {
    const { fields: all, files } = yield* Form.read(operation, request, limits).pipe(
      Effect.catchTag("Malformed", ({ description }) => Effect.fail(invalid([{ path: [], message: description }])))
    )
    if (files !== undefined && !takesFiles) {
      return yield* invalid([{ path: [], message: "This operation does not accept files." }])
    }
    // A request without `params` has empty params.
    const text = fieldOf(all, "params") ?? "{}"
    if (!Json.isWithin(text, limits.jsonDepth)) {
      return yield* invalid([{ path: ["params"], message: `Expected at most ${limits.jsonDepth} levels` }])
    }
    const params = yield* Turns.share(Effect.sync(() => decodeJsonObject(text)))
    if (Option.isNone(params)) return yield* invalid([{ path: ["params"], message: "Expected a JSON object" }])

    const authKey = yield* prove({
      text,
      params: params.value,
      signature: fieldOf(all, "signature"),
      authorization: request.headers["authorization"],
      referer: request.headers["referer"],
      scope: operation.scope
    })

    yield* checkNonce(params.value, invalid)

    const texts = splitFields(all, aliases)
    const fields = yield* decodeFields(texts)
    const named = yield* Effect.orDie(encodeFields(fields))
    yield* checkCanonical(texts, named, invalid)
    return {
      authKey,
      raw: params.value,
      files,
      path: yield* Effect.flatMap(HttpRouter.params, decodePath),
      params: yield* Turns.share(
        (text.length < longParams ? decodeParams : decodeLongParams)(withoutAuth(params.value))
      ),
      fields,
      others: otherFields(texts, named)
    }
  })

  const responseOptions = operation.confidential === undefined ? {} : { headers: { "cache-control": "no-store" } }
  const handler = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const said = yield* handle(yield* read(request))
      if (Predicate.hasProperty(said, "assembly_id") && Predicate.isString(said.assembly_id)) {
        yield* RequestNote.note({ assemblyId: said.assembly_id })
      }
      const body = yield* encode(said)
      return yield* Turns.share(Effect.sync(() => HttpServerResponse.jsonUnsafe(body, responseOptions)))
    },
    Effect.scoped,
    Effect.catchTag("Refused", ({ message, status }) => Effect.fail(Refusal.refuse(code, status, message))),
    Refusal.answered(operation.name)
  )
  return HttpRouter.route(operation.method, operation.path as HttpRouter.PathInput, handler)
})

/** The route of an operation that requires a signature or a bearer token. */
export const signed = <Op extends Operation.Any & { readonly auth: "signed" }>(
  operation: Op,
  options: Options<Op, Authentication.Caller>
) => Effect.flatMap(Authentication.Authentication, ({ authenticate }) => make(operation, options, authenticate))

/** The route of an operation whose credentials are optional. Invalid credentials are refused. */
export const optionallySigned = <Op extends Operation.Any & { readonly auth: "none" }>(
  operation: Op,
  options: Options<Op, Authentication.Caller | undefined>
) =>
  Effect.flatMap(Authentication.Authentication, ({ authenticate }) =>
    make(operation, options, (claim) =>
      claim.signature === undefined && claim.authorization === undefined ? Effect.undefined : authenticate(claim)
    )
  )

/** The route of an operation without credentials. */
export const open = <Op extends Operation.Any & { readonly auth: "none" }>(operation: Op, options: Options<Op, void>) =>
  make(operation, options, () => Effect.void)
