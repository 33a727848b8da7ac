import * as dc from "node:diagnostics_channel"
import * as Effect from "effect/Effect"
import * as Uploads from "./uploads.ts"
import { Socket } from "node:net"
let t0 = 0
let ids = 0
const dest = Socket.prototype.destroy
Socket.prototype.destroy = function (this: any, e?: any) { if (this.tid && !this.destroyed) { log("destroy " + this.tid + " " + e + " " + (process.env.STK ? new Error().stack?.split("\n").slice(2, 6).join("|") : "")) } return dest.call(this, e) } as any
const log = (s: string) => console.log((performance.now() - t0).toFixed(1).padStart(8), s)
const on = (n: string, f: (m: any) => string) => dc.subscribe(n, (m: any) => log(n + " " + f(m)))
on("undici:request:create", (m) => m.request.method + " " + m.request.path)
dc.subscribe("undici:client:connected", (m: any) => { m.socket.tid = ++ids; log("connected " + ids) })
dc.subscribe("undici:client:sendHeaders", (m: any) => log("send " + m.request.method + " on " + m.socket.tid + " " + JSON.stringify(m.headers.slice(0, 200))))
on("undici:request:bodySent", (m) => m.request.method)
on("undici:request:headers", (m) => m.request.method + " " + m.response.statusCode)
on("undici:request:trailers", (m) => m.request.method)
on("http.client.request.start", (m) => m.request.method + " " + m.request.path)
on("http.client.response.finish", (m) => m.request.method)
const size = 8 * Uploads.mebi
await Effect.runPromise(Effect.gen(function* () {
  const origin = yield* Uploads.sink({ SINK_RTT: "50", SINK_RATE: "20000000" })
  const path = yield* Uploads.file(size)
  const timed = (n: string, e: Effect.Effect<any, any, any>) => Effect.gen(function* () { t0 = performance.now(); yield* e; log("DONE " + n) })
  for (let i = 0; i < 1; i++) {
    yield* timed("ours", Uploads.ours(origin, path, { parallel: 4 }))
    yield* timed("tus", Uploads.theirs(origin, path, size, { parallelUploads: 4 }))
  }
}).pipe(Effect.scoped, Uploads.withNode) as any)
process.exit(0)
