import { assert } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Queue } from "effect"
import { HttpClientRequest, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { signedFields } from "./signedCalls.ts"
import { json, send } from "./support.ts"

/** A received notification. */
interface Received {
  readonly transloadit: string
  readonly signature: string
}

/** A server that answers notifications with the given statuses, then with 200. */
export const receiver = Effect.fnUntraced(function* (
  statuses: ReadonlyArray<number>,
  options: {
    /** The address on which the server listens. */
    readonly host?: string
    readonly answer?: HttpServerResponse.HttpServerResponse
  } = {}
) {
  const { answer = HttpServerResponse.text("heard"), host = "127.0.0.1" } = options
  const received = yield* Queue.unbounded<Received>()
  const left = [...statuses]
  const server = yield* NodeHttpServer.make(() => createServer(), { host, port: 0 })
  yield* server.serve(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const body = yield* Effect.orDie(request.arrayBuffer)
      const headers = { "content-type": request.headers["content-type"] ?? "" }
      const form = yield* Effect.promise(() => new Response(body, { headers }).formData())
      yield* Queue.offer(received, {
        transloadit: String(form.get("transloadit")),
        signature: String(form.get("signature"))
      })
      return HttpServerResponse.setStatus(answer, left.shift() ?? 200)
    })
  )
  const { port } = new URL(HttpServer.formatAddress(server.address))
  const urlAt = (hostname: string) => `http://${hostname}:${port}/hook`
  return { url: urlAt(host), urlAt, next: Queue.take(received), heard: Queue.size(received) }
})

/** Sends a form with the signature of the first Auth Key. */
export const signedForm = Effect.fnUntraced(function* (path: string, params: object, files: ReadonlyArray<File> = []) {
  const form = new FormData()
  for (const [name, value] of Object.entries(yield* signedFields(params))) form.set(name, value)
  for (const file of files) form.append("file", file)
  return yield* send(HttpClientRequest.post(path).pipe(HttpClientRequest.bodyFormData(form)))
})

/** Lists the notification attempts of an Assembly, with the given headers and query. */
export const listed = (assemblyId: string, headers: Readonly<Record<string, string>> = {}, query = "") =>
  Effect.map(send(HttpClientRequest.get(`/assembly_notifications/${assemblyId}${query}`, { headers })), (answer) => {
    const { notifications, ok } = json(answer)
    assert.strictEqual(ok, "ASSEMBLY_NOTIFICATIONS_LISTED")
    return notifications as ReadonlyArray<Readonly<Record<string, unknown>>>
  })
