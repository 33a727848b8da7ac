import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"

/** An input in the form of the wire, before authentication. */
export interface Encoded {
  readonly path: string
  readonly params: Schema.JsonObject
  readonly fields: Readonly<Record<string, string>>
}

const fillPath = (path: string, variables: Readonly<Record<string, string>>): string =>
  path.replace(/:(\w+)/g, (_, name: string) => variables[name] ?? "")

const toText = (fields: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

/** Encodes input with a schema; every broken rule is in the one error. */
const encodeInput = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S, operation: string) => {
  const encode = SchemaParser.encodeUnknownEffect(schema, { errors: "all" })
  return (input: unknown): Effect.Effect<S["Encoded"], ApiError.InvalidRequest> =>
    Effect.mapError(encode(input), (issue) => ApiError.invalidRequest(operation, issue))
}

/**
 * The first half of an operation: input → wire. The codecs are compiled once, when the operation is described.
 */
export const encoder = (operation: Operation.Any) => {
  const params = encodeInput(operation.params, operation.name)
  const fields = encodeInput(operation.fields, operation.name)
  const variables = Object.entries(operation.variables).map(
    ([name, schema]) => [name, encodeInput(schema, operation.name)] as const
  )

  return Effect.fnUntraced(function* (
    input: Operation.Input<Operation.Any>
  ): Effect.fn.Return<Encoded, ApiError.InvalidRequest> {
    const path: Record<string, string> = {}
    for (const [name, encode] of variables) path[name] = yield* encode(input.path[name])
    return {
      path: fillPath(operation.path, path),
      params: (yield* params(input.params)) as Schema.JsonObject,
      fields: toText((yield* fields(input.fields)) as object)
    }
  })
}

/** Puts params and proof where the operation carries them. */
export const toHttp = (
  operation: Operation.Any,
  baseUrl: string,
  encoded: Encoded,
  proof: Authenticator.Proof | undefined
): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(operation.method)(baseUrl + encoded.path, { acceptJson: true })
  if (proof === undefined) return request

  const parts = {
    params: proof.params,
    ...(proof._tag === "Signature" ? { signature: Redacted.value(proof.signature) } : undefined),
    ...encoded.fields
  }
  const authorized =
    proof._tag === "Bearer" ? HttpClientRequest.bearerToken(request, Redacted.value(proof.token)) : request
  switch (operation.carrier) {
    case "query":
      return HttpClientRequest.setUrlParams(authorized, parts)
    case "form":
      return HttpClientRequest.bodyUrlParams(authorized, parts)
    case "multipart":
      return HttpClientRequest.bodyFormDataRecord(authorized, parts)
  }
}
