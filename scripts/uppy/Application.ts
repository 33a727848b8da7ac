/** The application of docs/examples/http-server.ts with a page, and the emulator. */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { build } from "esbuild"
import { createServer } from "node:http"
import * as path from "node:path"
import { routes } from "../../docs/examples/http-server.ts"

/** Bundles the page with Uppy. */
export const bundle = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, "Page.ts")],
    bundle: true,
    format: "esm",
    minify: true,
    write: false,
    logLevel: "warning"
  })
  return outputFiles[0]?.text ?? ""
}

const html = (service: string) => `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>Uppy with signed params</title>
  <style>
    body { font: 18px/1.6 system-ui; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
    progress { width: 100%; height: 1.5rem }
  </style>
  <body data-service="${service}">
    <h1>Uppy with signed params</h1>
    <p><label>File <input type="file"></label></p>
    <progress max="100" value="0" aria-label="Progress"></progress>
    <ol id="lines"></ol>
    <script type="module" src="/page.js"></script>
  </body>
</html>`

/**
 * Starts the service and the application. `store` gets the Status in each notification. Returns the URL of the page.
 */
export const start = Effect.fnUntraced(function* (options: {
  readonly script: string
  readonly data: string
  readonly store: (status: Assembly.Status) => Effect.Effect<void>
}) {
  const context = yield* Layer.build(Emulator.layer({ data: options.data }))
  const { baseUrl, credentials } = yield* Effect.provideContext(Emulator.Emulator, context)
  const page = Layer.mergeAll(
    HttpRouter.add(
      "GET",
      "/",
      // An application sets this cookie when its user signs in.
      HttpServerResponse.setHeader(HttpServerResponse.html(html(baseUrl)), "set-cookie", "user=ada; SameSite=Lax")
    ),
    HttpRouter.add("GET", "/page.js", HttpServerResponse.text(options.script, { contentType: "text/javascript" }))
  )
  const application = Layer.unwrap(
    HttpServer.addressFormattedWith((publicUrl) =>
      Effect.succeed(Layer.merge(page, routes({ publicUrl, store: options.store })))
    )
  )
  const server = NodeHttpServer.layerServer(() => createServer(), { host: "127.0.0.1", port: 0 })
  const client = AssemblyClient.layer({ baseUrl }).pipe(
    Layer.provide(Authenticator.layerSigned()),
    Layer.provideMerge(Credentials.layer(credentials)),
    Layer.provideMerge(FetchHttpClient.layer)
  )
  const serving = yield* Layer.build(
    HttpRouter.serve(application, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(client),
      Layer.provideMerge(server)
    )
  )
  return yield* Effect.provideContext(HttpServer.addressFormattedWith(Effect.succeed), serving)
})
