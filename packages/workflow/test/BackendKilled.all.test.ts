/** Two processes of docs/examples/backend.ts behind a proxy, which are killed while they receive files. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as TcpProxy from "@assembly-effect/testkit/hostile/TcpProxy"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fork } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { createServer } from "node:net"

const [count, kills] = [48, 4]
const size = 256 * 1024
/** What the proxy forwards in a second, so that each kill finds uploads that are running. */
const rate = 4 * 1024 * 1024

const live = Layer.mergeAll(Client.signed(), NodeFileSystem.layer).pipe(
  Layer.provideMerge(Layer.merge(Emulator.layer(), NodeHttpClient.layerUndici))
)

/** A process of the backend with a folder of its own. */
const start = Effect.gen(function* () {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const cwd = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const port = yield* Effect.scoped(Loopback.listen(createServer()))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      fork(new URL("../../../docs/examples/backend.ts", import.meta.url), {
        cwd,
        execArgv: [],
        silent: true,
        env: {
          ...process.env,
          PUBLIC_URL: "http://127.0.0.1:9",
          PORT: String(port),
          ASSEMBLY_BASE_URL: baseUrl,
          ASSEMBLY_AUTH_KEY: credentials.key,
          ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
        }
      })
    ),
    (running) => Effect.sync(() => running.kill("SIGKILL"))
  )
  yield* Effect.callback<void>((resume) => {
    let text = ""
    const read = (bytes: Buffer) => {
      text += String(bytes)
      if (text.includes("Listening on")) resume(Effect.void)
    }
    child.stdout?.on("data", read)
    child.stderr?.on("data", read)
    child.once("exit", () => resume(Effect.die(new Error(text))))
  })
  return { url: `http://127.0.0.1:${port}`, kill: () => child.kill("SIGKILL") }
})

interface Answer {
  readonly status: number
  readonly body: { readonly bytes?: number; readonly _tag?: string; readonly description?: string }
}

/** Sends a form. A broken connection has no answer. */
const send = (url: string, album: string, bytes: Uint8Array<ArrayBuffer>): Effect.Effect<Answer | undefined> =>
  Effect.promise(async (signal) => {
    const body = new FormData()
    body.set("album", album)
    body.set("file", new Blob([bytes]), "a.bin")
    try {
      const response = await fetch(url, { method: "POST", body, headers: { cookie: "user=ada" }, signal })
      return { status: response.status, body: (await response.json()) as Answer["body"] }
    } catch {
      return undefined
    }
  })

layer(live)("Two processes of the backend behind a proxy", (it) => {
  it.effect(
    `store each of ${count} files once, however often a form is sent, while ${kills} of them are killed`,
    function* () {
      const proxy = yield* TcpProxy.make(rate)
      let processes = yield* Effect.all([start, start], { concurrency: 2 })
      const passOn = () => proxy.to(...processes.map(({ url }) => url))
      passOn()
      const files = Array.from({ length: count }, (_, index) => ({
        album: `album ${index}`,
        url: `http://127.0.0.1:${proxy.port}/assembly-uploads/${crypto.randomUUID()}`,
        bytes: new Uint8Array(randomBytes(size))
      }))
      const refused: Array<Answer> = []
      let broken = 0

      const uploadAll = Effect.forEach(
        files,
        ({ album, bytes, url }) =>
          Effect.gen(function* () {
            for (;;) {
              const answer = yield* send(url, album, bytes)
              if (answer?.status === 200) return answer.body.bytes
              if (answer === undefined) broken++
              else refused.push(answer)
              yield* Effect.sleep("100 millis")
            }
          }),
        { concurrency: 8 }
      )
      const killAll = Effect.forEach(
        Array.from({ length: kills }, (_, kill) => kill),
        (kill) =>
          Effect.gen(function* () {
            yield* proxy.reached(((kill + 0.5) / kills) * count * size)
            const [first, second] = processes
            first.kill()
            proxy.to(second.url)
            processes = [second, yield* start]
            passOn()
          })
      )
      const [stored] = yield* Effect.all([uploadAll, killAll], { concurrency: 2 })
      assert.deepStrictEqual([...new Set(stored)], [size])
      assert.isAbove(broken, 0)
      for (const { body } of refused) {
        assert.include(["UploadExists", "UploadFailed"], body._tag)
        assert.match(body.description ?? "", /^[A-Z].*\.$/)
      }

      const listed = yield* Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0) }))
      const all = yield* Effect.forEach(listed, ({ id }) => Assemblies.get(Assembly.AssemblyId.make(id)))
      const completed = all.filter((status) => Assembly.state(status) === "Completed")
      assert.sameDeepMembers(
        completed.map(({ fields, uploads }) => [fields?.["album"], uploads?.map(({ sha256 }) => sha256)]),
        files.map(({ album, bytes }) => [album, [createHash("sha256").update(bytes).digest("hex")]])
      )
      const others = all.filter((status) => Assembly.state(status) !== "Completed")
      for (const status of others) assert.strictEqual(Assembly.state(status), "Canceled")
      assert.isAbove(others.length, 0)
      console.log(`${broken} broken connections, ${refused.length} refusals, ${others.length} canceled Assemblies`)
    }
  )
})
