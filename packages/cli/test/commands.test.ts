import * as ApiError from "@assembly-effect/api/ApiError"
import { cancel } from "../src/commands/assemblies.ts"
import { list } from "../src/commands/list.ts"
import { move } from "../src/commands/assets.ts"
import { replay } from "../src/commands/assemblies.ts"
import { stats } from "../src/commands/stats.ts"
import { wait } from "../src/commands/assemblies.ts"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as TestConsole from "effect/testing/TestConsole"
import * as Service from "./support/service.ts"
import { moved, statistics } from "./support/answers.ts"
import { templates } from "./support/resources.ts"

const output = Effect.map(TestConsole.logLines, (lines) => lines.join("\n"))
const atNewYear = TestClock.setTime(Date.UTC(2026, 0, 1, 12))

describe("assembly list", () => {
  const entry = {
    id: "a".repeat(32),
    created: "2026/01/01 10:00:00 GMT",
    ok: "ASSEMBLY_COMPLETED",
    bytes_received: 2048
  }

  it.effect("lists the last seven days", () =>
    Effect.gen(function* () {
      yield* atNewYear
      const service = Service.make([entry])
      yield* Service.run(list, []).pipe(Effect.provide(service.layer))
      expect(service.asked).toEqual([
        {
          name: "Assemblies.list",
          path: {},
          params: { fromdate: "2025-12-25 12:00:00", page: 1, pagesize: 50, type: "all", keywords: [] }
        }
      ])
      expect(yield* output).toBe(`${entry.id}\tcompleted\t2026-01-01 10:00\t\t2.0 KiB\t\t`)
    })
  )

  it.effect("passes its flags on", () =>
    Effect.gen(function* () {
      yield* atNewYear
      const service = Service.make({ items: [entry], count: 11 })
      const args = [
        "--since",
        "2025-12-01",
        "--until",
        "24h",
        "--type",
        "failed",
        "--keyword",
        "cat",
        "--keyword",
        "dog"
      ]
      yield* Service.run(list, [...args, "--cursor", "2", "--limit", "10"]).pipe(Effect.provide(service.layer))
      expect(service.asked[0]?.params).toEqual({
        fromdate: "2025-12-01 00:00:00",
        todate: "2025-12-31 12:00:00",
        page: 2,
        pagesize: 10,
        type: "failed",
        keywords: ["cat", "dog"]
      })
      expect(yield* output).toContain(entry.id)
    })
  )

  it.effect("rounds to whole seconds without a smaller window", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1, 12) + 1)
      const service = Service.make({ items: [], count: 0 })
      yield* Service.run(list, ["--from", "1h", "--to", "30m"]).pipe(Effect.provide(service.layer))
      const exact = ["--from", "2026-01-01T10:00:00.999Z", "--to", "2026-01-01T11:00:00.001Z"]
      yield* Service.run(list, exact).pipe(Effect.provide(service.layer))
      expect(service.asked.map(({ params }) => params)).toMatchObject([
        { fromdate: "2026-01-01 11:00:00", todate: "2026-01-01 11:30:01" },
        { fromdate: "2026-01-01 10:00:00", todate: "2026-01-01 11:00:01" }
      ])
    })
  )

  it.effect("prints JSON for programs", () =>
    Effect.gen(function* () {
      yield* Service.run(list, ["--json"]).pipe(Effect.provide(Service.make({ items: [entry], count: 7 }).layer))
      expect(JSON.parse(yield* output)).toEqual({ items: [entry], count: 7 })
    })
  )

  it.effect("shows the total of all pages", () =>
    Effect.gen(function* () {
      yield* Service.run(list, []).pipe(Effect.provide(Service.make({ items: [entry], count: 7 }).layer))
      expect(yield* TestConsole.errorLines).toEqual(["1 of 7 Assemblies; --cursor=2 goes on, --all lists all"])
    })
  )

  it.effect.each(["yesterday", "2026-02-30", "7y"])("refuses --from %s before anything is sent", (when) =>
    Effect.gen(function* () {
      const service = Service.make([])
      const error = yield* Service.run(list, ["--from", when]).pipe(Effect.provide(service.layer), Effect.flip)
      expect(error).toMatchObject({ _tag: "ShowHelp", errors: [{ _tag: "InvalidValue", option: "since" }] })
      expect(service.asked).toEqual([])
    })
  )
})

describe("assembly stats", () => {
  it.effect("shows totals and charts", () =>
    Effect.gen(function* () {
      yield* atNewYear
      const service = Service.make(statistics)
      yield* Service.run(stats, ["--since", "24h"]).pipe(Effect.provide(service.layer))
      expect(service.asked[0]?.params).toEqual({
        region: "all",
        since: "2025-12-31T12:00:00.000Z",
        template_id: "all"
      })
      const text = yield* output
      expect(text).toMatch(/^Assemblies +3$/m)
      expect(text).toMatch(/^Received +2\.0 MiB$/m)
      expect(text).toMatch(/^NO_COUNTRY +1$/m)
      expect(text).toMatch(/^ {2}failed +1$/m)
      expect(text).toMatch(/^Completed per hour \(UTC\)\n +2 │ +█+$/m)
      expect(text).toMatch(/^Failed per hour \(UTC\)\n +1 │ +█+$/m)
      expect(text).toMatch(/^Canceled or aborted: none$/m)
      expect(text).toMatch(/^Received per hour \(UTC\)\n2\.0 MiB │ +█+$/m)
    })
  )

  it.effect("sends a date that only the service can parse unchanged", () =>
    Effect.gen(function* () {
      const service = Service.make(statistics)
      const args = ["--since", "last monday", "--region", "eu-west-1", "--template", "all", "--json"]
      yield* Service.run(stats, args).pipe(Effect.provide(service.layer))
      expect(service.asked[0]?.params).toEqual({ region: "eu-west-1", since: "last monday", template_id: "all" })
      expect(JSON.parse(yield* output)).toEqual(statistics)
    })
  )
})

describe("assembly stats of something unknown", () => {
  const nothing = { ...statistics, totalAssemblies: 0, stats: [], errorStats: [], errorStatsTotals: [] }
  const said = Effect.map(TestConsole.errorLines, (lines) => lines.join("\n"))

  it.effect("counts by the id of a Template whose name was given", () =>
    Effect.gen(function* () {
      const service = Service.makeOf({ "Assemblies.statistics": nothing, "Templates.get": templates["Templates.get"] })
      yield* Service.run(stats, ["--template", "thumbnails"]).pipe(Effect.provide(service.layer))
      const [first, , second] = service.asked
      expect(first?.params).toMatchObject({ template_id: "thumbnails" })
      expect(second?.params).toMatchObject({ template_id: templates["Templates.get"].id })
      expect(yield* output).toMatch(/\n\nNo Assemblies in this period\.$/)
    })
  )

  it.effect("names the regions of the latest Assemblies if a region has none", () =>
    Effect.gen(function* () {
      yield* atNewYear
      const regions = ["us-east-1", null, "eu-west-1", "us-east-1"]
      const items = regions.map((region) => ({ id: "a".repeat(32), created: "2026/01/01 10:00:00 GMT", region }))
      const service = Service.makeOf({ "Assemblies.statistics": nothing, "Assemblies.list": items })
      yield* Service.run(stats, ["--region", "mars", "--since", "24h"]).pipe(Effect.provide(service.layer))
      expect(yield* said).toBe(
        "no Assemblies in the region mars in this period; the latest Assemblies ran in eu-west-1, us-east-1"
      )
      expect(service.asked.at(-1)?.params).toMatchObject({ fromdate: "2025-12-31 12:00:00" })
    })
  )

  const forbidden = new ApiError.AuthenticationFailed({
    operation: "a",
    code: "INSUFFICIENT_AUTH_SCOPE",
    status: 403,
    description: "no"
  })

  it.effect("shows the empty report of a Template that the Auth Key may not read", () =>
    Effect.gen(function* () {
      const service = Service.makeOf({ "Assemblies.statistics": nothing }, { "Templates.get": forbidden })
      yield* Service.run(stats, ["--template", "thumbnails"]).pipe(Effect.provide(service.layer))
      expect(yield* output).toMatch(/\n\nNo Assemblies in this period\.$/)
    })
  )

  it.effect("says that a region has no Assemblies, although the Auth Key may not list Assemblies", () =>
    Effect.gen(function* () {
      const service = Service.makeOf({ "Assemblies.statistics": nothing }, { "Assemblies.list": forbidden })
      yield* Service.run(stats, ["--region", "mars"]).pipe(Effect.provide(service.layer))
      expect(yield* said).toBe("no Assemblies in the region mars in this period")
      expect(yield* output).toMatch(/\n\nNo Assemblies in this period\.$/)
    })
  )

  it.effect("counts Assemblies without a Template with --template none", () =>
    Effect.gen(function* () {
      const service = Service.make(statistics)
      yield* Service.run(stats, ["--template", "none"]).pipe(Effect.provide(service.layer))
      expect(service.asked[0]?.params).not.toHaveProperty("template_id")
    })
  )

  it.effect("takes one format", () =>
    Effect.gen(function* () {
      const service = Service.make(statistics)
      const error = yield* Service.run(stats, ["--csv", "--html"]).pipe(Effect.provide(service.layer), Effect.flip)
      expect(error).toMatchObject({
        errors: [{ message: expect.stringContaining("at most one of --json, --csv, --svg and --html") }]
      })
      expect(service.asked).toEqual([])
    })
  )
})

describe("assembly wait", () => {
  it.effect("names each of several Assemblies whose error does not name it", () =>
    Effect.gen(function* () {
      const ids = ["a".repeat(32), "b".repeat(32)]
      const failure = new ApiError.AuthenticationFailed({
        operation: "Assemblies.get",
        code: "X",
        status: 401,
        description: "no"
      })
      const service = Service.makeOf({}, { "Assemblies.get": failure })
      yield* Service.run(wait, ids).pipe(Effect.provide(service.layer), Effect.flip)
      const lines = (yield* TestConsole.errorLines).map(String)
      expect(lines.toSorted().map((line) => line.slice(0, 44))).toEqual(ids.map((id) => `assembly: ${id}: `))
    })
  )

  it.effect.each(["0s", "10", "-1m", ""])("refuses --timeout %j before anything is sent", (timeout) =>
    Effect.gen(function* () {
      const service = Service.make({})
      const args = [`--timeout=${timeout}`, "a".repeat(32)]
      const error = yield* Service.run(wait, args).pipe(Effect.provide(service.layer), Effect.flip)
      expect(error).toMatchObject({ _tag: "ShowHelp", errors: [{ _tag: "InvalidValue", option: "timeout" }] })
      expect(service.asked).toEqual([])
    })
  )
})

describe("assembly replay", () => {
  const id = "a".repeat(32)
  const replayed = { ok: "ASSEMBLY_REPLAYING", message: "", success: true, assembly_id: "b".repeat(32) }

  it.effect.each([
    [[], {}],
    [["--template", "c".repeat(32)], { template_id: "c".repeat(32) }],
    [["--reparse-template"], { reparse_template: 1 }],
    [["--notify-url", "https://example.com/n"], { notify_url: "https://example.com/n" }]
  ] as const)("%j asks for %j", ([flags, params]) =>
    Effect.gen(function* () {
      const service = Service.make({
        ...replayed,
        assembly_url: "https://api2.example.com/assemblies/b",
        assembly_ssl_url: "https://api2.example.com/assemblies/b"
      })
      yield* Service.run(replay, [...flags, id]).pipe(Effect.provide(service.layer))
      expect(service.asked).toEqual([{ name: "Assemblies.replay", path: { assemblyId: id }, params }])
      expect(yield* output).toBe(`replayed as ${replayed.assembly_id}`)
    })
  )
})

describe("assembly cancel", () => {
  it.effect("fails if the Assembly still runs, and cancels no other Assembly", () =>
    Effect.gen(function* () {
      const id = "a".repeat(32)
      const service = Service.make({ ok: "ASSEMBLY_EXECUTING", assembly_id: id })
      const error = yield* Service.run(cancel, [id, "b".repeat(32)]).pipe(Effect.provide(service.layer), Effect.flip)
      expect(error).toMatchObject({
        _tag: "UnexpectedResponse",
        assemblyId: id,
        description: "the Assembly has not ended after its cancellation"
      })
      expect(service.asked.every(({ path }) => JSON.stringify(path).includes(id))).toBe(true)
      expect(yield* output).toBe("")
    })
  )
})

describe("assembly move", () => {
  const assetId = "AAAAAAAAAAAAAAAAAAAAAA"
  const folderId = "BBBBBBBBBBBBBBBBBBBBBQ"

  it.effect.each([
    [["--filename", "b.txt"], { filename: "b.txt" }],
    [["--root"], { destination_folder_id: null }],
    [["--folder", folderId], { destination_folder_id: folderId }],
    [["--filename", "b.txt", "--root"], { filename: "b.txt", destination_folder_id: null }]
  ] as const)("%j asks for %j", ([flags, params]) =>
    Effect.gen(function* () {
      const service = Service.make(moved)
      yield* Service.run(move, [assetId, ...flags]).pipe(Effect.provide(service.layer))
      expect(service.asked).toEqual([{ name: "Dam.move", path: { assetId }, params }])
      expect(yield* output).toBe(`${assetId} is now b.txt`)
    })
  )

  it.effect.each([
    [[assetId], "give at least one of --filename, --folder and --root"],
    [[assetId, "--root", "--folder", folderId], "--folder and --root cannot be used together"],
    [["short", "--root"], "22 characters of Base64URL"],
    [[assetId, "--filename", "a/b"], "without slash"]
  ] as const)("refuses %j before anything is sent", ([args, message]) =>
    Effect.gen(function* () {
      const service = Service.make(moved)
      const error = yield* Service.run(move, args).pipe(Effect.provide(service.layer), Effect.flip)
      expect(error).toMatchObject({ _tag: "ShowHelp", errors: [{ message: expect.stringContaining(message) }] })
      expect(service.asked).toEqual([])
    })
  )

  it.effect("prints JSON in the form of the service", () =>
    Effect.gen(function* () {
      yield* Service.run(move, [assetId, "--root", "--json"]).pipe(Effect.provide(Service.make(moved).layer))
      expect(JSON.parse(yield* output)).toEqual(moved)
    })
  )
})

describe("assembly list --all", () => {
  it.effect("asks for 500 Assemblies a page, unless another number is given", () =>
    Effect.gen(function* () {
      yield* atNewYear
      const sizes = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const service = Service.make({ items: [], count: 0 })
        yield* Service.run(list, args).pipe(Effect.provide(service.layer))
        return service.asked.map(({ params }) => params)
      })
      expect(yield* sizes("--all")).toMatchObject([{ page: 1, pagesize: 500 }])
      expect(yield* sizes("--all", "--limit", "2")).toMatchObject([{ page: 1, pagesize: 2 }])
      expect(yield* sizes()).toMatchObject([{ page: 1, pagesize: 50 }])
    })
  )
})

describe("a period that begins in the future", () => {
  it.effect("is accepted up to an hour, because the clock of the service may be ahead", () =>
    Effect.gen(function* () {
      yield* atNewYear
      const service = Service.make([])
      yield* Service.run(list, ["--since", "2026-01-01T13:00:00Z"]).pipe(Effect.provide(service.layer))
      expect(service.asked).toHaveLength(1)
      yield* Effect.flip(Service.run(list, ["--since", "2026-01-01T13:00:01Z"]).pipe(Effect.provide(service.layer)))
      expect(service.asked).toHaveLength(1)
    })
  )
})
