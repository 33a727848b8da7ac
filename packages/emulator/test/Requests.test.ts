/**
 * Requests that the suite of the operations does not send (packages/api/test/EmulatorRequests.test.ts): those of tus, and
 * other names of fields.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Testing from "@assembly-effect/schema/testing"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { signedFields } from "./signedCalls.ts"
import { createUpload, json, layer as layerEmulator, send } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** The number of generated requests of each kind. */
const count = Number(process.env["PROPERTY_RUNS"] ?? 50)
const seed = 20_261_121

const creations: ReadonlyArray<Schema.ConstraintCodec<unknown, unknown>> = [
  TusUpload.FixedHeaders,
  TusUpload.DeferredHeaders,
  TusUpload.FinalHeaders
]

const sample = <A>(arbitrary: Arbitrary.Arbitrary<A>) => Arbitrary.sampleEffect(arbitrary, { count, seed })

/** Sends every request and checks its response. The message of a failure contains the request. */
const each = <A>(
  inputs: ReadonlyArray<A>,
  request: (input: A) => Effect.Effect<Answer, unknown, Emulator.Emulator | Client>,
  check: (answer: Answer, input: A) => void
) =>
  Effect.forEach(
    inputs,
    (input) =>
      Effect.map(request(input), (answer) => {
        try {
          check(answer, input)
        } catch (problem) {
          throw new Error(
            `${JSON.stringify(input, (_, value) => (typeof value === "bigint" ? String(value) : value))} → ${answer.status} ${answer.text}`,
            { cause: problem }
          )
        }
      }),
    { concurrency: 8, discard: true }
  )

type Answer = Effect.Success<ReturnType<typeof send>>
type Client = Effect.Services<ReturnType<typeof send>>

layer(layerEmulator())("A generated request", (it) => {
  it.effect.each(["01", "1e0", "-1", "1.5", "", " 1", "one", "Infinity", "9007199254740992"])(
    "with %j expected files is refused, also under the other name of the field",
    function* (files) {
      const request = HttpClientRequest.post("/assemblies")
      const fields = { ...(yield* signedFields()), tus_num_expected_upload_files: files }
      const answer = yield* send(HttpClientRequest.bodyUrlParams(request, fields))
      assert.deepInclude(json(answer), { error: "INVALID_FORM_DATA", http_code: 400 })
    }
  )

  it.effect("to create an upload does so when valid", function* () {
    const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1_000_000 })
    const assembly_url = assembly.assembly_ssl_url ?? ""
    const withUrl = (headers: Record<string, string>) => {
      const metadata = Schema.decodeUnknownSync(TusUpload.Metadata)(headers["upload-metadata"])
      return { ...headers, "upload-metadata": Schema.encodeSync(TusUpload.Metadata)({ ...metadata, assembly_url }) }
    }
    const valid = yield* Effect.forEach(creations, (schema) => sample(Testing.of(schema).valid.wire))
    yield* each(
      valid.flat().map((headers) => withUrl(headers as Record<string, string>)),
      (headers) => createUpload(assembly, headers),
      (answer, headers) =>
        // Generated parts do not exist.
        assert.strictEqual(
          answer.status,
          "upload-concat" in headers && headers["upload-concat"] !== "partial" ? 404 : 201
        )
    )
  })

  it.effect("to create an upload is refused when invalid, by the header that is wrong", function* () {
    const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    const invalid = yield* Effect.forEach(creations, (schema) => sample(Testing.of(schema).invalid.wire))
    // White space around a header's value is not a part of it (RFC 9110), so it breaks no rule here.
    const isHeader = (value: unknown) => typeof value === "string" && /^(?! )[ -~]*(?<! )$/.test(value)
    const sendable = invalid
      .flat()
      .filter(({ input }) => Predicate.isObject(input) && Object.values(input).every(isHeader))
    assert.isAbove(sendable.length, count / 2)
    yield* each(
      sendable,
      ({ input }) => send(HttpClientRequest.post(assembly.tus_url ?? "", { headers: input as Record<string, string> })),
      (answer, { path }) => {
        const status = path[0] === "tus-resumable" ? 412 : path[0] === "content-type" ? 415 : 400
        assert.strictEqual(answer.status, status)
        assert.notInclude(answer.text, "[object")
        assert.match(answer.text, status === 412 ? /^ERR_UNSUPPORTED_VERSION: .+\n$/ : /^ERR_INVALID_[A-Z_]+: .+\n$/)
      }
    )
    assert.strictEqual((yield* Assemblies.get(Assembly.AssemblyId.make(assembly.assembly_id))).started_tus_uploads, 0)
  })
})
