/**
 * Uploads that a journal stores. Each upload is created once, and continued after a crash.
 */
import { RetryPolicy } from "@assembly-effect/api/RetryPolicy"
import { AssemblyClient } from "@assembly-effect/api/unstable/Operation"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TusError from "../TusError.ts"
import * as UploadEvent from "../UploadEvent.ts"
import { InvalidTarget, type UploadTarget } from "../UploadTarget.ts"
import * as Context from "./context.ts"
import * as Engine from "./engine.ts"
import { observe } from "./telemetry.ts"
import { foreign } from "./host.ts"
import * as Journal from "./journal.ts"
import * as JournalEntry from "./journalEntry.ts"
import { JournalTorn, NoSuchUpload } from "./journalError.ts"
import * as Options from "./options.ts"
import { identityOf } from "./outgoing.ts"
import type { Replayable, SourceFailed, UploadSource } from "./source.ts"
import * as UploadState from "./uploadState.ts"

/** Identifies the bytes of a source: by its `identity`, or by a digest of the bytes if it has none. */
export const identify = (source: Replayable): Effect.Effect<string, SourceFailed> =>
  Effect.flatMap(source.identity, (identity) =>
    identity === undefined ? identityOf(source) : Effect.succeed(identity)
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
      const end = Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), grace), Fiber.interrupt(fiber))
      return yield* Effect.onInterrupt(restore(Fiber.join(fiber)), () => end)
    })
  )

/** The pause between two attempts to acquire a lease, in milliseconds. */
const every = 500

/**
 * The maximum wait for a lease, in milliseconds. This limit matters if a clock is wrong, because a lease may then seem
 * to expire much later.
 */
const longest = Duration.toMillis("1 minute")

/**
 * Acquires the lease of an upload or a job. If another process holds the lease, tries again until that lease should
 * expire, at most for a minute. If the lease is still held then, fails with `UploadLeased`. A process that has ended
 * does not renew its lease.
 */
export const hold = Effect.fnUntraced(function* (
  journal: Journal.UploadJournal["Service"],
  key: string,
  emit: (event: Extract<UploadEvent.UploadEvent, { readonly _tag: "Waiting" }>) => void
) {
  let giveUpAt: number | undefined
  for (;;) {
    const begun = yield* Clock.currentTimeMillis
    const lease = yield* Effect.result(journal.lease(key))
    if (Result.isSuccess(lease)) return lease.success
    const error = lease.failure
    // A store in JavaScript may fail with any value.
    if (!Predicate.isTagged(error, "UploadLeased")) return yield* Effect.fail(error)
    const now = yield* Clock.currentTimeMillis
    if (giveUpAt === undefined) {
      giveUpAt = Math.min(error.until, now + longest) + 1
      const seconds = Math.max(1, Math.ceil((giveUpAt - now) / 1000))
      const reason = `another process holds the upload, or ended without releasing it (at most ${seconds} s)`
      emit(UploadEvent.Waiting({ reason, until: giveUpAt }))
    }
    // The lease may have expired since an earlier attempt began, because the store takes its time.
    if (begun >= giveUpAt) return yield* error
    yield* Effect.sleep(Math.max(0, Math.min(every, giveUpAt - now)))
  }
})

const keyFrom = ({ file, identity, metadata: { fieldname, filename }, size, target }: JournalEntry.About) =>
  Journal.keyOf(target, { identity: identity ?? undefined, size, filename, fieldname, file })

/**
 * Checks an entry, because another program may have written it. The key of the entry must equal the key that
 * `UploadJournal.keyOf` computes from the entry, and the URLs of the entry must have permitted origins (`origins`),
 * which replace those of its target.
 */
const verify = Effect.fnUntraced(function* (entry: Journal.Entry, key: string, origins: ServiceOrigins.ServiceOrigins) {
  if ((yield* keyFrom(entry)) !== key) {
    return yield* new JournalTorn({ key, description: "the content does not match the key" })
  }
  const tusUrl = Redacted.value(entry.target.tusUrl)
  if (!ServiceOrigins.includes(origins, tusUrl)) {
    return yield* new InvalidTarget({ field: "tus_url", rule: foreign(tusUrl) })
  }
  const { state: _, writtenAt: __, ...fields } = entry
  const about = { ...fields, target: { ...entry.target, origins } }
  return { about, state: yield* Effect.fromResult(JournalEntry.toState(entry, about.target)) }
})

/**
 * The permitted origins for a target: the origins of the `AssemblyClient`, or the origin of the Assembly URL if no
 * `AssemblyClient` is provided. The `additional` origins are permitted too. The Assembly URL must belong to one of
 * these origins.
 */
const deployment = Effect.fnUntraced(function* (target: UploadTarget, additional: ReadonlyArray<string> = []) {
  const assembly = Redacted.value(target.assemblySslUrl)
  const client = Option.getOrUndefined(yield* Effect.serviceOption(AssemblyClient))
  const origins = yield* Effect.mapError(
    Effect.fromResult(
      client === undefined
        ? ServiceOrigins.make(assembly.replace(/\/assemblies\/[^/]*$/, ""), additional)
        : ServiceOrigins.extend(client.origins, additional)
    ),
    ([issue]) => {
      const field = issue?.path[0] === "origins" ? "origins" : "assembly_ssl_url"
      return new InvalidTarget({ field, rule: issue?.message ?? "" })
    }
  )
  return ServiceOrigins.includes(origins, assembly)
    ? origins
    : yield* new InvalidTarget({ field: "assembly_ssl_url", rule: foreign(assembly) })
})

const differs = (field: TusError.UploadMismatch["field"], expected: string, found: string) =>
  Effect.fail(new TusError.UploadMismatch({ field, expected, found }))

/**
 * The uploads of a journal. `runFile` runs an upload of a job, whose options were checked with those of the job. `resume`
 * continues the upload with this key. `origins` are further permitted origins of its URLs.
 */
export const make = (journal: Journal.UploadJournal["Service"]) => {
  /**
   * Continues the upload in the journal (`known`), if the journal has it and `restart` is not true. If the upload has
   * ended, returns its result or fails with its error. Otherwise starts a new upload of the source (`given`). The upload
   * keeps the metadata of its creation, and is interrupted when the lease is lost.
   */
  const proceed = (
    { key, lease }: { readonly key: string; readonly lease: Journal.Lease },
    { emit, options, source }: Omit<Options.Given<Options.ResumeOptions>, "target">,
    given: JournalEntry.About,
    known: Effect.Success<ReturnType<typeof verify>> | undefined
  ) =>
    Effect.gen(function* () {
      const isNew = known === undefined || options.restart === true
      if (known !== undefined) {
        const { identity, size } = known.about
        if (size !== given.size) return yield* differs("size", `${size}`, `${given.size}`)
        if (identity !== given.identity)
          return yield* differs("fingerprint", identity ?? "none", given.identity ?? "none")
        if (isNew) {
          yield* Engine.remove(known.state, Context.policyOf(yield* RetryPolicy, options))
          yield* lease.check
          yield* journal.forget(key)
          const reason = `restart was requested; the upload in the journal was ${known.state._tag}`
          emit(UploadEvent.Restarted({ reason }))
        }
      }
      const { about, state } = isNew
        ? { about: given, state: UploadState.inParts(given.size, options.parallel) }
        : known
      const { target } = about
      if (state._tag === "Completed" || state._tag === "Untrusted") return yield* Engine.ended({ emit, target }, state)
      const all = { ...options, metadata: about.metadata }
      // The state is in the journal before the next step of the upload starts.
      const write = Effect.fnUntraced(function* (next: UploadState.UploadState) {
        // After the lease is lost, the entry may belong to another holder.
        yield* lease.check
        const entry = JournalEntry.fromState(next, about, yield* Clock.currentTimeMillis)
        yield* entry === undefined ? journal.forget(key) : journal.put(key, entry)
      })
      const store = UploadState.written(state, settle, write)
      return yield* Engine.perform(yield* Context.make({ target, source, options: all, emit }, store))
    }).pipe(Effect.raceFirst(lease.lost))

  /**
   * Continues the upload of the same bytes for the same Assembly, if the journal has this upload and `restart` is not
   * true. Otherwise starts a new upload. `file` is the index of the file in its job, which distinguishes two files with
   * the same bytes and names.
   */
  const start = (given: Options.Given<Options.Options & { readonly file?: number | undefined }>) =>
    Effect.gen(function* () {
      const { emit, options, source, target } = given
      const { file, metadata } = options
      const about = { target, metadata, ...(yield* contentOf(source)), ...(file === undefined ? undefined : { file }) }
      const key = yield* keyFrom(about)
      const lease = yield* hold(journal, key, emit)
      const found = Option.getOrUndefined(yield* journal.get(key))
      const known = found && (yield* verify(found, key, target.origins))
      return yield* proceed({ lease, key }, given, about, known)
    }).pipe(Effect.scoped)

  const resume: ReturnType<Journal.Engine>["resume"] = ({ key, origins }, given) =>
    Engine.observed(given, true, (emit) =>
      Effect.gen(function* () {
        const lease = yield* hold(journal, key, emit)
        const found = yield* journal.get(key)
        if (Option.isNone(found)) return yield* new NoSuchUpload({ key })
        const known = yield* verify(found.value, key, yield* deployment(found.value.target, origins))
        const about = { ...known.about, ...(yield* contentOf(given.source)) }
        return yield* proceed({ lease, key }, { ...given, emit }, about, known)
      }).pipe(Effect.scoped)
    )

  return {
    resume,
    run: (given: Options.Given) => Engine.observed(given, true, (emit) => start({ ...given, emit })),
    runFile: (given: Options.Given<Options.Options & { readonly file: number }>) =>
      observe(given.source, given.emit, (emit) => start({ ...given, emit }))
  }
}
