import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, it } from "@assembly-effect/testkit/flow"
import { Deferred, Effect, Fiber, FileSystem, Layer, PlatformError } from "effect"
import * as Results from "@assembly-effect/api/Results"
import { RetryPolicy } from "@assembly-effect/api"
import { createServer, type Server } from "node:net"
import * as FileServer from "./utils/FileServer.ts"
import * as Hostile from "@assembly-effect/testkit/hostile/HostileServer"

const live = Layer.merge(Undici.layerUndici, NodeServices.layer)

const strong: FileServer.Kind = { validator: "strong etag", hasRanges: true }
const bytes = FileServer.bytesOf(100_000, 2)
const md5hash = FileServer.hash("md5", bytes)
const whole = FileServer.answer(bytes, strong)

/** A folder, and a server with these responses. */
const folderAnd = Effect.fnUntraced(function* (...answers: ReadonlyArray<Hostile.Answer>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const { server, url } = yield* FileServer.make(answers)
  return { fs, folder, path: `${folder}/result.bin`, server, file: { name: "file.bin", ssl_url: url, md5hash } }
})

const modeOf = (fs: FileSystem.FileSystem, path: string) => Effect.map(fs.stat(path), ({ mode }) => mode & 0o777)

it.live("save writes only the file after a cut, and returns its MD5 without one in the Status", live, function* () {
  const { file, folder, fs, path } = yield* folderAnd(FileServer.answer(bytes, strong, { cutAfter: 70_000 }), whole)
  for (const given of [file, { ssl_url: file.ssl_url }]) {
    assert.deepStrictEqual(yield* Results.save(given, path), { path, size: bytes.length, md5hash })
  }
  assert.isTrue(Buffer.from(yield* fs.readFile(path)).equals(bytes))
  assert.deepStrictEqual(yield* fs.readDirectory(folder), ["result.bin"])
})

it.live("save keeps the mode of the file that it replaces, or sets the mode of the caller", live, function* () {
  const { file, fs, path } = yield* folderAnd(whole)
  yield* fs.writeFileString(path, "old")
  // More and less than a umask leaves of a new file.
  for (const mode of [0o640, 0o666]) {
    yield* fs.chmod(path, mode)
    yield* Results.save(file, path)
    assert.strictEqual(yield* modeOf(fs, path), mode)
  }
  yield* fs.chmod(path, 0o600)
  yield* Results.save(file, path, { mode: 0o666 })
  assert.strictEqual(yield* modeOf(fs, path), 0o666)
  const error = yield* Effect.flip(Results.save(file, path, { mode: 0o10000 }))
  assert.strictEqual(error._tag, "InvalidRequest")
})

it.live("save keeps the existing file, and leaves no other, after a failure", live, function* () {
  for (const answer of [
    Hostile.text(404, ""),
    FileServer.answer(bytes, strong, { cutAfter: 50_000 }),
    FileServer.answer(
      bytes.map((byte) => byte ^ 1),
      strong
    )
  ]) {
    const { file, folder, fs, path } = yield* folderAnd(answer)
    yield* fs.writeFileString(path, "old")
    yield* Effect.flip(RetryPolicy.none(Results.save(file, path)))
    assert.strictEqual(yield* fs.readFileString(path), "old")
    assert.deepStrictEqual(yield* fs.readDirectory(folder), ["result.bin"])
  }
})

it.live("save leaves no file after an interruption", live, function* () {
  const requested = yield* Deferred.make<void>()
  const hanging: Hostile.Answer = (request, response) => {
    Hostile.hanging(200, { "content-length": 200_000 }, "x".repeat(100_000))(request, response)
    Deferred.doneUnsafe(requested, Effect.void)
  }
  const { file, folder, fs, path } = yield* folderAnd(hanging)
  const fiber = yield* Effect.forkChild(Results.save(file, path))
  yield* Deferred.await(requested)
  assert.strictEqual((yield* fs.readDirectory(folder)).length, 1)
  yield* Fiber.interrupt(fiber)
  assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
})

it.live("save replaces a symbolic link, not its target", live, function* () {
  const { file, folder, fs, path } = yield* folderAnd(whole)
  yield* fs.writeFileString(`${folder}/target`, "old")
  yield* fs.symlink(`${folder}/target`, path)
  yield* Results.save(file, path)
  assert.strictEqual(yield* fs.readFileString(`${folder}/target`), "old")
  assert.strictEqual((yield* fs.lstat(path)).type, "File")
  yield* fs.symlink(`${folder}/nowhere`, `${folder}/dangling`)
  yield* Results.save(file, `${folder}/dangling`)
  assert.isFalse(yield* fs.exists(`${folder}/nowhere`))
})

/** A socket in the file system: neither a file nor a folder, and harmless if it is replaced by mistake. */
const socketAt = (path: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Server>((resolve) => {
          const server = createServer().listen(path, () => resolve(server))
        })
    ),
    (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  )

it.live("save fails with NotAFile or NotFound for a folder, a socket or no folder", live, function* () {
  const { file, folder, path, server } = yield* folderAnd(whole)
  const reasonOf = (target: string, options: Parameters<typeof Results.save>[2] = {}) =>
    Effect.map(Effect.flip(Results.save(file, target, options)), (error) =>
      error._tag === "SaveFailed" ? error.reason : error._tag
    )
  assert.strictEqual(yield* reasonOf(folder), "NotAFile")
  yield* socketAt(`${folder}/socket`)
  assert.strictEqual(yield* reasonOf(`${folder}/socket`), "NotAFile")
  assert.strictEqual(yield* reasonOf(`${folder}/socket`, { mode: 0o600 }), "NotAFile")
  assert.strictEqual(yield* reasonOf(`${folder}/missing/file`), "NotFound")
  assert.strictEqual(yield* reasonOf(`${folder}/new/`), "NotAFile")
  assert.strictEqual(yield* reasonOf(""), "NotAFile")
  assert.strictEqual(server.received.length, 0)
  yield* Results.save(file, path)
})

/** The failure of the operating system with this code. */
const failureOf = (code: string) =>
  new PlatformError.PlatformError(
    new PlatformError.SystemError({
      _tag: "Unknown",
      module: "FileSystem",
      method: "writeAll",
      cause: Object.assign(new Error("no space left on device"), { code })
    })
  )

it.live("save fails with SaveFailed and the reason of the system's error code", live, function* () {
  const { file, fs, path } = yield* folderAnd(whole)
  for (const [code, reason] of [
    ["ENOSPC", "Full"],
    ["EDQUOT", "Full"],
    ["EACCES", "Denied"],
    ["EPERM", "Denied"],
    ["EROFS", "Denied"],
    ["ENOENT", "NotFound"],
    ["ENOTDIR", "NotFound"],
    ["EISDIR", "NotAFile"],
    ["EIO", "Other"]
  ] as const) {
    const broken = { ...fs, open: () => Effect.fail(failureOf(code)) }
    const error = yield* Effect.flip(Effect.provideService(Results.save(file, path), FileSystem.FileSystem, broken))
    assert.deepInclude(error, { _tag: "SaveFailed", path, reason }, code)
    assert.include(error.message, code)
  }
})

it.live("save syncs a temporary file, renames it, and then syncs its folder", live, function* () {
  const { file, folder, fs, path } = yield* folderAnd(whole)
  const steps: Array<string> = []
  const nameOf = (target: string) => (target === folder ? "the folder" : target === path ? "the path" : "another file")
  const watched: FileSystem.FileSystem = {
    ...fs,
    open: (target, options) => {
      steps.push(`open ${nameOf(target)}: ${options?.flag}`)
      return Effect.map(fs.open(target, options), (handle) => ({
        ...handle,
        writeAll: (piece) => handle.writeAll(piece),
        sync: Effect.andThen(
          Effect.sync(() => steps.push(`sync ${nameOf(target)}`)),
          handle.sync
        )
      }))
    },
    rename: (from, to) => {
      steps.push(`rename ${nameOf(from)} to ${nameOf(to)}`)
      return fs.rename(from, to)
    }
  }
  yield* Effect.provideService(Results.save(file, path), FileSystem.FileSystem, watched)
  assert.deepStrictEqual(steps, [
    "open another file: wx",
    "sync another file",
    "rename another file to the path",
    "open the folder: r",
    "sync the folder"
  ])
  assert.isTrue(Buffer.from(yield* fs.readFile(path)).equals(bytes))
})

it.live("save gives a new file the default mode, and an existing one no special bits", live, function* () {
  const { file, folder, fs, path } = yield* folderAnd(whole)
  yield* fs.writeFileString(`${folder}/other`, "")
  yield* Results.save(file, path)
  assert.strictEqual(yield* modeOf(fs, path), yield* modeOf(fs, `${folder}/other`))
  yield* fs.chmod(path, 0o4755)
  yield* Results.save(file, path)
  assert.strictEqual((yield* fs.stat(path)).mode & 0o7777, 0o755)
})
