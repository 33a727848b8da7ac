import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Refusal from "../Refusal.ts"
import * as Body from "./body.ts"
import * as Form from "./form.ts"

/**
 * How many bytes a body may have in addition to the `maxBytes` of its file: for the fields, and for the boundaries and
 * headers of all parts.
 */
const besides = 256 * 1024

const limits = { bytes: 64 * 1024, fields: 32, time: 0 }

/**
 * A form with one file.
 *
 * - `fields`: the fields before the file.
 * - `content`: the bytes of the file. The stream ends only after the whole form was read and no part follows the file,
 *   so that a file that was cut off never looks complete.
 */
export interface FileForm {
  readonly fields: Readonly<Record<string, string>>
  readonly filename: string
  readonly contentType: string
  readonly content: (maxBytes: number) => Stream.Stream<Uint8Array, Body.Problem>
}

const malformed = (problem: string) => new Refusal.BodyMalformed({ description: problem })
const secondFile = malformed("The form has more than one file.")

/**
 * The error for a form that has parts after the file. The policy runs before these parts arrive, so the policy could
 * not read a field after the file.
 */
const afterFile = (parts: ReadonlyArray<Multipart.Part>): Refusal.BodyMalformed | undefined => {
  if (parts.some(Multipart.isFile)) return secondFile
  const field = parts.find(Multipart.isField)
  if (field === undefined) return undefined
  return malformed(`The field ${field.key.slice(0, 100)} comes after the file. Send all fields before the file.`)
}

/**
 * The body of a request. The stream fails if the body has more bytes than `room` returns, or if no byte arrives for
 * `idleTimeout`.
 */
const bodyOf = (
  request: HttpServerRequest.HttpServerRequest,
  idleTimeout: Duration.Input,
  room: () => number
): Stream.Stream<Uint8Array, Body.Problem> =>
  request.stream.pipe(
    Stream.mapError((): Body.Problem => malformed("The body breaks off.")),
    Stream.timeoutOrElse({
      duration: idleTimeout,
      orElse: () => Stream.fail<Body.Problem>(new Refusal.BodyTooSlow({ description: "The body stopped arriving." }))
    }),
    Body.limited(room, "The body is too large.")
  )

/**
 * Reads a multipart form up to its file. The file is read later, while the scope is open.
 */
export const read = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  idleTimeout: Duration.Input
): Effect.fn.Return<FileForm, Body.Problem | Refusal.UnsupportedBody, Scope.Scope> {
  if (Body.mediaType(request) !== "multipart/form-data") {
    return yield* new Refusal.UnsupportedBody({ description: "The body is not multipart/form-data." })
  }
  let room = besides
  const pull = yield* Stream.toPull(
    Form.parts(
      request,
      bodyOf(request, idleTimeout, () => room),
      limits
    )
  )
  const next = Pull.catchDone(pull, () => Effect.succeed([] as ReadonlyArray<Multipart.Part>))

  const fields: Array<readonly [string, string]> = []
  let parts = yield* next
  while (parts.length > 0 && !parts.some(Multipart.isFile)) {
    for (const part of parts) if (Multipart.isField(part)) fields.push([part.key, part.value])
    parts = yield* next
  }
  const at = parts.findIndex(Multipart.isFile)
  const file = parts[at]
  if (file === undefined || !Multipart.isFile(file)) return yield* malformed("The form has no file.")
  for (const part of parts.slice(0, at)) if (Multipart.isField(part)) fields.push([part.key, part.value])
  const names = fields.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) return yield* malformed(`The form has the field ${twice.slice(0, 100)} twice.`)
  const problem = afterFile(parts.slice(at + 1))
  if (problem !== undefined) return yield* problem

  const end = Effect.gen(function* () {
    for (let rest = yield* next; rest.length > 0; rest = yield* next) {
      const late = afterFile(rest)
      if (late !== undefined) return yield* late
    }
  })

  const content = (maxBytes: number) =>
    Stream.suspend(() => {
      room = maxBytes + besides
      return file.content.pipe(
        Stream.mapError(Form.toProblem(limits)),
        Body.limited(() => maxBytes, `The file has more than ${maxBytes} bytes.`),
        Stream.concat(Stream.drain(Stream.fromEffect(end)))
      )
    })

  return { fields: Object.fromEntries(fields), filename: file.name, contentType: file.contentType, content }
})

/** Whether the `content-length` of a request is too large for a form whose file has at most `maxBytes` bytes. */
export const announcesMore = (request: HttpServerRequest.HttpServerRequest, maxBytes: number): boolean =>
  Number(request.headers["content-length"] ?? 0) > maxBytes + besides
