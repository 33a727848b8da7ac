/** What a program that reads its events late still gets, and that it cannot fill the memory. */
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Deferred, Effect, Stream } from "effect"
import * as Events from "../src/internal/events.ts"

interface Event {
  readonly _tag: string
  readonly number: number
}

/** The events that a reader gets who is busy with an earlier one while all of them are emitted. */
const late = (...events: ReadonlyArray<Event>) =>
  Effect.gen(function* () {
    const first = { _tag: "Created", number: -1 }
    const gate = yield* Deferred.make<void>()
    const read: Array<Event> = []
    yield* Events.fromProgram<never, never, Event>((emit) =>
      Effect.sync(() => {
        for (const event of [first, ...events]) emit(event)
        Deferred.doneUnsafe(gate, Effect.void)
      })
    ).pipe(
      Stream.runForEach((event) => (event === first ? Deferred.await(gate) : Effect.sync(() => void read.push(event))))
    )
    return read
  })

const many = (_tag: string, count: number): ReadonlyArray<Event> =>
  Array.from({ length: count }, (_, number) => ({ _tag, number }))

describe("unread events", () => {
  it.effect("have one progress after another one only if something came between them", function* () {
    const read = yield* late(...many("Progress", 500), { _tag: "Finishing", number: 0 }, ...many("Progress", 500))
    assert.deepStrictEqual(
      read.map(({ _tag, number }) => `${_tag} ${number}`),
      ["Progress 499", "Finishing 0", "Progress 499"]
    )
  })
})
