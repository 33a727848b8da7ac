/** The example of an upload inside an Activity of a workflow: its process is killed at several points, and started again. */
import { Assemblies } from "@assembly-effect/api"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { assemblies, folder, proxied, storedIn } from "./support.ts"

const example = new URL("../../../docs/examples/durable-activity.ts", import.meta.url)

/** So large that the last process has something left, however slowly the others are killed. */
const size = 12 * 1024 * 1024

/** After how many bytes each process is killed: during the requests before the file, and then during the file. */
const points = [1, 400, 1100, 2500, 512 * 1024, 512 * 1024]

layer(NodeFileSystem.layer)("An upload inside an Activity", (it) => {
  it.effect(`whose process is killed at ${points.length} points is one Assembly with one upload`, function* () {
    const { clients, orders, proxy } = yield* proxied(4 * 1024 * 1024)
    const { file, path } = yield* folder
    const content = yield* file("a.bin", size)
    const env = {
      ...process.env,
      ASSEMBLY_BASE_URL: orders.baseUrl,
      ASSEMBLY_AUTH_KEY: orders.key,
      ASSEMBLY_AUTH_SECRET: orders.secret
    }
    const start = Effect.acquireRelease(
      Effect.sync(() => fork(example, ["a.bin"], { env, cwd: path, execArgv: [], silent: true })),
      (process) => Effect.sync(() => process.kill("SIGKILL"))
    )
    for (const point of points) {
      yield* Effect.gen(function* () {
        const before = proxy.sent()
        const child = yield* start
        yield* proxy.reached(before + point)
        assert.isNull(child.exitCode, "the process ended before it was killed")
        child.kill("SIGKILL")
        yield* Effect.promise(() => once(child, "exit"))
      }).pipe(Effect.scoped)
    }
    const printed = yield* Effect.gen(function* () {
      const child = yield* start
      let text = ""
      child.stdout?.on("data", (piece) => (text += piece))
      child.stderr?.on("data", (piece) => (text += piece))
      yield* Effect.promise(() => once(child, "close"))
      return text
    }).pipe(Effect.scoped)
    assert.strictEqual(printed, "a.bin: 1 stored\n")
    yield* Effect.gen(function* () {
      const all = yield* assemblies()
      assert.lengthOf(all, 1)
      const status = yield* Assemblies.get(String(all[0]?.id) as Parameters<typeof Assemblies.get>[0])
      assert.deepInclude(status, { ok: "ASSEMBLY_COMPLETED", started_tus_uploads: 1, finished_tus_uploads: 1 })
      assert.deepStrictEqual(storedIn(status), [content.sha256])
    }).pipe(Effect.provide(clients))
  })
})
