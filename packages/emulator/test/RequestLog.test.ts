import { Assemblies } from "@assembly-effect/api"
import * as Templates from "@assembly-effect/api/Templates"
import type { RequestLog } from "@assembly-effect/emulator"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { createUpload, head, layer as layerEmulator, patch, send } from "./support.ts"

it.live("tells the listener the operation, the status, the Assembly and the reason of each request", () => {
  const heard: Array<RequestLog.Entry> = []
  const onRequest = (entry: RequestLog.Entry) => Effect.sync(() => void heard.push(entry))
  return Effect.gen(function* () {
    const created = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    const { assembly_id: id, tus_url = "" } = created
    yield* Assemblies.get(id)
    yield* Effect.flip(Templates.get("nope"))
    const url = (yield* createUpload(created, { "upload-length": "1" })).url
    yield* head(url)
    yield* patch(url, 0, new Uint8Array(1))
    yield* head(`${tus_url}x`)
    yield* send(HttpClientRequest.patch(`${tus_url}x`))
    const none = "0".repeat(32)
    for (const path of [`/assemblies/${none}`, `/assemblies/${none}0`, "/nothing?signature=secret"]) {
      yield* send(HttpClientRequest.get(path))
    }
    const notFound = "ASSEMBLY_NOT_FOUND: There is no such Assembly."
    assert.deepStrictEqual(
      heard.map(({ assemblyId, method, operation, reason, status }) => [method, operation, status, assemblyId, reason]),
      [
        ["POST", "Assemblies.create", 200, id, undefined],
        ["GET", "Assemblies.get", 200, id, undefined],
        ["GET", "Templates.get", 404, undefined, "TEMPLATE_NOT_FOUND: There is no such Template in this Workspace."],
        ["POST", "Tus.create", 201, id, undefined],
        ["HEAD", "Tus.offset", 200, id, undefined],
        ["PATCH", "Tus.append", 204, id, undefined],
        ["HEAD", "Tus.offset", 404, undefined, "ERR_UPLOAD_NOT_FOUND: there is no such upload"],
        ["PATCH", "Tus.append", 412, undefined, "ERR_UNSUPPORTED_VERSION: tus-resumable must be 1.0.0"],
        ["GET", "Assemblies.get", 404, none, notFound],
        ["GET", "Assemblies.get", 404, undefined, notFound],
        ["GET", undefined, 404, undefined, "SERVER_404: There is no such operation."]
      ]
    )
    assert.strictEqual(heard.at(-1)?.path, "/nothing")
    assert.notInclude(JSON.stringify(heard), "signature")
  }).pipe(Effect.provide(layerEmulator({ onRequest })))
})

it.live.each<readonly [string, unknown]>([
  ["throws", () => assert.fail("no")],
  ["dies", () => Effect.die("no")],
  ["is async", async () => undefined]
])("answers a request if onRequest %s", ([, onRequest]) =>
  // A JavaScript program may give any value.
  Assemblies.create({ numExpectedUploadFiles: 1 }).pipe(
    Effect.provide(layerEmulator({ onRequest: onRequest as RequestLog.Listener }))
  )
)
