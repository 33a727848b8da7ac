/** The protocol of `UndiciClient` at a server that also speaks HTTP/2. */
import { Emulator } from "@assembly-effect/emulator"
import { UndiciClient } from "@assembly-effect/node"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import * as tls from "node:tls"

/** Asks a server for its certificate, and for the protocol that it prefers. */
const greet = (url: URL) =>
  Effect.callback<{ readonly pem: string; readonly protocol: string | false | null }>((resume) => {
    const socket = tls.connect(
      { host: url.hostname, port: Number(url.port), ALPNProtocols: ["h2", "http/1.1"], rejectUnauthorized: false },
      () => {
        const pem = socket.getPeerX509Certificate()?.toString() ?? ""
        resume(Effect.succeed({ pem, protocol: socket.alpnProtocol }))
        socket.destroy()
      }
    )
  })

/** Trusts a certificate until the scope ends. */
const trust = (pem: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = tls.getCACertificates("default")
      tls.setDefaultCACertificates([...before, pem])
      return before
    }),
    (before) => Effect.sync(() => tls.setDefaultCACertificates(before))
  )

layer(Emulator.layer({ tls: "self-signed" }), { excludeTestServices: true })("UndiciClient", (it) => {
  it.effect("speaks HTTP/1.1 with a server that prefers HTTP/2", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* Emulator.Emulator
      const { pem, protocol } = yield* greet(new URL(baseUrl))
      assert.strictEqual(protocol, "h2")
      yield* trust(pem)
      const client = yield* HttpClient.HttpClient
      const { headers } = yield* client.get(baseUrl)
      // HTTP/2 has no such header.
      assert.strictEqual(headers["connection"], "keep-alive")
    }).pipe(Effect.scoped, Effect.provide(UndiciClient.layerWith({ proxy: "none" })))
  )
})
