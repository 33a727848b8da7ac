import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Operation from "../Operation.ts"
import * as Transport from "../unstable/Transport.ts"

/**
 * The encoded input of an operation without its authentication. `subject` contains the fields for errors about the
 * request.
 */
export interface Encoded {
  readonly subject: Transport.Subject
  readonly url: string
  readonly params: Schema.JsonObject
  readonly fields: Readonly<Record<string, string>>
  /** The secrets in the params. These secrets must not appear in an error. */
  readonly secrets: ReadonlyArray<string>
}

const fillPath = (path: string, variables: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(variables[name] ?? ""))

const toText = (fields: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

/**
 * Encodes input with a schema. One error contains all broken rules. The path of each broken rule begins with `below`.
 */
const encodeInput = <S extends Schema.ConstraintCodec<unknown, unknown>>(
  schema: S,
  ...below: ReadonlyArray<string>
) => {
  const encode = SchemaParser.encodeUnknownEffect(schema, Input.closed)
  return (input: unknown, subject: Transport.Subject): Effect.Effect<S["Encoded"], InvalidRequest> =>
    Effect.mapError(
      encode(input),
      (issue) => new InvalidRequest({ ...subject, issues: Input.fromSchemaIssue(issue, below) })
    )
}

const subjectOf = (operation: Operation.Any, variables: Readonly<Record<string, string>>): Transport.Subject => {
  const { assemblyId } = variables
  return assemblyId === undefined ? { operation: operation.name } : { operation: operation.name, assemblyId }
}

/** Checks the params by the rules that their schema does not contain. */
const checkParams = (
  operation: Operation.Any,
  subject: Transport.Subject,
  params: unknown
): Effect.Effect<void, InvalidRequest> =>
  operation.check === undefined
    ? Effect.void
    : Effect.flatMap(DateTime.now, (now) => {
        const issues = operation.check?.(params, now) ?? []
        return issues.length === 0 ? Effect.void : Effect.fail(new InvalidRequest({ ...subject, issues }))
      })

/**
 * Makes the function that encodes the input of an operation. The codecs of the operation are compiled once for each
 * client.
 */
export const encoder = (operation: Operation.Any, baseUrl: string) => {
  const params = encodeInput(operation.params)
  const fields = encodeInput(operation.fields)
  const variables = Object.entries(operation.variables).map(
    ([name, schema]) => [name, encodeInput(schema, name)] as const
  )
  const subjectWithoutPath: Transport.Subject = { operation: operation.name }
  const base = Transport.hostOf(baseUrl)

  return Effect.fnUntraced(function* (
    input: Operation.Input<Operation.Any>
  ): Effect.fn.Return<Encoded, InvalidRequest> {
    const path: Record<string, string> = {}
    for (const [name, encode] of variables) {
      path[name] = yield* encode(input.path[name], subjectWithoutPath)
    }
    const subject = subjectOf(operation, path)
    const encodedParams = yield* params(input.params, subject)
    yield* checkParams(operation, subject, input.params)
    const url: string = input.at === undefined ? baseUrl + fillPath(operation.path, path) : Redacted.value(input.at)
    return {
      subject: { ...subject, ...(input.at === undefined ? base : Transport.hostOf(url)) },
      url,
      params: encodedParams as Schema.JsonObject,
      secrets: operation.confidential?.(encodedParams as Schema.JsonObject) ?? [],
      fields: toText((yield* fields(input.fields, subject)) as object)
    }
  })
}

/** The secrets that must not appear in an error: the digits of the signature, or the token. */
export const secretsOf = (proof: Authenticator.Proof | undefined): ReadonlyArray<string> => {
  if (proof === undefined) return []
  if (proof._tag === "Bearer") return [Redacted.value(proof.token)]
  const signature = Redacted.value(proof.signature)
  return [signature.slice(signature.indexOf(":") + 1)]
}

/**
 * A form of texts whose names need no escape. `FormData` is not used, because an HTTP client sends a `FormData` of a
 * class that it does not know, such as that of jsdom, as the text `[object FormData]`.
 */
const toForm = (parts: Readonly<Record<string, string>>): HttpBody.HttpBody => {
  const values = Object.values(parts)
  let count = 0
  while (values.some((value) => value.includes(`assembly-effect-${count}`))) count++
  const boundary = `assembly-effect-${count}`
  const lines = Object.entries(parts).flatMap(([name, value]) => [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${name}"`,
    "",
    value
  ])
  return HttpBody.text([...lines, `--${boundary}--`, ""].join("\r\n"), `multipart/form-data; boundary=${boundary}`)
}

/**
 * Makes the HTTP request with its proof and its params. `carrier` decides whether the params are in the query or the
 * body. A request without a proof has no params.
 */
export const toHttp = (
  operation: Operation.Any,
  encoded: Encoded,
  proof: Authenticator.Proof | undefined
): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(operation.method)(encoded.url, { acceptJson: true })
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
      return HttpClientRequest.setBody(authorized, toForm(parts))
  }
}
