import { changes } from "../Mutant.ts"

export const tus = [
  ...changes(
    "packages/tus/src/DeliveryProof.ts",
    ["DeliveryProof"],
    [
      {
        name: "bytes after a gap are added to the hash",
        find: `if (at <= known && end > known)`,
        replace: `if (end > known)`
      },
      {
        name: "a hash of only a part of the bytes counts",
        find: `BigInt(sum.size) === source.size`,
        replace: `BigInt(sum.size) <= source.size`
      },
      {
        name: "a file without an MD5 is proven",
        find: `  return actual === md5hash
    ?`,
        replace: `  return actual === md5hash || actual === undefined
    ?`
      },
      {
        name: "one file of the Status verifies two files",
        find: `left.filter((_, other) => other !== index)`,
        replace: `left.filter((_, other) => other >= 0)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/assemblyFiles.ts",
    ["DeliveryProof"],
    [
      {
        name: "a job is not verified",
        find: `yield* check(job, completed, proof, exits)`,
        replace: `yield* check(job, completed, undefined, exits)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journaledJob.ts",
    ["DeliveryProof"],
    [
      {
        name: "a job that an earlier run has completed is not verified",
        find: `yield* AssemblyFiles.check(options, ended, yield* AssemblyFiles.prove(options, sources), [])`,
        replace: `yield* AssemblyFiles.check(options, ended, undefined, [])`
      },
      {
        name: "a mismatch stays in the journal",
        find: `error._tag === "DeliveryMismatch" ||`,
        replace: `String(error._tag) === "nothing" ||`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/exchange.ts",
    ["ServerText"],
    [
      {
        name: "the text of a server is not redacted",
        find: `Transport.Redaction.text(words, { secrets }) ||`,
        replace: `words.slice(secrets.length * 0) ||`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/lease.ts",
    ["/Lease.test"],
    [
      {
        name: "a lease is never renewed",
        find: `yield* Effect.forkScoped(Effect.ignore(Effect.forever(keep)))`,
        replace: `yield* Effect.forkScoped(Effect.ignore(Effect.never))`
      },
      {
        name: "a lease is released whoever owns it",
        find: `ours.length === 0 ? Effect.succeed(false) : Effect.flatMap(Clock.currentTimeMillis, (now) => replace(ours, now))`,
        replace: `Effect.as(leases.remove(key), true)`
      },
      {
        name: "an upload has two holders",
        find: `if (existing !== undefined && !(yield* isFree(existing, now, holder))) {`,
        replace: `if (existing === "" && !(yield* isFree(existing, now, holder))) {`
      },
      {
        name: "a lease of a dead process is waited for",
        find: `lease.holder === undefined ? Effect.succeed(false) : holder.isGone(lease.holder)`,
        replace: `lease.holder === undefined ? Effect.succeed(false) : Effect.succeed(holder === undefined)`
      },
      {
        name: "a lost lease is not detected",
        find: `return isOurs ? true : yield*`,
        replace: `return isOurs || start > 0 ? true : yield*`
      },
      {
        name: "a lease that could not be renewed is kept",
        find: `time > 0 ? Effect.succeed(false) : lose(`,
        replace: `time > -1e12 ? Effect.succeed(false) : lose(`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journalFiles.ts",
    ["/Lease.test", "UploadJournal"],
    [
      {
        name: "two processes take one lease in files",
        find: `if (existing !== expected) return false`,
        replace: `if (existing === "none") return false`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journalStores.ts",
    ["/Lease.test", "UploadJournal"],
    [
      {
        name: "two fibers take one lease in a key-value store",
        find: `.pipe(changing.withPermits(1), Effect.mapError(`,
        replace: `.pipe(Effect.mapError(`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/settled.ts",
    ["test/Settled", "ResumableAssemblyUpload"],
    [
      {
        name: "an interruption while a creation is recorded leaves a doubt",
        find: `Effect.onInterrupt(restore(sending), () => refused)`,
        replace: `restore(sending)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journalKey.ts",
    ["JournalKeys"],
    [
      {
        name: "a key of the journal is any text",
        find: `/^[a-z0-9]{1,64}$/.test(text)`,
        replace: `text !== undefined`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/hold.ts",
    ["Journaled"],
    [
      {
        name: "a process does not wait for the lease of a dead process",
        find: `const giveUpAt = Math.min(until, now + longest) + 1`,
        replace: `const giveUpAt = Math.min(until, now)`
      },
      {
        name: "a lease of a wrong clock is waited for",
        find: `Math.min(until, now + longest) + 1`,
        replace: `until + 1`
      },
      {
        name: "an upload goes on without its lease",
        find: `Effect.raceFirst(effect, lease.lost)`,
        replace: `Effect.raceFirst(effect, Effect.andThen(Effect.never, lease.lost))`
      },
      {
        name: "a wait for a lease has no event",
        find: `emit(UploadEvent.Waiting({ reason, until: giveUpAt }))`,
        replace: `reason.trim()`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journalStore.ts",
    ["JournalStore"],
    [
      {
        name: "the entry of a lost lease is overwritten",
        find: `yield* lease.check`,
        replace: `yield* Effect.void`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journalEntry.ts",
    ["EditedJournal", "JournalEntry"],
    [
      {
        name: "the URLs of an entry are checked by its own origins",
        find: `const resolve = (url: string) => UploadTarget.resolve(target, url)`,
        replace: `const resolve = (url: string) => UploadTarget.resolve(entry.target, url)`
      },
      {
        name: "the marker of a part that may exist is not stored",
        find: `marker: piece._tag === "Planned" ? null : piece.marker`,
        replace: `marker: piece._tag === "Created" ? piece.marker : null`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadState.ts",
    ["UploadState", "JournalStore"],
    [
      {
        name: "an untrusted upload is overwritten by another part of it",
        find: `state._tag === "Untrusted" ? state : change(state)`,
        replace: `state._tag === "Untrusted" && state.urls.length > 9 ? state : change(state)`
      },
      {
        name: "the final upload of an untrusted one is not known",
        find: `state.url === undefined ? state.parts : [state.url, ...state.parts]`,
        replace: `state.parts`
      },
      {
        name: "a piece that is left before it counted otherwise is in doubt",
        find: `transfer?._tag === "Asking" && transfer.only !== undefined`,
        replace: `transfer?._tag === "Asking"`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/stateStore.ts",
    ["StateStore"],
    [
      {
        name: "a late write undoes a newer one",
        find: `return writing.withPermits(1)(`,
        replace: `return Semaphore.makeUnsafe(1).withPermits(1)(`
      },
      {
        name: "each update is a write of its own",
        find: `if (versionWritten >= own) return Effect.void`,
        replace: `if (versionWritten > version) return Effect.void`
      },
      {
        name: "a state that could not be written counts as written",
        find: `return Effect.map(write(state()), () => {`,
        replace: `versionWritten = now
            return Effect.map(write(state()), () => {`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/removal.ts",
    ["Journaled"],
    [
      {
        name: "a part whose creation was not answered stays after a restart",
        find: `piece._tag === "Creating"`,
        replace: `piece._tag === "Creating" && end < start`
      },
      {
        name: "parts that may be a file are removed",
        tests: ["Concatenation", "Parallel"],
        find: `case "Concatenating":
      // The creation of the final upload may have been sent, so the parts may already be a file of the Assembly.
      return []`,
        replace: `case "Concatenating":
      return state.parts.map((url) => Effect.succeed(url))`
      },
      {
        name: "a restart removes a file of the Assembly",
        find: `Option.filter(receipt, ({ finished }) => !finished)`,
        replace: `receipt`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journaled.ts",
    ["Journaled", "Resumable"],
    [
      {
        name: "a complete upload is sent again",
        find: `return known === undefined || options.restart === true`,
        replace: `return known === undefined || known.state._tag === "Completed" || options.restart === true`
      },
      {
        name: "an untrusted upload starts again without restart: true",
        find: `return known === undefined || options.restart === true`,
        replace: `return known === undefined || known.state._tag === "Untrusted" || options.restart === true`
      },
      {
        name: "an entry under a wrong key is accepted",
        tests: ["EditedJournal"],
        find: `if (own !== key) {`,
        replace: `if (own === "") {`
      },
      {
        name: "an edited journal names its own origins",
        tests: ["EditedJournal"],
        find: `yield* verify(found, key, target.origins)`,
        replace: `yield* verify(found, key, found.target.origins)`
      },
      {
        name: "an upload continues with another source",
        find: `if (about.identity !== identity) {`,
        replace: `if (about.identity === null) {`
      },
      {
        name: "an upload continues with other metadata",
        find: `const metadata = named(about.metadata)`,
        replace: `const metadata = options.metadata`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadSteps.ts",
    ["UploadSteps"],
    [
      {
        name: "an upload is created before the receipts are read",
        find: `{ _tag: "Creating", marker: options.marker }`,
        replace: `{ _tag: "Planned" }`
      },
      {
        name: "an empty marker is sent",
        find: `marker.length > 0 ? []`,
        replace: `marker.length >= 0 ? []`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/interpreter.ts",
    ["Journaled", "Resumable"],
    [
      {
        name: "an upload that is gone is remembered",
        find: `error._tag === "UploadGone" ?`,
        replace: `error._tag === "UploadGone" && work.concurrency < 0 ?`
      },
      {
        name: "an upload that met any failure is forgotten",
        find: `error._tag === "UploadGone" ?`,
        replace: `error._tag !== "" ?`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/piece.ts",
    ["Run", "Untrusted"],
    [
      {
        name: "an abandoned uncertain upload is not stored as untrusted",
        find: `: ignored(store.update(UploadState.untrusted(toOwn(error))))`,
        replace: `: Effect.sync(() => toOwn(error))`
      },
      {
        name: "the journal does not store that an upload is untrusted",
        find: `Effect.uninterruptible(store.update(UploadState.untrusted(error)))`,
        replace: `Effect.void`
      },
      {
        name: "a creation that was refused is remembered",
        tests: ["Journaled", "Resumable"],
        find: `refused: ignored(keep(job, { _tag: "Planned" })),`,
        replace: `refused: Effect.void,`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadJournal.ts",
    ["UploadJournal", "Journaled", "Untrusted"],
    [
      {
        name: "an untrusted upload is forgotten in time",
        find: `entry._tag !== "Untrusted" && isOld(entry, now)`,
        replace: `isOld(entry, now)`
      },
      {
        name: "an entry never expires",
        find: `writtenAt + expiry <= now`,
        replace: `writtenAt + expiry < 0 * now`
      },
      {
        name: "a completed job is forgotten like an unfinished one",
        find: `entry._tag === "Completed" ? entry.writtenAt + completedExpiry <= now : isOld(entry, now)`,
        replace: `isOld(entry, now)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/continuation.ts",
    ["ResumeAt", "UploadSteps"],
    [
      {
        name: "an upload is continued before its options are checked",
        find: `yield* OptionRules.check({ ...options, source, isReplayed })`,
        replace: `yield* OptionRules.check({})`
      },
      {
        name: "a continued upload tells each Progress",
        find: `Events.paced(observed, options.progressInterval)`,
        replace: `Events.paced(observed, undefined)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/policy.ts",
    ["Pauses", "Waits", "/Creation.test", "/RetryPolicy.test"],
    [
      {
        name: "the Retry-After of the server is ignored",
        find: `failures, error, wait: asked(error) }`,
        replace: `failures, error, wait: Option.none() }`
      },
      {
        name: "a Retry-After has no maximum",
        find: `limits.maxWait ?? Duration.hours(1)`,
        replace: `Duration.days(1e9)`
      },
      {
        name: "the policy of a call is ignored",
        find: `said === undefined`,
        replace: `said !== null`
      },
      {
        name: "the options do not limit the policy of a call",
        find: `: limited(said, limits)`,
        replace: `: said`
      },
      {
        name: "a Schedule does not begin anew after progress",
        find: `if (next === undefined || failures === 1) next`,
        replace: `if (next === undefined) next`
      },
      {
        name: "the pause has no maximum",
        find: `const maxDelay = Duration.seconds(30)`,
        replace: `const maxDelay = Duration.hours(30)`
      },
      {
        name: "a permanent failure is retried",
        find: `healing.has(error._tag) && error.permanent !== true`,
        replace: `healing.has(error._tag)`,
        tests: ["BrokenAnswers"]
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/creation.ts",
    ["/Creation.test", "Pauses", "Parallel"],
    [
      {
        name: "a creation is repeated after a 503 without Retry-After",
        find: `if (status === 503 && error.retryAfter !== undefined) return "TurnedAway"`,
        replace: `if (status === 503) return "TurnedAway"`
      },
      {
        name: "a creation that brings bytes has stallTimeout",
        find: `hasWork ? policy.finishTimeout : policy.stallTimeout`,
        replace: `hasWork ? policy.stallTimeout : policy.stallTimeout`
      },
      {
        name: "the final creation has stallTimeout",
        find: `const hasWork = creation._tag === "Final" || hasBody`,
        replace: `const hasWork = hasBody`
      },
      {
        name: "a creation may have happened after a 4xx",
        find: `status !== undefined && Transport.isRefusal(status) ? "Refused" : "Open"`,
        replace: `status !== undefined && Transport.isRefusal(status) && status < 400 ? "Refused" : "Open"`
      },
      {
        name: "a creation cannot have happened after a 500",
        find: `status !== undefined && Transport.isRefusal(status) ? "Refused" : "Open"`,
        replace: `status !== undefined && status >= 400 ? "Refused" : "Open"`
      },
      {
        name: "a creation whose answer was lost is repeated",
        find: `if (error.sent !== "no") return "Open"`,
        replace: `if (error.sent === undefined) return "Open"`
      },
      {
        name: "a creation that was not sent may have happened",
        find: `if (error.sent !== "no") return "Open"`,
        replace: `if (error.sent !== undefined) return "Open"`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/session.ts",
    ["Journaled", "Resumable"],
    [
      {
        name: "a page streams the bodies of its requests",
        find: `!isPage() && takesStreams()`,
        replace: `takesStreams() || isPage()`,
        tests: ["Page"]
      },
      {
        name: "metadata are not compared on resume",
        find: `if (found.metadata === undefined) return Effect.void`,
        replace: `if (found.metadata !== null) return Effect.void`
      },
      {
        name: "the marker is not compared on resume",
        find: `...(marker === undefined ? undefined : { [Receipts.markerKey]: marker })`,
        replace: `...(marker === "" ? { [Receipts.markerKey]: marker } : undefined)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/append.ts",
    ["Pauses", "/Upload.test"],
    [
      {
        name: "the server has stallTimeout after the last byte",
        find: `meter.allSent ? policy.finishTimeout : policy.stallTimeout`,
        replace: `meter.allSent ? policy.stallTimeout : policy.stallTimeout`
      },
      {
        name: "a stall before the last byte has finishTimeout",
        find: `meter.allSent ? policy.finishTimeout : policy.stallTimeout`,
        replace: `meter.allSent ? policy.finishTimeout : policy.finishTimeout`
      },
      {
        name: "memory is reused with an unknown client",
        find: `PieceMemory.isRegistered(yield* HttpClient.HttpClient) ? pool.lend() : undefined`,
        replace: `PieceMemory.isRegistered(yield* HttpClient.HttpClient) ? pool.lend() : pool.lend()`,
        tests: ["FilePieces", "ForeignClients"]
      },
      {
        name: "memory of a failed request is reused",
        find: `if (memory !== undefined && isWhole) pool.keep(memory)`,
        replace: `if (memory !== undefined) pool.keep(memory)`,
        tests: ["FilePieces", "ForeignClients"]
      },
      {
        name: "a source longer than announced is sent",
        find: `if (count > length) return Effect.fail(tooLong(length))`,
        replace: `if (count < 0n) return Effect.fail(tooLong(length))`,
        tests: ["UploadSource"]
      },
      {
        name: "a source shorter than announced is taken for a broken network",
        find: `if (count < length) return Effect.fail(tooShort(count, length))`,
        replace: `if (count < 0n) return Effect.fail(tooShort(count, length))`,
        tests: ["UploadSource"]
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/filePieces.ts",
    ["FilePieces"],
    [
      {
        name: "memory is reused while its bytes are being sent",
        find: `const onTheWay = 8`,
        replace: `const onTheWay = 1`
      },
      {
        name: "half of an odd size is not an integer",
        find: `Math.max(least, Math.floor(current / 2))`,
        replace: `Math.max(least, current / 2)`
      },
      {
        name: "a piece shows the bytes of another one",
        find: `new ArrayBuffer(size) : oldest.transfer()`,
        replace: `new ArrayBuffer(size) : oldest`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/Transfer.ts",
    ["/Transfer.test", "Untrusted"],
    [
      {
        name: "an offset at the end is accepted before all bytes are sent",
        find: `if (offset === end && handed >= end) return`,
        replace: `if (offset === end) return`
      },
      {
        name: "a server that counts fewer bytes completes an upload",
        find: `if (offset === end && handed >= end) return`,
        replace: `if (offset <= end && handed >= end) return`
      },
      {
        name: "an upload goes on after it counted other bytes than were sent",
        find: `if (state.only !== undefined && !state.only.includes(offset)) {`,
        replace: `if (state.only !== undefined && offset < 0n) {`
      },
      {
        name: "an offset beyond the sent bytes is accepted",
        find: `const isHanded = state.handed === undefined || offset <= state.handed`,
        replace: `const isHanded = state.handed === undefined || offset >= 0n`
      },
      {
        name: "an offset is accepted without a second response",
        find: `if (isWithin && (isHarmless || offset === state.told)) return`,
        replace: `if (isWithin) return`
      },
      {
        name: "an unknown length is accepted from the server",
        find: `if (found.length !== undefined && found.length !== known) {`,
        replace: `if (found.length !== undefined && known !== undefined && found.length !== known) {`
      },
      {
        name: "the number of sent bytes decreases after a new request",
        find: `...(state.handed === undefined || state.handed > sent.handed ? undefined : { handed: sent.handed })`,
        replace: `handed: sent.handed`
      },
      {
        name: "a receipt completes an upload before all bytes are sent",
        find: `return sent === undefined || sent === length`,
        replace: `return sent === undefined || sent <= length`
      },
      {
        name: "a response without progress resets the count of failures",
        find: `failures: offset > reached ? 0 : failures,`,
        replace: `failures: 0 * failures,`
      },
      {
        name: "one that gave up in doubt goes on",
        find: `state._tag === "Asking" && state.only !== undefined && !(error instanceof TusError.UploadUntrusted)`,
        replace: `state._tag === "Asking" && state.only === null && !(error instanceof TusError.UploadUntrusted)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/run.ts",
    ["Run", "Untrusted"],
    [
      {
        name: "an invalid 2xx does not make the stored bytes untrusted",
        find: `isTaken(error) ? Transfer.miscounted(after, handed) : after`,
        replace: `isTaken(error) ? after : after`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/slices.ts",
    ["Slices"],
    [
      {
        name: "slices are not halved after a stall",
        find: `if (_tag === "Stalled") this.#size = stalled(this.#size)`,
        replace: `if (_tag === "") this.#size = stalled(this.#size)`
      },
      {
        name: "slices have no least size",
        find: `next: Math.max(Math.min(least, most), Math.floor(next / 2))`,
        replace: `next: Math.max(1, Math.floor(next / 2))`
      },
      {
        name: "slices grow beyond the most",
        find: `Math.min(size.most, next * 2)`,
        replace: `next * 2`
      },
      {
        name: "slices grow while they pass slowly",
        find: `millis(next * 2) <= Math.max(goal, last.millis * alike)`,
        replace: `millis(next * 2) >= Math.min(0, goal)`
      },
      {
        name: "slices stay large on a slow link",
        find: `millis(next) > goal && millis(half) * alike < millis(next)`,
        replace: `millis(next) > goal && millis(half) > millis(next)`
      },
      {
        name: "slices become smaller although smaller ones are not faster",
        find: `millis(next) > goal && millis(half) * alike < millis(next)`,
        replace: `millis(next) > goal`
      },
      {
        name: "the last slice has only stallTimeout",
        find: `isLast ? Duration.sum(policy.stallTimeout, policy.finishTimeout) : policy.stallTimeout`,
        replace: `isLast ? policy.stallTimeout : policy.stallTimeout`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/receipts.ts",
    ["Receipts", "/Creation.test", "Concatenation"],
    [
      {
        name: "a receipt that is finished before its end proves an upload",
        find: `offset === size &&`,
        replace: `offset !== null &&`
      },
      {
        name: "one of two matching receipts is accepted",
        find: `receipt === undefined || others.length > 0 ?`,
        replace: `receipt === undefined || others.length > 9 ?`
      },
      {
        name: "a receipt of another field counts",
        find: `if (!isName(receipt.filename, filename) || !isName(receipt.fieldname, fieldname)) return`,
        replace: `if (!isName(receipt.filename, filename)) return`
      },
      {
        name: "a receipt in the Status of another Assembly counts",
        find: `status.assembly_id === idAt(Redacted.value(target.assemblySslUrl))`,
        replace: `status.assembly_id !== Redacted.value(target.assemblySslUrl)`
      },
      {
        name: "a receipt of another size proves an upload",
        find: `(sent.size === undefined || sent.size === size)`,
        replace: `(sent.size === undefined || size !== undefined)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/concatenation.ts",
    ["Concatenation"],
    [
      {
        name: "a concatenation is not proven",
        find: `Effect.andThen(prove(session, url, length), complete(session, url, length))`,
        replace: `complete(session, url, length)`
      },
      {
        name: "a concatenation is proven without an offset",
        find: `return told === length && offset === length`,
        replace: `return told === length && offset !== 0n`
      },
      {
        name: "a concatenation is untrusted after one odd answer",
        find: `case "Contradiction":
      return 2`,
        replace: `case "Contradiction":
      return 1`
      },
      {
        name: "a concatenation is asked about without end",
        find: `duration: policy.finishTimeout,`,
        replace: `duration: Duration.times(policy.finishTimeout, 1000),`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/piece.ts",
    ["/Connections.test"],
    [
      {
        name: "the bytes of an upload open another connection",
        find: `Effect.andThen(Effect.yieldNow, Run.toEnd(run, transfer ?? Transfer.reopened(outgoing.size)))`,
        replace: `Run.toEnd(run, transfer ?? Transfer.reopened(outgoing.size))`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/discovery.ts",
    ["Concatenation"],
    [
      {
        name: "parts are sent where the server says that it cannot concatenate",
        find: `} else if (extensions.length > 0) {`,
        replace: `} else if (extensions.length < 0) {`
      },
      {
        name: "the discovery after a 413 has no time limit",
        find: `inTime({ request: "discover", url: target.tusUrl }, policy.stallTimeout, `,
        replace: `inTime({ request: "discover", url: target.tusUrl }, Infinity, `,
        tests: ["Waits"]
      },
      {
        name: "an offer of concatenation counts forever",
        find: `last?.url === url && now - last.at < lifetime`,
        replace: `last?.url === url`
      },
      {
        name: "an offer of concatenation is forgotten",
        find: `const lifetime = 300_000`,
        replace: `const lifetime = 0`
      },
      {
        name: "a server that offers nothing is not asked again",
        find: `if (extensions.includes("concatenation")) {`,
        replace: `if (extensions.length === 0 || extensions.includes("concatenation")) {`
      },
      {
        name: "the offer of another server counts",
        find: `if (last?.url === url && `,
        replace: `if (last !== undefined && `
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/creation.ts",
    ["Concatenation"],
    [
      {
        name: "a concatenation is proven by any answer to its creation",
        find: `finished: creation._tag === "Final" && offset === size`,
        replace: `finished: creation._tag === "Final"`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/removal.ts",
    ["Concatenation", "Parallel", "UploadSink"],
    [
      {
        name: "the parts of an interrupted upload are not removed",
        find: `Effect.onInterrupt(() => Effect.timeoutOption(free, farewell.interruption))`,
        replace: `Effect.onInterrupt(() => Effect.void)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/Upload.ts",
    ["Options"],
    [
      {
        name: "an upload is created before its options are checked",
        find: `yield* OptionRules.check({ ...options, source })
    const { parallel = 1 } = options`,
        replace: `yield* OptionRules.check({})
    const { parallel = 1 } = options`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/options.ts",
    ["Options"],
    [
      {
        name: "chunks of 0 bytes",
        find: `chunkSize: Settings.whole(options.chunkSize, 1),`,
        replace: `chunkSize: Settings.whole(options.chunkSize, 0),`
      },
      {
        name: "a stream that can be read once is split into parts",
        find: `source._tag === "OneShot" && parallel !== undefined && parallel !== 1`,
        replace: `source._tag === "OneShot" && parallel === 0`,
        tests: ["Options", "Parallel"]
      }
    ]
  ),
  ...changes(
    "packages/tus/src/AssemblyUpload.ts",
    ["/AssemblyUpload.test"],
    [
      {
        name: "an interruption cancels the Assembly without cancelOnInterrupt",
        find: `cancelOnInterrupt ? AssemblyFiles.cancel(assemblyId) : Effect.void`,
        replace: `cancelOnInterrupt ? AssemblyFiles.cancel(assemblyId) : AssemblyFiles.cancel(assemblyId)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/assemblyOptions.ts",
    ["HostileAssembly", "AssemblyUpload"],
    [
      {
        name: "an Assembly is created before its options are checked",
        find: `yield* Options.refuse("AssemblyUpload", [...optionIssues(job), ...missing])`,
        replace: `yield* Effect.void`
      },
      {
        name: "an Assembly is created before its sources are checked",
        find: `Options.issues({ source, parallel, isReplayed })`,
        replace: `Options.issues({ source: undefined, parallel, isReplayed })`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/AssemblyBatch.ts",
    ["AssemblyBatch"],
    [
      { name: "a batch runs many jobs by default", find: `const atOnce = 8`, replace: `const atOnce = 64` },
      {
        name: "a job that runs holds back the outcomes of later jobs",
        find: `unordered: true`,
        replace: `unordered: false`
      },
      {
        name: "a batch may have no place for an upload",
        find: `Settings.whole(uploads, 1)`,
        replace: `Settings.whole(uploads, 0)`
      },
      {
        name: "an interruption of a batch leaves its Assemblies",
        find: `cancelOnInterrupt: true`,
        replace: `cancelOnInterrupt: false`
      },
      {
        name: "each job of a batch has its own limit of uploads",
        find: `Effect.provideService(AssemblyFiles.Permits, permits),`,
        replace: ``
      },
      {
        name: "a defect of one job ends the batch",
        find: `({ _tag: "Died", job, cause: cause as Cause.Cause<never> })`,
        replace: `{
        throw Cause.squash(cause)
      }`
      },
      {
        name: "a stream of jobs that fails waits for the running jobs",
        find: `(cause) => Deferred.failCause(failure, cause)`,
        replace: `() => Effect.void`
      },
      {
        name: "only the job that was limited waits",
        find: `Effect.provideService(Admission.Admission, pauses)`,
        replace: `(effect) => effect`
      },
      {
        name: "a batch runs completed jobs again",
        find: `if (Option.isSome(done)) {`,
        replace: `if (Option.isSome(done) && done.value.writtenAt < 0) {`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/pauses.ts",
    ["SharedPauses"],
    [
      {
        name: "a service pauses a batch for any time",
        find: `Math.min(longest, Duration.toMillis(wait))`,
        replace: `Duration.toMillis(wait)`
      },
      {
        name: "a pause ends a longer one",
        find: `Math.max(end, ends.get(origin) ?? 0)`,
        replace: `end`
      },
      {
        name: "a request waits that has no time for the pause",
        find: `if (end >= until) return`,
        replace: `if (end > until) return`
      },
      {
        name: "the time limit of a request starts again after a pause",
        find: `Option.map(patience, (time) => Duration.subtract(time, waited))`,
        replace: `patience`
      },
      {
        name: "the rate limiter of the program does not hear of a pause",
        find: `Effect.andThen(pauses.pause(origin, wait), gate.pause(origin, wait))`,
        replace: `pauses.pause(origin, wait)`
      },
      {
        name: "the time of a pause is not told",
        find: `(time) => Duration.sum(waited, time)`,
        replace: `(time) => time`
      },
      {
        name: "a request does not wait for the extension of a pause",
        find: `Effect.suspend(() => enter(origin, startedAt, until))`,
        replace: `Effect.map(Clock.currentTimeMillis, (at) => Duration.millis(at - startedAt))`
      },
      {
        name: "a pause of one origin is a pause of all",
        find: `const end = ends.get(origin) ?? 0
      if`,
        replace: `const end = Math.max(0, ...ends.values())
      if`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journaledJob.ts",
    ["ResumableAssemblyUpload", "AssemblyBatch"],
    [
      {
        name: "a job is skipped that has not completed",
        find: `({ _tag }) => _tag === "Completed"`,
        replace: `({ _tag }) => _tag !== "Creating"`,
        tests: ["AssemblyBatch"]
      },
      { name: "the jobs of two services are one job", find: `origins.entries[0] ?? ""`, replace: `""` },
      {
        name: "jobs with files of two sizes are one job",
        find: `String(sources[file]?.size)`,
        replace: `""`
      },
      { name: "jobs with other bytes are one job", find: `identities[file] ?? null`, replace: `null` },
      {
        name: "jobs with other names of fields are one job",
        find: `        fieldname,
`,
        replace: `        null,
`
      },
      {
        name: "a job that nobody waited for is completed",
        find: `if (options.wait !== false) yield*`,
        replace: `yield*`,
        tests: ["AssemblyBatch"]
      },
      {
        name: "a job takes the Assembly of another one for its own",
        find: `isConflict(error) && params.assemblyId === undefined`,
        replace: `isConflict(error)`
      },
      {
        name: "a creation that was refused stays in the journal",
        find: `isRefused(error) ? Effect.ignore(forget(held)) : Effect.void`,
        replace: `Effect.void`
      },
      {
        name: "an Assembly that was found is still only being created",
        find: `_tag === "Creating" ? record(held, "Created", assemblyId) : Effect.void`,
        replace: `Effect.void`
      },
      {
        name: "a job whose Assembly is gone cannot be begun anew",
        find: `Effect.asSome,
    Effect.catchIf(isNotFound, () => Effect.succeedNone)`,
        replace: `Effect.asSome`
      },
      {
        name: "a job whose upload is undecided fails in every run",
        find: `Effect.catchIf(run(found), isUndecided, () => anew)`,
        replace: `run(found)`
      },
      {
        name: "an undecided job with an id of the caller is forgotten",
        find: `yield* hasChosenId ? run(found) : Effect.catchIf`,
        replace: `yield* options.restart === true ? run(found) : Effect.catchIf`
      },
      {
        name: "a restart cancels an Assembly that cannot be created again",
        find: `if (hasChosenId && options.restart === true) yield*`,
        replace: `if (hasChosenId && options.restart === undefined && found._tag === "Completed") yield*`
      },
      {
        name: "a job that was canceled for a file is kept for ever",
        find: ` ||
  (error._tag === "FilesFailed" && error.assembly === "canceled")`,
        replace: ``
      },
      {
        name: "a job is not recorded before its Assembly is created",
        find: `yield* record(held, "Creating", assemblyId)`,
        replace: `yield* Effect.void`
      },
      {
        name: "an Assembly that was created is created again",
        find: `yield* record(held, "Created", assemblyId)
    emit`,
        replace: `emit`
      },
      {
        name: "an Assembly that is gone is made again, as if it had done nothing",
        find: `_tag === "Creating"
        ? create(held, options, assemblyId, emit)`,
        replace: `assemblyId !== undefined
        ? create(held, options, assemblyId, emit)`
      },
      {
        name: "a job that failed is kept for ever",
        find: `error._tag === "AssemblyFailed" ||`,
        replace: ``
      },
      {
        name: "the Assembly of a job is canceled when a file fails",
        find: `{ onFailure: "keep", ...options }`,
        replace: `{ onFailure: "cancel", ...options }`
      },
      {
        name: "two files of the same bytes and name are one upload",
        find: `{ ...upload, file }`,
        replace: `{ ...upload, file: 0 }`
      },
      {
        name: "a job that starts again does not cancel its old Assembly",
        find: `const ended = yield* giveUp(found.assemblyId)`,
        replace: `const ended = yield* Effect.succeedNone as ReturnType<typeof giveUp>`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/assemblyFiles.ts",
    ["HostileAssembly", "AssemblyUpload"],
    [
      {
        name: "the refusal of a file hides how its Assembly ended",
        find: `yield* ownError(assemblyId, exits)`,
        replace: `yield* Effect.void`
      },
      {
        name: "an Assembly without a target is not canceled",
        find: `UploadTarget.fromAssembly({ ...status, assembly_id: assemblyId }),
      () => (job.onFailure === "keep" ? Effect.void : cancel(assemblyId))`,
        replace: `UploadTarget.fromAssembly({ ...status, assembly_id: assemblyId }),
      () => Effect.void`
      },
      {
        name: "an Assembly of a resumable job is canceled when its Status names no place for uploads",
        find: `(job.onFailure === "keep" ? Effect.void : cancel(assemblyId))`,
        replace: `cancel(assemblyId)`
      },
      {
        name: "an Assembly with wrong bytes is kept",
        find: `job.onFailure === "keep" && exits.every(isHarmless)`,
        replace: `job.onFailure === "keep"`
      },
      {
        name: "an Assembly that was not canceled is reported as canceled",
        find: `Effect.map((status) => Assembly.state(status) === "Canceled"),`,
        replace: `Effect.map((status) => status !== undefined),`
      },
      {
        name: "a defect in a source does not cancel the Assembly",
        find: `Exit.hasDies(exit) ? cancel(assemblyId) : Effect.void`,
        replace: `Exit.isSuccess(exit) ? Effect.void : Effect.void`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journalTarget.ts",
    ["EditedJournal"],
    [
      {
        name: "an edited journal names its own service",
        find: `ServiceOrigins.includes(origins, Redacted.value(target.tusUrl))`,
        replace: `!ServiceOrigins.includes(origins, Redacted.value(target.tusUrl).slice(0, 5))`
      },
      {
        name: "an upload is resumed for an Assembly of another service",
        find: `return ServiceOrigins.includes(origins, assembly)`,
        replace: `return assembly !== ""`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/Upload.ts",
    ["UploadSink"],
    [
      {
        name: "a failed stream leaves its upload",
        find: `onFailure === "keep" ? identity : Removal.unlessDone`,
        replace: `onFailure === "terminate" ? identity : Removal.unlessDone`
      },
      {
        name: "a failed stream is a failure of the source, whatever it failed with",
        find: `Effect.failCause(failure ?? cause)`,
        replace: `Effect.failCause(cause ?? failure)`
      },
      {
        name: "a stream runs in the scope and the span of its upload",
        find: `Effect.updateContext(upstream, (_own: Context.Context<never>) => context)`,
        replace: `Effect.updateContext(upstream, (_own: Context.Context<never>) => _own ?? context)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/window.ts",
    ["UploadSink", "ReadableStreams"],
    [
      {
        name: "text is uploaded as if it were bytes",
        find: `if ((piece as Uint8Array | undefined)?.BYTES_PER_ELEMENT !== 1) {`,
        replace: `if (piece.BYTES_PER_ELEMENT === 2) {`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/WebSource.ts",
    ["ReadableStreams"],
    [
      {
        name: "a stream that was read before is an empty file",
        find: `return new Response(readable).bodyUsed ? used : undefined`,
        replace: `return undefined`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadBandwidth.ts",
    ["UploadBandwidth"],
    [
      {
        name: "an upload waits until the wall clock is right again",
        find: `Number(clock.monotonicTimeNanosUnsafe()) / 1e6`,
        replace: `clock.currentTimeMillisUnsafe()`
      },
      {
        name: "an upload is too fast after a pause",
        find: `free = Math.max(free, now - interval)`,
        replace: `free = Math.max(free, -interval)`
      },
      {
        name: "an upload gets more bandwidth than the others",
        find: `Math.max(1, Math.min(largest, Math.floor((bytesPerSecond * interval) / 1000)))`,
        replace: `Math.max(1, largest * 1024)`
      },
      {
        name: "uploads do not wait for each other",
        find: `turn.withPermit(`,
        replace: `Effect.suspend(() => `
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/append.ts",
    ["UploadBandwidth"],
    [
      {
        name: "a wait for bandwidth is a stall",
        find: `meter.movedAt = Infinity`,
        replace: `meter.movedAt += 0`
      },
      {
        name: "the start of a request ends a wait for bandwidth",
        find: `meter.movedAt = Math.max(meter.movedAt, clock.currentTimeMillisUnsafe())`,
        replace: `meter.movedAt = clock.currentTimeMillisUnsafe()`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/exchange.ts",
    ["UploadBandwidth"],
    [
      {
        name: "bodies in memory are not limited",
        find: `bandwidth !== undefined && options.streaming !== true`,
        replace: `bandwidth !== undefined && options.streaming === undefined`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/urlSource.ts",
    ["UrlSource"],
    [
      {
        name: "an empty resource must have the ETag of its 416",
        find: `described.size !== 0n && response.headers`,
        replace: `response.headers`
      },
      {
        name: "a resource that changed in the middle is read on",
        find: `if (headers["etag"] !== etag) return`,
        replace: `if (headers["etag"] === "") return`
      },
      {
        name: "a resource of another size is read on",
        find: `if (part.total !== size) {`,
        replace: `if (part.total === 0n) {`
      },
      {
        name: "the wrong range is taken",
        find: `if (part.first !== start || part.last < start || part.last >= end) {`,
        replace: `if (part.last < 0n) {`
      },
      {
        name: "a weak ETag is taken for a strong one",
        find: `etag !== undefined && /^"[^"]*"$/.test(etag)`,
        replace: `etag !== undefined && /"[^"]*"$/.test(etag)`
      },
      {
        name: "an encoded resource is uploaded",
        find: `return coding === undefined || coding === "" || coding === "identity"`,
        replace: `return coding !== "none"`
      },
      {
        name: "a body that ends early is complete",
        find: `if (position < until) {`,
        replace: `if (position < -1n) {`
      },
      {
        name: "a resource that is read once may change before it is read",
        find: `response.headers["etag"] !== described.etag`,
        replace: `response.headers["etag"] === ""`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadTarget.ts",
    ["UploadTarget", "/Tus.test"],
    [
      {
        name: "uploads into another Assembly are authorized",
        find: `if (ServiceOrigins.assemblyIdAt(assemblySslUrl) !== status.assembly_id) {`,
        replace: `if (assemblySslUrl === status.assembly_id) {`,
        tests: ["HostileAssembly", "UploadTarget"]
      },
      {
        name: "a Location may name another origin",
        find: `if (!ServiceOrigins.includes(target.origins, url))`,
        replace: `if (url === "" && !ServiceOrigins.includes(target.origins, url))`
      },
      {
        name: "a Location may name any path",
        find: `yield* Result.mapError(decodePath(path), `,
        replace: `yield* Result.mapError(decodePath("/resumable/files/a"), `
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/caution.ts",
    ["EarlyRefusal"],
    [
      {
        name: "a body is repeated with the same size after many cuts",
        find: `if (this.#cuts < patience && this.#most === undefined) return`,
        replace: `if (this.#cuts < patience * 1e9) return`
      },
      {
        name: "the size of bodies does not grow again after a cut",
        find: `this.#most *= 2n`,
        replace: `this.#most *= 1n`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/exchange.ts",
    ["BrokenAnswers", "TusError"],
    [
      {
        name: "an upload that is gone is refused",
        find: `case 410:
      return new TusError.UploadGone(`,
        replace: `return new TusError.UploadGone(answer)
    case 410:
      return new TusError.UploadRefused(`,
        tests: ["TusError", "Resumable", "Concatenation"]
      },
      {
        name: "the body of a successful response has no limit",
        find: `Transport.ends(response, { maxBytes: maxErrorBytes })`,
        replace: `Transport.ends(response, { maxBytes: maxErrorBytes * 1e6 })`,
        project: "node",
        tests: ["Bombs"]
      },
      {
        name: "the wait of a server error is lost",
        find: `Option.isSome(wait) ? { ...answer, retryAfter: wait.value } : answer`,
        replace: `answer`,
        tests: ["BrokenAnswers", "/Creation.test", "Waits"]
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadEvent.ts",
    ["UploadEvent"],
    [
      {
        name: "the JSON form of an event has the upload URL",
        find: `  Completed: { length: bytes }
})`,
        replace: `  Completed: { length: bytes, url: Schema.optional(Schema.Any) }
})`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/AssemblyUploadEvent.ts",
    ["UploadEvent"],
    [
      {
        name: "the JSON form of a file has its upload URL",
        find: `Struct.omit(Assembly.File.schema.fields, ["tus_upload_url"])`,
        replace: `Assembly.File.schema.fields`
      },
      {
        name: "the JSON form of an event has the id of the Assembly",
        find: `  Uploaded: {},`,
        replace: `  Uploaded: { assemblyId: Schema.String },`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/events.ts",
    ["UploadEvent"],
    [
      {
        name: "a Progress that was held back is lost",
        find: `if (held !== undefined) emit(held)`,
        replace: `if (held !== undefined && event._tag === "") emit(held)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/telemetry.ts",
    ["Telemetry"],
    [
      {
        name: "an upload stays active after its end",
        find: `if (isActive) active.modifyUnsafe(-1, context)`,
        replace: `if (!isActive) active.modifyUnsafe(-1, context)`
      },
      {
        name: "bytes that were not sent are counted",
        find: `confirmed <= 0n || confirmed > sent ?`,
        replace: `confirmed <= 0n || sent < 0n ?`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/piece.ts",
    ["ResumeAt"],
    [
      {
        name: "an upload is continued whose metadata is another's",
        find: `transfer === undefined ? Session.verifyMetadata(metadata, marker || undefined)`,
        replace: `transfer === undefined && marker !== "" ? Session.verifyMetadata(metadata, marker)`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journaled.ts",
    ["EditedJournal"],
    [
      {
        name: "an entry of the journal sets its own origins",
        find: `return { about: { ...entry, target }, state }`,
        replace: `return { about: entry, state }`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadTarget.ts",
    ["UploadTarget"],
    [
      {
        name: "a host that was repaired is told as it was not written",
        find: `if (ServiceOrigins.originOf(url) === undefined) return yield* Result.fail("its host is not in its canonical form")`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/exchange.ts",
    ["ServerText"],
    [{ name: "the ids of parts stay in an error", find: `[url, headers["upload-concat"] ?? ""]`, replace: `[url]` }]
  ),
  ...changes(
    "packages/tus/src/internal/caution.ts",
    ["EarlyRefusal"],
    [
      {
        name: "cuts at different offsets reduce the size of a body",
        find: `this.#cuts = start === this.#start ? this.#cuts + 1 : 1`,
        replace: `this.#cuts++`
      },
      {
        name: "the limit of the size of bodies is never removed",
        find: `if (this.#most >= this.#largest) this.#most = undefined`,
        replace: ``
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/receipts.ts",
    ["Receipts"],
    [{ name: "a Status has no limit", find: `{ maxBytes: maxStatusBytes }`, replace: `{ maxBytes: 8e9 }` }]
  ),
  ...changes(
    "packages/tus/src/internal/lease.ts",
    ["Lease.test"],
    [
      {
        name: "a lease of a million levels is parsed",
        find: `const AtRest = Json.fromString(`,
        replace: `const AtRest = Schema.fromJsonString(`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/sweep.ts",
    ["Sweep"],
    [
      {
        name: "a write waits until the whole journal has been checked",
        find: `const count = Math.min(left, atOnce)`,
        replace: `const count = left`
      },
      {
        name: "each process checks the same first entries",
        find: `next = left === 0 ? 0 : yield* Random.nextIntBetween(0, left - 1)`,
        replace: `next = 0`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/internal/journalEntry.ts",
    ["UploadJournal"],
    [
      {
        name: "an entry of a million levels is parsed",
        find: `const codec = Json.fromString(`,
        replace: `const codec = Schema.fromJsonString(`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadJournal.ts",
    ["Page"],
    [
      {
        name: "a journal is created without crypto.subtle",
        find: `yield* Subtle.forJournal
      return make(yield* store`,
        replace: `return make(yield* store`
      }
    ]
  ),
  ...changes(
    "packages/tus/src/UploadSource.ts",
    ["FilePieces", "UploadSource"],
    [
      {
        name: "the first piece of a file is sent before the file is checked",
        find: `if (isFirst || next >= end) yield* check`,
        replace: `if (next >= end) yield* check`
      },
      {
        name: "the last piece of a file is sent before the file is checked",
        find: `if (isFirst || next >= end) yield* check`,
        replace: `if (isFirst) yield* check`,
        tests: ["FilePieces", "UploadSource", "Resumable"]
      }
    ]
  )
]
