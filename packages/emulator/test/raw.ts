import { Emulator } from "@assembly-effect/emulator"
import { Effect } from "effect"
import { type IncomingHttpHeaders, request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { text } from "node:stream/consumers"

/** A response, unchanged. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends a raw request, with any `host` and `origin`, which `fetch` would replace. `ca` is a certificate to trust. */
export const send = (
  url: string,
  options: {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Uint8Array
    readonly ca?: string
  } = {}
): Effect.Effect<Answer> =>
  Effect.callback<Answer>((resume) => {
    const { body, ca, headers = {}, method = "GET" } = options
    const request = ca === undefined ? requestHttp : requestHttps
    const secure = ca === undefined ? undefined : { ca, servername: "localhost" }
    const sent = request(url, { method, headers, agent: false, ...secure }, (response) => {
      const answered = Effect.promise(() => text(response))
      resume(
        Effect.map(answered, (said) => ({ status: response.statusCode ?? 0, headers: response.headers, text: said }))
      )
    })
    sent.once("error", (error) => resume(Effect.die(error)))
    sent.end(body)
    return Effect.sync(() => sent.destroy())
  })

/** Sends a raw request to a path at the `localUrl` of the emulator. */
export const sendTo = Effect.fnUntraced(function* (path: string, options?: Parameters<typeof send>[1]) {
  const { localUrl } = yield* Emulator.Emulator
  return yield* send(`${localUrl}${path}`, options)
})
