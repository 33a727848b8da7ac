/** Packs of several runners with Postgres: no job is in two packs, and a runner that is killed leaves its packs to others. */
import { Durable, type DurableJob } from "@assembly-effect/workflow"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Duration, Effect, Layer, Schedule, Stream } from "effect"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"

const files = Number(process.env["PACKING_FILES"] ?? 100)
const poison = Math.floor(files / 3)
const packing = { files: 20, within: "1 second", repeatable: true } as const
const steps = {
  ":original": { robot: "/upload/handle" },
  poison: { robot: "/emulator/fail", use: ":original", filename: "poison.bin" }
}

layer(Layer.empty)("Packs of three runners", (it) => {
  it.effect(
    `${files} files, one of them poison, in packs of 20; a runner is killed: the others complete`,
    function* () {
      const postgres = yield* Server.make
      const cluster = yield* Cluster.make({ database: yield* postgres.database("packs"), expiry: Duration.seconds(3) })
      const jobs = yield* Effect.forEach(
        Array.from({ length: files }, (_, row) => row),
        (row) =>
          Effect.map(cluster.file(`job${row}`, 1000), ({ job }): DurableJob.Job => {
            const [file] = job.files
            assert(file !== undefined)
            const filename = row === poison ? "poison.bin" : file.filename
            return { key: job.key, params: { steps }, files: [{ source: file.source, filename }] }
          })
      )
      yield* Effect.gen(function* () {
        const [first] = yield* Effect.forEach(["A", "B", "C"], cluster.runner)
        yield* Stream.runDrain(Durable.startAll(Stream.fromIterable(jobs), { packing }))
        const states = Effect.map(Stream.runCollect(Durable.list()), (all) => all.map(({ state }) => state))
        const until = (fits: (all: ReadonlyArray<DurableJob.State>) => boolean) =>
          Effect.repeat(states, { until: fits, schedule: Schedule.spaced("100 millis") })
        yield* until((all) => all.includes("Uploading") || all.includes("Processing"))
        yield* first?.signal("SIGKILL") ?? Effect.void
        const all = yield* until((now) => now.every((state) => state === "Completed" || state === "Failed"))
        assert.strictEqual(all.length, files)
        assert.strictEqual(all.filter((state) => state === "Failed").length, 1)
        const [own] = yield* Stream.runCollect(Durable.list({ state: "Failed" }))
        assert.strictEqual(own?.key, `job${poison}`)
        // At most the packs of the runner that was killed ran twice.
        const count = yield* cluster.assemblies
        assert.isAtLeast(count, files / packing.files)
        assert.isAtMost(count, files / packing.files + 4 + 2 * Math.log2(packing.files) + 1)
      }).pipe(Effect.provide(cluster.client))
    }
  )
})
