/** Runs docs/examples/http-server.ts and docs/examples/http-api.ts against the emulator. */
import { Emulator } from "@assembly-effect/emulator"
import { SqliteClient } from "@assembly-effect/sqlite"
import type { Signatures } from "@assembly-effect/http"
import type { Assembly } from "@assembly-effect/schema"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, Queue, Redacted } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { AssemblyUpload } from "@assembly-effect/tus"
import * as HttpApiExample from "../../../docs/examples/http-api.ts"
import { routes } from "../../../docs/examples/http-server.ts"
import { formOf, send, serve, signatureOf } from "./support.ts"

/** A client of the emulator. */
const client = AssemblyUpload.layer.pipe(Layer.provideMerge(Client.signed()), Layer.provideMerge(FetchHttpClient.layer))

const application = Effect.gen(function* () {
  const { baseUrl } = yield* Emulator.Emulator
  const stored = yield* Queue.unbounded<Assembly.Status>()
  const store = (status: Assembly.Status) => Effect.asVoid(Queue.offer(stored, status))
  const served = HttpServer.addressFormattedWith((publicUrl) => Effect.succeed(routes({ publicUrl, store })))
  const { origin } = yield* serve(Layer.unwrap(served).pipe(Layer.provide(client)))
  const page = (path: string, body: unknown, user?: string) =>
    send(`${origin}${path}`, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...(user === undefined ? {} : { cookie: `user=${user}` }) }
    })
  return { baseUrl, origin, page, stored }
})

layer(Emulator.layer())("docs/examples/http-server.ts", (it) => {
  it.effect("signs for a page that then uploads by itself, and is notified", function* () {
    const { baseUrl, page, stored } = yield* application
    const { body, status } = yield* page("/sign", { album: "holidays" }, "ada")
    assert.strictEqual(status, 200)
    const { params, signature } = body as Signatures.Signed

    const form = formOf("a picture", { params, signature })
    const created = yield* send(`${baseUrl}/assemblies`, { body: form })
    assert.strictEqual(created.status, 200)

    const told = yield* Queue.take(stored)
    assert.strictEqual(told.assembly_id, (created.body as { readonly assembly_id: string }).assembly_id)
    assert.deepStrictEqual([told.ok, told.uploads?.[0]?.name], ["ASSEMBLY_COMPLETED", "a.txt"])

    const again = yield* send(`${baseUrl}/assemblies`, { body: form })
    assert.strictEqual((again.body as { readonly error: string }).error, "SIGNATURE_REUSE_DETECTED")
  })

  it.effect("streams a file of a user on, and is notified", function* () {
    const { origin, stored } = yield* application
    const form = formOf("a picture", { album: "holidays" })
    const headers = { cookie: "user=ada" }
    const uploaded = yield* send(`${origin}/uploads/${crypto.randomUUID()}`, { body: form, headers })
    assert.strictEqual(uploaded.status, 200)
    const told = yield* Queue.take(stored)
    assert.deepStrictEqual([told.ok, told.uploads?.[0]?.name], ["ASSEMBLY_COMPLETED", "a.txt"])
    assert.deepStrictEqual(told.fields, { user: "ada", album: "holidays" })
    assert.strictEqual((yield* send(`${origin}/uploads/${crypto.randomUUID()}`, { body: form })).status, 401)
  })

  it.effect("signs nothing for a page without a user", function* () {
    const { page } = yield* application
    const { body, status } = yield* page("/sign", { album: "holidays" })
    const expected = [401, { _tag: "Unauthenticated", description: "Sign in before you upload." }]
    assert.deepStrictEqual([status, body], expected)
    assert.strictEqual((yield* page("/sign", { album: "a".repeat(101) }, "ada")).status, 400)
  })
})

layer(Emulator.layer())("docs/examples/http-api.ts", (it) => {
  it.effect("is shown in docs/http.md", NodeFileSystem.layer, function* () {
    const fs = yield* FileSystem.FileSystem
    const text = (path: string) => fs.readFileString(new URL(`../../../docs/${path}`, import.meta.url).pathname)
    const shown = yield* text("http.md")
    const regions = [...(yield* text("examples/http-api.ts")).matchAll(/\/\/ #region \w+\n(.*?)\/\/ #endregion/gs)]
    assert.strictEqual(regions.length, 1)
    for (const [, program = ""] of regions) assert.include(shown, `\`\`\`ts\n${program.trimEnd()}\n\`\`\``)
  })

  it.effect("answers all three routes, and knows a notification after a restart", NodeFileSystem.layer, function* () {
    const { credentials } = yield* Emulator.Emulator
    const fs = yield* FileSystem.FileSystem
    const database = `${yield* fs.makeTempDirectoryScoped()}/application.db`
    const stored: Array<string> = []
    const store = ({ assembly_id }: Assembly.Status) => Effect.sync(() => void stored.push(assembly_id))
    const run = Effect.fnUntraced(function* () {
      const served = HttpApiExample.routes(store).pipe(
        Layer.provide([client, SqliteClient.layer({ path: database }), NodeHttpServer.layerHttpServices])
      )
      const { origin } = yield* serve(served)
      const cookie = { cookie: "user=ada" }

      const form = formOf("a picture", { album: "holidays" })
      const uploaded = yield* send(`${origin}/uploads/${crypto.randomUUID()}`, { body: form, headers: cookie })
      assert.deepInclude(uploaded.body, { bytes: 9 })

      const headers = { "content-type": "application/json", ...cookie }
      const signed = yield* send(`${origin}/sign`, { body: JSON.stringify({ album: "holidays" }), headers })
      assert.strictEqual(signed.status, 200)

      const document = yield* send(`${origin}/openapi.json`, { method: "GET" })
      const { paths } = document.body as { readonly paths: object }
      assert.hasAllKeys(paths, ["/notifications", "/sign", "/uploads/{uploadId}"])

      const transloadit = JSON.stringify({ ok: "ASSEMBLY_COMPLETED", assembly_id: "a".repeat(32) })
      const notification = new URLSearchParams({
        transloadit,
        signature: signatureOf(transloadit, Redacted.value(credentials.secret))
      })
      return (yield* send(`${origin}/notifications`, { body: notification })).body
    }, Effect.scoped)
    assert.deepStrictEqual([yield* run(), yield* run()], [{ outcome: "Handled" }, { outcome: "Repeated" }])
    assert.deepStrictEqual(stored, ["a".repeat(32)])
  })
})
