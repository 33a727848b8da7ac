/** What a run of a job writes to the journal when another process has taken the job over, and when its Assembly ends. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Faults from "@assembly-effect/emulator/Faults"
import { LeaseLost } from "@assembly-effect/tus/UploadJournal"
import { UploadJournal, UploadSource } from "@assembly-effect/tus"
import { assert, layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { AssemblyUpload, Emulated } from "./utils/index.ts"

const handle = { ":original": { robot: "/upload/handle" } }
const job = (params: Assemblies.CreateOptions) => ({
  params,
  files: [{ source: UploadSource.fromBytes(new Uint8Array(10)), filename: "a.bin" }],
  wait: { interval: "10 millis" } as const
})

const tagsIn = ({ assemblies }: UploadJournal.UploadJournal["Service"]) =>
  Effect.map(assemblies.list, (entries) => entries.map(({ entry }) => entry._tag))

/** A journal whose leases are taken by another process as soon as an Assembly is being created. */
const takenOver = Effect.gen(function* () {
  const journal = yield* UploadJournal.UploadJournal
  const http = yield* HttpClient.HttpClient
  let isTaken = false
  const client = Emulated.over(
    HttpClient.transform(http, (sent, request) =>
      Effect.andThen(
        Effect.sync(() => {
          if (request.method === "POST") isTaken = true
        }),
        sent
      )
    )
  )
  const leases = UploadJournal.UploadJournal.of({
    ...journal,
    lease: (key) =>
      Effect.map(journal.lease(key), ({ check, lost }) => ({
        lost,
        check: Effect.suspend(() =>
          isTaken ? Effect.fail(new LeaseLost({ key, description: "another process has taken it" })) : check
        )
      }))
  })
  return {
    journal,
    run: (options: AssemblyUpload.Options) =>
      AssemblyUpload.journaled
        .run(options)
        .pipe(Effect.provideService(UploadJournal.UploadJournal, leases), Effect.provide(client), Effect.flip)
  }
})

layer(Emulated.live)("a job in the journal", (it) => {
  it.effect.each([
    ["written", "LeaseLost", { steps: handle }],
    ["forgotten", "ServiceFailure", { templateId: "unknown" }]
  ] as const)("is not %s by a run that has lost it", UploadJournal.layerMemory(), function* ([, tag, params]) {
    const { journal, run } = yield* takenOver
    assert.strictEqual((yield* run(job(params)))._tag, tag)
    assert.deepStrictEqual(yield* tagsIn(journal), ["Creating"])
  })

  for (const [ok, tag] of [
    ["ASSEMBLY_CANCELED", "AssemblyCanceled"],
    ["REQUEST_ABORTED", "AssemblyAborted"]
  ] as const) {
    it.effect(`is forgotten when its Assembly ends as ${ok}`, UploadJournal.layerMemory(), function* () {
      const journal = yield* UploadJournal.UploadJournal
      const faults = yield* Faults.Faults
      const assemblyId = yield* Assemblies.newId
      const options = job({ steps: handle, assemblyId })
      const ended = { ok, assembly_id: assemblyId }
      const fault = { method: "GET", path: "/assemblies/:assemblyId", status: 200, times: Infinity } as const
      yield* faults.inject(Faults.Fault.Refuse({ ...fault, body: JSON.stringify(ended) }))
      const error = yield* Effect.flip(AssemblyUpload.journaled.run(options)).pipe(Effect.ensuring(faults.clear))
      assert.strictEqual(error._tag, tag)
      assert.deepStrictEqual(yield* tagsIn(journal), [])
    })
  }
})
