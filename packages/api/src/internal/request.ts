/** Encodes the input of an operation, and sends it with its proof. */
import type * as Authenticator from "@assembly-effect/auth/Authenticator"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import type { Outgoing, Sender } from "@assembly-effect/auth/unstable/Sender"
import type { FormLimits, FormSender } from "@assembly-effect/auth/unstable/StreamSender"
import * as DateTime from "effect/DateTime"
import type * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type * as Operation from "../unstable/Operation.ts"
import * as Exchange from "../unstable/Exchange.ts"

/**
 * The encoded input of an operation without its authentication. `subject` contains the fields for errors about the
 * request.
 */
export interface Encoded {
  readonly subject: Exchange.Subject
  readonly origin: string
  readonly path: string
  readonly params: Schema.JsonObject
  readonly fields: Readonly<Record<string, unknown>>
  readonly form: FormSender | undefined
}

const fillPath = (path: string, variables: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(variables[name] ?? ""))

/** The origin and the path of a checked URL, as they are sent. */
const partsOf = (url: string) => {
  const { origin, pathname, search } = new URL(url)
  return { origin, path: pathname + search }
}

/**
 * Makes the function that encodes the input of an operation, at the time `now` (in milliseconds since 1970). One error
 * contains all broken rules. The codecs of the operation are compiled once for each client.
 */
export const encoder = (operation: Operation.Any, baseUrl: string) => {
  const encodeParams = Input.encoder(operation.params)
  const encodeFields = Input.encoder(operation.fields)
  const variables = Object.entries(operation.variables).map(
    ([name, schema]) => [name, SchemaParser.encodeUnknownResult(schema)] as const
  )
  const { origin, path: root } = partsOf(baseUrl)
  const prefix = root.replace(/\/+$/, "")
  const base = Exchange.hostOf(baseUrl)
  const { check } = operation

  return (input: Operation.Input<Operation.Any>, now: number): Result.Result<Encoded, InvalidRequest> => {
    const refused = (subject: Exchange.Subject, issues: InvalidRequest["issues"]) =>
      Result.fail(new InvalidRequest({ ...subject, issues }))
    const path: Record<string, string> = {}
    for (const [name, encode] of variables) {
      const encoded = encode(input.path[name])
      if (Result.isFailure(encoded)) {
        return refused({ operation: operation.name }, Input.fromSchemaIssue(encoded.failure, [name]))
      }
      path[name] = String(encoded.success)
    }
    const { assemblyId } = path
    const subject = { operation: operation.name, ...(assemblyId === undefined ? undefined : { assemblyId }) }
    const params = encodeParams(input.params)
    if (Result.isFailure(params)) return refused(subject, params.failure)
    // @effect-diagnostics-next-line globalDate:off
    const issues = check?.(input.params, DateTime.fromDateUnsafe(new Date(now))) ?? []
    if (issues.length > 0) return refused(subject, issues)
    const fields = encodeFields(input.fields)
    if (Result.isFailure(fields)) return refused(subject, fields.failure)
    const at: string | undefined = input.at === undefined ? undefined : Redacted.value(input.at)
    const to = at === undefined ? undefined : partsOf(at)
    return Result.succeed({
      subject: { ...subject, ...(at === undefined ? base : Exchange.hostOf(at)) },
      origin: to?.origin ?? origin,
      path: to?.path ?? prefix + fillPath(operation.path, path),
      params: params.success as Schema.JsonObject,
      fields: fields.success as Encoded["fields"],
      form: input.form
    })
  }
}

/** A shorter Auth Secret, as in a test, may be a part of any word, such as an error code. */
const minSecret = 8

/**
 * The secrets that must not appear in an error: those in the params, the digits of the signature or the token, and the
 * secrets of the `Authenticator`.
 */
export const secretsOf = (
  operation: Operation.Any,
  { params }: Encoded,
  proof: Authenticator.Proof | undefined,
  others: ReadonlyArray<Redacted.Redacted> = []
): ReadonlyArray<string> => {
  const known = [
    ...(operation.confidential?.(params) ?? []),
    ...others.map(Redacted.value).filter(({ length }) => length >= minSecret)
  ]
  if (proof === undefined) return known
  if (proof._tag === "Bearer") return [...known, Redacted.value(proof.token)]
  const signature = Redacted.value(proof.signature)
  return [...known, signature.slice(signature.indexOf(":") + 1)]
}

type Parts = Readonly<Record<string, string>>

/**
 * The fields of a multipart form, whose names need no escape. `FormData` is not used, because an HTTP client sends a `FormData` of
 * a class that it does not know, such as that of jsdom, as the text `[object FormData]`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const toFields = (parts: Parts, boundary: string): string =>
  Object.entries(parts)
    .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join("")

const toForm = (parts: Parts): Outgoing["body"] => {
  // No boundary contains the comma between two values.
  const values = Object.values(parts).join()
  let count = 0
  while (values.includes(`assembly-effect-${count}`)) count++
  const boundary = `assembly-effect-${count}`
  const content = `${toFields(parts, boundary)}--${boundary}--\r\n`
  return { content, contentType: `multipart/form-data; boundary=${boundary}` }
}

const toQuery = (parts: Parts): string =>
  Object.entries(parts)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`)
    .join("&")

const plain = { accept: "application/json" }

/**
 * Sends the request with its proof and its params. `carrier` decides whether the params are in the query or the body. A
 * request without a proof has no params.
 */
export const send = (
  { carrier, method }: Operation.Any,
  { fields, form, origin, path }: Encoded,
  proof: Authenticator.Proof | undefined,
  environment: { readonly http: HttpClient.HttpClient; readonly send: Sender },
  limits: FormLimits
): ReturnType<Sender> => {
  if (proof === undefined) return environment.send({ method, origin, path, headers: plain }, limits)
  const isSigned = proof._tag === "Signature"
  const headers = isSigned ? plain : { ...plain, authorization: `Bearer ${Redacted.value(proof.token)}` }
  const parts: Record<string, string> = { params: proof.params }
  if (isSigned) parts["signature"] = Redacted.value(proof.signature)
  for (const [name, value] of Object.entries(fields)) parts[name] = String(value)
  const proven = { method, origin, path, headers }
  if (form !== undefined) return form(environment.http, proven, parts, limits)
  if (carrier === "multipart") return environment.send({ ...proven, body: toForm(parts) }, limits)
  const content = toQuery(parts)
  return environment.send(
    carrier === "query"
      ? { ...proven, path: `${path}?${content}` }
      : { ...proven, body: { content, contentType: "application/x-www-form-urlencoded" } },
    limits
  )
}
