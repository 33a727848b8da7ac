import * as Input from "@assembly-effect/schema/unstable/Input"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Refusal from "../Refusal.ts"

/** `bytes`: the maximum size of a body. `time`: how long a body may take to arrive. */
export interface Limits {
  readonly bytes: number
  readonly time: Duration.Input
}

/**
 * Limits the number of bytes that all requests of a route together hold in memory. `take` reserves bytes, or returns
 * false if the limit would be exceeded. `give` frees reserved bytes.
 */
export interface Budget {
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
}

export const budget = (most: number): Budget => {
  let held = 0
  return {
    take: (bytes) => {
      if (held + bytes > most) return false
      held += bytes
      return true
    },
    give: (bytes) => {
      held -= bytes
    }
  }
}

/** Why a body cannot be read. */
export type Problem = Refusal.BodyMalformed | Refusal.BodyTooLarge | Refusal.BodyTooSlow | Refusal.Busy

/** Fails a stream that has more bytes than there is room for. */
export const limited =
  (room: () => number, description: string) =>
  <E>(stream: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | Refusal.BodyTooLarge> =>
    Stream.suspend(() => {
      let bytes = 0
      return Stream.mapEffect(stream, (chunk) => {
        bytes += chunk.length
        return bytes > room() ? Effect.fail(new Refusal.BodyTooLarge({ description })) : Effect.succeed(chunk)
      })
    })

/** The media type of a body in lower case, without its parameters. */
export const mediaType = (request: HttpServerRequest.HttpServerRequest): string =>
  (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

/** The body of a request. The stream fails if the body has more than `most` bytes. */
const bounded = (
  request: HttpServerRequest.HttpServerRequest,
  most: number
): Stream.Stream<Uint8Array, Refusal.BodyMalformed | Refusal.BodyTooLarge> =>
  Stream.suspend(() => {
    // A body whose announced size exceeds the limit is refused before it is received.
    if (Number(request.headers["content-length"] ?? 0) > most)
      return Stream.fail(new Refusal.BodyTooLarge({ description: `The body has more than ${most} bytes.` }))
    return request.stream.pipe(
      Stream.mapError(() => new Refusal.BodyMalformed({ description: "The body breaks off." })),
      limited(() => most, `The body has more than ${most} bytes.`)
    )
  })

/** Fails if `reading` does not end within the time limit. */
const inTime =
  (time: Duration.Input) =>
  <A, E, R>(reading: Effect.Effect<A, E, R>): Effect.Effect<A, E | Refusal.BodyTooSlow, R> =>
    Effect.timeoutOrElse(reading, {
      duration: time,
      orElse: () => Effect.fail(new Refusal.BodyTooSlow({ description: "The body took too long to arrive." }))
    })

/**
 * Reads a whole body with `read`, within its limits. The bytes count towards the budget `shared` until `read` ends.
 */
export const within = <A, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  limits: Limits,
  shared: Budget,
  read: (body: Stream.Stream<Uint8Array, Problem>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | Refusal.BodyTooSlow, R> =>
  Effect.suspend(() => {
    let held = 0
    const body = Stream.mapEffect(bounded(request, limits.bytes), (chunk) => {
      if (!shared.take(chunk.length)) {
        return Effect.fail(new Refusal.Busy({ description: "Too many requests are being received." }))
      }
      held += chunk.length
      return Effect.succeed(chunk)
    })
    return Effect.ensuring(
      inTime(limits.time)(read(body)),
      Effect.sync(() => shared.give(held))
    )
  })

/** The body as text. Invalid UTF-8 is refused. */
export const text = (body: Stream.Stream<Uint8Array, Problem>): Effect.Effect<string, Problem> =>
  Effect.gen(function* () {
    const chunks: Array<Uint8Array> = []
    yield* Stream.runForEach(body, (chunk) => Effect.sync(() => chunks.push(chunk)))
    return yield* decode(chunks)
  })

const decode = (chunks: ReadonlyArray<Uint8Array>): Effect.Effect<string, Refusal.BodyMalformed> =>
  Effect.try({
    try: () => {
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      let whole = ""
      for (const chunk of chunks) whole += decoder.decode(chunk, { stream: true })
      return whole + decoder.decode()
    },
    catch: () => new Refusal.BodyMalformed({ description: "The body is not UTF-8." })
  })

/**
 * Decodes what a user sent. The error names the first field that breaks a rule, and the rule: `missing` for a field that
 * is not there.
 */
export const decoded = <A>(schema: Schema.Codec<A, unknown>, missing: string) => {
  const run = Schema.decodeUnknownEffect(schema)
  return (value: unknown): Effect.Effect<A, Refusal.InvalidInput> =>
    Effect.mapError(run(value), ({ issue }) => {
      const [{ message, path } = { message: "The body is invalid.", path: [] }] = Input.fromSchemaIssue(issue)
      const field = path.join(".").slice(0, 100)
      const description = message === "Missing key" ? missing : message.slice(0, 500)
      return new Refusal.InvalidInput({ ...(field === "" ? {} : { field }), description })
    })
}
