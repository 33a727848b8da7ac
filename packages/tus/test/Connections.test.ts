/** Which connections an upload uses: a new connection costs round trips, above all with TLS. */
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import { Clients, Scene, ScriptedTus, Upload } from "./utils/index.ts"

const source = UploadSource.fromBytes(Scene.content(4 * 1024 * 1024))

/** The connections that carried bytes, and those that were open before. */
const connectionsOf = Effect.fnUntraced(function* (parallel: number) {
  const server = yield* ScriptedTus.make
  const before = new Set<number | undefined>()
  const bytes = new Set<number | undefined>()
  server.meet = ({ connection, method }, go) => {
    if (method === "PATCH") bytes.add(connection)
    if (method === "POST" || method === "OPTIONS") before.add(connection)
    return go()
  }
  yield* Upload.run(server.target, source, { ...Scene.options, parallel })
  return { before, bytes }
})

layer(Clients.undici)("The bytes of an upload", (it) => {
  it.effect.each([1, 4])("in %d parts take connections that its creations have opened", function* (parallel) {
    const { before, bytes } = yield* connectionsOf(parallel)
    assert.isTrue([...bytes].every((connection) => before.has(connection)))
    assert.isAtMost(before.size, parallel)
  })
})
