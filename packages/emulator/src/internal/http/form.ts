import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Limits from "../limits.ts"
import * as Refusal from "./refusal.ts"

/** The fields of a form or query by name, including `params` and `signature`. */
export type Fields = Readonly<Record<string, string>>

/** The body is not a form that the operation accepts. */
export class Malformed extends Data.TaggedError("Malformed")<{ readonly description: string }> {}

const tooMany = ({ formFields }: Limits.Values) => Refusal.server(413, `A form has at most ${formFields} fields.`)

const tooLong = ({ formBytes }: Limits.Values) =>
  Refusal.server(413, `The fields of a form have at most ${formBytes} bytes together.`)

const parse = (text: string, limits: Limits.Values): Effect.Effect<Fields, Refusal.Refusal> =>
  text.split("&", limits.formFields + 1).length > limits.formFields
    ? Effect.fail(tooMany(limits))
    : Effect.sync(() => Object.fromEntries(new URLSearchParams(text)))

const fromQuery = (url: string, limits: Limits.Values): Effect.Effect<Fields, Refusal.Refusal> => {
  const start = url.indexOf("?")
  return start === -1 ? Effect.succeed({}) : parse(url.slice(start + 1), limits)
}

/** A form. Its files are a stream that can be read until the scope closes. */
export interface Form {
  readonly fields: Fields
  /** `files` is undefined if the form has no file. The bytes of a file must be read before the next file. */
  readonly files: Stream.Stream<Multipart.File, Malformed | Refusal.Refusal> | undefined
}

const tooLargeFor = (limits: Limits.Values): Partial<Record<string, Refusal.Refusal>> => ({
  FieldTooLarge: tooLong(limits),
  TooManyParts: Refusal.server(413, "The form has too many fields and files.")
})

/** The problem of a malformed form, by the tag of the parser's error. */
const malformedBody: Partial<Record<string, string>> = {
  InvalidBoundary: "The multipart body has no boundary: its content-type must name one.",
  BadHeaders: "The headers of a part of the multipart body cannot be read.",
  InvalidDisposition: "A part of the multipart body has no content-disposition that names its field.",
  EndNotReached: "The multipart body ends before its last boundary."
}

const ifFile = (part: Multipart.Part): Effect.Effect<Multipart.File, Malformed> =>
  Multipart.isFile(part)
    ? Effect.succeed(part)
    : Effect.fail(new Malformed({ description: "The fields of a form must come before its files." }))

const withoutFiles = (fields: Fields): Form => ({ fields, files: undefined })

/**
 * Describes why a multipart body cannot be read. The tag of `cause` determines the description, because all problems in
 * `malformedBody` have the same `reason`.
 */
const unreadable = (cause: unknown): Malformed => {
  const tag = Predicate.hasProperty(cause, "_tag") ? cause._tag : undefined
  return new Malformed({ description: malformedBody[String(tag)] ?? "The multipart body cannot be read." })
}

/** The parts of a multipart body. The parser keeps one field at a time in memory. */
const partsOf = (request: HttpServerRequest.HttpServerRequest, limits: Limits.Values) => {
  const known = tooLargeFor(limits)
  return request.multipartStream.pipe(
    Stream.mapError(({ reason }) => known[reason._tag] ?? unreadable(reason.cause)),
    // The parser throws a TypeError if the boundary follows the headers of the first part at once.
    Stream.catchDefect(() => Stream.fail(unreadable({ _tag: "BadHeaders" }))),
    Stream.provideContext(
      Multipart.limitsServices({ maxParts: limits.formFields + limits.files + 1, maxFieldSize: limits.formBytes })
    )
  )
}

/** The fields that a form has at most once. A form may repeat each other field. */
const once: ReadonlySet<string> = new Set(["params", "signature"])

/** Reads the fields up to the first file, because the request must be authenticated before any file is stored. */
const fromMultipart = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  limits: Limits.Values
) {
  const pull = yield* Stream.toPull(partsOf(request, limits))
  const fields: Array<readonly [name: string, value: string]> = []
  let bytes = 0
  while (true) {
    const parts = yield* Pull.catchDone(pull, () => Effect.succeed([] as ReadonlyArray<Multipart.Part>))
    const first = parts.findIndex((part) => !Multipart.isField(part))
    for (const part of first === -1 ? parts : parts.slice(0, first)) {
      if (!Multipart.isField(part)) continue
      if (part.key === "") return yield* unreadable({ _tag: "InvalidDisposition" })
      // For a part whose headers have no end, the parser repeats the field before this part, with an empty value.
      const isRepeated = part.value === "" && part.key === fields.at(-1)?.[0]
      if (isRepeated && once.has(part.key)) return yield* unreadable({ _tag: "BadHeaders" })
      bytes += Buffer.byteLength(part.key) + Buffer.byteLength(part.value)
      if (bytes > limits.formBytes) return yield* tooLong(limits)
      fields.push([part.key, part.value])
      if (fields.length > limits.formFields) return yield* tooMany(limits)
    }
    // The fields are not assigned one by one, because an assignment would lose a field with the name `__proto__`.
    if (parts.length === 0) return withoutFiles(Object.fromEntries(fields))
    if (first === -1) continue
    const rest = Stream.fromPull(Effect.succeed(pull))
    const files = Stream.mapEffect(Stream.concat(Stream.fromIterable(parts.slice(first)), rest), ifFile)
    return { fields: Object.fromEntries(fields), files } satisfies Form
  }
})

/** Reads the text of a body, at most `formBytes` bytes. */
const readText = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, limits: Limits.Values) {
  if (Number(request.headers["content-length"] ?? 0) > limits.formBytes) return yield* tooLong(limits)
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  yield* Stream.runForEach(
    Stream.mapError(request.stream, ({ message }) => new Malformed({ description: message })),
    (chunk) => {
      bytes += chunk.length
      if (bytes > limits.formBytes) return Effect.fail(tooLong(limits))
      chunks.push(chunk)
      return Effect.void
    }
  )
  return Buffer.concat(chunks).toString("utf8")
})

const fromUrlEncoded = (request: HttpServerRequest.HttpServerRequest, limits: Limits.Values) =>
  Effect.flatMap(readText(request, limits), (text) => parse(text, limits))

/** Refuses a form whose fields do not arrive within `formTime`. */
const inTime = ({ formTime }: Limits.Values) =>
  Effect.timeoutOrElse({
    duration: formTime,
    orElse: () => Effect.fail(Refusal.server(408, "The fields of the form took too long to arrive."))
  })

const mediaType = (request: HttpServerRequest.HttpServerRequest): string =>
  (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

const urlEncoded = "application/x-www-form-urlencoded"

/** Reads the fields of a urlencoded body. */
export const readUrlEncoded = (
  request: HttpServerRequest.HttpServerRequest,
  limits: Limits.Values
): Effect.Effect<Fields, Malformed | Refusal.Refusal> =>
  mediaType(request) === urlEncoded
    ? inTime(limits)(fromUrlEncoded(request, limits))
    : Effect.fail(new Malformed({ description: "The body is not application/x-www-form-urlencoded." }))

/**
 * Reads the form of a request from the query or from the body, as the operation defines. A body may be urlencoded or
 * multipart, because the official clients send every POST, PUT, PATCH and DELETE request as multipart.
 */
export const read = (
  operation: Operation.Any,
  request: HttpServerRequest.HttpServerRequest,
  limits: Limits.Values
): Effect.Effect<Form, Malformed | Refusal.Refusal, Scope.Scope> => {
  if (operation.carrier === "query") return Effect.map(fromQuery(request.url, limits), withoutFiles)
  const type = mediaType(request)
  if (type === urlEncoded) return Effect.map(readUrlEncoded(request, limits), withoutFiles)
  if (type === "multipart/form-data") {
    return inTime(limits)(fromMultipart(request, limits))
  }
  return Effect.fail(
    new Malformed({ description: `The operation does not accept a body of type ${type || "unknown"}.` })
  )
}
