/**
 * Sends with the dispatcher itself: no Readable, no AbortController, no Promise.
 */
import type * as Sender from "@assembly-effect/auth/unstable/Sender"
import { Late, restMillis } from "@assembly-effect/auth/unstable/Sender"
import * as Bytes from "@assembly-effect/auth/unstable/Bytes"
import * as Transport from "@assembly-effect/auth/unstable/Transport"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import { AsyncResource } from "node:async_hooks"

type Dispatcher = NodeHttpClient.Dispatcher["Service"]
type Handler = Parameters<Dispatcher["dispatch"]>[1]
type Controller = Parameters<NonNullable<Handler["onRequestStart"]>>[0]

type Answer = Effect.Effect<Transport.Gathered, Transport.Lost | Late>

const ended = new Error("the exchange has ended")

const live = Context.get(Context.empty(), Clock.Clock)

/**
 * Calls `late` after `millis`, unless the result is called before. On the clock of the system, a timer costs less than a
 * fiber.
 */
const timer = (clock: Clock.Clock, millis: number, late: () => void): (() => void) => {
  if (millis === Infinity) return () => {}
  if (clock === live && millis < 2 ** 31) {
    // @effect-diagnostics-next-line globalTimers:off
    const handle = setTimeout(late, millis)
    return () => clearTimeout(handle)
  }
  const fiber = Effect.runFork(Effect.andThen(clock.sleep(Duration.millis(millis)), Effect.sync(late)))
  return () => fiber.interruptUnsafe()
}

/**
 * Gathers one response. It is an `AsyncResource`, so that the caller continues with its own `AsyncLocalStorage`, not with
 * that of the socket.
 */
class Exchange extends AsyncResource implements Handler {
  readonly #url: URL
  readonly #maxBytes: number
  readonly #isDecidedByStatus: boolean
  readonly #clock: Clock.Clock
  /** The hosts that have responded to this client. */
  readonly #hosts: Set<string>
  readonly #resume: (answer: Answer) => void
  readonly #chunks: Array<Uint8Array> = []
  #size = 0
  #head: Pick<Transport.Gathered, "status" | "headers"> | undefined
  #controller: Controller | undefined
  #stopTimer: () => void
  #isSettled = false

  constructor(
    url: URL,
    { isDecidedByStatus, maxBytes, millis }: Sender.Limits,
    clock: Clock.Clock,
    hosts: Set<string>,
    resume: (answer: Answer) => void
  ) {
    super("ASSEMBLY_REQUEST")
    this.#url = url
    this.#maxBytes = maxBytes
    this.#isDecidedByStatus = isDecidedByStatus === true
    this.#clock = clock
    this.#hosts = hosts
    this.#resume = resume
    this.#stopTimer = timer(clock, millis, () => this.#settle(Effect.fail(new Late())))
  }

  /** Closes the connection of an exchange whose response nobody waits for. */
  stop(): void {
    this.#isSettled = true
    this.#stopTimer()
    this.#controller?.abort(ended)
  }

  #settle(answer: Answer): void {
    if (this.#isSettled) return
    this.stop()
    this.runInAsyncScope(this.#resume, undefined, answer)
  }

  #end(end: Transport.Gathered["end"]): void {
    if (this.#head !== undefined) this.#settle(Effect.succeed({ ...this.#head, bytes: Bytes.join(this.#chunks), end }))
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#isSettled) controller.abort(ended)
  }

  onResponseStart(_: Controller, status: number, headers: Readonly<Record<string, string | Array<string>>>): void {
    if (status < 200) return
    this.#hosts.add(this.#url.host)
    this.#head = { status, headers: Headers.fromInput(headers) }
    if (Transport.isSuccess(status) && !this.#isDecidedByStatus) return
    if (Transport.isRedirect(status)) return this.#end("whole")
    this.#stopTimer()
    this.#stopTimer = timer(this.#clock, restMillis, () => this.#end("late"))
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) this.#end("tooLarge")
  }

  onResponseEnd(): void {
    // The connection is free for the next request.
    this.#controller = undefined
    this.#end("whole")
  }

  onResponseError(_: Controller | null, cause: unknown): void {
    const known = { url: this.#url, knowsHost: this.#hosts.has(this.#url.host) }
    const isBroken = this.#head !== undefined
    const lost = Transport.lost(cause, { ...known, isBroken })
    if (isBroken) this.#end(lost)
    else this.#settle(Effect.fail(lost))
  }
}

/** The sender of the client that sends with `dispatcher`. */
export const make = (dispatcher: Dispatcher): Sender.Sender => {
  const hosts = new Set<string>()
  return ({ body, headers, method, origin, path }, limits) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const sent = {
        ...fiber.getRef(NodeHttpClient.UndiciOptions),
        method,
        origin,
        path,
        headers: body === undefined ? headers : { ...headers, "content-type": body.contentType },
        body: body?.content ?? null,
        // The exchange has its own time limit.
        headersTimeout: 60 * 60 * 1000,
        bodyTimeout: 0
      }
      return Effect.callback((resume) => {
        const exchange = new Exchange(new URL(origin), limits, clock, hosts, resume)
        try {
          dispatcher.dispatch(sent, exchange)
        } catch (cause) {
          exchange.onResponseError(null, cause)
        }
        return Effect.sync(() => exchange.stop())
      })
    })
}
