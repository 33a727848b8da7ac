/** What the database must not contain, and the secrets of a deployment: a rotation is accepted, others are refused. */
import { Emulator, Faults } from "@assembly-effect/emulator"
import { UploadSource } from "@assembly-effect/tus"
import { Durable, DurableJob, ObjectStores } from "@assembly-effect/workflow"
import { assert, describe, test } from "@assembly-effect/testkit/flow"
import { Effect, Redacted } from "effect"
import * as Verdict from "../src/internal/verdict.ts"
import { durableTests } from "./running.ts"
import { assemblies, dump, failing, job, old, other, query, warnings, withRunner, young } from "./support.ts"

const presigned = "https://store.example/object?X-Signature=presigned"

/** An object store whose identities contain a presigned URL. */
const stores = ObjectStores.layer({
  store: (key) =>
    Effect.succeed({
      ...UploadSource.fromBytes(new TextEncoder().encode(`${presigned} ${key}`)),
      identity: Effect.succeed(`${presigned} etag`)
    })
})

durableTests("The database of an embedded runner", (it) => {
  it.alone("contains no capability, no secret and no address", function* ({ database, file, fs, faults }) {
    const { baseUrl, credentials } = yield* Emulator.Emulator
    const content = yield* file("a.bin", 700_000)
    const ids: Array<string> = []
    const urls: Array<string> = []
    yield* Effect.gen(function* () {
      const object = { source: DurableJob.object("store", "an-object"), filename: "b.bin" }
      const both = job("completed", [content])
      const status = yield* Durable.run({ ...both, files: [...both.files, object] })
      ids.push(status.assembly_id)
      for (const receipt of status.tus_uploads ?? []) urls.push(String(receipt.upload_url))
      // The error contains the message of the service, and so the id of an Assembly.
      const body = JSON.stringify({ error: "BAD", message: `no ${baseUrl}/assemblies/${status.assembly_id} here` })
      yield* faults.inject(
        Faults.Fault.Refuse({ method: "POST", path: "/assemblies/:assemblyId", status: 400, body, times: 1 })
      )
      const error = yield* Effect.flip(Durable.run(job("failed", [content])))
      assert.strictEqual(error._tag, "JobFailed")
      yield* Durable.cancel("failed")
      // The error of an Assembly that failed contains the beginning of its id.
      const failed = yield* Effect.flip(Durable.run(job("of-assembly", [content], { params: failing })))
      assert.include(failed.message, "AssemblyFailed: the Assembly failed with MINE")
      const all = yield* assemblies()
      ids.push(...all.map(({ id }) => String(id)))
      assert.isAtLeast(new Set(ids).size, 2)
    }).pipe(withRunner(database), Effect.provide(stores))

    const text = dump(database)
    // These values must be in the dump, so that an empty dump does not pass.
    for (const known of ["completed", "failed", "ServiceFailure", content.path, "an-object"]) {
      assert.include(text, known)
    }
    const secret = yield* fs.readFileString(`${database}.secret`)
    const forbidden = [
      ...ids,
      ...urls,
      "/resumable/files/",
      Redacted.value(credentials.secret),
      secret,
      "X-Signature",
      "store.example",
      "sha384:"
    ]
    assert.isAtLeast(urls.length, 2)
    for (const value of forbidden) assert.notInclude(text, value)
    assert.notMatch(text, /assemblies\/[0-9a-f]/u)
    // Not even the beginning of an id. A digest may contain the same digits by chance, but not at its beginning.
    for (const id of ids) assert.notMatch(text, new RegExp(`(?<![0-9a-f])${id.slice(0, 6)}`, "u"))
  })
  it.alone("gets no new secret if the file is lost and jobs have begun", function* ({ database, file, fs }) {
    const path = `${database}.secret`
    const content = yield* file("a.bin", 100)
    yield* withRunner(database)(Durable.Durable)
    yield* fs.remove(path)
    yield* Durable.run(job("one", [content])).pipe(withRunner(database))
    yield* fs.rename(path, `${path}.away`)
    const error = yield* withRunner(database)(Durable.Durable).pipe(Effect.flip)
    assert.strictEqual(error._tag, "InvalidSecret")
    assert.include(error.message, "put the file back")
    assert.isFalse(yield* fs.exists(path))
    yield* fs.rename(`${path}.away`, path)
    assert.strictEqual((yield* Durable.await("one").pipe(withRunner(database))).ok, "ASSEMBLY_COMPLETED")
  })

  it.alone("is refused with a secret that is too short, and without any", function* ({ database }) {
    for (const secrets of [[], [Redacted.make("short")]]) {
      const error = yield* withRunner(database, { secrets })(Durable.Durable).pipe(Effect.flip)
      assert.strictEqual(error._tag, "InvalidSecret")
    }
  })

  it.alone("is opened by one process: a second one gets a typed error", function* ({ database }) {
    const error = yield* Effect.flip(withRunner(database)(Durable.Durable)).pipe(withRunner(database))
    assert.deepInclude(error, { _tag: "DatabaseInUse", path: database })
    // The lock ends with its holder.
    yield* withRunner(database)(Durable.Durable)
  })
})

describe("The failure of a job", () => {
  test("contains no part of the id of its Assembly that leads to it", () => {
    const id = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    for (const part of [id, id.slice(0, 6), id.toUpperCase(), id.slice(10, 26), `%30${id.slice(1, 20)}`]) {
      const { message } = Verdict.failureOf(new Error(`no ${part} here`), id)
      assert.notInclude(message.toLowerCase(), part.toLowerCase().slice(-12))
      assert.match(message, /^no .*redacted.* here$/u)
    }
    // A program is told which Assembly has failed, but the database is not.
    const { message } = Verdict.failureOf(new Error("Assembly 0f1e2d… failed with MINE"))
    assert.strictEqual(message, "the Assembly failed with MINE")
  })
})

durableTests("An embedded database", (it) => {
  const open = (database: string, secrets: ReadonlyArray<Redacted.Redacted> | undefined) =>
    warnings(withRunner(database, { secrets })(Effect.asVoid(Durable.Durable)))

  it.alone("refuses other secrets than those of its jobs, also after these were sent", function* ({ database, file }) {
    const content = yield* file("a.bin", 10)
    yield* Durable.run(job("one", [content])).pipe(withRunner(database, { secrets: [old] }))
    const error = yield* Effect.flip(open(database, [other]))
    assert.strictEqual(error._tag, "InvalidSecret")
    assert.include(error.message, "add the earlier secret to the list")
    // Without `secrets`, the secret would be that of a file, which is missing.
    assert.strictEqual((yield* Effect.flip(open(database, undefined)))._tag, "InvalidSecret")
    assert.deepStrictEqual(yield* open(database, [old]), [])
  })

  it.alone("accepts other secrets while no job has begun", function* ({ database }) {
    for (const secrets of [[old], undefined, [young], [other]]) {
      assert.deepStrictEqual(yield* open(database, secrets), [])
    }
  })

  it.alone("contains nothing of a secret", function* ({ database }) {
    yield* open(database, [old, young])
    const rows = yield* query(database, "SELECT * FROM durable_deployment")
    assert.lengthOf(rows, 1)
    const text = JSON.stringify(rows)
    assert.match(text, /[0-9a-f]{32}/u)
    for (const secret of [old, young]) assert.notInclude(text, Redacted.value(secret).slice(0, 8))
  })
})
