/** Sets and checks the modes of the files of `DurableSqlite`: only the owner of these files may read them. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as PlatformError from "effect/PlatformError"

/** The mode of a file that only its owner may read and write. */
const ownerOnly = 0o600

const ofOthers = 0o077

/** On Windows, the mode of a file does not say who may read the file. */
const hasModes = process.platform !== "win32"

/**
 * Returns the mode of a file in octal digits if it gives users other than the owner any permission. Returns undefined
 * if only the owner has permissions, and always on Windows.
 */
export const openTo = (
  path: string
): Effect.Effect<string | undefined, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.map(fs.stat(path), ({ mode }) =>
      hasModes && (mode & ofOthers) !== 0 ? (mode & 0o777).toString(8).padStart(3, "0") : undefined
    )
  )

/**
 * The suffixes of the files that SQLite creates beside a database. SQLite gives these files the mode of the database.
 */
const besides = ["-wal", "-shm"]

/**
 * Creates the file of a database with a mode for its owner only. If the database exists, gives all its files this mode.
 */
export const closeDatabase = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(path))) yield* Effect.scoped(fs.open(path, { flag: "a", mode: ownerOnly }))
  for (const file of [path, ...besides.map((suffix) => `${path}${suffix}`)]) {
    if ((yield* fs.exists(file)) && (yield* openTo(file)) !== undefined) yield* fs.chmod(file, ownerOnly)
  }
})
