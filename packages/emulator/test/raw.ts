import { Emulator } from "@assembly-effect/emulator"
import { Effect } from "effect"
import { type IncomingHttpHeaders, request } from "node:http"
import { text } from "node:stream/consumers"

/** A response, unchanged. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends a raw request, with any `host` and `origin`, which `fetch` would replace. */
export const send = (
  url: string,
  options: {
    readonly method?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Uint8Array
  } = {}
): Effect.Effect<Answer> =>
  Effect.callback<Answer>((resume) => {
    const { body, headers = {}, method = "GET" } = options
    const sent = request(url, { method, headers, agent: false }, (response) => {
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
