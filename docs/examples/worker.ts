/** A worker that stores the body of each request: with `fetch`, WebCrypto, and the variables of the worker. */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials, FetchClient } from "@assembly-effect/auth"
import { AssemblyUpload, UploadSource, WebSource } from "@assembly-effect/tus"
import { Effect, Layer, Redacted } from "effect"

interface Variables {
  readonly ASSEMBLY_BASE_URL: string
  readonly ASSEMBLY_AUTH_KEY: string
  readonly ASSEMBLY_AUTH_SECRET: string
}

const live = (env: Variables) =>
  AssemblyUpload.layer.pipe(
    Layer.provide(AssemblyClient.layer({ baseUrl: env.ASSEMBLY_BASE_URL })),
    Layer.provide(Authenticator.layerSigned()),
    Layer.provide(Credentials.layer({ key: env.ASSEMBLY_AUTH_KEY, secret: Redacted.make(env.ASSEMBLY_AUTH_SECRET) })),
    Layer.provide(FetchClient.layer)
  )

export default {
  fetch: ({ body }: Request, env: Variables) =>
    AssemblyUpload.run({
      params: { steps: { ":original": { robot: "/upload/handle" } } },
      files: [
        {
          source: body === null ? UploadSource.fromBytes(new Uint8Array()) : WebSource.fromReadableStream(() => body),
          filename: "upload.bin"
        }
      ]
    }).pipe(
      Effect.map(({ uploads }) => Response.json({ size: uploads?.[0]?.size })),
      Effect.catch(({ _tag }) => Effect.succeed(Response.json({ error: _tag }, { status: 502 }))),
      Effect.provide(live(env)),
      Effect.runPromise
    )
}
