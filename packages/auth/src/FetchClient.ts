/**
 * The HTTP client of `fetch`, which browsers, workers and every other runtime have.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Guard from "./internal/guard.ts"
import * as Diagnosis from "./unstable/Diagnosis.ts"
import { Gathering } from "./unstable/Gathering.ts"
import { Lost } from "./unstable/Outcome.ts"
import * as Sender from "./unstable/Sender.ts"

/** The headers of a request, with those in the application's options of `fetch`. */
const merged = (init: RequestInit | undefined, headers: Readonly<Record<string, string>>) => {
  if (!init?.headers) return headers
  try {
    const { "content-length": _, ...given } = Object.fromEntries(new globalThis.Headers(init.headers))
    return { ...given, ...headers }
  } catch {
    throw new Lost({ ...Guard.unsendable, sent: "no" })
  }
}

interface Body {
  readonly read: () => Promise<Uint8Array | undefined>
  readonly cancel: () => void
}

/** The body of a response. The `fetch` of some runtimes, such as React Native, has no stream, so it is read as a whole. */
const bodyOf = (response: Response): Body => {
  const { body } = response
  if (typeof body?.getReader !== "function") {
    let isRead = false
    const read = async () => {
      if (isRead) return undefined
      isRead = true
      return new Uint8Array(await response.arrayBuffer())
    }
    return { read, cancel: () => undefined }
  }
  const reader = body.getReader()
  return { read: async () => (await reader.read()).value, cancel: () => void reader.cancel().catch(() => undefined) }
}

/** Sends with `fetch` itself. `own` is the context of the Layer; the context of a call takes precedence. */
const senderOf = (own: Context.Context<never>): Sender.Sender => {
  const known = new Set<string>()
  return ({ body, headers, method, origin, path }, limits) =>
    Effect.withFiber((fiber) => {
      const { context } = fiber
      const fetch = Context.getOrUndefined(context, FetchHttpClient.Fetch) ?? Context.get(own, FetchHttpClient.Fetch)
      const init =
        Context.getOrUndefined(context, FetchHttpClient.RequestInit) ??
        Context.getOrUndefined(own, FetchHttpClient.RequestInit)
      const url = origin + path
      return Effect.callback((resume) => {
        const controller = new AbortController()
        let received: Body | undefined
        let hasEnded = false
        /** Closes the connection. A `fetch` of the application may ignore the signal. */
        const close = () => {
          controller.abort()
          received?.cancel()
        }
        const gathering = new Gathering(limits, fiber.getRef(Clock.Clock), (outcome) => {
          if (!hasEnded) close()
          resume(outcome)
        })
        const fail = (cause: unknown) => {
          const about = { url: new URL(origin), knowsHost: known.has(origin), sends: 1 }
          const hasBegun = gathering.head !== undefined
          gathering.end(cause instanceof Lost ? cause : Diagnosis.fromCause(cause, about, hasBegun))
        }
        const take = (piece: Uint8Array | undefined) => {
          hasEnded = piece === undefined
          if (piece === undefined) return gathering.end("whole")
          gathering.take(piece)
          pull()
        }
        const pull = () => {
          if (gathering.isSettled) return received?.cancel()
          received?.read().then(take).catch(fail)
        }
        const send = async () => {
          const response = await fetch(url, {
            ...init,
            method,
            headers: merged(init, body === undefined ? headers : { ...headers, "content-type": body.contentType }),
            body: (body?.content as BodyInit | undefined) ?? null,
            redirect: "manual",
            signal: controller.signal
          })
          known.add(origin)
          if (Guard.isElsewhere(url, response.url)) throw Guard.answeredElsewhere
          if (!gathering.isSettled) gathering.begin(response.status, Headers.fromInput(response.headers))
          received = bodyOf(response)
          pull()
        }
        send().catch(fail)
        return Effect.sync(() => {
          gathering.stop()
          close()
        })
      })
    })
}

/**
 * The client of `FetchHttpClient`. Operations, tokens and uploads send requests without a stream with `fetch` itself, which
 * takes a third of the processor time. The references `FetchHttpClient.Fetch` and `FetchHttpClient.RequestInit` apply as
 * usual, except `redirect`, because redirects are never followed.
 *
 * **When to use**
 *
 * Use this Layer in browsers and workers. `AssemblyNode` has its own client for Node, Bun and Deno.
 *
 * **Gotchas**
 *
 * A client that is derived from this client, for example with `HttpClient.mapRequest`, counts as a different client: it
 * sends correctly, but more slowly.
 *
 * @example AssemblyClientConfig.layer().pipe(Layer.provide(FetchClient.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.contextWith((own: Context.Context<HttpClient.HttpClient>) => {
    const client = Context.get(own, HttpClient.HttpClient)
    Sender.register(client, senderOf(own))
    return Effect.succeed(client)
  })
).pipe(Layer.provide(Layer.fresh(FetchHttpClient.layer)))
