import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Templates from "@assembly-effect/api/Templates"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import type * as RequestLog from "@assembly-effect/emulator/RequestLog"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { layer as layerEmulator } from "./support.ts"

it.live("tells the listener the operation, the status and the reason of each request, and no signature", () => {
  const heard: Array<RequestLog.Entry> = []
  const onRequest = (entry: RequestLog.Entry) => Effect.sync(() => void heard.push(entry))
  return Effect.gen(function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const { assembly_id, tus_url = "" } = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    yield* Assemblies.get(assembly_id)
    yield* Effect.flip(Templates.get("nope"))
    yield* Effect.promise(() => fetch(`${tus_url}x`, { method: "HEAD", headers: { "tus-resumable": "1.0.0" } }))
    yield* Effect.promise(() => fetch(`${tus_url}x`, { method: "PATCH" }))
    yield* Effect.promise(() => fetch(`${baseUrl}/assemblies/${"0".repeat(33)}`))
    yield* Effect.promise(() => fetch(`${baseUrl}/nothing?signature=secret`))
    assert.deepStrictEqual(
      heard.map(({ method, operation, reason, status }) => [method, operation, status, reason]),
      [
        ["POST", "Assemblies.create", 200, undefined],
        ["GET", "Assemblies.get", 200, undefined],
        ["GET", "Templates.get", 404, "TEMPLATE_NOT_FOUND: There is no such Template in this Workspace."],
        ["HEAD", "Tus.offset", 404, "ERR_UPLOAD_NOT_FOUND: there is no such upload"],
        ["PATCH", "Tus.append", 412, "ERR_UNSUPPORTED_VERSION: tus-resumable must be 1.0.0"],
        ["GET", "Assemblies.get", 404, "ASSEMBLY_NOT_FOUND: There is no such Assembly."],
        ["GET", undefined, 404, "SERVER_404: There is no such operation."]
      ]
    )
    assert.deepStrictEqual(
      heard.map(({ assemblyId }) => assemblyId),
      [assembly_id, assembly_id, undefined, undefined, undefined, undefined, undefined]
    )
    assert.strictEqual(heard.at(-1)?.path, "/nothing")
    assert.notInclude(JSON.stringify(heard), "signature")
  }).pipe(Effect.provide(layerEmulator({ onRequest })))
})

it.live.each<readonly [string, unknown]>([
  [
    "throws",
    () => {
      throw new Error("no")
    }
  ],
  ["dies", () => Effect.die("no")],
  ["is async", async () => undefined]
])("answers a request if onRequest %s", ([, onRequest]) =>
  // A JavaScript program may give any value.
  Assemblies.create({ numExpectedUploadFiles: 1 }).pipe(
    Effect.provide(layerEmulator({ onRequest: onRequest as RequestLog.Listener }))
  )
)

it.live("tells the listener which Assembly each request of an upload is about", () => {
  const heard: Array<RequestLog.Entry> = []
  const onRequest = (entry: RequestLog.Entry) => Effect.sync(() => void heard.push(entry))
  return Effect.gen(function* () {
    const created = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    const id = created.assembly_id
    const [url, tusUrl] = [created.assembly_ssl_url ?? "", created.tus_url ?? ""]
    const base64 = (text: string) => Buffer.from(text).toString("base64")
    const tus = { "tus-resumable": "1.0.0" }
    const upload = yield* Effect.promise(() =>
      fetch(tusUrl, {
        method: "POST",
        headers: {
          ...tus,
          "upload-length": "1",
          "upload-metadata": `assembly_url ${base64(url)},filename YQ==,fieldname Yg==`
        }
      })
    )
    const at = new URL(upload.headers.get("location") ?? "", tusUrl)
    yield* Effect.promise(() => fetch(at, { method: "HEAD", headers: tus }))
    yield* Effect.promise(() =>
      fetch(at, {
        method: "PATCH",
        headers: { ...tus, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
        body: "x"
      })
    )
    const none = "0".repeat(32)
    yield* Effect.promise(() => fetch(new URL(`/assemblies/${none}`, tusUrl)))
    assert.deepStrictEqual(
      heard.map(({ assemblyId, operation, status }) => [operation, status, assemblyId]),
      [
        ["Assemblies.create", 200, id],
        ["Tus.create", 201, id],
        ["Tus.offset", 200, id],
        ["Tus.append", 204, id],
        ["Assemblies.get", 404, none]
      ]
    )
  }).pipe(Effect.provide(layerEmulator({ onRequest })))
})
