/**
 * What survives a crash: one entry for each unfinished upload, written before the creation request and again before the
 * first byte. An entry holds capabilities; store it as a secret.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Files from "./internal/journalFiles.ts"
import * as Stores from "./internal/journalStores.ts"
import * as Lease from "./internal/Lease.ts"
import * as UploadTarget from "./UploadTarget.ts"

/** The journal could not be read or written: no space, no permission, no store. Nothing is sent without it. */
export class JournalFailed extends Schema.TaggedError<JournalFailed>()("JournalFailed", {
  action: Schema.Literals(["read", "write", "remove", "list", "lease"]),
  problem: Schema.String
}) {
  override get message() {
    return `the upload journal: cannot ${this.action}: ${this.problem}`
  }
}

/** An entry is not one: it was torn, or written by somebody else. `forget` it, and the upload starts over. */
export class JournalTorn extends Schema.TaggedError<JournalTorn>()("JournalTorn", {
  key: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `the upload journal: the entry ${this.key} cannot be understood: ${this.problem}`
  }
}

/**
 * Another process, or another fiber, is at work on the same upload. Its lease runs out at `until`, in milliseconds
 * since 1970, unless it is alive and renews it.
 */
export class UploadLeased extends Schema.TaggedError<UploadLeased>()("UploadLeased", {
  key: Schema.String,
  until: Schema.Finite
}) {
  override get message() {
    return `the upload ${this.key} is at work elsewhere`
  }
}

/** The journal has no upload of this key, or none that is not expired. */
export class NoSuchUpload extends Schema.TaggedError<NoSuchUpload>()("NoSuchUpload", {
  key: Schema.String
}) {
  override get message() {
    return `the upload journal has no upload ${this.key}`
  }
}

/** What the journal can fail with. */
export type JournalError = JournalFailed | JournalTorn | UploadLeased

const common = {
  target: UploadTarget.AtRest,
  /** Finds an upload again whose creation was not answered. */
  marker: Schema.String,
  metadata: Schema.Record(Schema.String, Schema.NullOr(Schema.String)),
  size: Schema.BigInt,
  identity: Schema.NullOr(Schema.String),
  /** Milliseconds since 1970. */
  writtenAt: Schema.Finite
}

const Url = Schema.String

/**
 * - `Creating`: a creation may have been sent; its answer is not known.
 * - `Created`: the upload is at `url`.
 * - `Parts`: each part is at its `url`, where known; one without has a `marker` if its creation may have been sent. Its
 *   bytes are those from `start` up to, and without, `end`.
 * - `Concatenating`: all parts are whole; their final creation may have been sent.
 */
const Stored = Schema.TaggedUnion({
  Creating: common,
  Created: { ...common, url: Url },
  Parts: {
    ...common,
    parts: Schema.Array(
      Schema.Struct({
        marker: Schema.NullOr(Schema.String),
        url: Schema.NullOr(Url),
        start: Schema.BigInt,
        end: Schema.BigInt
      })
    )
  },
  Concatenating: { ...common, urls: Schema.Array(Url) }
})

/** An entry. URLs are plain texts here: `UploadTarget.urlAtRest` makes capabilities of them, through the checks. */
export type Entry = typeof Stored.Type

const codec = Schema.fromJsonString(Schema.toCodecJson(Stored))
const encode = Schema.encodeEffect(codec)
const decode = Schema.decodeEffect(codec)

/** Where entries are kept, as texts, and leases. A small core: everything else is made of it. */
export interface Store {
  readonly get: (key: string) => Effect.Effect<string | undefined, JournalFailed>
  readonly set: (key: string, text: string) => Effect.Effect<void, JournalFailed>
  readonly remove: (key: string) => Effect.Effect<void, JournalFailed>
  readonly keys: Effect.Effect<ReadonlyArray<string>, JournalFailed>
  /**
   * Sets a text if there is none, or the one that is there passes `mayReplace`, and answers whether it did. Where the
   * store can, nobody comes in between.
   */
  readonly claim: (
    key: string,
    text: string,
    mayReplace: (existing: string) => boolean
  ) => Effect.Effect<boolean, JournalFailed>
}

/**
 * The journal. `get` leaves expired entries out; `list` tells every entry that can be understood; `forget` removes one
 * whatever it says. `lease` holds an upload until its scope ends.
 */
export class UploadJournal extends Context.Service<
  UploadJournal,
  {
    readonly get: (key: string) => Effect.Effect<Option.Option<Entry>, JournalFailed | JournalTorn>
    readonly put: (key: string, entry: Entry) => Effect.Effect<void, JournalFailed>
    readonly forget: (key: string) => Effect.Effect<void, JournalFailed>
    readonly list: Effect.Effect<ReadonlyArray<{ readonly key: string; readonly entry: Entry }>, JournalFailed>
    readonly lease: (key: string) => Effect.Effect<void, JournalFailed | UploadLeased, Scope.Scope>
  }
>()("@assembly-effect/tus/UploadJournal") {}

/**
 * - `expiry`: how long an entry is of use, 24 hours by default; servers remove what nobody finishes.
 * - `leaseDuration`: how long a lease outlives a process that died, 10 seconds by default; a living one renews it, and
 *   the next one waits as long to see whether it does.
 */
export interface Options {
  readonly expiry?: Duration.Input | undefined
  readonly leaseDuration?: Duration.Input | undefined
}

/** A journal over a store. */
export const make = (store: Store, options: Options = {}): UploadJournal["Service"] => {
  const expiry = Duration.toMillis(options.expiry ?? "24 hours")

  const read = (key: string) =>
    Effect.flatMap(store.get(key), (text) =>
      text === undefined
        ? Effect.succeed(Option.none<Entry>())
        : decode(text).pipe(
            Effect.map(Option.some),
            // The issue would tell the text, which holds capabilities.
            Effect.mapError(() => new JournalTorn({ key, problem: `${text.length} characters that are no entry` }))
          )
    )

  return {
    get: (key) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        return Option.filter(yield* read(key), ({ writtenAt }) => writtenAt + expiry > now)
      }),
    put: (key, entry) =>
      encode(entry).pipe(
        Effect.mapError(() => new JournalFailed({ action: "write", problem: "an entry that breaks its own rules" })),
        Effect.flatMap((text) => store.set(key, text))
      ),
    forget: (key) => store.remove(key),
    list: Effect.gen(function* () {
      const found: Array<{ readonly key: string; readonly entry: Entry }> = []
      for (const key of yield* store.keys) {
        if (Lease.isKey(key)) continue
        const entry = yield* Effect.catchTag(read(key), "JournalTorn", () => Effect.succeed(Option.none<Entry>()))
        if (Option.isSome(entry)) found.push({ key, entry: entry.value })
      }
      return found
    }),
    lease: Lease.make(store, {
      millis: Duration.toMillis(options.leaseDuration ?? "10 seconds"),
      leased: (key, until) => new UploadLeased({ key, until })
    })
  }
}

const utf8 = new TextEncoder()

/** The key of an upload: the Assembly it is for, and what identifies its bytes, so that neither shows. */
export const keyOf = (
  target: UploadTarget.UploadTarget,
  upload: {
    readonly identity: string | undefined
    readonly size: bigint
    readonly filename: string
    readonly fieldname: string
  }
): Effect.Effect<string> =>
  Digest.Digest.use((digest) =>
    digest.digest(
      Digest.sha256,
      utf8.encode(
        JSON.stringify([
          Redacted.value(target.assemblySslUrl),
          upload.identity ?? null,
          String(upload.size),
          upload.filename,
          upload.fieldname
        ])
      )
    )
  ).pipe(Effect.map(Hex.encode), Effect.provide(Digest.layerWebCrypto))

const failed = (action: JournalFailed["action"], problem: string) => new JournalFailed({ action, problem })

/** A journal in memory: it survives a failed upload, not the process. */
export const layerMemory = (options?: Options): Layer.Layer<UploadJournal> =>
  Layer.sync(UploadJournal, () => make(Stores.memory(), options))

/**
 * A journal in a folder, one file an entry, readable by its owner only. Files are replaced as a whole: a crash leaves
 * the old entry or the new one.
 *
 * @example UploadJournal.layerFileSystem("/var/lib/my-app/uploads")
 */
export const layerFileSystem = (
  folder: string,
  options?: Options
): Layer.Layer<UploadJournal, JournalFailed, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    UploadJournal,
    Effect.map(Files.make(folder, failed), (store) => make(store, options))
  )

/**
 * A journal in any KeyValueStore: SQL, Redis, or the storage of a browser.
 *
 * **Gotchas**
 *
 * Such a store cannot set what is not there yet, and nothing else: two processes that begin with the same upload in the
 * same moment may both hold its lease. The server's own lock and its offsets keep the bytes right then, but each may
 * create an upload. A lease that ran out is taken over by one of two where the store's `modify` is atomic. Fibers of one
 * process that share this layer never hold the same lease.
 */
export const layerKeyValueStore = (options?: Options): Layer.Layer<UploadJournal, never, KeyValueStore.KeyValueStore> =>
  Layer.effect(
    UploadJournal,
    Effect.map(KeyValueStore.KeyValueStore, (store) =>
      make(Stores.fromKeyValueStore(KeyValueStore.prefix(store, "upload-journal-"), failed), options)
    )
  )
