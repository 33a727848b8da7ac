import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import type { JournalFailed, Store } from "../UploadJournal.ts"

const suffix = ".json"
const utf8 = new TextEncoder()

/**
 * Texts in a folder, one file each. A text is written to an exclusive temporary file, synced and renamed, so that a
 * reader sees all of it or none; only the owner may read it. A claim is a hard link, which one of two gets.
 */
export const make = (
  folder: string,
  fail: (action: JournalFailed["action"], problem: string) => JournalFailed
): Effect.Effect<Store, JournalFailed, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const failed = (action: JournalFailed["action"]) => (error: PlatformError.PlatformError) =>
      fail(action, error.message)
    const file = (key: string) => path.join(folder, key + suffix)

    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(Effect.mapError(failed("write")))

    const temporary = SecureRandom.SecureRandom.use((random) => random.uuidV4()).pipe(
      Effect.map((id) => path.join(folder, `${id}.tmp`)),
      Effect.provide(SecureRandom.layerWebCrypto)
    )

    /** Writes a text to a file of its own, hands that on, and leaves nothing behind. */
    const withText = <A>(text: string, use: (temporary: string) => Effect.Effect<A, PlatformError.PlatformError>) =>
      Effect.gen(function* () {
        const name = yield* temporary
        return yield* Effect.scoped(
          Effect.gen(function* () {
            const handle = yield* fs.open(name, { flag: "wx", mode: 0o600 })
            yield* handle.writeAll(utf8.encode(text))
            yield* handle.sync
          })
        ).pipe(Effect.andThen(use(name)), Effect.ensuring(Effect.ignore(fs.remove(name, { force: true }))))
      }).pipe(Effect.uninterruptible)

    const get = (key: string) =>
      fs
        .readFileString(file(key))
        .pipe(
          Effect.catchTag("PlatformError", (error) =>
            error.reason._tag === "NotFound" ? Effect.undefined : Effect.fail(fail("read", error.message))
          )
        )
    const set = (key: string, text: string) =>
      withText(text, (name) => fs.rename(name, file(key))).pipe(Effect.mapError(failed("write")))

    const isExisting = (error: PlatformError.PlatformError) => error.reason._tag === "AlreadyExists"

    /** Makes the file unless it is there; of two that try, one does. */
    const link = (from: string, key: string) =>
      fs.link(from, file(key)).pipe(
        Effect.as(true),
        Effect.catchIf(isExisting, () => Effect.succeed(false))
      )
    const linkText = (key: string, text: string) => withText(text, (name) => link(name, key))

    const remove = (key: string) => fs.remove(file(key), { force: true }).pipe(Effect.mapError(failed("remove")))

    /**
     * Replaces a text that may be, alone: of two that find the same text both could write theirs. The guard of one that
     * died in here is removed by the next, which leaves the replacing to the one after it.
     */
    const replace = (key: string, text: string, mayReplace: (existing: string) => boolean) => {
      const guard = `${key}.guard`
      return Effect.gen(function* () {
        if (!(yield* linkText(guard, text))) {
          const held = yield* get(guard)
          if (held !== undefined && mayReplace(held)) yield* remove(guard)
          return false
        }
        return yield* Effect.gen(function* () {
          const existing = yield* get(key)
          if (existing === undefined) return yield* linkText(key, text)
          if (!mayReplace(existing)) return false
          yield* set(key, text)
          return true
        }).pipe(Effect.ensuring(Effect.ignore(remove(guard))))
      }).pipe(Effect.uninterruptible)
    }

    return {
      get,
      set,
      remove,
      keys: fs.readDirectory(folder).pipe(
        Effect.mapError(failed("list")),
        Effect.map((names) =>
          names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
        )
      ),
      claim: (key, text, mayReplace) =>
        Effect.gen(function* () {
          return (yield* linkText(key, text)) || (yield* replace(key, text, mayReplace))
        }).pipe(Effect.catchTag("PlatformError", (error) => Effect.fail(fail("lease", error.message))))
    }
  })
