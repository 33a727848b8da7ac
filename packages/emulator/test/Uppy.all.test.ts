/** Tests with an unmodified Uppy 6, in Node. */
import { Emulator } from "@assembly-effect/emulator"
import * as Undici from "@effect/platform-node/Undici"
import { assert, it } from "@effect/vitest"
import Uppy, { type Body, type Meta } from "@uppy/core"
import Transloadit from "@uppy/transloadit"
import { DateTime, Effect } from "effect"
import { createHash } from "node:crypto"
import { vi } from "vitest"
import { hmac, storeAt } from "./support.ts"

type Results = Readonly<Record<string, ReadonlyArray<{ readonly sha256: string }>>>

const bytes = Buffer.alloc(300_000, "holiday")

/** An Uppy with one file. Browsers have an `EventSource`, Node has it in undici. */
const uppyOf = Effect.fnUntraced(function* (steps: object) {
  vi.stubGlobal("EventSource", Undici.EventSource)
  yield* Effect.addFinalizer(() => Effect.sync(() => vi.unstubAllGlobals()))
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const expires = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 1 }))
  const params = JSON.stringify({ auth: { key: credentials.key, expires }, steps })
  const uppy = new Uppy<Meta, Body>().use(Transloadit<Meta, Body>, {
    service: baseUrl,
    errorReporting: false,
    waitForEncoding: true,
    assemblyOptions: { params, signature: hmac(params, credentials.secret) }
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => uppy.destroy()))
  // The tus client of Node reads a Buffer; Uppy reads the size of a Blob.
  uppy.addFile({ name: "film.bin", data: Object.assign(Buffer.from(bytes), { size: bytes.length }) as never })
  return uppy
})

it.live("Uppy uploads, follows the stream of updates without polling, and gets the results", () => {
  const requests: Array<string> = []
  return Effect.gen(function* () {
    const uppy = yield* uppyOf(storeAt("uppy.bin"))
    const seen: Array<string> = []
    const polls: Array<unknown> = []
    uppy.on("transloadit:upload", ({ name }) => seen.push(`upload ${name}`))
    uppy.on("transloadit:result", (step, { ssl_url }) => seen.push(`result ${step} ${ssl_url?.split("/").at(-1)}`))
    uppy.on("transloadit:result", () =>
      polls.push(uppy.getPlugin<Transloadit<Meta, Body>>("Transloadit")?.assembly?.pollInterval)
    )
    const done = yield* Effect.promise(() => uppy.upload())
    assert.strictEqual(done?.failed?.length, 0)
    assert.sameMembers(seen, ["upload film.bin", "result :original film.bin", "result stored uppy.bin"])
    const [assembly] = (done?.transloadit ?? []) as ReadonlyArray<{ readonly ok: string; readonly results: Results }>
    assert.strictEqual(assembly?.ok, "ASSEMBLY_COMPLETED")
    assert.strictEqual(assembly?.results["stored"]?.[0]?.sha256, createHash("sha256").update(bytes).digest("hex"))
    assert.strictEqual(requests.filter((name) => name.endsWith("/updates")).length, 1)
    // Uppy stops its timer when the stream opens.
    assert.deepStrictEqual(polls, [null, null])
  }).pipe(
    Effect.scoped,
    Effect.provide(Emulator.layer({ onRequest: ({ path }) => Effect.sync(() => void requests.push(path)) }))
  )
})
