/** A tus server with one upload, behind a gateway that looks at the size of a body while it arrives. */
import type { Behaviour } from "@assembly-effect/testkit/hostile/Behaviour"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Scene from "./Scene.ts"

export const tus = { "tus-resumable": "1.0.0" }

/** Resets the connection. */
export const cut = ({ socket }: IncomingMessage): void => void socket.resetAndDestroy()

/**
 * What becomes of the bodies of a method (PATCH by default): `large` ends one as soon as more than `most` bytes of it have
 * come, or with its head if `most` is 0; the others arrive, unless `refusal` responds to them.
 */
export const make = Effect.fnUntraced(function* (
  size: number,
  rule: {
    readonly most: number
    readonly large: (request: IncomingMessage, response: ServerResponse) => void
    readonly method?: string
    readonly refusal?: Behaviour
  }
) {
  /** The declared sizes of the bodies that were too large, and the sizes of those that arrived. */
  const seen = { refused: new Array<number>(), arrived: new Array<number>() }
  let stored = Buffer.alloc(0)

  const baseUrl = yield* Loopback.serve(async (request, response) => {
    const isMeant = request.method === (rule.method ?? "PATCH")
    if (isMeant && rule.most === 0) {
      seen.refused.push(0)
      return rule.large(request, response)
    }
    let body = Buffer.alloc(0)
    for await (const chunk of request) {
      body = Buffer.concat([body, chunk as Buffer])
      if (!isMeant || body.length <= rule.most) continue
      seen.refused.push(Number(request.headers["content-length"] ?? 0))
      return rule.large(request, response)
    }
    if (isMeant) seen.arrived.push(body.length)
    if (isMeant && rule.refusal !== undefined) return rule.refusal(request, response)
    if (request.method === "POST") stored = Buffer.alloc(0)
    if (request.method === "PATCH") stored = Buffer.concat([stored, body])
    const status = request.method === "POST" ? 201 : request.method === "PATCH" ? 204 : 200
    const headers = { location: "/resumable/files/a", "upload-offset": stored.length, "upload-length": size }
    response.writeHead(status, { ...tus, "tus-max-size": "1000000000", ...headers }).end()
  })
  return { ...seen, target: yield* Scene.targetAt(baseUrl), stored: () => stored }
})
