/**
 * Generated requests of every operation, sent to the emulator. A valid request gets a value or an error of its
 * operation. An invalid one, which the client would not send, gets an error of its operation or a general error.
 */
import { Assemblies, Dam } from "@assembly-effect/api"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Templates from "@assembly-effect/api/Templates"
import * as Testing from "@assembly-effect/api/testing"
import { Emulator } from "@assembly-effect/emulator"
import { ErrorObject } from "@assembly-effect/schema/unstable/ServiceError"
import { assert, describe, layer } from "@assembly-effect/testkit/flow"
import { Arbitrary, Effect, Option, Predicate, Redacted, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { createHmac } from "node:crypto"
import { emulator, existing, nobody } from "./utils/emulator.ts"
import { count, sample } from "./utils/generated.ts"
import { operations } from "./utils/operations.ts"

type Ids = Effect.Success<typeof existing>

/** The variables of a path, with the ids of things that exist. */
const pathWith = (ids: Ids, path: object): Readonly<Record<string, string>> => {
  const known = new Map<string, string>(Object.entries(ids))
  return Object.fromEntries(Object.entries(path).map(([name, value]) => [name, known.get(name) ?? value]))
}

/** The service must not notify a generated URL, which could belong to somebody. */
const withoutUrl = (params: unknown): unknown =>
  Predicate.isObject(params)
    ? Object.fromEntries(
        Object.entries(params).map(([key, value]) => [
          key,
          /^notify_?url$/i.test(key) && typeof value === "string" && value !== "" ? nobody : value
        ])
      )
    : params

let nonce = 0

/** Params as the client sends them, with a signature. Params or an `auth` that are not an object have no signature. */
const fieldsOf = (
  operation: Operation.Any,
  params: unknown,
  credentials: Emulator.Emulator["Service"]["credentials"]
): Readonly<Record<string, string>> => {
  if (!Predicate.isObject(params) || operation.auth === "none") return { params: JSON.stringify(params) }
  if (!Predicate.isObject("auth" in params ? params["auth"] : {})) return { params: JSON.stringify(params) }
  const auth = { ...Object(params["auth"]), key: credentials.key, expires: "2999-01-01T00:00:00Z" }
  const text = JSON.stringify({ ...params, auth, nonce: String(nonce++) })
  return {
    params: text,
    signature: `sha384:${createHmac("sha384", Redacted.value(credentials.secret)).update(text).digest("hex")}`
  }
}

/** A text as a segment of a path. Bytes that are not UTF-8 replace a lone surrogate. */
const encodeSegment = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replaceAll("%EF%BF%BD", "%ED%A0%80")

/** Sends a request as it is, past the checks of the client. */
const send = Effect.fnUntraced(
  function* (
    operation: Operation.Any,
    path: Readonly<Record<string, string>>,
    { fields: form, params }: Testing.Wire<Operation.Any>
  ) {
    const { baseUrl, credentials } = yield* Emulator.Emulator
    const http = HttpClient.withScope(yield* HttpClient.HttpClient)
    const url = `${baseUrl}${operation.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeSegment(path[name] ?? ""))}`
    const texts = Object.entries(Object(form)).map(([name, value]) => [name, String(value)] as const)
    const fields = { ...fieldsOf(operation, params, credentials), ...Object.fromEntries(texts) }
    const request = HttpClientRequest.make(operation.method)(url)
    const response = yield* http.execute(
      operation.carrier === "query"
        ? HttpClientRequest.setUrlParams(request, fields)
        : HttpClientRequest.bodyUrlParams(request, fields)
    )
    return { status: response.status, text: yield* response.text }
  },
  Effect.scoped,
  // A span would show the signature.
  Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
)

const decodeError = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorObject))

/** The error codes that any operation may have. */
const general = /^(?:INVALID_FORM_DATA|NO_AUTH_PARAMETER|SERVER_400)$/

/** The error codes of the Assembly lifecycle, which the specification does not define. */
const lifecycle = /^(?:Assemblies|Notifications)\.\w+ ASSEMBLY_[A-Z_]+$/

/** Checks that an answer refuses a request for its own fault, with the code of the rule if it has one. */
const isRefusal = (
  operation: Operation.Any,
  { status, text }: { readonly status: number; readonly text: string },
  { code, path, rule }: Testing.Invalid<unknown>
) => {
  const shown = `${rule}: ${status} ${text}`
  assert.isBelow(status, 500, shown)
  const error = Option.getOrUndefined(decodeError(text))?.error ?? ""
  // A router may decode a slash in an id, and then finds no route.
  if (path[0] === "path" && error === "SERVER_404") return
  if (code !== undefined) return assert.deepStrictEqual([status, error], [400, code], shown)
  const isOwn = Object.hasOwn(operation.errors, error) || lifecycle.test(`${operation.name} ${error}`)
  assert.isTrue(isOwn || general.test(error), shown)
}

/** Checks that an error belongs to the channel of an operation. */
const isTyped = (
  operation: Operation.Any,
  error: { readonly _tag: string; readonly code?: string; readonly status?: number }
) => {
  const { _tag, code = "", status = 0 } = error
  const shown = JSON.stringify(error)
  // The rule about time depends on the clock.
  if (_tag === "InvalidRequest") return assert.isDefined(operation.check, shown)
  assert.isBelow(status, 500, shown)
  if (_tag === "ServiceFailure") return assert.notStrictEqual(code, "SERVER_404", shown)
  const Named = operation.errors[code]
  assert.isTrue(Named !== undefined && error instanceof Named, shown)
}

/** Params whose region, if they have one, is that of this emulator. */
const existingRegion = (params: unknown) =>
  Predicate.hasProperty(params, "region") ? { ...params, region: "eu-west-1" } : params

/** Params of which this emulator has what they name: a region, and no Template that does not exist. */
const existingParams = (params: unknown) => {
  const { templateId: _templateId, ...rest } = Object(existingRegion(params))
  return rest
}

const notFound = "DAM_RESOURCE_NOT_FOUND"
const ofMany = ({ assetIds = [] }: Params) =>
  new Set(assetIds).size < assetIds.length ? "DAM_INVALID_REQUEST" : notFound

interface Params {
  readonly assetIds?: ReadonlyArray<string>
  readonly cursor?: string
  readonly destinationFolderId?: string | null
  readonly versionId?: string
}

/**
 * The error code of the answer to a valid request, undefined if it succeeds. `isKnown` tells whether it is about
 * something that exists. Generated folders, versions and cursors do not exist, and generated names are free.
 */
const codes = new Map<Operation.Any, (params: Params, isKnown: boolean) => string | undefined>([
  [Assemblies.List, () => undefined],
  [Assemblies.Create, (_, isKnown) => (isKnown ? "ASSEMBLY_ID_TAKEN" : undefined)],
  [Templates.List, () => undefined],
  [Dam.List, ({ cursor }) => (cursor === undefined ? undefined : "DAM_INVALID_REQUEST")],
  [Dam.Get, ({ versionId }, isKnown) => (isKnown && versionId === undefined ? undefined : notFound)],
  [Dam.Move, ({ destinationFolderId: to }, isKnown) => (isKnown && typeof to !== "string" ? undefined : notFound)],
  [Dam.MoveMany, ofMany],
  [Dam.DeleteMany, ofMany],
  [Dam.MoveEntry, () => notFound]
])

/** With these segments the request has another path. */
const hasOtherPath = (path: Readonly<Record<string, unknown>>) =>
  Object.values(path).some((one) => typeof one !== "string" || one === "" || one === "." || one === "..")

layer(emulator)("the emulator", (it) => {
  describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_, operation) => {
    const { rules, valid } = Testing.of(operation, {
      params: Arbitrary.map(Arbitrary.schema(operation.params), existingParams)
    })

    it.effect("answers a generated request with a value or an error of the operation", function* () {
      const client = yield* AssemblyClient
      const ids = yield* existing
      const codeOf = codes.get(operation)
      for (const [index, { params, path, ...input }] of (yield* sample(valid.decoded)).entries()) {
        // Every second request is about something that exists.
        const isKnown = index % 2 === 1
        const chosen = isKnown ? pathWith(ids, path) : path
        const sent = { ...input, path: chosen, params: withoutUrl(existingParams(params)) }
        const result = yield* Effect.result(client.run(operation, sent))
        const error = Result.isFailure(result) ? result.failure : undefined
        if (error !== undefined) isTyped(operation, error)
        if (codeOf === undefined) continue
        assert.strictEqual(Object(error).code, codeOf(Object(params), isKnown), JSON.stringify([error, sent]))
      }
    })

    it.effect("refuses what breaks a rule, with its code (spec E-12)", function* () {
      const ids = yield* existing
      for (const { invalid } of rules.wire) {
        for (const one of yield* sample(invalid, Math.ceil(count / 10))) {
          const { params, ...input } = one.input
          const path = one.path[0] === "path" ? input.path : pathWith(ids, input.path)
          if (hasOtherPath(path)) continue
          // Only the rule of the region is about a region that does not exist.
          const placed = one.path.includes("region") ? params : existingRegion(params)
          isRefusal(operation, yield* send(operation, path, { ...input, params: withoutUrl(placed) }), one)
        }
      }
    })
  })
})
