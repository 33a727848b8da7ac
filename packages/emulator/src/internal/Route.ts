import * as ApiError from "@assembly-effect/api/ApiError"
import type * as Operation from "@assembly-effect/api/Operation"
import * as Auth from "@assembly-effect/schema/Auth"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Authentication from "./Authentication.ts"
import type * as AuthKeys from "./AuthKeys.ts"
import * as Form from "./Form.ts"
import * as Refusal from "./Refusal.ts"

/** A request that was decoded and, where the operation asks for it, authenticated. */
interface Call<Op extends Operation.Any> extends Operation.Input<Op> {
  readonly authKey: Op["auth"] extends "signed" ? AuthKeys.AuthKey : undefined
  /** The params as they came, with `auth` and with keys that the operation does not name. */
  readonly raw: Schema.JsonObject
  /** The files of the form, where the operation takes some. */
  readonly files: Form.Form["files"]
  /** Form fields that the operation does not name. */
  readonly others: Form.Fields
}

/**
 * How a request is read.
 *
 * - `invalid`: the answer to input that breaks a rule of the operation's schemas, which are the only validation.
 * - `takesFiles`: whether its form may hold files. The handler reads them.
 * - `aliases`: other names under which a form field is accepted.
 */
interface Rules {
  readonly invalid: (issues: ReadonlyArray<ApiError.Issue>) => Refusal.Refusal
  readonly aliases?: Readonly<Record<string, string>> | undefined
  readonly takesFiles?: boolean | undefined
}

/** The rules of a route, and what it does. */
export interface Options<Op extends Operation.Any, R> extends Rules {
  readonly handle: (call: Call<Op>) => Effect.Effect<Operation.Success<Op>, Refusal.Refusal, R>
}

const decodeJsonObject = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)))

/** The params object as it came; no field at all counts as an empty one. */
const parseParams = (fields: Form.Fields): Option.Option<Schema.JsonObject> =>
  decodeJsonObject(fields["params"] ?? "{}")

/** The params of the operation itself. A nonce sits in `auth` or beside it; both are accepted everywhere. */
const withoutAuth = ({ auth: _auth, nonce: _nonce, ...params }: Schema.JsonObject): Schema.JsonObject => params

const isNonce = Schema.is(Auth.Nonce)

/** A nonce, wherever it sits, is text or an integer (spec.md, "Endpoints"). */
const checkNonce = Effect.fnUntraced(function* (
  { auth, ...params }: Schema.JsonObject,
  invalid: Rules["invalid"]
) {
  const wrong = [params, auth].some((seat) => Predicate.hasProperty(seat, "nonce") && !isNonce(seat.nonce))
  if (wrong) return yield* invalid([{ path: ["nonce"], message: "Expected a text or an integer" }])
})

const splitFields = (all: Form.Fields, aliases: Readonly<Record<string, string>>): Form.Fields =>
  Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => name !== "params" && name !== "signature")
      .map(([name, value]) => [aliases[name] ?? name, value])
  )

const otherFields = (fields: Form.Fields, named: unknown): Form.Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(Object(named), name)))

/** A number has one form. Read as JavaScript reads it, `01` and `1e0` would be numbers as well. */
const checkCanonical = Effect.fnUntraced(function* (
  fields: Form.Fields,
  named: unknown,
  invalid: Rules["invalid"]
) {
  const changed = Object.entries(Object(named)).find(([name, text]) => fields[name] !== text)
  if (changed === undefined) return
  return yield* invalid([{ path: [changed[0]], message: `Expected ${JSON.stringify(changed[1])}` }])
})

/** A decoder that answers with the operation's own refusal. */
const decoder = (schema: Schema.ConstraintDecoder<unknown>, invalid: Rules["invalid"]) => {
  const decode = SchemaParser.decodeUnknownEffect(schema, { errors: "all" })
  return (input: unknown) => decode(input).pipe(Effect.mapError((issue) => invalid(ApiError.fromSchemaIssue(issue))))
}

/** What comes before the handler: the wire → a call. */
const reader = (operation: Operation.Any, options: Options<Operation.Any, never>) => {
  const { aliases = {}, invalid, takesFiles = false } = options
  const decodePath = decoder(Schema.Struct(operation.variables), invalid)
  const decodeParams = decoder(operation.params, invalid)
  // A form knows texts only, so numbers are read from their digits.
  const fieldsCodec = Schema.toCodecStringTree(operation.fields)
  const decodeFields = decoder(fieldsCodec, invalid)
  const encodeFields = SchemaParser.encodeUnknownEffect(fieldsCodec)

  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const { fields: all, files } = yield* Form.read(operation, request).pipe(
      Effect.mapError(({ problem }) => invalid([{ path: [], message: problem }]))
    )
    if (files !== undefined && !takesFiles) {
      return yield* invalid([{ path: [], message: "This operation takes no files." }])
    }
    const params = parseParams(all)
    if (Option.isNone(params)) return yield* invalid([{ path: ["params"], message: "Expected a JSON object" }])

    const authentication = yield* Authentication.Authentication
    const authKey =
      operation.auth === "none"
        ? undefined
        : yield* authentication.authenticate({
            text: all["params"] ?? "{}",
            params: params.value,
            signature: all["signature"],
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
      params: yield* decodeParams(withoutAuth(params.value)),
      fields,
      others: otherFields(texts, named)
    }
  })
}

/**
 * The route of an operation: what the client's interpreter does, from the other side. Defects are logged and answered
 * with status 500.
 */
export const make = Effect.fnUntraced(function* <Op extends Operation.Any, R>(operation: Op, options: Options<Op, R>) {
  const authentication = yield* Authentication.Authentication
  // The reader only asks `options` for what does not depend on the type of the operation.
  const read = reader(operation, options as unknown as Options<Operation.Any, never>)
  const encode = SchemaParser.encodeUnknownEffect(operation.success)

  const handler = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      // What the schemas of `operation` decode is what its `Call` names.
      const call = (yield* read(request)) as unknown as Call<Op>
      const success = yield* options.handle(call)
      return HttpServerResponse.jsonUnsafe(yield* Effect.orDie(encode(success)))
    },
    Effect.scoped,
    Effect.provideService(Authentication.Authentication, authentication),
    Refusal.answered(operation.name)
  )
  return HttpRouter.route(operation.method, operation.path as HttpRouter.PathInput, handler)
})
