import { Duration, Effect } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"

/** A request that carries bytes of an upload: how many, and which of its kind it is, from 0. */
export interface Sent {
  readonly bytes: number
  readonly index: number
}

const sizeOf = ({ body }: HttpClientRequest.HttpClientRequest): number =>
  "contentLength" in body ? (body.contentLength ?? 0) : 0

/**
 * Lets everybody run whose time has come. One turn is enough, however slow the machine is, because only requests pass
 * time here, and a request in its pause waits for no socket or file.
 */
const settle = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

/** Seconds, or less than one, pass for everybody who waits, one after the other, until so many are over or nobody waits here any more. */
const pass = (seconds: number) =>
  Effect.suspend(() => {
    let isWaiting = true
    const tick = Effect.andThen(TestClock.adjust(Duration.seconds(Math.min(1, seconds))), settle)
    const clock = Effect.whileLoop({ while: () => isWaiting, body: () => tick, step: () => {} })
    return Effect.andThen(
      Effect.forkDetach(Effect.andThen(settle, clock)),
      Effect.sleep(Duration.seconds(seconds))
    ).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          isWaiting = false
        })
      )
    )
  })

/**
 * An HTTP client behind a link on which each PATCH takes some seconds of the test's clock before it reaches the server.
 * What is left in the meantime never gets there. `sent` are the PATCHes that were begun.
 */
export const make = (seconds: (sent: Sent) => number) =>
  Effect.map(HttpClient.HttpClient, (http) => {
    const sent: Array<number> = []
    const client = HttpClient.transform(http, (response, request) =>
      Effect.suspend(() => {
        if (request.method !== "PATCH") return response
        const bytes = sizeOf(request)
        const index = sent.push(bytes) - 1
        const time = seconds({ bytes, index })
        return time === 0 ? response : Effect.andThen(pass(time), response)
      })
    )
    return { client, sent }
  })

/** A link of so many bytes a second. */
export const ofRate = (bytesPerSecond: number) => make(({ bytes }) => bytes / bytesPerSecond)
