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
  if (init?.headers === undefined) return headers
  try {
    return { ...Headers.fromInput(init.headers as Headers.Input), ...headers }
  } catch {
    throw new Lost({ ...Guard.unsendable, sent: "no" })
  }
}

/** A response of `fetch`, whose pieces are passed on until nobody waits for them. */
const pass = (response: Response, gathering: Gathering, end: () => void, fail: (cause: unknown) => void): void => {
  gathering.begin(response.status, Headers.fromInput(response.headers))
  const reader = response.body?.getReader()
  const take = (piece: Uint8Array | undefined): void => {
    if (piece === undefined) return end()
    gathering.take(piece)
    pull()
  }
  const pull = (): void => {
    if (gathering.isSettled) return
    if (reader === undefined) return end()
    reader
      .read()
      .then(({ value }) => take(value))
      .catch(fail)
  }
  pull()
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
        let hasEnded = false
        const gathering = new Gathering(limits, fiber.getRef(Clock.Clock), (outcome) => {
          if (!hasEnded) controller.abort()
          resume(outcome)
        })
        const fail = (cause: unknown) => {
          const about = { url: new URL(origin), knowsHost: known.has(origin), sends: 1 }
          const hasBegun = gathering.head !== undefined
          gathering.end(cause instanceof Lost ? cause : Diagnosis.fromCause(cause, about, hasBegun))
        }
        const end = () => {
          hasEnded = true
          gathering.end("whole")
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
          pass(response, gathering, end, fail)
        }
        send().catch(fail)
        return Effect.sync(() => {
          gathering.stop()
          controller.abort()
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
