/**
 * The parts of an upload before their bytes are sent: where each begins and ends, and the one creation of each.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Semaphore from "effect/Semaphore"
import * as Transfer from "../Transfer.ts"
import type { Replayable } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import * as Creation from "./Creation.ts"
import type { Part, Recorder } from "./Recorder.ts"
import type { Job } from "./Run.ts"
import * as Session from "./Session.ts"

/** A part below this gains less by running beside others than its requests cost. */
const smallestPart = 1024n * 1024n

/**
 * So many parts of a source, or fewer when it is small. They cover it, in order, without a gap.
 */
export const plan = ({ size }: Replayable, count: number): ReadonlyArray<Part> => {
  const most = size / smallestPart
  const parts = most < 1n ? 1n : most < BigInt(count) ? most : BigInt(count)
  return Array.from({ length: Number(parts) }, (_, index) => ({
    _tag: "Planned",
    start: (size * BigInt(index)) / parts,
    end: (size * BigInt(index + 1)) / parts
  }))
}

/** What is known of the parts, which `set` records before it comes back. `record` does it once more. */
export interface Ledger<E> {
  readonly parts: () => ReadonlyArray<Part>
  readonly set: (index: number, part: Part) => Effect.Effect<void, E>
  readonly record: Effect.Effect<void, E>
}

/** One write at a time, each of what is known then: a late one must not undo a newer one, and one may serve many. */
export const ledger = <E>(planned: ReadonlyArray<Part>, recorder: Recorder<E>): Ledger<E> => {
  const writing = Semaphore.makeUnsafe(1)
  let parts = planned
  let version = 0
  let written = 0
  const write = Effect.suspend(() => {
    const now = version
    return Effect.map(recorder.parts(parts), () => {
      written = now
    })
  })
  return {
    parts: () => parts,
    record: writing.withPermits(1)(write),
    set: (index, part) =>
      Effect.suspend(() => {
        parts = parts.with(index, part)
        const mine = ++version
        return writing.withPermits(1)(Effect.suspend(() => (written >= mine ? Effect.void : write)))
      })
  }
}

/** The one creation of a part. The next run learns from the record that it may have been sent, or was refused. */
const create = <E>(session: Session.Session<E>, { set }: Ledger<E>, index: number, { end, start }: Part) =>
  Effect.gen(function* () {
    const { emit, metadata, policy, target } = session
    const marker = yield* Creation.newMarker
    yield* set(index, { _tag: "Creating", start, end, marker })
    const creation = { _tag: "Fixed", length: end - start, metadata, partial: true } as const
    const created = yield* Effect.tapError(
      Creation.create({ target, creation, size: end - start, marker, policy, emit }),
      (error) => (Creation.isRefusal(error) ? Effect.ignore(set(index, { _tag: "Planned", start, end })) : Effect.void)
    )
    yield* set(index, { _tag: "Created", start, end, marker, url: created.url })
    return created
  })

/** A part whose bytes can be sent. */
export interface Begun {
  readonly start: bigint
  readonly end: bigint
  readonly url: UploadUrl
  readonly state: Transfer.Transfer
  readonly verify: Job["verify"]
}

/**
 * Creates a part, or finds the one of an earlier time. A creation that may have been sent is looked for in the receipts
 * by its marker, and is `CreationUnknown` where they do not tell, as that of a whole upload: a part that nobody puts
 * into a final upload is no input of the Assembly, but only the service knows what else it means there.
 */
export const begin = <E>(
  session: Session.Session<E>,
  book: Ledger<E>,
  part: Part,
  index: number
): Effect.Effect<Begun, Creation.CreationError | E, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { metadata, policy, target } = session
    const { end, start } = part
    const length = end - start
    switch (part._tag) {
      case "Planned": {
        const { answered, offset, url } = yield* create(session, book, index, part)
        const state = Transfer.created({ offset, length, sent: 0n, answered })
        return { start, end, url, state, verify: Session.trusted }
      }
      case "Creating": {
        const { marker } = part
        const { url } = yield* Creation.recover(
          { target, marker, sent: { metadata, size: length }, policy },
          "the process ended before it came"
        )
        yield* book.set(index, { ...part, _tag: "Created", url })
        return { start, end, url, state: Transfer.reopened(length), verify: Session.verifyMetadata(metadata, marker) }
      }
      case "Created": {
        const verify = Session.verifyMetadata(metadata, part.marker)
        return { start, end, url: part.url, state: Transfer.reopened(length), verify }
      }
    }
  })
