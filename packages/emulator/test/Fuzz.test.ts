/** Sends fewer requests than `pnpm fuzz:requests`, which sends 100,000 requests to an emulator in its own process. */
import { Emulator } from "@assembly-effect/emulator"
import { Effect, Redacted } from "effect"
import { run } from "./fuzz/Run.ts"
import { layer as layerEmulator, send } from "./support.ts"
import { HttpClientRequest } from "effect/http"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** The number of requests. The environment variable `FUZZED` changes the number. */
const count = Number(process.env["FUZZED"] ?? 400)

layer(layerEmulator())("Requests that are almost right", (it) => {
  it.effect("are answered, or refused with the error object of the service", function* () {
    const { baseUrl, credentials } = yield* Emulator.Emulator
    const place = { baseUrl, key: credentials.key, secret: Redacted.value(credentials.secret) }
    const { counts, failures } = yield* Effect.promise(() => run(place, { count, seed: "selection", concurrency: 12 }))
    assert.deepStrictEqual(
      failures.map(({ description, route, sent }) => ({ description, route, sent: sent.toString("latin1") })),
      []
    )
    // Most code of a route runs only after a valid signature and path.
    const accepted = [...counts].filter(
      ([, statuses]) => statuses.has("200") || statuses.has("201") || statuses.has("204")
    )
    assert.isAbove(accepted.length, counts.size / 2)
    assert.strictEqual((yield* send(HttpClientRequest.options("/resumable/files/"))).status, 200)
  })
})
