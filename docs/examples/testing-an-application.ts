/**
 * Tests an application against the emulator: a real server on a free port, with real signatures and errors, that runs
 * during the tests of the `describe`.
 */
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials, FetchClient } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"

/** The application: counts the Assemblies of the service. */
const countAssemblies = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z"), pageSize: 1 }).pipe(
  Effect.map(({ count }) => count)
)

/** A client of the running emulator, with its Auth Key. */
const client = Layer.unwrap(
  Emulator.Emulator.useSync(({ baseUrl, credentials }) =>
    AssemblyClient.layer({ baseUrl }).pipe(
      Layer.provide(Authenticator.layerSigned()),
      Layer.provide(Credentials.layer(credentials))
    )
  )
).pipe(Layer.provide([Emulator.layer(), FetchClient.layer]))

layer(client, { excludeTestServices: true })("counting Assemblies", (it) => {
  it.effect("counts those that were created", () =>
    Effect.gen(function* () {
      const before = yield* countAssemblies
      yield* Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } } })
      assert.strictEqual(yield* countAssemblies, (before ?? 0) + 1)
    })
  )
})
