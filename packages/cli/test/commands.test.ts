/** The commands of Assemblies, their lists and statistics, and `assembly move`, against a service in memory. */
import { ApiError } from "@assembly-effect/api"
import { cancel, replay, wait } from "../src/commands/assemblies.ts"
import { list } from "../src/commands/list.ts"
import { move } from "../src/commands/assets.ts"
import { stats } from "../src/commands/stats.ts"
import { describe, expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Command } from "effect/cli"
import { Effect, Result } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import * as Service from "./support/service.ts"
import { moved, statistics } from "./support/answers.ts"
import { templates } from "./support/resources.ts"

const root = Command.make("assembly").pipe(Command.withSubcommands([cancel, list, move, replay, stats, wait]))

/** Runs a command at noon of 1 January 2026. Returns its requests, its outputs, and the error if it failed. */
const run = Effect.fnUntraced(function* (
  service: ReturnType<typeof Service.make>,
  args: string | ReadonlyArray<string>
) {
  yield* TestClock.setTime(Date.UTC(2026, 0, 1, 12))
  const words = typeof args === "string" ? args.split(" ") : args
  const ended = yield* Effect.result(Service.run(root, words).pipe(Effect.provide(service.layer)))
  return {
    asked: service.asked,
    params: service.asked.map(({ params }) => params),
    out: (yield* TestConsole.logLines).join("\n"),
    said: (yield* TestConsole.errorLines).map(String),
    error: Result.isFailure(ended) ? ended.failure : undefined
  }
})

const id = "a".repeat(32)
const other = "b".repeat(32)
const assetId = "AAAAAAAAAAAAAAAAAAAAAA"
const folderId = "BBBBBBBBBBBBBBBBBBBBBQ"

const entry = { id, created: "2026/01/01 10:00:00 GMT", ok: "ASSEMBLY_COMPLETED", bytes_received: 2048 }
const replayed = {
  ok: "ASSEMBLY_REPLAYING",
  message: "",
  success: true,
  assembly_id: other,
  assembly_url: "https://api2.example.com/assemblies/b",
  assembly_ssl_url: "https://api2.example.com/assemblies/b"
}
const forbidden = new ApiError.AuthenticationFailed({
  operation: "a",
  code: "INSUFFICIENT_AUTH_SCOPE",
  status: 403,
  description: "no"
})
const nothing = { ...statistics, totalAssemblies: 0, stats: [], errorStats: [], errorStatsTotals: [] }

describe("requests", () => {
  const week = { fromdate: "2025-12-25 12:00:00", page: 1, pagesize: 50, type: "all", keywords: [] }
  const page = { items: [entry], count: 11 }
  const cases: ReadonlyArray<readonly [args: string, answer: unknown, params: object]> = [
    ["list", [entry], week],
    [
      "list --since 2025-12-01 --until 24h --type failed --keyword cat --keyword dog --cursor 2 --limit 10",
      page,
      {
        fromdate: "2025-12-01 00:00:00",
        todate: "2025-12-31 12:00:00",
        page: 2,
        pagesize: 10,
        type: "failed",
        keywords: ["cat", "dog"]
      }
    ],
    // A window is rounded to whole seconds.
    [
      "list --from 2026-01-01T10:00:00.999Z --to 2026-01-01T11:00:00.001Z",
      page,
      { ...week, fromdate: "2026-01-01 10:00:00", todate: "2026-01-01 11:00:00" }
    ],
    ["list --all", { items: [], count: 0 }, { ...week, pagesize: 500 }],
    ["list --all --limit 2", { items: [], count: 0 }, { ...week, pagesize: 2 }],
    ["stats --since 24h", statistics, { region: "all", since: "2025-12-31T12:00:00.000Z", template_id: "all" }],
    ["stats --template none --since 24h", statistics, { region: "all", since: "2025-12-31T12:00:00.000Z" }],
    [`replay ${id}`, replayed, {}],
    [`replay --template ${other} ${id}`, replayed, { template_id: other }],
    [`replay --reparse-template ${id}`, replayed, { reparse_template: 1 }],
    [`replay --notify-url https://example.com/n ${id}`, replayed, { notify_url: "https://example.com/n" }],
    [`move ${assetId} --filename b.txt`, moved, { filename: "b.txt" }],
    [`move ${assetId} --root`, moved, { destination_folder_id: null }],
    [`move ${assetId} --folder ${folderId}`, moved, { destination_folder_id: folderId }],
    [`move ${assetId} --filename b.txt --root`, moved, { filename: "b.txt", destination_folder_id: null }]
  ]

  it.effect.each(cases)("assembly %s", ([args, answer, params]) =>
    Effect.map(run(Service.make(answer), args), (ran) =>
      expect(ran).toMatchObject({ error: undefined, params: [params] })
    )
  )
})

describe("output", () => {
  const cases: ReadonlyArray<readonly [args: string, answer: unknown, out: string]> = [
    ["list", [entry], `${id}\tcompleted\t2026-01-01 10:00\t\t2.0 KiB\t\t`],
    [`replay ${id}`, replayed, other],
    [`move ${assetId} --root`, moved, `${assetId} is now b.txt`]
  ]

  it.effect.each(cases)("of assembly %s", ([args, answer, out]) =>
    Effect.map(run(Service.make(answer), args), (ran) => expect(ran.out).toBe(out))
  )

  it.effect.each<readonly [args: string, answer: object]>([
    ["list", { items: [entry], count: 7 }],
    ["stats", statistics],
    [`move ${assetId} --root`, moved]
  ])("of assembly %s --json is the response", ([args, answer]) =>
    Effect.map(run(Service.make(answer), `${args} --json`), ({ out }) => expect(JSON.parse(out)).toEqual(answer))
  )

  it.effect("of assembly list says how many there are on all pages", () =>
    Effect.map(run(Service.make({ items: [entry], count: 7 }), "list"), ({ said }) =>
      expect(said).toEqual(["1 of 7 Assemblies; --cursor=2 continues, --all lists all"])
    )
  )

  it.effect("of assembly stats has totals and charts", () =>
    Effect.map(run(Service.make(statistics), "stats --since 24h"), ({ out }) => {
      expect(out).toMatch(/^Assemblies +3$/m)
      expect(out).toMatch(/^Received +2\.0 MiB$/m)
      expect(out).toMatch(/^NO_COUNTRY +1$/m)
      expect(out).toMatch(/^ {2}failed +1$/m)
      expect(out).toMatch(/^Completed per hour \(UTC\)\n +2 │ +█+$/m)
      expect(out).toMatch(/^Failed per hour \(UTC\)\n +1 │ +█+$/m)
      expect(out).toMatch(/^Canceled or aborted: none$/m)
      expect(out).toMatch(/^Received per hour \(UTC\)\n2\.0 MiB │ +█+$/m)
    })
  )
})

describe("assembly stats of something unknown", () => {
  const isEmpty = /\n\nNo Assemblies in this period\.$/

  it.effect("counts by the id of a Template whose name was given", function* () {
    const service = Service.makeOf({ "Assemblies.statistics": nothing, "Templates.get": templates["Templates.get"] })
    const { out, params } = yield* run(service, "stats --template thumbnails")
    expect(params[1]).toMatchObject({ template_id: templates["Templates.get"].id })
    expect(out).toMatch(isEmpty)
  })

  it.effect.each([
    ["--template thumbnails", /^Assemblies of the Template thumbnails in all regions, /],
    ["--region mars", /^Assemblies with and without a Template in region mars, /]
  ] as const)(
    "with %s shows an empty report, although the Auth Key may not read Templates: %s",
    function* ([args, about]) {
      const service = Service.makeOf({ "Assemblies.statistics": nothing }, { "Templates.get": forbidden })
      const { out, said } = yield* run(service, `stats ${args}`)
      expect(out).toMatch(about)
      expect(out).toMatch(isEmpty)
      expect(said).toEqual([])
    }
  )
})

it.effect("assembly wait names each of several Assemblies whose error does not name it", function* () {
  const { said } = yield* run(Service.makeOf({}, { "Assemblies.get": forbidden }), ["wait", id, other])
  expect(said.toSorted().map((line) => line.slice(0, 44))).toEqual([id, other].map((one) => `assembly: ${one}: `))
})

it.effect("assembly cancel fails if the Assembly still runs, and cancels no other Assembly", function* () {
  const service = Service.make({ ok: "ASSEMBLY_EXECUTING", assembly_id: id })
  const { asked, error, out } = yield* run(service, ["cancel", id, other])
  expect(error).toMatchObject({
    _tag: "UnexpectedResponse",
    assemblyId: id,
    description: "the Assembly has not ended after its cancellation"
  })
  expect(asked.every(({ path }) => JSON.stringify(path).includes(id))).toBe(true)
  expect(out).toBe("")
})
