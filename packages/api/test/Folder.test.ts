import * as Folder from "@assembly-effect/api/unstable/Folder"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem } from "effect"

const reasonOf = (path: string) =>
  Effect.map(Effect.flip(Folder.make(path)), ({ reason }) => ("cause" in reason ? String(reason.cause) : reason._tag))

layer(NodeServices.layer)("Folder.make", (it) => {
  it.effect("creates missing folders with the mode, and keeps the mode of existing ones", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.chmod(folder, 0o755)
    const many = Array.from({ length: 8 }, () => Folder.make(`${folder}/a/b/c`, { mode: 0o700 }))
    yield* Effect.all(many, { concurrency: "unbounded" })
    yield* Folder.make(`${folder}/a`)
    yield* Folder.make("/")
    const modeOf = (path: string) => Effect.map(fs.stat(path), ({ mode }) => mode & 0o777)
    assert.strictEqual(yield* modeOf(folder), 0o755)
    if (process.platform !== "win32") {
      for (const path of ["a", "a/b", "a/b/c"]) assert.strictEqual(yield* modeOf(`${folder}/${path}`), 0o700)
    }
  })

  it.effect("fails with EEXIST or ENOTDIR if a part of the path is a file", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/file`, "")
    assert.include(yield* reasonOf(`${folder}/file`), "EEXIST")
    assert.include(yield* reasonOf(`${folder}/file/a/b`), "ENOTDIR")
  })

  // Node blocks a thread for ever here, if it creates the folders itself.
  it.effect.skipIf(process.platform !== "linux")(
    "fails with ENOENT if the file system permits no folders",
    function* () {
      assert.include(yield* reasonOf("/proc/assembly/a/b"), "ENOENT")
    }
  )
})
