import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as LeaseHolder from "@assembly-effect/node/LeaseHolder"
import * as UndiciClient from "@assembly-effect/node/UndiciClient"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, layer, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { fork, spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"

/** A process that holds the upload of a file and has reported this, with its process id. */
const startHolder = (args: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly id: string; readonly kill: Effect.Effect<void> }>((resume) => {
      const child = fork(new URL("fixtures/holder.ts", import.meta.url), [...args], { execArgv: [] })
      const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      const kill = Effect.promise(() => {
        child.kill("SIGKILL")
        return gone
      })
      child.once("message", (id) => resume(Effect.succeed({ id: String(id), kill })))
      child.once("exit", (code) => resume(Effect.die(new Error(`the holder ended with ${code}`))))
    }),
    ({ kill }) => kill
  )

const live = Layer.provideMerge(
  Client.signed(),
  Layer.mergeAll(Emulator.layer(), UndiciClient.layer, NodeFileSystem.layer, NodePath.layer)
)

const isLinux = process.platform === "linux"

/** Reads `/proc` until a condition is true. */
const until = (pid: number | undefined, holds: (stat: string) => boolean) =>
  Effect.promise(async () => {
    for (;;) {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8")
      if (holds(stat)) return stat
      await new Promise((done) => setImmediate(done))
    }
  })

layer(live, { excludeTestServices: true })("LeaseHolder", (it) => {
  it.effect("knows this process, and that it is not gone", () =>
    Effect.gen(function* () {
      const { id, isGone } = yield* UploadJournal.LeaseHolder
      if (!isLinux) return assert.isUndefined(id)
      assert.isFalse(yield* isGone(id ?? ""))
    }).pipe(Effect.provide(LeaseHolder.layer))
  )

  it.effect("without the Layer, no holder is known", () =>
    Effect.gen(function* () {
      const { id, isGone } = yield* UploadJournal.LeaseHolder
      assert.isUndefined(id)
      assert.isFalse(yield* isGone("anything"))
    })
  )

  it.effect.skipIf(!isLinux)("a process with the same id and another start time is a different process", () =>
    Effect.gen(function* () {
      const { id, isGone } = yield* UploadJournal.LeaseHolder
      const own: unknown = JSON.parse(id ?? "")
      const changed = (change: object) => JSON.stringify(Object.assign({}, own, change))
      assert.isTrue(yield* isGone(changed({ started: "1" })))
      assert.isTrue(yield* isGone(changed({ pid: 2 ** 22 + 1 })), "no process has this id")
      // Nothing is known about these holders.
      for (const other of [{ boot: "another" }, { pids: "pid:[1]" }, { times: "time:[1]" }]) {
        assert.isFalse(yield* isGone(changed({ ...other, started: "1" })))
      }
      for (const text of ["", "{}", "null", changed({ pid: 0 }), changed({ pid: -1 }), changed({ started: "" })]) {
        assert.isFalse(yield* isGone(text), text)
      }
    }).pipe(Effect.provide(LeaseHolder.layer))
  )

  it.effect.skipIf(!isLinux)("a process of another user, of which only EPERM is known, is not gone", () =>
    Effect.gen(function* () {
      const { id, isGone } = yield* UploadJournal.LeaseHolder
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          vi.spyOn(process, "kill").mockImplementation(() => {
            throw Object.assign(new Error("kill EPERM"), { code: "EPERM" })
          })
          syncBuiltinESMExports()
        }),
        () =>
          Effect.sync(() => {
            vi.restoreAllMocks()
            syncBuiltinESMExports()
          })
      )
      const own: unknown = JSON.parse(id ?? "")
      assert.isFalse(yield* isGone(JSON.stringify(Object.assign({}, own, { pid: 2 ** 22 + 1 }))))
    }).pipe(Effect.provide(LeaseHolder.layer))
  )

  it.effect.skipIf(!isLinux)("a process that ended is gone, even if its parent has not waited for it", () =>
    Effect.gen(function* () {
      const { id, isGone } = yield* UploadJournal.LeaseHolder
      const own: unknown = JSON.parse(id ?? "")
      // `sleep` replaces the shell and never waits for a child. A shell that is still running would wait, so the child
      // is killed only after that.
      const parent = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] })
        ),
        (child) => Effect.sync(() => void child.kill("SIGKILL"))
      )
      const pid = yield* Effect.promise(
        () => new Promise<number>((resolve) => parent.stdout.once("data", (text) => resolve(Number(text))))
      )
      yield* until(parent.pid, (stat) => stat.includes("(sleep)"))
      yield* Effect.sync(() => process.kill(pid, "SIGKILL"))
      const started = (yield* until(pid, (stat) => stat.includes(") Z "))).split(" ")[21]
      assert.isTrue(yield* isGone(JSON.stringify(Object.assign({}, own, { pid, started }))))
    }).pipe(Effect.provide(LeaseHolder.layer))
  )

  it.effect.skipIf(!isLinux)("the upload of a process that was killed continues at once", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "holder-" })
      const path = `${folder}/file`
      const size = 4 * 1024 * 1024
      yield* fs.writeFile(path, new Uint8Array(size).fill(7))
      const status = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const target = yield* UploadTarget.fromAssembly(status)
      const { assembly_ssl_url: assemblySslUrl, tus_url: tusUrl } = status
      const holder = yield* startHolder([String(tusUrl), String(assemblySslUrl), path, `${folder}/journal`])

      const journals = yield* Layer.build(UploadJournal.layerFileSystem(`${folder}/journal`))
      const knowing = yield* Layer.build(LeaseHolder.layer)
      const run = Effect.gen(function* () {
        const journal = yield* UploadJournal.UploadJournal
        const [upload] = yield* journal.list
        const key = upload?.key ?? ""
        const isLeased = Effect.scoped(journal.lease(key)).pipe(
          Effect.as(false),
          Effect.catchTag("UploadLeased", () => Effect.succeed(true))
        )
        assert.isTrue(yield* isLeased, "it lives")
        yield* holder.kill
        assert.isTrue(yield* UploadJournal.LeaseHolder.use(({ isGone }) => isGone(holder.id)))
        const unknown = Effect.provideService(isLeased, UploadJournal.LeaseHolder, {
          id: undefined,
          isGone: () => Effect.succeed(false)
        })
        assert.isTrue(yield* unknown, "nothing is known of it")

        const source = yield* UploadSource.fromPath(path)
        const events = yield* Stream.runCollect(
          Upload.events(target, source, { metadata: { filename: "a.bin", fieldname: "file" } })
        )
        const tags = events.map(({ _tag }) => _tag)
        assert.notInclude(tags, "Waiting")
        assert.notInclude(tags, "Created")
        assert.include(tags, "Resumed")
        assert.strictEqual(tags.at(-1), "Completed")
      })
      yield* run.pipe(
        Effect.provide(Upload.layerJournaled),
        Effect.provideContext(knowing),
        Effect.provideContext(journals)
      )
    })
  )
})
