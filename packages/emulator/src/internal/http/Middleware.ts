import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Types from "effect/Types"
import * as Cors from "./Cors.ts"
import * as FaultyAnswer from "./FaultyAnswer.ts"
import * as HostCheck from "./HostCheck.ts"
import * as ReadablePath from "./ReadablePath.ts"
import * as Refusal from "./Refusal.ts"

/** The `date` of every answer is the emulator's clock: a client compares it with its own. */
const date = HttpRouter.middleware(
  Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
    const response = yield* handler
    const now = yield* DateTime.now
    return HttpServerResponse.setHeader(response, "date", DateTime.toDateUtc(now).toUTCString())
  }),
  { global: true }
)

/** Before a request to another origin a browser asks with OPTIONS, whatever the route is. */
const elsewhere = HttpRouter.add("*", "/*", ({ method }) =>
  Effect.succeed(
    method === "OPTIONS" ? HttpServerResponse.empty({ status: 204 }) : Refusal.toResponse(Refusal.notFound)
  )
)

/** What holds for every request. The first one is the outermost: a page can read an injected fault as well. */
export const layer = Layer.mergeAll(
  HostCheck.layer,
  Cors.layer,
  FaultyAnswer.layer,
  date,
  ReadablePath.layer,
  elsewhere
)
