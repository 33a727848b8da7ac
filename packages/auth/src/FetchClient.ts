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

interface Reader {
  readonly read: () => Promise<{ readonly value?: Uint8Array | undefined }>
  readonly cancel: () => Promise<void>
}

/** The body of a response. The `fetch` of some runtimes, such as React Native, has no stream, so it is read as a whole. */
const readerOf = (response: Response): Reader => {
  if (typeof response.body?.getReader === "function") return response.body.getReader()
  const left = [response]
  const read = async () => {
    const next = left.pop()
    return { value: next && new Uint8Array(await next.arrayBuffer()) }
  }
  return { read, cancel: async () => undefined }
}

/** The application's options of `fetch`. */
const initOf = (context: Context.Context<never>) => Context.getOrUndefined(context, FetchHttpClient.RequestInit)

/** Sends with `fetch` itself. `own` is the context of the Layer; the context of a call takes precedence. */
const senderOf = (own: Context.Context<never>): Sender.Sender => {
  const known = new Set<string>()
  return ({ body, headers, method, origin, path }, limits) =>
    Effect.withFiber((fiber) => {
      const { context } = fiber
      const fetch = Context.getOrUndefined(context, FetchHttpClient.Fetch) ?? Context.get(own, FetchHttpClient.Fetch)
      const init = initOf(context) ?? initOf(own)
      const url = origin + path
      return Effect.callback((resume) => {
        const controller = new AbortController()
        let reader: Reader | undefined
        let hasEnded = false
        /** Closes the connection. A `fetch` of the application may ignore the signal. */
        const close = () => {
          controller.abort()
          void reader?.cancel().catch(() => undefined)
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
        const take = ({ value }: { readonly value?: Uint8Array | undefined }) => {
          hasEnded = value === undefined
          if (value === undefined) return gathering.end("whole")
          gathering.take(value)
          pull()
        }
        const pull = () => {
          if (gathering.isSettled) return close()
          reader?.read().then(take).catch(fail)
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
          reader = readerOf(response)
          if (Guard.isElsewhere(url, response.url)) throw Guard.answeredElsewhere
          if (!gathering.isSettled) gathering.begin(response.status, Headers.fromInput(response.headers))
          pull()
        }
        gathering.start(() => void send().catch(fail))
        return Effect.sync(() => {
          gathering.stop()
          close()
        })
      })
    })
}

/**
 * The client of `FetchHttpClient`. Operations, tokens and uploads send requests without a stream with `fetch` itself, which
 * takes less processor time. The references `FetchHttpClient.Fetch` and `FetchHttpClient.RequestInit` apply as
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
