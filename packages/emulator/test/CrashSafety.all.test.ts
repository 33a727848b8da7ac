import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { fork } from "node:child_process"
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, it } from "@assembly-effect/testkit/flow"
import { temporaryFolder } from "./support.ts"

const program = fileURLToPath(new URL("./fixtures/emulator.ts", import.meta.url))

interface Ready {
  readonly baseUrl: string
  readonly key: string
  readonly secret: string
}

/** Starts an emulator in its own process. `kill` sends SIGKILL and waits for the end of the process. */
const start = (options: { readonly data?: string; readonly port?: number }) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly ready: Ready; readonly kill: Effect.Effect<void>; readonly rss: Effect.Effect<number> }>(
      (resume) => {
        const child = fork(program, [JSON.stringify(options)], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
        const kill = Effect.callback<void>((done) => {
          if (child.exitCode !== null || child.signalCode !== null) return done(Effect.void)
          child.once("exit", () => done(Effect.void))
          child.kill("SIGKILL")
        })
        const rss = Effect.callback<number>((done) => {
          child.once("message", (message) => done(Effect.succeed(Number(message))))
          child.send("rss")
        })
        child.once("message", (ready: Ready) => resume(Effect.succeed({ ready, kill, rss })))
        child.once("exit", (code) => resume(Effect.die(new Error(`the emulator ended with ${code}`))))
      }
    ),
    ({ kill }) => kill
  )

const client = ({ baseUrl, key, secret }: Ready) =>
  Layer.provideMerge(
    AssemblyClient.layer({ baseUrl }).pipe(
      Layer.provide(Authenticator.layerSigned()),
      Layer.provide(Credentials.layer({ key, secret: Redacted.make(secret) }))
    ),
    FetchHttpClient.layer
  )

const tus = { "tus-resumable": "1.0.0" }
const base64 = (text: string) => Buffer.from(text).toString("base64")

const create = (status: Assembly.Status, length: number) =>
  Effect.promise(async () => {
    const metadata = `assembly_url ${base64(status.assembly_ssl_url ?? "")},filename YQ==,fieldname Yg==`
    const headers = { ...tus, "upload-length": String(length), "upload-metadata": metadata }
    const { headers: answered } = await fetch(status.tus_url ?? "", { method: "POST", headers })
    return answered.get("location") ?? ""
  })

const patch = (url: string, offset: number, body: Uint8Array<ArrayBuffer>) =>
  Effect.tryPromise(async () => {
    const headers = { ...tus, "upload-offset": String(offset), "content-type": "application/offset+octet-stream" }
    const answer = await fetch(url, { method: "PATCH", headers, body })
    return Number(answer.headers.get("upload-offset"))
  })
const offsetOf = (url: string) =>
  Effect.promise(async () => Number((await fetch(url, { method: "HEAD", headers: tus })).headers.get("upload-offset")))

const size = 4 * 1024 * 1024
const bytes = Uint8Array.from({ length: size }, (_, index) => (index * 31) % 251)
const sha256 = createHash("sha256").update(bytes).digest("hex")

it.live("the last bytes count, also those that a killed process had only written", NodeFileSystem.layer, function* () {
  const fs = yield* FileSystem.FileSystem
  const data = yield* fs.makeTempDirectoryScoped()
  const first = yield* start({ data })
  const created = yield* Assemblies.create({ numExpectedUploadFiles: 1 }).pipe(Effect.provide(client(first.ready)))
  const url = yield* create(created, 10)
  yield* patch(url, 0, bytes.slice(0, 4))
  yield* first.kill
  const id = url.slice(url.lastIndexOf("/") + 1)
  yield* fs.writeFile(`${data}/files/${id}`, bytes.slice(4, 10), { flag: "a" })

  const second = yield* start({ data, port: Number(new URL(first.ready.baseUrl).port) })
  // The second emulator has received no request for the upload.
  const status = yield* Assemblies.get(Assembly.AssemblyId.make(created.assembly_id)).pipe(
    Effect.provide(client(second.ready))
  )
  assert.deepInclude(status, { ok: "ASSEMBLY_COMPLETED", finished_tus_uploads: 1 })
  assert.strictEqual(status.uploads?.[0]?.size, 10)
})

it.live("a SIGKILL loses no acknowledged byte and no acknowledged Assembly", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  let port = 0
  let assemblyId: Assembly.AssemblyId | undefined
  let url = ""
  let acknowledged = 0

  for (let life = 0; life < 3 && acknowledged < size; life++) {
    const running = yield* start({ data, port })
    port = Number(new URL(running.ready.baseUrl).port)
    if (assemblyId === undefined) {
      const created = yield* Assemblies.create({ numExpectedUploadFiles: 1 }).pipe(
        Effect.provide(client(running.ready))
      )
      assemblyId = Assembly.AssemblyId.make(created.assembly_id)
      url = yield* create(created, size)
    } else {
      const offset = yield* offsetOf(url)
      assert.isAtLeast(offset, acknowledged)
      acknowledged = offset
    }
    // Sends small acknowledged pieces and kills the process during one of them.
    for (let piece = 0; piece < 2 + life && acknowledged < size; piece++) {
      acknowledged = yield* patch(url, acknowledged, bytes.slice(acknowledged, acknowledged + 200_000))
    }
    if (life === 2) {
      acknowledged = yield* patch(url, acknowledged, bytes.slice(acknowledged))
      const status = yield* Assemblies.get(assemblyId).pipe(Effect.provide(client(running.ready)))
      assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
      assert.strictEqual(status.uploads?.[0]?.sha256, sha256)
    }
    const onItsWay = yield* Effect.forkChild(Effect.exit(patch(url, acknowledged, bytes.slice(acknowledged))))
    yield* Effect.yieldNow
    yield* running.kill
    yield* Fiber.join(onItsWay)
  }
  const last = yield* start({ data, port })
  const status = yield* Assemblies.get(assemblyId ?? Assembly.AssemblyId.make("0".repeat(32))).pipe(
    Effect.provide(client(last.ready))
  )
  assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
  assert.deepInclude(status.uploads?.[0], { size, sha256 })
})

it.live(
  "what was stored before a crash is not stored again when its Assembly is executed again",
  NodeFileSystem.layer,
  function* () {
    const data = yield* temporaryFolder
    const content = bytes.slice(0, 1000)
    const steps = {
      hashed: { use: ":original", robot: "/file/hash" },
      stored: { use: "hashed", robot: "/transloadit/store", path: "folder/stored.txt" },
      waiting: { use: "stored", robot: "/emulator/wait", seconds: 600 }
    }
    /** Waits for the asset that the Step makes. */
    const storedBy = (id: Assembly.AssemblyId) =>
      Effect.repeat(Assemblies.get(id), { until: ({ results }) => results?.["stored"] !== undefined }).pipe(
        Effect.map(({ ok, results }) => {
          const file = results?.["stored"]?.[0]
          return { ok, asset: file?.asset_id, version: file?.version_id, path: file?.path }
        })
      )

    const first = yield* start({ data })
    const { before, id } = yield* Effect.gen(function* () {
      const status = yield* Assemblies.create({
        numExpectedUploadFiles: 1,
        steps: { ":original": { robot: "/upload/handle" }, ...steps }
      })
      yield* patch(yield* create(status, content.length), 0, content)
      const created = Assembly.AssemblyId.make(status.assembly_id)
      return { id: created, before: yield* storedBy(created) }
    }).pipe(Effect.provide(client(first.ready)))
    assert.strictEqual(before.ok, "ASSEMBLY_EXECUTING")
    assert.isString(before.version)
    yield* first.kill

    const again = yield* start({ data })
    assert.deepStrictEqual(yield* storedBy(id).pipe(Effect.provide(client(again.ready))), before)
    yield* again.kill
    const database = new DatabaseSync(`${data}/emulator.sqlite`)
    const rows = database.prepare("SELECT id FROM versions").all()
    database.close()
    assert.deepStrictEqual(
      rows.map((row) => row["id"]),
      [before.version]
    )
  }
)
it.live("a data folder belongs to one emulator at a time", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  const other = yield* start({ data })
  const refused = yield* Effect.flip(Layer.build(Emulator.layer({ data })))
  assert.strictEqual(refused._tag, "DataInUse")
  // The end of a process releases the folder, even after SIGKILL.
  yield* other.kill
  yield* Layer.build(Emulator.layer({ data }))
  assert.strictEqual((yield* Effect.flip(Layer.build(Emulator.layer({ data }))))._tag, "DataInUse")
})
