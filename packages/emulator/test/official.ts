/** Tests with the unmodified official client `@transloadit/node`. */
import { Emulator } from "@assembly-effect/emulator"
import { ApiError, Transloadit } from "@transloadit/node"
import { Effect, Redacted } from "effect"

/** The client of the emulator in the context, with another Auth Key or secret. */
export const officialWith = (options: { readonly authKey?: string; readonly authSecret?: string }) =>
  Effect.map(
    Emulator.Emulator,
    ({ baseUrl, credentials }) =>
      new Transloadit({
        endpoint: baseUrl,
        authKey: credentials.key,
        authSecret: Redacted.value(credentials.secret),
        validateResponses: true,
        maxRetries: 0,
        ...options
      })
  )

/** The client of the emulator in the context. */
export const official = officialWith({})

/** Casts a content with any robot, because the types of the official client have only the robots of the service. */
export const toTemplate = (content: object) =>
  content as NonNullable<Parameters<Transloadit["createTemplate"]>[0]>["template"]

export const hash = { steps: { hashed: { robot: "/file/hash", use: ":original" } } }

/** The code of the error with which a call is refused. */
export const refusal = (call: () => Promise<unknown>) =>
  Effect.promise(() =>
    call().then(
      (answer) => `accepted: ${JSON.stringify(answer)}`,
      (error) => (error instanceof ApiError ? error.code : String(error))
    )
  )

/** Collects at most 20 values of a stream. If the emulator ignored `page`, the stream would never end. */
export const collect = <A>(stream: AsyncIterable<A>) =>
  Effect.promise(async () => {
    const found: Array<A> = []
    for await (const item of stream) {
      found.push(item)
      if (found.length === 20) break
    }
    return found
  })
