import type * as Operation from "@assembly-effect/api/Operation"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
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

/** A form as it comes: its fields, and then its files one after the other, as long as the scope. */
export interface Form {
  readonly fields: Fields
  /** Undefined where none is there. The bytes of each have to be read before the next one. */
  readonly files: Stream.Stream<Multipart.File, Malformed> | undefined
}

const toMalformed = ({ message }: { readonly message: string }) => new Malformed({ problem: message })

const ifFile = (part: Multipart.Part): Effect.Effect<Multipart.File, Malformed> =>
  Multipart.isFile(part)
    ? Effect.succeed(part)
    : Effect.fail(new Malformed({ problem: "The fields of a form come before its files." }))

const withoutFiles = (fields: Fields): Form => ({ fields, files: undefined })

/** Reads up to the first file: who may send files is known by then, and no file is kept before. */
const fromMultipart = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const pull = yield* Stream.toPull(Stream.mapError(request.multipartStream, toMalformed))
  const fields: Record<string, string> = {}
  while (true) {
    const parts = yield* Pull.catchDone(pull, () => Effect.succeed([] as ReadonlyArray<Multipart.Part>))
    if (parts.length === 0) return withoutFiles(fields)
    const first = parts.findIndex((part) => !Multipart.isField(part))
    for (const part of first === -1 ? parts : parts.slice(0, first)) {
      if (Multipart.isField(part)) fields[part.key] = part.value
    }
    if (first === -1) continue
    const rest = Stream.fromPull(Effect.succeed(pull))
    const files = Stream.mapEffect(Stream.concat(Stream.fromIterable(parts.slice(first)), rest), ifFile)
    return { fields, files } satisfies Form
  }
})

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

/** Reads a request from where its operation carries its fields. A multipart operation takes both forms. */
export const read = (
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<Form, Malformed, Scope.Scope> => {
  if (operation.carrier === "query") return Effect.sync(() => withoutFiles(fromQuery(request.url)))
  const type = mediaType(request)
  if (type === "application/x-www-form-urlencoded") return Effect.map(fromUrlEncoded(request), withoutFiles)
  if (type === "multipart/form-data" && operation.carrier === "multipart") return fromMultipart(request)
  return Effect.fail(
    new Malformed({ problem: `The body is no form that this operation takes, but ${type || "untyped"}.` })
  )
}
