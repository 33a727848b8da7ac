/** Tests that no number of a request is a defect of the emulator, or makes its data unusable. */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DateTime, Effect, FileSystem } from "effect"
import { HttpClientRequest } from "effect/http"
import { call } from "./signedCalls.ts"
import { createUpload, hmac, layer, patch, send } from "./support.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

const numbers = ["0.5", "-0.5", "-1", "-0", "1e300", "-1e300", "1e-300", "1e400", "9007199254740991"].concat([
  "9007199254740992",
  "-9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551616"
])

const create = Effect.fnUntraced(function* (auth: string, fields: Readonly<Record<string, string>>) {
  const { credentials } = yield* Emulator.Emulator
  const params = `{"auth":{"key":"${credentials.key}","expires":"2999-01-01T00:00:00Z"${auth}}}`
  const form = { params, signature: hmac(params, credentials.secret, "sha1"), ...fields }
  return yield* send(HttpClientRequest.post("/assemblies").pipe(HttpClientRequest.bodyUrlParams(form)))
})

const upload = Effect.fnUntraced(function* (headers: Readonly<Record<string, string>>) {
  return yield* createUpload(yield* Assemblies.create({ numExpectedUploadFiles: 1 }), headers)
})

type Send = (number: string) => Effect.Effect<{ readonly status: number }, unknown, Effect.Services<typeof emulator>>
const emulator = Effect.andThen(upload({}), call("GET", "/"))

/** Requests with a number in each place that takes one, or that stores any JSON. */
const requests: Readonly<Record<string, Send>> = {
  num_expected_upload_files: (number) => create(`,"nonce":"${number}"`, { num_expected_upload_files: number }),
  "auth.max_size": (number) => create(`,"max_size":${number}`, {}),
  "auth.nonce": (number) => create(`,"nonce":${number}`, {}),
  fields: (number) => call("POST", "/assemblies", `{"fields":{"number":${number}}}`),
  steps: (number) => call("POST", "/assemblies", `{"steps":{"s":{"robot":"/upload/handle","number":${number}}}}`),
  seconds: (number) => call("POST", "/assemblies", `{"steps":{"s":{"robot":"/emulator/wait","seconds":${number}}}}`),
  "Assembly list": (number) => call("GET", "/assemblies", `{"page":${number},"pagesize":1}`),
  "Template list": (number) => call("GET", "/templates", `{"page":${number}}`),
  statistics: (number) => call("GET", "/assembly_stats", `{"region":"all","since":${number}}`),
  "DAM list": (number) => call("GET", "/dam/assets", `{"limit":${number}}`),
  "job slots": (number) => call("GET", "/priority_job_slot_stats", `{"region":"all","since":${number}}`),
  bill: (number) => call("GET", `/bill/${number}`),
  "upload-length": (number) => upload({ "upload-length": number }),
  "upload-offset": (number) =>
    Effect.flatMap(upload({ "upload-length": "9" }), ({ headers }) =>
      patch(headers["location"] ?? "", 0, new Uint8Array(1), { "upload-offset": number })
    )
}

it.live("odd numbers are answered or refused, and the data stays usable", NodeServices.layer, function* () {
  const data = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  yield* Effect.gen(function* () {
    for (const [place, request] of Object.entries(requests)) {
      for (const number of numbers) {
        assert.isBelow((yield* request(number)).status, 500, `${place}: ${number}`)
      }
    }
  }).pipe(Effect.provide(layer({ data })))
  yield* Effect.gen(function* () {
    const { items } = yield* Assemblies.list({ fromDate: DateTime.makeUnsafe("2020-01-01"), pageSize: 5000 })
    assert.isAbove(items.length, 50)
    for (const { id } of items)
      assert.strictEqual((yield* Assemblies.get(Assembly.AssemblyId.make(id))).assembly_id, id)
  }).pipe(Effect.provide(layer({ data })))
})
