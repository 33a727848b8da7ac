import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ApiError from "../ApiError.ts"
import type { ServiceUrl } from "../ServiceUrl.ts"
import * as Transport from "../Transport.ts"

const subject = { operation: "Assemblies.watch" }

/** The text of an update stream as it comes; neither credential nor redirect. */
export const open = (
  http: HttpClient.HttpClient,
  url: ServiceUrl
): Stream.Stream<string, ApiError.TransportFailure | ApiError.UnexpectedResponse> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const request = HttpClientRequest.get(Redacted.value(url), { accept: "text/event-stream" })
      const { status, stream } = yield* Transport.execute(http, request, subject)
      if (status !== 200) {
        return yield* new ApiError.UnexpectedResponse({
          ...subject,
          status,
          problem: "not an update stream",
          excerpt: ""
        })
      }
      return stream.pipe(Stream.mapError(Transport.toFailure(subject)), Stream.decodeText)
    })
  )
