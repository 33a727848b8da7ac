/** Small files, read by the registered reader: the same bytes and the same errors as through the `FileSystem`. */
import * as SmallFile from "@assembly-effect/tus/unstable/SmallFile"
import { UploadSource } from "@assembly-effect/tus"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, Option } from "effect"
import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { wholeOf } from "../../tus/src/internal/source.ts"
import * as SmallFiles from "../src/internal/smallFiles.ts"

const bytes = new TextEncoder().encode("the content of a small file")

/** A source of a file, and the path of the file. */
const made = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/a.txt`
  yield* fs.writeFile(path, bytes)
  const source = yield* UploadSource.fromPath(path)
  return { fs, path, read: wholeOf(source) ?? Effect.die("no registered reader") }
})

const opened = () => readdirSync("/proc/self/fd").length

layer(Layer.provideMerge(SmallFiles.layer, NodeFileSystem.layer))("the reader of small files", (it) => {
  it.effect("an unchanged file: returns its bytes", function* () {
    const { fs, read } = yield* made
    assert.isDefined(SmallFile.readerOf(fs))
    assert.deepStrictEqual(yield* read, bytes)
  })

  it.effect("a file that has grown, was replaced or has gone: fails with SourceFailed", function* () {
    const grown = yield* made
    yield* grown.fs.writeFile(grown.path, bytes, { flag: "a" })
    assert.deepInclude(yield* Effect.flip(grown.read), { _tag: "SourceFailed", kind: "Changed" })

    const replaced = yield* made
    const { mtime } = yield* replaced.fs.stat(replaced.path)
    yield* replaced.fs.writeFile(`${replaced.path}.new`, bytes)
    const time = Option.getOrThrow(mtime)
    yield* replaced.fs.utimes(`${replaced.path}.new`, time, time)
    yield* replaced.fs.rename(`${replaced.path}.new`, replaced.path)
    assert.deepInclude(yield* Effect.flip(replaced.read), { _tag: "SourceFailed", kind: "Changed" })

    const gone = yield* made
    yield* gone.fs.remove(gone.path)
    assert.deepInclude(yield* Effect.flip(gone.read), { kind: "Unreadable", description: `${gone.path}: no such file` })
  })

  it.effect("a named pipe instead of the file: fails with SourceFailed (Changed), and does not wait", function* () {
    const { fs, path, read } = yield* made
    yield* fs.remove(path)
    execFileSync("mkfifo", [path])
    assert.deepInclude(yield* Effect.flip(read), { _tag: "SourceFailed", kind: "Changed" })
  })

  it.effect("100 reads, half of them of a file that has gone: leaves no file open", function* () {
    if (process.platform !== "linux") return
    const { fs, path, read } = yield* made
    const before = opened()
    for (let index = 0; index < 50; index++) yield* read
    yield* fs.remove(path)
    for (let index = 0; index < 50; index++) yield* Effect.flip(read)
    assert.isAtMost(opened(), before)
  })

  it.effect("another FileSystem object: has no reader", () =>
    Effect.map(FileSystem.FileSystem, (fs) => assert.isUndefined(SmallFile.readerOf({ ...fs })))
  )
})
