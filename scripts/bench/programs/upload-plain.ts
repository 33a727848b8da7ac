/** The same upload with Effect alone: tus in slices of 8 MiB, repeated from the offset of the server. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Offset = Schema.Struct({ "upload-offset": Schema.FiniteFromString.check(Schema.isInt()) })
const Created = Schema.Struct({ location: Schema.NonEmptyString })

const size = 8 * 1024 * 1024
const policy = { schedule: Schedule.exponential("500 millis"), times: 8 }

class Refused extends Schema.TaggedError<Refused>()("Refused", { status: Schema.Int }) {}

const send = (request: HttpClientRequest.HttpClientRequest) =>
  HttpClient.execute(HttpClientRequest.setHeader(request, "tus-resumable", "1.0.0")).pipe(
    Effect.timeout(Duration.seconds(30)),
    Effect.flatMap((response) =>
      response.status >= 200 && response.status < 300
        ? Effect.succeed(response)
        : Effect.fail(new Refused({ status: response.status }))
    )
  )

const offsetAt = (url: string) =>
  send(HttpClientRequest.head(url)).pipe(
    Effect.flatMap(HttpClientResponse.schemaHeaders(Offset)),
    Effect.map((headers) => headers["upload-offset"])
  )

const create = (file: File, assembly: { readonly tusUrl: string; readonly assemblySslUrl: string }) => {
  const metadata = { filename: file.name, fieldname: "file", assembly_url: assembly.assemblySslUrl }
  return send(
    HttpClientRequest.post(assembly.tusUrl).pipe(
      HttpClientRequest.setHeaders({
        "upload-length": String(file.size),
        "upload-metadata": Object.entries(metadata)
          .map(([key, value]) => `${key} ${Base64.encode(new TextEncoder().encode(value))}`)
          .join(",")
      })
    )
  ).pipe(
    Effect.flatMap(HttpClientResponse.schemaHeaders(Created)),
    Effect.map(({ location }) => new URL(location, assembly.tusUrl).href)
  )
}

const append = (file: File, url: string, offset: number) =>
  send(
    HttpClientRequest.patch(url).pipe(
      HttpClientRequest.setHeader("upload-offset", String(offset)),
      HttpClientRequest.setBody(
        HttpBody.raw(file.slice(offset, offset + size), { contentType: "application/offset+octet-stream" })
      )
    )
  ).pipe(
    Effect.flatMap(HttpClientResponse.schemaHeaders(Offset)),
    Effect.map((headers) => headers["upload-offset"])
  )

const events = (
  file: File,
  assembly: { readonly tusUrl: string; readonly assemblySslUrl: string },
  kept: string | undefined
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const url = kept ?? (yield* create(file, assembly))
      const first = kept === undefined ? 0 : yield* offsetAt(url)
      return Stream.paginate(first, (offset) =>
        append(file, url, offset).pipe(
          Effect.catch(() => offsetAt(url)),
          Effect.retry(policy),
          Effect.map((next) => [[{ url, sent: next }], next < file.size ? Option.some(next) : Option.none()] as const)
        )
      )
    })
  )

export const upload = (
  file: File,
  assembly: { readonly tusUrl: string; readonly assemblySslUrl: string },
  kept: string | undefined,
  show: (event: { readonly sent: number }) => void
) =>
  events(file, assembly, kept).pipe(
    Stream.runForEach((event) => Effect.sync(() => show(event))),
    Effect.provide(FetchHttpClient.layer),
    Effect.runPromise
  )
