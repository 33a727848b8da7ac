/**
 * Shows durable uploads on three runners: 50 files, two runners that are killed, and the SHA-256 of every file.
 *
 *     pnpm demo:durable
 *
 * The first run installs Postgres from npm into the cache of the workspace.
 */
import * as Durable from "@assembly-effect/workflow/Durable"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Front from "@assembly-effect/testkit/cluster/Front"
import * as Wait from "@assembly-effect/testkit/cluster/Wait"
import * as Postgres from "@assembly-effect/testkit/postgres/Postgres"
import * as Story from "../story.ts"
import * as Text from "../../packages/cli/src/internal/text.ts"
import * as Output from "../../packages/cli/src/internal/output.ts"

const mebi = 1024 * 1024
const fileCount = 50
const expiry = Duration.seconds(9)

/** Every tenth file is large, so that runners still send it when they are killed. */
const sizes = Array.from({ length: fileCount }, (_, index) => (index % 10 === 0 ? 24 * mebi : 256 * 1024))

/** Prints what happened, with the seconds since `begun`. */
const tell =
  (begun: number) =>
  (text: string, mark: "plain" | "dead" | "alive" = "plain") =>
    Effect.gen(function* () {
      const style = yield* Text.current
      const seconds = (((yield* Clock.currentTimeMillis) - begun) / 1000).toFixed(1).padStart(6)
      const paint = { plain: (line: string) => line, dead: style.red, alive: style.green }[mark]
      yield* Story.say(text, { paint, before: `${style.dim(`${seconds} s`)}  `, indent: 10 })
    })

/** How many bytes of an upload all runners together have sent, with requests that began before a time. */
const received = (front: Front.Front, path: string, before = Infinity) =>
  front.sendings
    .filter((sending) => sending.path === path && sending.start <= before)
    .reduce((sum, { bytes }) => sum + bytes, 0)

/** Kills a runner that sends, and waits until another one continues one of its uploads. */
const killAndWatch = Effect.fnUntraced(function* (
  { front }: Cluster.Cluster,
  runners: ReadonlyArray<Cluster.Runner>,
  say: ReturnType<typeof tell>
) {
  const find = () => runners.find(({ name }) => Front.sendingsOf(front, name, mebi).length > 0)
  yield* Wait.until("a runner that sends", () => find() !== undefined)
  const runner = find()
  if (runner === undefined) return yield* new Story.DemoFailed({ description: "no runner sends anything" })
  const left = Front.sendingsOf(front, runner.name)
  yield* runner.signal("SIGKILL")
  yield* runner.ended
  const total = left.reduce((sum, { path }) => sum + received(front, path), 0)
  const killed = yield* Clock.currentTimeMillis
  const uploads = left.length === 1 ? "one upload" : `${left.length} uploads`
  yield* say(`kill -9 of runner ${runner.name}, which has sent ${Text.bytes(total)} of ${uploads}`, "dead")
  const next = () =>
    front.sendings.find(({ path, start }) => start > killed && left.some((upload) => upload.path === path))
  yield* Wait.until(`the takeover from runner ${runner.name}`, () => next() !== undefined)
  const taken = next()
  if (taken === undefined) return yield* new Story.DemoFailed({ description: "no runner has taken over" })
  const after = ((taken.start - killed) / 1000).toFixed(1)
  yield* say(
    `runner ${taken.runner} continues one ${after} s later, at ${Text.bytes(taken.from)} of ${Text.bytes(received(front, taken.path, killed))} sent`,
    "alive"
  )
  return runners.filter((other) => other !== runner)
})

const story = Effect.gen(function* () {
  const style = yield* Text.current
  yield* Story.chapter("Postgres, the service, and three runners")
  const postgres = yield* Postgres.make
  const cluster = yield* Cluster.make({
    database: yield* postgres.database("demo"),
    expiry,
    uploads: 8,
    isShown: false
  })
  const { front } = cluster
  front.speed = mebi
  const made = yield* Effect.forEach(sizes, (size, index) =>
    cluster.file(`file-${String(index).padStart(2, "0")}`, size)
  )
  const runners = yield* Effect.forEach(["A", "B", "C"], cluster.runner, { concurrency: 3 })
  yield* Story.say(
    `If a runner dies, the others have its jobs at the latest ${Duration.toSeconds(expiry) + 3} seconds later.`
  )

  yield* Story.chapter(`${fileCount} files, and two runners that die`)
  const say = tell(yield* Clock.currentTimeMillis)
  const outcome = Effect.gen(function* () {
    yield* Durable.startAll(Stream.fromIterable(made.map(({ job }) => job))).pipe(
      Stream.runForEach((one) => (one._tag === "Refused" ? Effect.fail(one.error) : Effect.void))
    )
    yield* say(`${fileCount} jobs are stored, ${Text.bytes(sizes.reduce((sum, size) => sum + size, 0))}`)
    const two = yield* killAndWatch(cluster, runners, say)
    yield* killAndWatch(cluster, two, say)
    front.speed = Infinity
    const rows = yield* Effect.forEach(
      made,
      Effect.fnUntraced(function* ({ job, sha256 }) {
        const status = yield* Durable.await(job.key)
        const stored = status.uploads ?? []
        const isRight = stored.length === 1 && stored[0]?.sha256 === sha256
        return { isRight, uploads: status.started_tus_uploads ?? 0 }
      }),
      { concurrency: 16 }
    )
    yield* say("all jobs have ended")
    return rows
  })
  const rows = yield* Effect.provide(outcome, cluster.client)

  yield* Story.chapter("The SHA-256 of each file, sent and stored")
  const again = Front.repetitions(front).reduce((sum, bytes) => sum + bytes, 0)
  const right = rows.filter(({ isRight }) => isRight).length
  const uploads = rows.reduce((sum, row) => sum + row.uploads, 0)
  const assemblies = yield* cluster.assemblies
  const facts = [
    [`${right} of ${fileCount} files are identical`, right === fileCount],
    [`${assemblies} Assemblies were created`, assemblies === fileCount],
    [`${uploads} uploads were created`, uploads === fileCount],
    [`${Text.bytes(again)} were sent twice`, again <= 8 * mebi]
  ] as const
  yield* Output.report(
    facts.map(([text, isRight]) => Text.toLine(`${isRight ? style.green("✓") : style.red("✗")} ${text}`))
  )
  if (facts.some(([, isRight]) => !isRight))
    return yield* new Story.DemoFailed({ description: "not every file is stored once" })
  yield* Story.next("docs/durable.md shows how to write such a program")
})

Story.run("demo:durable", story)
