import * as Completion from "@assembly-effect/cli/Completion"
import { expect, it } from "@effect/vitest"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import type * as Operation from "@assembly-effect/api/Operation"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"

const assembly_id = "0123456789abcdef0123456789abcdef"

/** A service whose Assembly goes through these Statuses, one more with each look, and stays in the last. */
const going = (...statuses: ReadonlyArray<Omit<Assembly.Status, "assembly_id">>) => {
  let looks = 0
  return {
    looks: () => looks,
    layer: Layer.succeed(AssemblyClient.AssemblyClient, {
      run: <Op extends Operation.Any>(operation: Op) =>
        Effect.suspend(() => {
          const status = statuses[Math.min(looks, statuses.length - 1)]
          looks += 1
          return Effect.orDie(Schema.decodeUnknownEffect(operation.success)({ assembly_id, ...status }))
        })
    })
  }
}

const busy = { ok: "ASSEMBLY_EXECUTING" }

it.effect("waits while the Assembly is busy", () =>
  Effect.gen(function* () {
    const service = going(busy, busy, { ok: "ASSEMBLY_COMPLETED" })
    const fiber = yield* Effect.forkChild(Completion.wait({ assembly_id }).pipe(Effect.provide(service.layer)))
    yield* TestClock.adjust("1 minute")
    expect((yield* Fiber.join(fiber)).ok).toBe("ASSEMBLY_COMPLETED")
    expect(service.looks()).toBe(3)
  })
)

it.effect("asks seldom in the end", () =>
  Effect.gen(function* () {
    const service = going(busy)
    yield* Effect.forkChild(Completion.wait({ assembly_id }).pipe(Effect.provide(service.layer)))
    yield* TestClock.adjust("1 minute")
    expect(service.looks()).toBeLessThan(30)
  })
)

it.effect.each([
  [{ ok: "ASSEMBLY_CANCELED" }, "Canceled", "ASSEMBLY_CANCELED"],
  [{ ok: "REQUEST_ABORTED" }, "Aborted", "REQUEST_ABORTED"],
  [{ error: "NO_RPC_RESULT", message: "A robot failed." }, "Failed", "A robot failed."]
] as const)("fails for %j", ([status, state, reason]) =>
  Effect.gen(function* () {
    const error = yield* Completion.wait({ assembly_id }).pipe(Effect.provide(going(status).layer), Effect.flip)
    expect(error).toMatchObject({ _tag: "AssemblyNotCompleted", state, reason })
    expect(error.message).toBe(`Assembly ${assembly_id} ${state.toLowerCase()}: ${reason}`)
  })
)
