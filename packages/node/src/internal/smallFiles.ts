/**
 * Reads a small file with two trips to the thread pool. The state of a file that was just read is in memory, so
 * `fstat` and `close` do not wait for a disk and are called directly.
 */
import * as SmallFile from "@assembly-effect/tus/unstable/SmallFile"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type BigIntStats, closeSync, constants, fstatSync, open, read } from "node:fs"

const toInfo = ({ dev, ino, mtimeMs, size }: BigIntStats): SmallFile.Read["info"] => ({
  dev: BigInt.asUintN(64, dev),
  ino: Option.some(BigInt.asUintN(64, ino)),
  // The getter `mtime` takes longer than all other fields.
  // @effect-diagnostics-next-line globalDate:off
  mtime: Option.some(new Date(Number(mtimeMs))),
  size: ByteSize.bytes(size)
})

/** The state of an open file, which is closed afterwards. */
const closed = (descriptor: number): BigIntStats | undefined => {
  try {
    return fstatSync(descriptor, { bigint: true })
  } catch {
    return undefined
  } finally {
    closeSync(descriptor)
  }
}

/** Opening a named pipe does not wait for its other end. Windows has no such flag. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

const reader: SmallFile.Reader = (path, most) =>
  Effect.callback((resume) => {
    open(path, flags, (failed, descriptor) => {
      if (failed !== null) return resume(Effect.undefined)
      read(descriptor, new Uint8Array(most), 0, most, 0, (error, count, bytes) => {
        const stats = closed(descriptor)
        resume(
          // What is no file is not read again: its state shows the change.
          stats !== undefined && (error === null || !stats.isFile())
            ? Effect.succeed({ bytes: bytes.subarray(0, count), info: toInfo(stats) })
            : Effect.undefined
        )
      })
    })
  })

/** Registers the reader for the `FileSystem` in the context. */
export const layer: Layer.Layer<never, never, FileSystem.FileSystem> = Layer.effectDiscard(
  Effect.map(FileSystem.FileSystem, (fileSystem) => SmallFile.register(fileSystem, reader))
)
