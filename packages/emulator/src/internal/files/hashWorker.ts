/**
 * The worker thread that computes digests. The thread reads the files itself, so that no bytes are sent between
 * threads. A file that was just written is usually still in the cache of the operating system, so reading it is fast.
 * The thread does not load Effect, because loading Effect takes longer than hashing most files.
 */
import { createHash, type Hash } from "node:crypto"
import { closeSync, openSync, readSync } from "node:fs"
import { parentPort } from "node:worker_threads"

/**
 * The messages to the worker thread. `algorithms` are names for `createHash` of Node.
 *
 * - `Follow`: hashes the first `size` bytes of a file in advance. These bytes do not change any more.
 * - `Digest`: asks for the digests of a whole file.
 * - `Forget`: drops the hashes that `Follow` has computed for a file.
 */
export type Question =
  | {
      readonly _tag: "Follow"
      readonly file: string
      readonly size: number
      readonly algorithms: ReadonlyArray<string>
    }
  | { readonly _tag: "Digest"; readonly id: number; readonly file: string; readonly algorithms: ReadonlyArray<string> }
  | { readonly _tag: "Forget"; readonly file: string }

/**
 * The digests of a file with `size` bytes. The digests are texts of hexadecimal digits, in the order of the algorithms.
 */
export interface Digests {
  readonly size: number
  readonly digests: ReadonlyArray<string>
}

/** The answer of the worker thread to a `Digest` message: the digests, or the code of the error. */
export interface Answer {
  readonly id: number
  readonly found: Digests | string
}

/** The hashes of the first `size` bytes of a file. */
interface Hashing {
  size: number
  readonly algorithms: ReadonlyArray<string>
  readonly hashes: ReadonlyArray<Hash>
}

const followed = new Map<string, Hashing>()

const buffer = Buffer.allocUnsafe(1024 * 1024)

const begin = (algorithms: ReadonlyArray<string>): Hashing => ({
  size: 0,
  algorithms,
  hashes: algorithms.map((algorithm) => createHash(algorithm))
})

/** Hashes further bytes, up to `end` or to the end of the file. */
const advance = (hashing: Hashing, file: string, end: number): void => {
  const descriptor = openSync(file, "r")
  try {
    while (hashing.size < end) {
      const wanted = Math.min(buffer.length, end - hashing.size)
      const read = readSync(descriptor, buffer, 0, wanted, hashing.size)
      if (read === 0) return
      for (const hash of hashing.hashes) hash.update(buffer.subarray(0, read))
      hashing.size += read
    }
  } finally {
    closeSync(descriptor)
  }
}

/** Returns and removes the hashes that `Follow` has computed for a file, if these hashes use the given algorithms. */
const takeFollowed = (file: string, algorithms: ReadonlyArray<string>): Hashing | undefined => {
  const hashing = followed.get(file)
  if (hashing === undefined || String(hashing.algorithms) !== String(algorithms)) return undefined
  followed.delete(file)
  return hashing
}

const digest = (file: string, algorithms: ReadonlyArray<string>): Answer["found"] => {
  try {
    const hashing = takeFollowed(file, algorithms) ?? begin(algorithms)
    advance(hashing, file, Infinity)
    return { size: hashing.size, digests: hashing.hashes.map((hash) => hash.digest("hex")) }
  } catch (problem) {
    return problem instanceof Error && "code" in problem ? String(problem.code) : String(problem)
  }
}

parentPort?.on("message", (question: Question) => {
  const { file } = question
  if (question._tag === "Forget") return void followed.delete(file)
  if (question._tag === "Digest") {
    const answer: Answer = { id: question.id, found: digest(file, question.algorithms) }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
    return parentPort?.postMessage(answer)
  }
  const hashing = takeFollowed(file, question.algorithms) ?? begin(question.algorithms)
  try {
    advance(hashing, file, question.size)
    followed.set(file, hashing)
  } catch {
    // The file cannot be read, for example because it was removed. A later `Digest` reports the error.
  }
})
