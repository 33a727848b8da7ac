/**
 * The application of the page. It has the Auth Key and its secret, creates an Assembly for each file, and gives the
 * page the two URLs that an upload needs. The page never sees a credential.
 */
import { Assemblies } from "@assembly-effect/api"
import * as AssemblyClientConfig from "@assembly-effect/api/AssemblyClientConfig"
import { UndiciClient } from "@assembly-effect/node"
import { Assembly } from "@assembly-effect/schema"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse, HttpStaticServer } from "effect/http"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"

/** The Steps for each file. The application chooses them, so that the page cannot. */
const steps = { ":original": { robot: "/upload/handle" } }

const failed = Effect.succeed(HttpServerResponse.text("The service failed.", { status: 502 }))

/** A real application authenticates its user before this route. */
const create = HttpRouter.add(
  "POST",
  "/assemblies",
  Assemblies.create({ steps, numExpectedUploadFiles: 1 }).pipe(
    Effect.map(({ assembly_ssl_url, tus_url }) =>
      HttpServerResponse.jsonUnsafe({ assemblySslUrl: assembly_ssl_url, tusUrl: tus_url })
    ),
    Effect.tapError((error) => Effect.logError(error.message)),
    Effect.catch(() => failed)
  )
)

/** An id has 128 random bits: whoever knows it may cancel its Assembly. */
const cancel = HttpRouter.add(
  "DELETE",
  "/assemblies/:assemblyId",
  HttpRouter.schemaPathParams(Schema.Struct({ assemblyId: Assembly.AssemblyId })).pipe(
    Effect.flatMap(({ assemblyId }) => Assemblies.cancel(assemblyId)),
    Effect.as(HttpServerResponse.empty({ status: 204 })),
    Effect.catchTag("SchemaError", () => Effect.succeed(HttpServerResponse.empty({ status: 404 }))),
    Effect.catch(() => failed)
  )
)

/** The page may load only files of this application, and connect only to this application and to the service. */
const policy = Effect.map(Config.String("ASSEMBLY_BASE_URL"), (baseUrl) =>
  HttpRouter.middleware(
    Effect.map(
      HttpServerResponse.setHeaders({
        "content-security-policy": `default-src 'self'; img-src data:; connect-src 'self' ${new URL(baseUrl).origin}`,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff"
      })
    ),
    { global: true }
  )
)

const page = HttpStaticServer.layer({ root: fileURLToPath(new URL("public", import.meta.url)) })

const announce = HttpServer.addressFormattedWith((address) =>
  Console.log(`Open ${address.replace(/\/\/[^:]+/, "//localhost")}`)
)

// ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET configure the client; PORT is 8080 by default.
const live = Layer.unwrap(
  Effect.gen(function* () {
    const port = yield* Config.withDefault(Config.Int("PORT"), 8080)
    const routes = Layer.mergeAll(create, cancel, page, Layer.unwrap(policy))
    return Layer.merge(
      HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }),
      Layer.effectDiscard(announce)
    ).pipe(
      Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port })),
      Layer.provide(AssemblyClientConfig.layer().pipe(Layer.provide(UndiciClient.layer)))
    )
  })
)

NodeRuntime.runMain(Layer.launch(live))
