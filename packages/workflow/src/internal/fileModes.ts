/** The modes of the files of an embedded runner: only their owner may read them. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"

/** The mode of a file for its owner only. */
const ownerOnly = 0o600

const ofOthers = 0o077

/** Windows shows a mode that says nothing about who may read the file. */
const hasModes = process.platform !== "win32"

/** The mode of a file in octal digits, if others than its owner may read or write it. */
export const openTo = (
  path: string
): Effect.Effect<string | undefined, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.map(fs.stat(path), ({ mode }) =>
      hasModes && (mode & ofOthers) !== 0 ? (mode & 0o777).toString(8).padStart(3, "0") : undefined
    )
  )

/** What SQLite writes beside a database. It creates these files with the mode of the database. */
const besides = ["-wal", "-shm"]

/** Creates the file of a database for its owner only, or closes the files of an existing database to others. */
export const closeDatabase = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(path))) yield* Effect.scoped(fs.open(path, { flag: "a", mode: ownerOnly }))
  for (const file of [path, ...besides.map((suffix) => `${path}${suffix}`)]) {
    if ((yield* fs.exists(file)) && (yield* openTo(file)) !== undefined) yield* fs.chmod(file, ownerOnly)
  }
})
