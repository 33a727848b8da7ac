/**
 * Waits a short time for the response to a creation whose caller is interrupted, because the request must not be
 * repeated.
 */
import * as Admission from "@assembly-effect/auth/unstable/Admission"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Settle } from "./stateStore.ts"

/** How long an interruption waits for the response to a request that creates an upload. */
const grace = "2 seconds"

/**
 * After an interruption, a request that still waits for a permit of the rate limiter is not sent. If the request has
 * been sent, its response is awaited for at most `grace`.
 */
export const settle: Settle = ({ answered, refused, sending }) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      let isSent = false
      yield* Effect.onInterrupt(restore(sending), () => refused)
      const depart = Effect.sync(() => {
        isSent = true
      })
      const fiber = yield* Effect.forkChild(Admission.onDeparture(answered, depart), { startImmediately: true })
      const end = Effect.gen(function* () {
        if (isSent) yield* Effect.timeoutOrElse(Fiber.await(fiber), { duration: grace, orElse: () => Effect.void })
        yield* Fiber.interrupt(fiber)
        if (!isSent) yield* refused
      })
      return yield* Effect.onInterrupt(restore(Fiber.join(fiber)), () => end)
    })
  )
