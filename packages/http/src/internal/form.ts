import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Refusal from "../Refusal.ts"
import * as Body from "./body.ts"

/** `fields`: the maximum number of fields. In a multipart form, a file counts as a field. */
export interface Limits extends Body.Limits {
  readonly fields: number
}

const tooMany = ({ fields }: Limits) =>
  new Refusal.BodyTooLarge({ description: `The form has more than ${fields} fields.` })

const badHeaders = "The headers of a part of the multipart body cannot be read."

/** Describes why a form is malformed, by the `_tag` of the parser's error. */
const malformed: Partial<Record<string, string>> = {
  InvalidBoundary: "The content-type of the multipart body names no boundary.",
  BadHeaders: badHeaders,
  InvalidDisposition: "A part of the multipart body does not name its field.",
  EndNotReached: "The multipart body ends before its last boundary."
}

const problems = [Refusal.BodyMalformed, Refusal.BodyTooLarge, Refusal.BodyTooSlow, Refusal.Busy]

const isProblem = (cause: unknown): cause is Body.Problem => problems.some((problem) => cause instanceof problem)

/** Converts an error of the parser to an error of the route. An error of the body itself is returned unchanged. */
export const toProblem =
  (limits: Limits) =>
  (error: Multipart.MultipartError | Body.Problem): Body.Problem => {
    if (error._tag !== "MultipartError") return error
    switch (error.reason._tag) {
      case "TooManyParts":
        return tooMany(limits)
      case "FieldTooLarge":
      case "FileTooLarge":
      case "BodyTooLarge":
        return new Refusal.BodyTooLarge({ description: "A field of the form is too large." })
      default: {
        const { cause } = error.reason
        // If the body failed while a file was read, the cause of the parser's error is the error of the body.
        if (isProblem(cause)) return cause
        const tag = Predicate.hasProperty(cause, "_tag") ? String(cause._tag) : ""
        return new Refusal.BodyMalformed({ description: malformed[tag] ?? "The multipart body cannot be read." })
      }
    }
  }

/** The parts of a multipart body. */
export const parts = (
  request: HttpServerRequest.HttpServerRequest,
  body: Stream.Stream<Uint8Array, Body.Problem>,
  limits: Limits
): Stream.Stream<Multipart.Part, Body.Problem> =>
  body.pipe(
    Stream.pipeThroughChannel(Multipart.makeChannel<Body.Problem>(request.headers)),
    Stream.provideContext(Multipart.limitsServices({ maxParts: limits.fields, maxFieldSize: limits.bytes })),
    Stream.mapError(toProblem(limits)),
    // The parser throws a TypeError if the boundary follows the headers of the first part at once.
    Stream.catchDefect(() => Stream.fail(new Refusal.BodyMalformed({ description: badHeaders })))
  )

/**
 * The values of the wanted fields, by their names. A form that contains a wanted field twice is refused, because
 * nothing defines which of the two values counts.
 */
type Wanted<Name extends string> = Partial<Record<Name, string>>

const collect = <Name extends string>(names: ReadonlyArray<Name>) => {
  const found: Wanted<Name> = {}
  return {
    found,
    add: (name: string, value: string): Effect.Effect<void, Refusal.BodyMalformed> => {
      const wanted = names.find((one) => one === name)
      if (wanted === undefined) return Effect.void
      if (found[wanted] !== undefined) {
        return Effect.fail(new Refusal.BodyMalformed({ description: `The form has the field ${wanted} twice.` }))
      }
      found[wanted] = value
      return Effect.void
    }
  }
}

const fromMultipart = <Name extends string>(
  request: HttpServerRequest.HttpServerRequest,
  names: ReadonlyArray<Name>,
  limits: Limits
) =>
  Effect.fnUntraced(function* (body: Stream.Stream<Uint8Array, Body.Problem>) {
    const fields = collect(names)
    yield* Stream.runForEach(parts(request, body, limits), (part) =>
      // A file is refused, because nothing would read its bytes, so the bytes would stay in memory.
      Multipart.isFile(part)
        ? Effect.fail(new Refusal.BodyMalformed({ description: "The form has a file." }))
        : fields.add(part.key, part.value)
    )
    return fields.found
  })

/** Whether a text has more than `most` fields. The fields are counted before any field is parsed. */
const hasMore = (text: string, most: number): boolean => {
  let at = -1
  for (let count = 0; count < most; count++) {
    at = text.indexOf("&", at + 1)
    if (at === -1) return false
  }
  return true
}

const fromUrlEncoded = <Name extends string>(names: ReadonlyArray<Name>, limits: Limits) =>
  Effect.fnUntraced(function* (body: Stream.Stream<Uint8Array, Body.Problem>) {
    const fields = collect(names)
    const text = yield* Body.text(body)
    if (hasMore(text, limits.fields)) return yield* tooMany(limits)
    for (const [name, value] of new URLSearchParams(text)) yield* fields.add(name, value)
    return fields.found
  })

/** Reads the named fields of a form, multipart or urlencoded. Other fields are ignored. */
export const read = <Name extends string>(
  request: HttpServerRequest.HttpServerRequest,
  names: ReadonlyArray<Name>,
  limits: Limits,
  shared: Body.Budget
): Effect.Effect<Wanted<Name>, Body.Problem | Refusal.UnsupportedBody> => {
  const type = Body.mediaType(request)
  switch (type) {
    case "multipart/form-data":
      return Body.within(request, limits, shared, fromMultipart(request, names, limits))
    case "application/x-www-form-urlencoded":
      return Body.within(request, limits, shared, fromUrlEncoded(names, limits))
    default:
      return Effect.fail(
        new Refusal.UnsupportedBody({ description: "The body is neither multipart nor a urlencoded form." })
      )
  }
}
