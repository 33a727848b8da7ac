/**
 * Gathers the response to one request. The limits of size and time are the same for every sender.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Headers from "effect/http/Headers"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as Diagnosis from "./Diagnosis.ts"
import { type Gathered, isRedirect, isSuccess, type Lost, restMillis } from "./Outcome.ts"

/**
 * - `maxBytes`: the maximum size of the body of the response. Reading stops at the chunk that exceeds it.
 * - `millis`: the time from sending the request to the end of a successful response. The body of any other response may
 *   take {@link restMillis} after its status, because the status has decided the outcome.
 * - `isDecidedByStatus`: whether this holds for a success too, because its body says nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  readonly maxBytes: number
  readonly millis: number
  readonly isDecidedByStatus?: true | undefined
}

/**
 * The time is over, and no status has decided the outcome.
 *
 * @since 0.1.0
 * @category errors
 */
export class Late extends Data.TaggedError("Late") {}

const real = Context.get(Context.empty(), Clock.Clock)

/** The longest time of a timer of JavaScript, in milliseconds. A timer for more time fires at once. */
const maxTimer = 2 ** 31 - 1

/** Calls `late` after `millis`, unless the result is called before. */
const timer = (clock: Clock.Clock, millis: number, late: () => void): (() => void) => {
  if (millis === Infinity) return () => {}
  if (clock === real && millis <= maxTimer) {
    // With a fiber for each request, a list with 16 at once takes 3 to 5 % longer.
    // @effect-diagnostics-next-line globalTimers:off
    const started = setTimeout(late, millis) // oxlint-disable-line no-restricted-globals -- a TestClock takes the way below
    return () => clearTimeout(started)
  }
  const fiber = Effect.runFork(clock.sleep(Duration.millis(millis)))
  const forget = fiber.addObserver(late)
  return () => {
    forget()
    fiber.interruptUnsafe()
  }
}

/**
 * The response as far as it has arrived. `settle` is called once, with the outcome.
 *
 * @since 0.1.0
 * @category models
 */
export class Gathering {
  readonly #limits: Limits
  readonly #clock: Clock.Clock
  readonly #settle: (outcome: Effect.Effect<Gathered, Lost | Late>) => void
  /** The bytes that have arrived, and room for more after a second piece. */
  #bytes: Uint8Array = new Uint8Array()
  #stopTimer: () => void = () => {}
  /** The number of bytes that have arrived. */
  size = 0
  head: Pick<Gathered, "status" | "headers"> | undefined
  isSettled = false

  constructor(limits: Limits, clock: Clock.Clock, settle: (outcome: Effect.Effect<Gathered, Lost | Late>) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#settle = settle
  }

  /** Calls `send`, unless the time is over already. Some clocks of tests say so at once. */
  start(send: () => void): void {
    const late = () => this.settle(Effect.fail(new Late()))
    if (this.#limits.millis <= 0) return late()
    this.#stopTimer = timer(this.#clock, this.#limits.millis, late)
    if (!this.isSettled) send()
  }

  /** The status and the headers have arrived. The body of a redirect is not read. An empty body ends at once. */
  begin(status: number, headers: Headers.Headers): void {
    this.head = { status, headers }
    if (isSuccess(status) && this.#limits.isDecidedByStatus !== true) return
    if (isRedirect(status)) return this.end("whole")
    if (headers["content-length"] === "0") return
    this.#stopTimer()
    this.#stopTimer = timer(this.#clock, restMillis, () => this.end("late"))
  }

  /** A piece of the body has arrived. */
  take(piece: Uint8Array): void {
    const size = this.size + piece.length
    const kept = this.size === 0 ? piece : this.#bytes
    if (size > kept.length) {
      // Pieces are copied into one array, because each of many kept pieces would keep the memory of its socket.
      this.#bytes = new Uint8Array(Math.max(size, 2 * kept.length))
      this.#bytes.set(kept)
    } else this.#bytes = kept
    if (this.size > 0) this.#bytes.set(piece, this.size)
    this.size = size
    if (size > this.#limits.maxBytes) this.end("tooLarge")
  }

  /** The response has ended. Before its status, the end is a failure. */
  end(end: Gathered["end"]): void {
    if (this.head !== undefined)
      this.settle(Effect.succeed({ ...this.head, bytes: this.#bytes.subarray(0, this.size), end }))
    else if (typeof end !== "string") this.settle(Effect.fail(end))
  }

  settle(outcome: Effect.Effect<Gathered, Lost | Late>): void {
    if (this.isSettled) return
    this.stop()
    this.#settle(outcome)
  }

  /** Nobody waits for the response any more. */
  stop(): void {
    this.isSettled = true
    this.#stopTimer()
  }
}

/**
 * Gathers what `run` passes on. The scope of `run` is closed unless the response ended: that would abort the finished
 * request, which costs as much time as signing a request, and the next request can use the connection.
 *
 * @since 0.1.0
 * @category utilities
 */
export const gather = (
  limits: Limits,
  run: (gathering: Gathering) => Effect.Effect<void, Lost, Scope.Scope>
): Effect.Effect<Gathered, Lost | Late> =>
  Effect.withFiber((caller) =>
    Effect.callback((resume) => {
      const scope = Scope.makeUnsafe()
      let running: Fiber.Fiber<void, Lost> | undefined = undefined
      let hasEnded = false
      const stop = Effect.suspend(() =>
        Effect.andThen(running === undefined ? Effect.void : Fiber.interrupt(running), Scope.close(scope, Exit.void))
      )
      const gathering = new Gathering(limits, caller.getRef(Clock.Clock), (outcome) => {
        if (hasEnded) return resume(outcome)
        // A client may be uninterruptible, so nobody waits for its end. The scope closes the connection.
        running?.interruptUnsafe()
        resume(Effect.andThen(Scope.close(scope, Exit.void), outcome))
      })
      gathering.start(() => {
        running = Effect.runForkWith(caller.context)(Scope.provide(run(gathering), scope))
        running.addObserver((exit) => {
          hasEnded = Exit.isSuccess(exit)
          if (Exit.isSuccess(exit)) return gathering.end("whole")
          const error = Cause.findError(exit.cause)
          if (Result.isSuccess(error)) gathering.end(error.success)
          else gathering.settle(Effect.failCause(error.failure))
        })
      })
      return Effect.suspend(() => {
        gathering.stop()
        return stop
      })
    })
  )

const enough = { _tag: "Enough" } as const

const fromStream = ({ stream }: HttpClientResponse, gathering: Gathering): Effect.Effect<void, HttpClientError> =>
  stream.pipe(
    Stream.runForEachArray((pieces) => {
      for (const piece of pieces) gathering.take(piece)
      return gathering.isSettled ? Effect.fail(enough) : Effect.void
    }),
    Effect.catch((error) => (error._tag === "Enough" ? Effect.void : Effect.fail(error)))
  )

/** Takes the bytes of a body that a wrapper of the client has read, for a log for example. Effect keeps them. */
const remembered = (response: HttpClientResponse, gathering: Gathering): Effect.Effect<void> =>
  Effect.suspend(() => response.arrayBuffer).pipe(
    Effect.map((bytes) => new Uint8Array(bytes)),
    Effect.catch(() => Effect.map(response.text, (text) => new TextEncoder().encode(text))),
    Effect.map((bytes) => gathering.take(bytes)),
    // Nobody has read the body: it is empty. `Effect.ignore` would add Effect's loggers to a bundle.
    Effect.catch(() => Effect.void)
  )

/**
 * Passes a response to a gathering, which stops the reading at its limits.
 *
 * @since 0.1.0
 * @category utilities
 */
export const into = (response: HttpClientResponse, gathering: Gathering): Effect.Effect<void, Lost> =>
  Effect.suspend(() => {
    gathering.begin(response.status, response.headers)
    if (gathering.isSettled) return Effect.void
    return Effect.suspend(() => fromStream(response, gathering)).pipe(
      Effect.catch((error) =>
        // Some clients fail with `EmptyBodyError` for a response without a body.
        error.reason._tag === "EmptyBodyError" ? Effect.void : Effect.fail(Diagnosis.diagnose(error))
      ),
      // A stream that was read is empty, or its reader throws.
      Effect.catchDefect((defect) => (gathering.size === 0 ? Effect.void : Effect.die(defect))),
      Effect.flatMap(() => (gathering.size === 0 ? remembered(response, gathering) : Effect.void))
    )
  })
