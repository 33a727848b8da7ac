import * as Access from "@assembly-effect/api/unstable/Access"
import * as Folder from "@assembly-effect/api/unstable/Folder"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import { JournalFailed, type Key, type Leases, type Store } from "./journal.ts"

const suffix = ".json"
const leaseSuffix = ".lease"
const utf8 = new TextEncoder()

const isNotFound = ({ reason }: PlatformError.PlatformError) => reason._tag === "NotFound"

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
 * A store of texts in a folder, with one file for each entry; `makeLeases` stores the leases. An entry is written to an
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

    const temporary = SecureRandom.SecureRandom.use((random) => random.uuidV4()).pipe(
      Effect.map((id) => path.join(folder, `${id}.tmp`)),
      Effect.provide(SecureRandom.layerWebCrypto)
    )

    /** Writes a text to a temporary file, and removes the file after its use. */
    const withText = <A>(
      text: string,
      use: (temporary: string) => Effect.Effect<A, PlatformError.PlatformError>,
      isSynced: boolean
    ) =>
      Effect.gen(function* () {
        const name = yield* temporary
        return yield* Effect.scoped(
          Effect.gen(function* () {
            const handle = yield* fs.open(name, { flag: "wx", mode: 0o600 })
            yield* handle.writeAll(utf8.encode(text))
            if (isSynced) yield* handle.sync
          })
        ).pipe(Effect.andThen(use(name)), Effect.ensuring(Effect.ignore(fs.remove(name, { force: true }))))
      }).pipe(Effect.uninterruptible)

    const keysWith = (ending: string) =>
      fs.readDirectory(folder).pipe(
        Effect.map((names) =>
          names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length))
        ),
        Effect.mapError(failed("list"))
      )

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
      leases: makeLeases({
        fs,
        // Leases are not synced, because a power failure of the machine that loses a lease also ends the holder of the
        // lease.
        withText: (text, use) => withText(text, use, false),
        folderOf: (key) => path.join(folder, key + leaseSuffix),
        keys: keysWith(leaseSuffix)
      })
    }
  })

type WithText = <A>(
  text: string,
  use: (temporary: string) => Effect.Effect<A, PlatformError.PlatformError>
) => Effect.Effect<A, PlatformError.PlatformError>

/**
 * Each lease has a folder with numbered files. The file with the highest number is valid. A change creates the file
 * with the next number as a hard link, which is atomic: only one of two processes succeeds. Then the change removes the
 * files with lower numbers.
 */
const makeLeases = (options: {
  readonly fs: FileSystem.FileSystem
  readonly withText: WithText
  readonly folderOf: (key: Key) => string
  readonly keys: Leases["keys"]
}): Leases => {
  const { folderOf, fs, keys, withText } = options
  const file = (key: Key, version: number) => `${folderOf(key)}/${version}`

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

  type Present = { readonly version: number; readonly text: string | undefined }
  const present = (key: Key): Effect.Effect<Present, PlatformError.PlatformError> =>
    Effect.flatMap(versions(key), (found) => {
      const version = found.at(-1)
      if (version === undefined) return Effect.succeed({ version: 0, text: undefined })
      return textOf(fs, file(key, version)).pipe(
        Effect.map((text) => ({ version, text })),
        // The file was removed in the meantime: a newer file has replaced it, or the lease was removed.
        Effect.catchIf(isNotFound, () => present(key))
      )
    })

  /** Creates a file atomically, unless it exists. Returns whether the file was created. */
  const link = (from: string, to: string) =>
    fs.link(from, to).pipe(
      Effect.as(true),
      Effect.catchIf(
        ({ reason }) => reason._tag === "AlreadyExists",
        () => Effect.succeed(false)
      )
    )

  return {
    keys,
    get: (key) =>
      Effect.mapError(
        Effect.map(present(key), ({ text }) => text),
        failed("read")
      ),
    remove: (key) => fs.remove(folderOf(key), { recursive: true, force: true }).pipe(Effect.mapError(failed("remove"))),
    swap: (key, expected, text) =>
      Effect.gen(function* () {
        // With `recursive`, Node reports a read-only file system as a missing folder.
        yield* Effect.catchIf(
          fs.makeDirectory(folderOf(key), { mode: 0o700 }),
          ({ reason }) => reason._tag === "AlreadyExists",
          () => Effect.void
        )
        const { text: existing, version } = yield* present(key)
        if (existing !== expected) return false
        const next = version + 1
        if (!(yield* withText(text, (name) => link(name, file(key, next))))) return false
        const found = yield* versions(key)
        // If a higher number exists, this change has failed. Other processes had already used and removed this number,
        // so the link could be created again.
        if (found.at(-1) !== next) return false
        yield* Effect.forEach(
          found.filter((older) => older < next),
          (older) => Effect.ignore(fs.remove(file(key, older), { force: true })),
          { discard: true }
        )
        return true
      }).pipe(Effect.mapError(failed("lease")))
  }
}
