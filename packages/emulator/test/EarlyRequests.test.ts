/**
 * Requests that arrive after the server has started to listen, and before its routes are ready.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { HttpServer, HttpServerResponse } from "effect/http"
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import * as Certificate from "../src/internal/http/certificate.ts"
import * as Server from "../src/internal/http/server.ts"
import * as Limits from "@assembly-effect/emulator/Limits"
import { assert, layer } from "@assembly-effect/testkit/flow"

const server = Server.layer(0, Limits.defaults).pipe(
  Layer.provide(Certificate.layer(undefined)),
  Layer.provide(NodeServices.layer)
)

layer(server)("A request before the routes are ready", (it) => {
  it.effect("waits for the routes", function* () {
    const { address, serve } = yield* HttpServer.HttpServer
    assert(address._tag === "InetAddressV4")
    const { port } = address
    const early = ["/first", "/second"].map((path) =>
      request({ host: "127.0.0.1", port, path, method: "POST", headers: { expect: "100-continue" } })
    )
    // The server answers 100 when it has read the headers of a request.
    yield* Effect.promise(() => Promise.all(early.map((one) => once(one, "continue"))))
    yield* serve(Effect.succeed(HttpServerResponse.text("ready")))
    const answers = early.map((one) => once(one, "response") as Promise<[IncomingMessage]>)
    for (const one of early) one.end("{}")
    const statuses = (yield* Effect.promise(() => Promise.all(answers))).map(([{ statusCode }]) => statusCode)
    assert.deepStrictEqual(statuses, [200, 200])
  })
})
