/** The places of running Assemblies: which Status holds a place, and how long a place is prolonged. */
import * as Places from "@assembly-effect/api/unstable/Places"
import { RetryPolicy } from "@assembly-effect/api"
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import { assert, effect } from "@assembly-effect/testkit/flow"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import { Effect } from "effect"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, status } from "./utils/operations.ts"

effect.each([
  ["ASSEMBLY_UPLOADING", 200, false],
  ["ASSEMBLY_EXECUTING", 200, true],
  ["ASSEMBLY_COMPLETED", 200, false],
  ["no Assembly", 404, false],
  ["no Status", 503, true]
] as const)("watcher: after the response %s (%d), an Assembly is running: %s", function* ([ok, code, expected]) {
  const service = Service.make(Service.json(code, code === 200 ? { ...status, ok } : { error: "AWAY" }))
  const watcher = yield* Effect.provide(Places.watcher, Service.client(service))
  assert.strictEqual(yield* RetryPolicy.none(watcher.isRunning(assemblyId)), expected)
})

effect("watched: a job of 4.5 minutes prolongs its place 4 times, and releases it at its end", function* () {
  const told: Array<string> = []
  const note = (what: string) => (url: string, id: string) => Effect.sync(() => void told.push(`${what} ${url} ${id}`))
  const budget = { enter: () => Effect.void, pause: () => Effect.void, keep: note("keep"), release: note("release") }
  yield* Places.watched(assemblyId, true, Effect.sleep("270 seconds")).pipe(
    Effect.provideService(Budget.Budget, budget),
    Effect.provide(Service.client(Service.make())),
    (watched) => Idle.passTime(watched, "30 seconds")
  )
  const place = `https://api2.example.com ${assemblyId}`
  assert.deepStrictEqual(told, [...Array.from({ length: 4 }, () => `keep ${place}`), `release ${place}`])
})
