/** Tests that unanswered notifications use a limited number of connections. The others wait, also across a restart. */
import { Assemblies } from "@assembly-effect/api"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { Effect, FileSystem, Latch, Queue } from "effect"
import { TestClock } from "effect/testing"
import { listed, receiver } from "./notified.ts"
import { layer } from "./support.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

/** A server that answers no notification before the latch `gate` is open. */
const hanging = Effect.gen(function* () {
  const arrived = yield* Queue.unbounded<void>()
  const gate = yield* Latch.make()
  const origin = yield* Loopback.serve(async (_, response) => {
    Queue.offerUnsafe(arrived, undefined)
    await Effect.runPromise(gate.await)
    response.end("heard")
  })
  return { arrived, gate, url: `${origin}/hook` }
})

const create = (notifyUrl: string) => Effect.map(Assemblies.create({ notifyUrl }), ({ assembly_id }) => assembly_id)

const statuses = (ids: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(ids, (id) => listed(id)),
    (all) => all.flat().map(({ status }) => status)
  )

it.live("two are under way where the limit is two, then the others", function* () {
  const { arrived, gate, url } = yield* hanging
  yield* Effect.gen(function* () {
    const ids = yield* Effect.replicateEffect(create(url), 6)
    yield* Queue.take(arrived)
    yield* Queue.take(arrived)
    assert.deepStrictEqual(yield* statuses(ids), ["processing", "processing"])
    assert.strictEqual(yield* Queue.size(arrived), 0)
    yield* gate.open
    const ended = yield* Effect.repeat(statuses(ids), {
      until: (all) => all.length === 6 && all.every((status) => status === "successful")
    })
    assert.strictEqual(ended.length, 6)
  }).pipe(Effect.provide(layer({ limits: { notifications: 2 } })))
})

it.live("those that wait are sent after a restart", NodeFileSystem.layer, function* () {
  const data = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped())
  const { arrived, gate, url } = yield* hanging
  const options = { data, limits: { notifications: 1 } }
  const ids = yield* Effect.gen(function* () {
    const made = yield* Effect.replicateEffect(create(url), 3)
    yield* Queue.take(arrived)
    return made
  }).pipe(Effect.provide(layer(options)))
  yield* gate.open
  yield* Effect.repeat(statuses(ids), {
    until: (all) => all.filter((status) => status === "successful").length === 3
  }).pipe(Effect.provide(layer(options)))
  // The emulator sends the interrupted notification again.
  assert.strictEqual(yield* Queue.size(arrived), 3)
})

it.effect("one that is not answered ends after 30 seconds", layer(), function* () {
  const { arrived, url } = yield* hanging
  const id = yield* create(url)
  yield* Queue.take(arrived)
  yield* TestClock.adjust("30 seconds")
  const [first] = yield* Effect.repeat(listed(id), { until: ([one]) => one?.["status"] !== "processing" })
  assert.deepInclude(first, { status: "error", error: "The response timed out." })
})

it.effect("one that is answered with 500 is sent 8 times, also across a restart", NodeFileSystem.layer, function* () {
  const data = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped())
  const { next, url } = yield* receiver(Array.from({ length: 8 }, () => 500))
  const options = { data, notificationPause: "1 milli", limits: { notifications: 1 } } as const
  yield* Effect.gen(function* () {
    const id = yield* create(url)
    yield* TestClock.adjust("200 millis").pipe(
      Effect.andThen(statuses([id])),
      Effect.repeat({ until: (all) => all.filter((status) => status === "error").length === 8 })
    )
    yield* Effect.replicateEffect(next, 8)
  }).pipe(Effect.provide(layer(options)))
  yield* TestClock.adjust("1 minute")
  // A ninth attempt would be sent before this notification.
  const { id, heard } = yield* Effect.all({ id: create(url), heard: next }).pipe(Effect.provide(layer(options)))
  assert.strictEqual(JSON.parse(heard.transloadit).assembly_id, id)
})
