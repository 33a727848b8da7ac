import * as Access from "@assembly-effect/api/unstable/Access"
import * as Folder from "@assembly-effect/api/unstable/Folder"
import * as Unique from "@assembly-effect/auth/unstable/Unique"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type { Key, Leases, Store } from "./journal.ts"
import { JournalFailed } from "./journalError.ts"

const suffix = ".json"
const leaseSuffix = ".lease"
const utf8 = new TextEncoder()

const isNotFound = ({ reason }: PlatformError.PlatformError) => reason._tag === "NotFound"

const exists = ({ reason }: PlatformError.PlatformError) => reason._tag === "AlreadyExists"

const failed = (action: JournalFailed["action"]) => (error: PlatformError.PlatformError) => {
  const { description, reason } = Access.refusal(error)
  return new JournalFailed({ action, description, reason: reason === "Full" || reason === "Denied" ? reason : "Other" })
}

/**
 * The text of a file. A named pipe or a device is read as an empty text, because reading may never end. Reading a folder
 * fails.
 */
const textOf = (fs: FileSystem.FileSystem, path: string) =>
  Effect.flatMap(fs.stat(path), ({ type }) =>
    type === "File" || type === "Directory" ? fs.readFileString(path) : Effect.succeed("")
  )

/**
 * A store of texts in a folder, with one file for each entry, and a folder for each lease. An entry is written to an
 * exclusive temporary file, synced and renamed, so that a reader never sees a part of an entry. Only the owner of a
 * file can read it.
 */
export const make = (folder: string): Effect.Effect<Store, JournalFailed, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = (key: Key) => path.join(folder, key + suffix)

    // In a JavaScript program, the folder may be an unset variable.
    if (typeof folder !== "string" || folder.trim() === "")
      return yield* new JournalFailed({ action: "write", description: "folder: Expected a non-blank string" })
    yield* Folder.make(folder, { mode: 0o700 }).pipe(Effect.mapError(failed("write")))

    const temporary = Effect.map(Unique.text, (id) => path.join(folder, `${id}.tmp`))

    /** Writes a text to a temporary file, and removes the file after its use. */
    const withText = <A>(
      text: string,
      use: (temporary: string) => Effect.Effect<A, PlatformError.PlatformError>,
      isSynced: boolean
    ) => {
      const write = Effect.fnUntraced(function* (name: string) {
        const handle = yield* fs.open(name, { flag: "wx", mode: 0o600 })
        yield* handle.writeAll(utf8.encode(text))
        if (isSynced) yield* handle.sync
      }, Effect.scoped)
      const used = (name: string) => Effect.andThen(write(name), use(name))
      const removed = (name: string) => Effect.ignore(fs.remove(name, { force: true }))
      return Effect.uninterruptible(Effect.acquireUseRelease(temporary, used, removed))
    }

    const keysWith = (ending: string) =>
      Effect.map(Effect.mapError(fs.readDirectory(folder), failed("list")), (names) =>
        names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length))
      )

    const folderOf = (key: Key) => path.join(folder, key + leaseSuffix)
    const version = (key: Key, number: number) => path.join(folderOf(key), `${number}`)

    /** The numbers of the files of a lease, in ascending order. */
    const versions = (key: Key) =>
      fs.readDirectory(folderOf(key)).pipe(
        Effect.catchIf(isNotFound, () => Effect.succeed<Array<string>>([])),
        Effect.map((names) =>
          names
            // A change never creates other notations of a number, such as 01.
            .filter((name) => /^[1-9][0-9]{0,14}$/.test(name))
            .map(Number)
            .toSorted((a, b) => a - b)
        )
      )

    /** The text of a lease, and the number of its file. If there is no lease, the number is 0. */
    const present = (key: Key) =>
      Effect.gen(function* () {
        const number = (yield* versions(key)).at(-1) ?? 0
        return { number, text: number === 0 ? undefined : yield* textOf(fs, version(key, number)) }
        // The file may be removed in the meantime: a newer file has replaced it, or the lease was removed.
      }).pipe(Effect.retry({ while: isNotFound }))

    /**
     * Each lease has a folder with numbered files. The file with the highest number is valid. A change creates the file
     * with the next number as a hard link, which is atomic: only one of two processes succeeds. Then the change removes
     * the files with lower numbers.
     */
    const leases: Leases = {
      keys: keysWith(leaseSuffix),
      get: (key) => Effect.mapBoth(present(key), { onSuccess: ({ text }) => text, onFailure: failed("read") }),
      remove: (key) =>
        fs.remove(folderOf(key), { recursive: true, force: true }).pipe(Effect.mapError(failed("remove"))),
      swap: (key, expected, text) =>
        Effect.gen(function* () {
          // With `recursive`, Node reports a read-only file system as a missing folder.
          yield* Effect.catchIf(fs.makeDirectory(folderOf(key), { mode: 0o700 }), exists, () => Effect.void)
          const { number, text: existing } = yield* present(key)
          if (existing !== expected) return false
          const next = number + 1
          // Leases are not synced, because a power failure of the machine that loses a lease also ends its holder.
          yield* withText(text, (name) => fs.link(name, version(key, next)), false)
          const found = yield* versions(key)
          // If a higher number exists, this change has failed. Other processes had already used and removed this number,
          // so the link could be created again.
          if (found.at(-1) !== next) return false
          const older = found.filter((one) => one < next)
          yield* Effect.forEach(older, (one) => Effect.ignore(fs.remove(version(key, one), { force: true })), {
            discard: true
          })
          return true
        }).pipe(
          // Another process has created the file.
          Effect.catchIf(exists, () => Effect.succeed(false)),
          Effect.mapError(failed("lease"))
        )
    }

    return {
      get: (key) =>
        textOf(fs, file(key)).pipe(
          Effect.catchIf(isNotFound, () => Effect.undefined),
          Effect.mapError(failed("read"))
        ),
      set: (key, text) =>
        withText(text, (name) => fs.rename(name, file(key)), true).pipe(Effect.mapError(failed("write"))),
      remove: (key) => fs.remove(file(key), { force: true }).pipe(Effect.mapError(failed("remove"))),
      keys: keysWith(suffix),
      leases
    }
  })
