import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import type { AssemblyClient } from "../AssemblyClient.ts"
import type { ServiceUrl } from "../ServiceUrl.ts"
import * as Exchange from "../unstable/Exchange.ts"

const operation = "Assemblies.watch"

/**
 * The error for an update stream that belongs to another Assembly. The error does not contain the event, because the
 * Assembly id in the event grants access to that Assembly.
 */
export const ofAnother = (assemblyId: string): ApiError.UnexpectedResponse =>
  new ApiError.UnexpectedResponse({
    operation,
    assemblyId,
    status: 200,
    description: "an update stream of another Assembly",
    excerpt: ""
  })

/**
 * Reads the text of an update stream. Sends no credential and follows no redirect. `connected` runs after a response
 * with the status 200.
 */
export const read = (
  open: AssemblyClient["Service"]["open"],
  url: ServiceUrl,
  connected: Effect.Effect<unknown>
): Stream.Stream<
  string,
  ApiError.TransportFailure | ApiError.RateLimited | ApiError.TimedOut | ApiError.UnexpectedResponse
> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const subject = { operation, ...Exchange.hostOf(Redacted.value(url)) }
      const { status, stream } = yield* open(url, { ...subject, accept: "text/event-stream" })
      if (status !== 200) {
        return yield* new ApiError.UnexpectedResponse({
          ...subject,
          status,
          description: "not an update stream",
          excerpt: ""
        })
      }
      yield* connected
      return stream.pipe(Stream.mapError(Exchange.toFailure(subject)), Stream.decodeText)
    })
  )
