/**
 * Sends with the dispatcher itself: no Readable, no AbortController, no Promise.
 */
import { fromCause } from "@assembly-effect/auth/unstable/Diagnosis"
import { Gathering, type Limits } from "@assembly-effect/auth/unstable/Gathering"
import type * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"

type Dispatcher = NodeHttpClient.Dispatcher["Service"]
type Handler = Parameters<Dispatcher["dispatch"]>[1]
type Controller = Parameters<NonNullable<Handler["onRequestStart"]>>[0]

const ended = new Error("the exchange has ended")

/** Gathers one response. */
class Exchange extends Gathering implements Handler {
  readonly #origin: string
  /** The origins that have responded to this client. */
  readonly #known: Set<string>
  #controller: Controller | undefined

  constructor(
    origin: string,
    limits: Limits,
    clock: Clock.Clock,
    known: Set<string>,
    resume: (outcome: ReturnType<Sender.Sender>) => void
  ) {
    super(limits, clock, resume)
    this.#origin = origin
    this.#known = known
  }

  /** Also closes the connection of an exchange whose response is not complete. */
  override stop(): void {
    super.stop()
    this.#controller?.abort(ended)
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.isSettled) controller.abort(ended)
  }

  onResponseStart(_: Controller, status: number, headers: Readonly<Record<string, string | Array<string>>>): void {
    if (status < 200) return
    this.#known.add(this.#origin)
    this.begin(status, Headers.fromInput(headers))
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.take(chunk)
  }

  onResponseEnd(): void {
    // The connection is free for the next request.
    this.#controller = undefined
    this.end("whole")
  }

  onResponseError(_: Controller | null, cause: unknown): void {
    const hasBegun = this.head !== undefined
    const knowsHost = this.#known.has(this.#origin)
    const about = { url: new URL(this.#origin), knowsHost, sends: 1 }
    this.end(fromCause(cause, about, hasBegun))
  }
}

/** The sender of the client that sends with `dispatcher`. */
export const make = (dispatcher: Dispatcher): Sender.Sender => {
  const known = new Set<string>()
  return ({ body, headers, method, origin, path }, limits) =>
    Effect.withFiber((fiber) => {
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
        const exchange = new Exchange(origin, limits, fiber.getRef(Clock.Clock), known, resume)
        try {
          exchange.start(() => dispatcher.dispatch(sent, exchange))
        } catch (cause) {
          exchange.onResponseError(null, cause)
        }
        return Effect.sync(() => exchange.stop())
      })
    })
}
