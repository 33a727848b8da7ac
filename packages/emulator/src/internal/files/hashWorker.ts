/**
 * The worker thread that computes digests. The thread reads the files itself, so that no bytes are sent between
 * threads. A file that was just written is usually still in the cache of the operating system, so reading it is fast.
 *
 * The thread implements the protocol of `effect/workers` without Effect, because loading Effect takes longer than
 * hashing most files.
 */
import { createHash, type Hash } from "node:crypto"
import { closeSync, openSync, readSync } from "node:fs"
import { parentPort } from "node:worker_threads"
import * as HashProtocol from "./hashProtocol.ts"

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

const follow = (file: string, size: number): void => {
  const hashing = followed.get(file) ?? begin(HashProtocol.contentAlgorithms)
  followed.set(file, hashing)
  try {
    advance(hashing, file, size)
  } catch {
    // The file cannot be read, for example because it was removed. A later `Digest` reports the error.
    followed.delete(file)
  }
}

/** Returns and removes the hashes that `follow` has computed for a file, if these hashes use the given algorithms. */
const takeFollowed = (file: string, algorithms: ReadonlyArray<string>): Hashing | undefined => {
  const hashing = followed.get(file)
  if (hashing === undefined || String(hashing.algorithms) !== String(algorithms)) return undefined
  followed.delete(file)
  return hashing
}

type Digest = Extract<HashProtocol.Question, { readonly _tag: "Digest" }>

const digest = ({ algorithms, file, id }: Digest): HashProtocol.Answer => {
  try {
    const hashing = takeFollowed(file, algorithms) ?? begin(algorithms)
    advance(hashing, file, Infinity)
    const digests = hashing.hashes.map((hash) => hash.digest("hex"))
    return { _tag: "Digested", id, digests: { size: hashing.size, digests } }
  } catch (problem) {
    const code = problem instanceof Error && "code" in problem ? String(problem.code) : String(problem)
    return { _tag: "Failed", id, code }
  }
}

const send = (message: readonly [ready: 0] | readonly [data: 1, HashProtocol.Answer]) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
  parentPort?.postMessage(message)
}

const handle = (question: HashProtocol.Question): void => {
  switch (question._tag) {
    case "Follow":
      return follow(question.file, question.size)
    case "Digest":
      return send([1, digest(question)])
    case "Forget":
      return void followed.delete(question.file)
  }
}

parentPort?.on("message", (message: readonly [request: 0, HashProtocol.Question] | readonly [close: 1]) => {
  if (message[0] === 1) parentPort?.close()
  else handle(message[1])
})
send([0])
