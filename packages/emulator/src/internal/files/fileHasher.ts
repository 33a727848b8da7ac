import * as NodeWorker from "@effect/platform-node/NodeWorker"
import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Worker from "effect/workers/Worker"
import { createHash } from "node:crypto"
import { Worker as WorkerThread } from "node:worker_threads"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as HashProtocol from "./hashProtocol.ts"
import * as StorageFailure from "../data/storageFailure.ts"

/**
 * The maximum size in bytes of a file that `digest` reads without the worker thread. The thread needs 25 MiB of memory,
 * which is too much for small files.
 */
export const large = 16 * 1024 * 1024

/** The size of the buffer for reading a file, in bytes. */
const piece = 256 * 1024

/**
 * The maximum number of small files that are hashed at the same time. A higher number would need more memory without
 * being faster, because hashing uses one core.
 */
const maxReaders = 2

/**
 * The URL of the worker module, which is next to this module. The extension is `.ts` in the sources and `.js` in the
 * build.
 */
const workerUrl = new URL(import.meta.url.replace(/fileHasher(\.\w+)$/, "hashWorker$1"))

/** A caller that waits for digests. */
interface Waiting {
  readonly file: string
  readonly digests: Deferred.Deferred<HashProtocol.Digests, StorageFailed>
}

/** Starts the worker thread, and gives the answers of the thread to the callers that wait for digests. */
const makeThread = Effect.fnUntraced(function* (end: Effect.Effect<void>) {
  const platform = yield* Worker.WorkerPlatform
  const worker = yield* platform.spawn<HashProtocol.Answer, HashProtocol.Question>(0)
  const waiting = new Map<number, Waiting>()
  let asked = 0

  const hear = (answer: HashProtocol.Answer) =>
    Effect.suspend(() => {
      const asker = waiting.get(answer.id)
      waiting.delete(answer.id)
      if (asker === undefined) return Effect.void
      return answer._tag === "Digested"
        ? Deferred.succeed(asker.digests, answer.digests)
        : Deferred.fail(asker.digests, StorageFailure.fromSystem(asker.file)(answer))
    })

  const loseAll = Effect.suspend(() =>
    Effect.forEach(
      waiting.values(),
      ({ digests }) => Deferred.die(digests, new Error("the thread that computes digests has ended")),
      { discard: true }
    )
  )

  let isEnding = false
  yield* worker.run(hear).pipe(
    Effect.tapCause((cause) => (isEnding || Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(cause))),
    Effect.ensuring(loseAll),
    Effect.forkScoped({ startImmediately: true })
  )
  // Finalizers run in reverse order, so this finalizer terminates the worker before the worker platform of Effect
  // closes the worker. The platform would ask the worker to close, and wait up to five seconds while the worker reads a
  // large file.
  yield* Effect.addFinalizer(() => {
    isEnding = true
    return end
  })

  return {
    tell: (question: HashProtocol.Question) => Effect.orDie(worker.send(question)),
    digest: Effect.fnUntraced(function* (file: string, algorithms: ReadonlyArray<string>) {
      const id = asked++
      const digests = yield* Deferred.make<HashProtocol.Digests, StorageFailed>()
      waiting.set(id, { file, digests })
      yield* Effect.orDie(worker.send({ _tag: "Digest", id, file, algorithms }))
      return yield* Deferred.await(digests)
    })
  }
})

const make = Effect.fnUntraced(function* (end: Effect.Effect<void>) {
  const fs = yield* FileSystem.FileSystem
  const context = yield* Effect.context<Worker.WorkerPlatform | Worker.Spawner | Scope.Scope>()
  const readers = yield* Semaphore.make(maxReaders)
  const thread = yield* Effect.cached(Effect.provideContext(makeThread(end), context))
  const followed = new Set<string>()

  /** Hashes a file in this thread. All reads of the file use one buffer, to save garbage collection. */
  const digestHere = Effect.fnUntraced(
    function* (path: string, algorithms: ReadonlyArray<string>) {
      const file = yield* Effect.mapError(fs.open(path, { flag: "r" }), StorageFailure.fromSystem(path))
      const hashes = algorithms.map((algorithm) => createHash(algorithm))
      const buffer = new Uint8Array(piece)
      let size = 0
      while (true) {
        const read = Number(yield* Effect.mapError(file.read(buffer), StorageFailure.fromSystem(path)))
        if (read === 0) return { size, digests: hashes.map((hash) => hash.digest("hex")) }
        for (const hash of hashes) hash.update(buffer.subarray(0, read))
        size += read
      }
    },
    Effect.scoped,
    readers.withPermit
  )

  return {
    /** Computes the digests of a whole file. `algorithms` are names for `createHash` of Node. */
    digest: Effect.fnUntraced(function* (file: string, algorithms: ReadonlyArray<string>) {
      const { size } = yield* Effect.mapError(fs.stat(file), StorageFailure.fromSystem(file))
      if (ByteSize.toBigInt(size) <= large) return yield* digestHere(file, algorithms)
      const { digest } = yield* Effect.orDie(thread)
      return yield* digest(file, algorithms)
    }),
    /** Hashes the first `size` bytes of a large file before its `digest` is requested. */
    follow: Effect.fnUntraced(function* (file: string, size: number) {
      const { tell } = yield* thread
      followed.add(file)
      yield* tell({ _tag: "Follow", file, size })
    }, Effect.orDie),
    /** Drops the hashes that `follow` has computed. */
    forget: Effect.fnUntraced(function* (file: string) {
      if (!followed.delete(file)) return
      const { tell } = yield* thread
      yield* tell({ _tag: "Forget", file })
    }, Effect.orDie)
  }
})

/** Computes digests of files. A worker thread hashes large files. The thread starts with the first large file. */
export class FileHasher extends Context.Service<FileHasher>()("@assembly-effect/emulator/FileHasher", { make }) {}

/** The worker thread ends when the scope closes. */
export const layer = Layer.unwrap(
  Effect.sync(() => {
    let thread: WorkerThread | undefined
    // The thread does not inherit the flags of this process, such as the flags of a profiler.
    const spawn = () => (thread = new WorkerThread(workerUrl, { execArgv: [] }))
    const end = Effect.promise(async () => void (await thread?.terminate()))
    return Layer.effect(FileHasher, make(end)).pipe(Layer.provide(NodeWorker.layer(spawn)))
  })
)
