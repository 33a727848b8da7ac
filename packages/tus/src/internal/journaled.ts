/**
 * Uploads that a journal stores. Each upload is created once, and continued after a crash.
 */
import { RetryPolicy } from "@assembly-effect/api/RetryPolicy"
import { AssemblyClient } from "@assembly-effect/api/unstable/Operation"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import { InvalidTarget, type UnsafeLocation, type UploadTarget } from "../UploadTarget.ts"
import * as Context from "./context.ts"
import * as Engine from "./engine.ts"
import { foreign } from "./host.ts"
import * as Journal from "./journal.ts"
import * as JournalEntry from "./journalEntry.ts"
import { type JournalFailed, JournalTorn, type LeaseLost, NoSuchUpload } from "./journalError.ts"
import * as Leasing from "./lease.ts"
import * as Options from "./options.ts"
import * as Pieces from "./pieces.ts"
import * as Policy from "./policy.ts"
import * as Removal from "./removal.ts"
import type { Replayable, SourceFailed, UploadSource } from "./source.ts"
import * as Telemetry from "./telemetry.ts"
import * as UploadState from "./uploadState.ts"

/** Identifies the bytes of a source: by its `identity`, or by a digest of the bytes if it has none. */
export const identify = (source: Replayable): Effect.Effect<string, SourceFailed> =>
  Effect.flatMap(source.identity, (identity) =>
    identity === undefined ? Pieces.identityOf(source) : Effect.succeed(identity)
  )

/** What identifies the bytes of a source in the journal. */
const contentOf = (source: UploadSource) =>
  Effect.flatMap(Options.replayable(source), (again) =>
    Effect.map(identify(again), (identity) => ({ size: again.size, identity }))
  )

/** How long an interruption waits for the response to a request that creates an upload. */
const grace = "2 seconds"

/** After an interruption, the response to a request that has been sent is awaited for at most `grace`. */
export const settle: UploadState.Settle = ({ answered, refused, sending }) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      yield* Effect.onInterrupt(restore(sending), () => refused)
      const fiber = yield* Effect.forkChild(answered, { startImmediately: true })
      const end = Effect.andThen(
        Effect.timeoutOrElse(Fiber.await(fiber), { duration: grace, orElse: () => Effect.void }),
        Fiber.interrupt(fiber)
      )
      return yield* Effect.onInterrupt(restore(Fiber.join(fiber)), () => end)
    })
  )

/** An upload of the journal whose lease this process holds. */
interface Held {
  readonly journal: Journal.UploadJournal["Service"]
  readonly lease: Journal.Lease
  readonly key: string
}

/** Writes the state of an upload into the journal before the next step of the upload starts. */
const storeOf = (
  { journal, key, lease }: Held,
  about: JournalEntry.About,
  initial: UploadState.UploadState
): UploadState.StateStore<JournalFailed | LeaseLost | InvalidRequest> =>
  UploadState.written(initial, settle, (state) =>
    Effect.gen(function* () {
      // After the lease is lost, the entry may belong to another holder.
      yield* lease.check
      const entry = JournalEntry.fromState(state, about, yield* Clock.currentTimeMillis)
      yield* entry === undefined ? journal.forget(key) : journal.put(key, entry)
    })
  )

/** The metadata of an entry. Every entry has both keys, `filename` and `fieldname`. */
const named = (metadata: Journal.Entry["metadata"]): Options.Metadata => ({
  ...metadata,
  filename: metadata["filename"] ?? "",
  fieldname: metadata["fieldname"] ?? ""
})

const keyFrom = ({ file, identity, metadata, size, target }: JournalEntry.About) => {
  const { fieldname, filename } = named(metadata)
  return Journal.keyOf(target, { identity: identity ?? undefined, size, filename, fieldname, file })
}

/** The state of an upload in the journal, after {@link verify} has checked its entry. */
interface Known {
  readonly about: JournalEntry.About
  readonly state: UploadState.UploadState
}

/**
 * Checks an entry, because another program may have written it. The key of the entry must equal the key that
 * `UploadJournal.keyOf` computes from the entry, and the URLs of the entry must have permitted origins (`origins`),
 * which replace those of its target.
 */
const verify = (
  entry: Journal.Entry,
  key: string,
  origins: ServiceOrigins.ServiceOrigins
): Effect.Effect<Known, JournalTorn | InvalidTarget | UnsafeLocation> =>
  Effect.gen(function* () {
    if ((yield* keyFrom(entry)) !== key) {
      return yield* new JournalTorn({ key, description: "the content does not match the key" })
    }
    const tusUrl = Redacted.value(entry.target.tusUrl)
    if (!ServiceOrigins.includes(origins, tusUrl)) {
      return yield* new InvalidTarget({ field: "tus_url", rule: foreign(tusUrl) })
    }
    const target = { ...entry.target, origins }
    const state = yield* Effect.fromResult(JournalEntry.toState(entry, target))
    const { file, identity, metadata, size } = entry
    return { about: { target, metadata, size, identity, ...(file === undefined ? undefined : { file }) }, state }
  })

/**
 * The permitted origins for a target: the origins of the `AssemblyClient`, or the origin of the Assembly URL if no
 * `AssemblyClient` is provided. The `additional` origins are permitted too. The Assembly URL must belong to one of
 * these origins.
 */
const deployment = (target: UploadTarget, additional: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const assembly = Redacted.value(target.assemblySslUrl)
    const client = Option.getOrUndefined(yield* Effect.serviceOption(AssemblyClient))
    const origins = yield* Effect.mapError(
      Effect.fromResult(
        client === undefined
          ? ServiceOrigins.make(assembly.replace(/\/assemblies\/[^/]*$/, ""), additional)
          : ServiceOrigins.extend(client.origins, additional)
      ),
      ([issue]) =>
        new InvalidTarget({
          field: issue?.path[0] === "origins" ? "origins" : "assembly_ssl_url",
          rule: issue?.message ?? ""
        })
    )
    return ServiceOrigins.includes(origins, assembly)
      ? origins
      : yield* new InvalidTarget({ field: "assembly_ssl_url", rule: foreign(assembly) })
  })

const differs = (field: TusError.UploadMismatch["field"], expected: string, found: string) =>
  Effect.fail(new TusError.UploadMismatch({ field, expected, found }))

/**
 * Continues the upload in the journal (`known`), if the journal has it and `restart` is not true. If the upload has
 * ended, returns its result or fails with its error. Otherwise starts a new upload of the source (`given`). The upload
 * keeps the metadata of its creation.
 */
const proceed = (
  held: Held,
  { emit, options, source }: Omit<Options.Given<Options.ResumeOptions>, "target">,
  given: JournalEntry.About,
  known?: Known | undefined
) =>
  Leasing.during(
    held.lease,
    Effect.gen(function* () {
      const { journal, key, lease } = held
      if (known !== undefined) {
        const { identity, size } = known.about
        if (size !== given.size) return yield* differs("size", `${size}`, `${given.size}`)
        if (identity !== given.identity)
          return yield* differs("fingerprint", identity ?? "none", given.identity ?? "none")
      }
      if (known !== undefined && options.restart === true) {
        yield* Removal.remove(known.state, Policy.make(yield* RetryPolicy, options))
        yield* lease.check
        yield* journal.forget(key)
        emit(
          UploadEvent.Restarted({ reason: `restart was requested; the upload in the journal was ${known.state._tag}` })
        )
      }
      const planned = { about: given, state: UploadState.inParts(given.size, options.parallel ?? 1) }
      const { about, state } = options.restart === true ? planned : (known ?? planned)
      if (state._tag === "Completed" || state._tag === "Untrusted") {
        return yield* Engine.ended({ emit, target: about.target }, state)
      }
      const all = { ...options, metadata: named(about.metadata) }
      const store = storeOf(held, about, state)
      return yield* Engine.perform(yield* Context.make({ target: about.target, source, options: all, emit }, store))
    })
  )

/**
 * Continues the upload of the same bytes for the same Assembly, if the journal has this upload and `restart` is not
 * true. Otherwise starts a new upload. `file` is the index of the file in its job, which distinguishes two files with
 * the same bytes and names.
 */
const start = (
  journal: Journal.UploadJournal["Service"],
  given: Options.Given<Options.Options & { readonly file?: number | undefined }>
) =>
  Effect.gen(function* () {
    const { emit, options, target } = given
    const { file, metadata } = options
    const about = {
      target,
      metadata,
      ...(yield* contentOf(given.source)),
      ...(file === undefined ? undefined : { file })
    }
    const key = yield* keyFrom(about)
    const lease = yield* Leasing.hold(journal, key, emit)
    const found = Option.getOrUndefined(yield* journal.get(key))
    const known = found === undefined ? undefined : yield* verify(found, key, target.origins)
    return yield* proceed({ journal, lease, key }, given, about, known)
  }).pipe(Effect.scoped)

/**
 * The uploads of a journal. `runFile` runs an upload of a job, whose options were checked with those of the job. `resume`
 * continues the upload with this key. `origins` are further permitted origins of its URLs.
 */
export const make = (journal: Journal.UploadJournal["Service"]) => ({
  run: (given: Options.Given) => Engine.observed(given, true, (emit) => start(journal, { ...given, emit })),
  runFile: (given: Options.Given<Options.Options & { readonly file: number }>) =>
    Telemetry.observe(given.source, given.emit, (emit) => start(journal, { ...given, emit })),
  resume: (
    { key, origins }: { readonly key: string; readonly origins?: ReadonlyArray<string> | undefined },
    given: Omit<Options.Given<Options.ResumeOptions>, "target">
  ) =>
    Engine.observed(given, true, (emit) =>
      Effect.gen(function* () {
        const lease = yield* Leasing.hold(journal, key, emit)
        const found = yield* journal.get(key)
        if (Option.isNone(found)) return yield* new NoSuchUpload({ key })
        const known = yield* verify(found.value, key, yield* deployment(found.value.target, origins))
        const about = { ...known.about, ...(yield* contentOf(given.source)) }
        return yield* proceed({ journal, lease, key }, { ...given, emit }, about, known)
      }).pipe(Effect.scoped)
    )
})
