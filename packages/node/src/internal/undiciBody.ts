/**
 * Reads the body of an undici response directly from its Readable, because a Stream would add about as much time as the
 * request itself takes.
 */
import type { BodyReader } from "@assembly-effect/auth/unstable/BodyReader"
import * as Effect from "effect/Effect"
import * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import { Readable } from "node:stream"

/** The Readable inside a response of Effect's client for undici. */
const readableOf = (response: HttpClientResponse): Readable | undefined => {
  const { source } = response as { readonly source?: { readonly body?: unknown } }
  return source?.body instanceof Readable ? source.body : undefined
}

export const reader: BodyReader = (response, take) => {
  const body = readableOf(response)
  if (body === undefined) return undefined
  return Effect.callback<void, HttpClientError.HttpClientError>((resume) => {
    const fail = (cause: unknown) =>
      end(
        Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.DecodeError({ request: response.request, response, cause })
          })
        )
      )
    const onData = (piece: Uint8Array) => {
      if (!take(piece)) stop()
    }
    const onEnd = () => end(Effect.void)
    const onClose = () => fail(new Error("the connection closed before the end of the body"))
    const leave = () => {
      body.off("data", onData).off("end", onEnd).off("error", fail).off("close", onClose)
    }
    const end = (result: Effect.Effect<void, HttpClientError.HttpClientError>) => {
      leave()
      resume(result)
    }
    const stop = () => {
      end(Effect.void)
      body.destroy()
    }
    if (body.errored !== null) return fail(body.errored)
    if (body.readableEnded) return onEnd()
    if (body.destroyed) return onClose()
    body.on("data", onData).on("end", onEnd).on("error", fail).on("close", onClose)
    return Effect.sync(() => {
      leave()
      body.destroy()
    })
  })
}
