/**
 * Tests a disk that fails during uploads. Acknowledged data stays, a failed request gets an error that names the
 * reason, and the emulator continues when there is space again.
 */
import { Assemblies, Dam } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Identifier } from "@assembly-effect/schema"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { DateTime, Effect, FileSystem, Layer, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { client, start } from "./emulatorProcess.ts"
import { begin, createUpload, head, patch, storeAt } from "./support.ts"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const bytes = Uint8Array.from({ length: 8 * 1024 * 1024 }, (_, index) => (index * 31) % 251)
const sha256 = createHash("sha256").update(bytes).digest("hex")

/** An emulator of this process, and its client. */
const served = (data: string) => Layer.provideMerge(client, Emulator.layer({ data }))

/** An Assembly with one expected upload, and the URL of the upload. */
const waiting = begin({ "upload-length": String(bytes.length) }, { steps: storeAt("disk/${assembly.id}") })

const offsetOf = (url: string) => Effect.map(head(url), ({ headers }) => Number(headers["upload-offset"]))

/** Sends the rest of the bytes and checks that the Assembly has exactly the sent bytes. */
const completes = Effect.fnUntraced(function* ({ id, url }: Effect.Success<typeof waiting>) {
  const offset = yield* offsetOf(url)
  assert.strictEqual((yield* patch(url, offset, bytes.subarray(offset))).status, 204)
  const status = yield* Effect.repeat(Assemblies.get(id), { until: ({ ok }) => ok === "ASSEMBLY_COMPLETED" })
  assert.deepInclude(status.results?.["stored"]?.[0], { size: bytes.length, sha256 })
})

/** A body that is small enough to arrive before its refusal. */
const piece = (offset: number) => bytes.subarray(offset, offset + 100_000)

const isWindows = process.platform === "win32"

// `ulimit` counts in blocks of 512 bytes or 1 KiB, so the limit is 2 or 4 MiB.
it.live.skipIf(isWindows)(
  "a file that may not grow refuses its bytes with 507, and keeps those it has",
  NodeFileSystem.layer,
  function* () {
    const fs = yield* FileSystem.FileSystem
    const data = yield* fs.makeTempDirectoryScoped()
    const limited = yield* start({ data }, "ulimit -f 4096;")
    yield* Effect.gen(function* () {
      const { id, url } = yield* waiting
      let offset = 0
      let refused: { readonly status: number; readonly text: string } | undefined
      while (refused === undefined) {
        const answer = yield* patch(url, offset, piece(offset))
        if (answer.status === 204) offset = Number(answer.headers["upload-offset"])
        else refused = answer
      }
      assert.strictEqual(refused.status, 507)
      assert.strictEqual(
        refused.text,
        "ERR_INSUFFICIENT_STORAGE: the emulator cannot store: there is no space left on the disk (EFBIG)\n"
      )
      const stored = yield* offsetOf(url)
      assert.isAtLeast(stored, offset)
      const [blob = ""] = yield* fs.readDirectory(`${data}/files`)
      const kept = yield* fs.readFile(`${data}/files/${blob}`)
      assert.isTrue(Buffer.from(kept).equals(bytes.subarray(0, stored)))
      // A request with a body that is much larger than the buffer also ends, with or without a response.
      yield* Effect.exit(patch(url, stored, bytes.subarray(stored)))
      assert.strictEqual(yield* offsetOf(url), stored)
      // The emulator still responds to other requests.
      assert.strictEqual((yield* Assemblies.get(id)).ok, "ASSEMBLY_UPLOADING")
      const small = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const created = yield* createUpload(small, { "upload-length": "3" })
      assert.strictEqual((yield* patch(created.url, 0, new Uint8Array(3))).status, 204)
    }).pipe(limited.within)
    yield* limited.kill
    // Without the limit the upload continues at the acknowledged offset.
    yield* Effect.scoped(Layer.build(Emulator.layer({ data })))
  }
)
const mount = (...args: ReadonlyArray<string>) => void execFileSync("mount", args, { stdio: "ignore" })
const unmount = (folder: string) => void execFileSync("umount", [folder], { stdio: "ignore" })

/** A file system of a given size in MiB, until the scope closes. */
const small = (size: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(`${tmpdir()}/small-disk-`)
      mount("-t", "tmpfs", "-o", `size=${size}m`, "tmpfs", folder)
      return folder
    }),
    (folder) =>
      Effect.sync(() => {
        unmount(folder)
        rmdirSync(folder)
      })
  )

const mayMount = (() => {
  try {
    Effect.runSync(Effect.scoped(small(1)))
    return true
  } catch {
    return false
  }
})()

/** Fills the file system. */
const fill = (folder: string) => {
  const chunk = new Uint8Array(64 * 1024)
  for (let size = chunk.length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 8)) {
    try {
      while (true) writeFileSync(`${folder}/filler`, chunk.subarray(0, size), { flag: "a" })
    } catch {
      // The next piece is smaller.
    }
  }
}

describe.skipIf(!mayMount)(
  `a file system of 40 MB${mayMount ? "" : " (skipped: mounting one is not permitted here)"}`,
  () => {
    it.live("that is full refuses with 507, reads on, and goes on when there is room (spec E-15)", function* () {
      const disk = yield* small(40)
      yield* Effect.gen(function* () {
        const done = yield* waiting
        yield* completes(done)
        const upload = yield* waiting
        yield* patch(upload.url, 0, piece(0))
        const last = yield* waiting
        yield* patch(last.url, 0, bytes.subarray(0, bytes.length - 10))
        yield* Effect.sync(() => fill(disk))

        const appended = yield* patch(upload.url, 100_000, piece(100_000))
        assert.strictEqual(appended.status, 507)
        assert.match(
          appended.text,
          /^ERR_INSUFFICIENT_STORAGE: .*there is no space left on the disk \((ENOSPC|SQLITE_FULL)\)\n$/
        )
        const created = yield* Effect.flip(Assemblies.create({}))
        assert.deepInclude(created, { code: "SERVER_507", status: 507 })
        assert.match(created.message, /there is no space left on the disk/)
        // The last byte and the end of the Assembly also need space.
        const finishing = yield* patch(last.url, bytes.length - 10, bytes.subarray(bytes.length - 10))
        assert.strictEqual(finishing.status, 507)
        assert.isAtLeast(yield* offsetOf(upload.url), 100_000)
        assert.strictEqual((yield* Assemblies.get(done.id)).ok, "ASSEMBLY_COMPLETED")

        // Requests that only read are answered, although neither the signature nor the end of an upload can be stored.
        assert.strictEqual(yield* offsetOf(last.url), bytes.length)
        const { count } = yield* Assemblies.list({ fromDate: DateTime.makeUnsafe("2020-01-01") })
        assert.strictEqual(count, 3)

        // A change of the DAM has its own error code.
        const { results } = yield* Assemblies.get(done.id)
        const assetId = Schema.decodeUnknownSync(Identifier.AssetId)(results?.["stored"]?.[0]?.asset_id)
        const changes = [
          Effect.asVoid(Dam.delete(assetId)),
          Effect.asVoid(Dam.moveEntry({ source: `disk/${done.id}`, destination: "some/new/folder" }))
        ]
        for (const change of changes) {
          const failed = yield* Effect.flip(change)
          assert.deepInclude(failed, { _tag: "DamMutationFailed", status: 500 })
          assert.match(failed.message, /there is no space left on the disk/)
          const { asset } = yield* Dam.get(assetId)
          assert.strictEqual(asset.path, `disk/${done.id}`)
        }

        yield* Effect.sync(() => rmSync(`${disk}/filler`))
        yield* Dam.delete(assetId)
        yield* completes(upload)
        yield* completes(last)
        assert.strictEqual((yield* Assemblies.create({})).ok, "ASSEMBLY_COMPLETED")
      }).pipe(Effect.provide(served(`${disk}/data`)))
    })
  }
)
