import type * as Operation from "@assembly-effect/api/Operation"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Stream from "effect/Stream"

/** What came beside the path: `params`, `signature` and the rest, by name. */
export type Fields = Readonly<Record<string, string>>

/** A body that is not the form that the operation carries. */
export class Malformed extends Data.TaggedError("Malformed")<{ readonly problem: string }> {}

const parse = (text: string): Fields => Object.fromEntries(new URLSearchParams(text))

const fromQuery = (url: string): Fields => {
  const start = url.indexOf("?")
  return start === -1 ? {} : parse(url.slice(start + 1))
}

const toEntry = (part: Multipart.Part): Effect.Effect<readonly [string, string], Malformed> =>
  Multipart.isField(part)
    ? Effect.succeed([part.key, part.value])
    : Effect.fail(new Malformed({ problem: "Files come by tus; this emulator takes none in the form." }))

const fromMultipart = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Fields, Malformed> =>
  request.multipartStream.pipe(
    Stream.mapError(({ message }) => new Malformed({ problem: message })),
    Stream.mapEffect(toEntry),
    Stream.runCollect,
    Effect.map(Object.fromEntries)
  )

const fromUrlEncoded = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Fields, Malformed> =>
  request.text.pipe(
    Effect.mapError(({ message }) => new Malformed({ problem: message })),
    Effect.map(parse)
  )

const mediaType = (request: HttpServerRequest.HttpServerRequest): string =>
  (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

/** Reads the fields of a urlencoded body. */
export const readUrlEncoded = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Fields, Malformed> =>
  mediaType(request) === "application/x-www-form-urlencoded"
    ? fromUrlEncoded(request)
    : Effect.fail(new Malformed({ problem: "The body is not application/x-www-form-urlencoded." }))

/** Reads the fields of a request from where its operation carries them. A multipart operation takes both forms. */
export const read = (
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<Fields, Malformed> => {
  if (operation.carrier === "query") return Effect.sync(() => fromQuery(request.url))
  const type = mediaType(request)
  if (type === "application/x-www-form-urlencoded") return fromUrlEncoded(request)
  if (type === "multipart/form-data" && operation.carrier === "multipart") return fromMultipart(request)
  return Effect.fail(
    new Malformed({ problem: `The body is no form that this operation takes, but ${type || "untyped"}.` })
  )
}
