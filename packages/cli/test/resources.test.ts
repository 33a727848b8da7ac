/** The commands, against a service in memory. */
import { ApiError } from "@assembly-effect/api"
import { cancel, replay, wait } from "../src/commands/assemblies.ts"
import { assets, move } from "../src/commands/assets.ts"
import { credentials } from "../src/commands/credentials.ts"
import { keys } from "../src/commands/keys.ts"
import { list } from "../src/commands/list.ts"
import { stats } from "../src/commands/stats.ts"
import { bill, notifications, queues } from "../src/commands/workspace.ts"
import { templates } from "../src/commands/templates.ts"
import { describe, expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Command } from "effect/cli"
import { Effect, Layer, Stdio, Stream } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { moved, statistics } from "./support/answers.ts"
import * as Answers from "./support/resources.ts"
import * as Screen from "./support/screen.ts"
import * as Service from "./support/service.ts"
import * as Uploading from "./support/uploading.ts"

const [id, other] = ["a".repeat(32), "b".repeat(32)]

const answers = {
  ...Answers.templates,
  ...Answers.credentials,
  ...Answers.keys,
  ...Answers.assets,
  ...Answers.others,
  "Assemblies.list": {
    items: [{ id, created: "2026/01/01 10:00:00 GMT", ok: "ASSEMBLY_COMPLETED", bytes_received: 2048 }],
    count: 7
  },
  "Assemblies.statistics": statistics,
  "Assemblies.replay": {
    ok: "ASSEMBLY_REPLAYING",
    message: "",
    success: true,
    assembly_id: other,
    assembly_url: "https://api2.example.com/assemblies/b",
    assembly_ssl_url: "https://api2.example.com/assemblies/b"
  },
  "Dam.move": moved
}

const all = [templates, credentials, keys, assets, bill, notifications, queues, cancel, list, move, replay, stats, wait]

/** All commands below one root, with a service in memory. */
const make = (...[special = answers, failures]: Partial<Parameters<typeof Service.makeOf>>) => {
  const { asked, layer } = Service.makeOf(special, failures)
  const root = Command.make("assembly").pipe(Command.withSubcommands(all))
  /** Runs a command with another screen or another standard input. */
  const runOn = <A>(platform: Layer.Layer<A>, ...args: ReadonlyArray<string>) =>
    Service.run(root, args).pipe(Effect.provide(Layer.provideMerge(platform, layer)))
  return { asked, run: (...args: ReadonlyArray<string>) => runOn(Layer.empty, ...args), runOn }
}

/** Runs a command at 11:00 of 5 January 2026. Returns what it has printed. */
const printed = Effect.fnUntraced(function* <A, E, R>(command: Effect.Effect<A, E, R>) {
  yield* TestClock.setTime(Date.UTC(2026, 0, 5, 11))
  const before = [(yield* TestConsole.logLines).length, (yield* TestConsole.errorLines).length]
  yield* command
  const lines = [...(yield* TestConsole.logLines).slice(before[0]), ...(yield* TestConsole.errorLines).slice(before[1])]
  return lines.join("\n")
})

/** The path of a file with a JSON value. */
const fileOf = (value: unknown) =>
  Effect.map(
    Uploading.folderWith({ "value.json": typeof value === "string" ? value : JSON.stringify(value) }),
    (folder) => `${folder}/value.json`
  )

const assemblyId = "5a".repeat(16)
const { assetId, content, folderId, otherAssetId, secret } = Answers

describe("requests", () => {
  const commands = [
    "templates list --keyword a --sort name --order asc --cursor 2 --limit 10",
    "templates get thumbnails",
    "templates update --name digests --no-require-signature thumbnails",
    "templates delete thumbnails",
    "credentials list",
    "credentials get c1",
    "credentials types",
    "credentials update --name n --type s3 c1",
    "credentials delete c1",
    "keys list",
    "keys create --scope read --scope write --description d --can-show-secret --smart-cdn --algorithm sha256",
    "keys update --scope read --no-can-show-secret k1",
    "keys delete --yes k1",
    "keys scopes",
    "assets list",
    "assets list reports/ --limit 5 --cursor n2",
    `assets get ${assetId}`,
    "assets move a.pdf b/c.pdf",
    `assets move-many --root ${assetId}`,
    `assets move-many --folder=${folderId} ${assetId} ${otherAssetId}`,
    `assets delete ${assetId}`,
    `assets delete --yes ${assetId} ${otherAssetId}`,
    "bill",
    "bill 2025-12",
    `notifications list ${assemblyId}`,
    `notifications replay --url https://app.example.com/ --no-wait ${assemblyId}`,
    "queues",
    "queues stats --region eu-west-1 --since 2026-01-01 --aggregation max",
    "list",
    "list --since 2025-12-01 --until 24h --type failed --keyword cat --keyword dog --cursor 2 --limit 10",
    // A window is rounded to whole seconds.
    "list --from 2026-01-01T10:00:00.999Z --to 2026-01-01T11:00:00.001Z",
    "list --limit 1",
    "list --all",
    "list --all --limit 2",
    "stats --since 24h",
    "stats --template none --region eu-west-1",
    `replay ${id}`,
    `replay --template ${other} ${id}`,
    `replay --reparse-template ${id}`,
    `replay --notify-url https://example.com/n ${id}`,
    `move ${assetId} --filename b.txt`,
    `move ${assetId} --root`,
    `move ${assetId} --folder ${folderId}`,
    `move ${assetId} --filename b.txt --root`
  ]

  /** The commands that print no response with `--json`, without secrets, in lines, or with numbers for texts. */
  const withheld = /^(?:credentials|keys) (?!types|scopes)|^templates delete|^bill|--all/

  it.effect("of each command, and its output, are those of the file; --json prints the response", function* () {
    const told: Array<string> = []
    for (const args of commands) {
      const { asked, run } = make()
      const said = yield* printed(run(...args.split(" ")))
      const requests = asked.map(({ name, params, path }) => `${name} ${JSON.stringify({ ...Object(path), params })}`)
      told.push([`$ assembly ${args}`, ...requests, said, ""].join("\n"))
      if (withheld.test(args)) continue
      const response = Object.entries(answers).find(([name]) => name === asked.at(-1)?.name)
      const [json = ""] = (yield* printed(run(...args.split(" "), "--json"))).split(/\n(?=\S*--)/)
      expect(JSON.parse(json), args).toEqual(response?.[1])
    }
    yield* Effect.promise(() => expect(told.join("\n")).toMatchFileSnapshot("fixtures/requests.txt"))
  })

  it.live(
    "read the content of a Template from a file",
    Layer.mergeAll(TestConsole.layer, Service.make({}).layer),
    function* () {
      const { asked, run } = make()
      const file = yield* fileOf(content)
      yield* run("templates", "create", "thumbnails", file, "--require-signature")
      yield* run("templates", "update", "thumbnails", "--file", file)
      expect(asked.map(({ params }) => params)).toEqual([
        { name: "thumbnails", template: content, require_signature_auth: 1 },
        { template: content }
      ])
    }
  )

  it.effect("read secrets from the standard input, and keep name and type of credentials", function* () {
    const { asked, runOn } = make()
    const stdin = Stdio.layerTest({
      args: Effect.succeed([]),
      stdin: Stream.succeed(new TextEncoder().encode(JSON.stringify({ secret })))
    })
    yield* runOn(stdin, "credentials", "create", "photos", "--type", "s3", "--content", "-")
    yield* runOn(stdin, "credentials", "update", "c1", "--content", "-")
    expect(asked).toEqual([
      { name: "TemplateCredentials.create", path: {}, params: { name: "photos", type: "s3", content: { secret } } },
      { name: "TemplateCredentials.get", path: { credentialId: "c1" }, params: {} },
      {
        name: "TemplateCredentials.update",
        path: { credentialId: "c1" },
        params: { name: "photos", type: "s3", content: { secret } }
      }
    ])
  })
})

describe("output", () => {
  const commands = [
    "templates list",
    "templates update --name thumbnails thumbnails",
    "credentials list",
    "credentials types",
    "keys list",
    "keys scopes",
    "assets list",
    "assets move a.pdf reports/2026.pdf",
    `assets delete --yes ${assetId} ${otherAssetId}`,
    "bill 2026-01",
    `notifications list ${assemblyId}`,
    `notifications replay ${assemblyId}`,
    "queues",
    "queues stats --region eu-west-1"
  ]

  /** The tables of these commands, whose cells no narrow terminal may lose. */
  const lists = commands.filter((args) => / list|types$|queues$|bill/.test(args))

  it.effect("of each command is that of the file", function* () {
    const shown: Array<string> = []
    for (const [columns, some] of [
      [100, commands],
      [80, lists],
      [40, lists]
    ] as const) {
      for (const args of some) {
        const screen = Screen.make({ columns, animated: false })
        const text = yield* printed(make().runOn(screen.layer, ...args.split(" ")))
        expect(text.split("\n").filter((line) => line.length > columns)).toEqual([])
        shown.push(`# ${columns} columns: assembly ${args}\n${text}\n`)
      }
    }
    yield* Effect.promise(() => expect(shown.join("\n")).toMatchFileSnapshot("fixtures/resources.txt"))
  })

  it.effect("the content of a Template alone is what create reads", function* () {
    const shown = yield* printed(make().run("templates", "get", "--content", "thumbnails"))
    expect(JSON.parse(shown)).toEqual(content)
  })
})

describe("secrets", () => {
  const hidden: ReadonlyArray<string> = [
    "credentials list",
    "credentials get c1",
    "credentials update --name n --type s3 c1",
    "keys list",
    "keys create --scope read --can-show-secret",
    "keys update --scope read k1"
  ]

  it.effect.each(hidden.flatMap((args) => [args, `${args} --json`]))(
    "are not in the output of assembly %s",
    function* (args) {
      const { asked, run } = make()
      const text = yield* printed(run(...args.split(" ")))
      expect(asked.length).toBe(1)
      expect(text).toContain(args.startsWith("keys") ? "k1" : "c1")
      expect(text).not.toContain(secret)
      expect(text).not.toContain("AKIA")
    }
  )

  const shown: ReadonlyArray<string> = [
    "credentials get c1 --show-secret",
    "keys create --scope read --show-secret",
    "keys secret k1 --show-secret"
  ]

  it.effect.each(shown.flatMap((args) => [args, `${args} --json`]))("are shown by assembly %s", function* (args) {
    expect(yield* printed(make().run(...args.split(" ")))).toContain(secret)
  })
})

describe("a deletion", () => {
  const several = [
    ["2 Templates", ["templates", "delete", "a", "b"]],
    ["2 credentials", ["credentials", "delete", "c1", "c2"]],
    ["the Auth Key k1", ["keys", "delete", "k1"]],
    ["2 assets", ["assets", "delete", assetId, otherAssetId]]
  ] as const

  it.effect.each(several)("of %s needs --yes if there is no terminal", function* ([what, args]) {
    const { asked, run } = make()
    const error = yield* Effect.flip(run(...args))
    expect(error.message).toBe(`nothing was deleted: add --yes to delete ${what}, because there is no terminal to ask`)
    expect(asked).toEqual([])
    yield* run(...args, "--yes")
    expect(asked.length).toBe(args[0] === "assets" || args[0] === "keys" ? 1 : 2)
  })

  it.effect.each(several)("of %s asks on a terminal", function* ([what, args]) {
    const { asked, runOn } = make()
    const declined = Screen.make({ columns: 80, animated: false, typed: "n\n" })
    const error = yield* Effect.flip(runOn(declined.layer, ...args))
    expect(error.message).toBe("nothing was deleted")
    expect(declined.text()).toContain(`Delete ${what}?`)
    // The command has only read the names of what it would delete.
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(({ name }) => !/\.(?:get|list)$/.test(name))).toEqual([])
    yield* runOn(Screen.make({ columns: 80, animated: false, typed: "y\n" }).layer, ...args)
    expect(asked.some(({ name }) => /\.delete/.test(name))).toBe(true)
  })

  it.effect.each([
    ["nope", "there is no Auth Key nope", "Run assembly keys list to see what there is."],
    ["ab".repeat(16), `${"ab".repeat(16)} is the Auth Key itself`, "Its id is k1."]
  ])("of %s, which is no id of an Auth Key, asks nothing: %s. %s", function* ([typed = "", message, next]) {
    const { asked, runOn } = make()
    const screen = Screen.make({ columns: 80, animated: false, typed: "y\n" })
    expect(yield* Effect.flip(runOn(screen.layer, "keys", "delete", "k1", typed))).toMatchObject({ message, next })
    expect(asked.every(({ name }) => name === "AuthKeys.list")).toBe(true)
  })

  it.effect("of an Auth Key shows its description, and of an asset its path", function* () {
    const ask = (...args: ReadonlyArray<string>) => {
      const screen = Screen.make({ columns: 80, animated: false, typed: "n\n" })
      return Effect.as(Effect.flip(make().runOn(screen.layer, ...args)), screen)
    }
    const shown = yield* Effect.forEach(several, ([, args]) => Effect.map(ask(...args), ({ written }) => written[0]))
    expect(shown).toMatchInlineSnapshot(`
        [
          "  a  5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
          b  5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a
        ",
          "  c1  photos (s3)
          c2  photos (s3)
        ",
          "  k1  dashboard
        ",
          "  AAAAAAAAAAAAAAAAAAAAAA  reports/2026.pdf
          CCCCCCCCCCCCCCCCCCCCCA  reports/2026.pdf
        ",
        ]
      `)
  })
})

const forbidden = new ApiError.AuthenticationFailed({
  operation: "a",
  code: "INSUFFICIENT_AUTH_SCOPE",
  status: 403,
  description: "no"
})
const nothing = { ...statistics, totalAssemblies: 0, stats: [], errorStats: [], errorStatsTotals: [] }

describe("assembly stats of something unknown", () => {
  const isEmpty = /\n\nNo Assemblies in this period\.$/

  it.effect("counts by the id of a Template whose name was given", function* () {
    const { asked, run } = make({ ...answers, "Assemblies.statistics": nothing })
    expect(yield* printed(run("stats", "--template", "thumbnails"))).toMatch(isEmpty)
    expect(asked[1]?.params).toMatchObject({ template_id: answers["Templates.get"].id })
  })

  it.effect.each([
    ["--template thumbnails", /^Assemblies of the Template thumbnails in all regions, /],
    ["--region mars", /^Assemblies with and without a Template in region mars, /]
  ] as const)(
    "with %s shows an empty report, although the Auth Key may not read Templates: %s",
    function* ([args, about]) {
      const { run } = make({ "Assemblies.statistics": nothing }, { "Templates.get": forbidden })
      const said = yield* printed(run("stats", ...args.split(" ")))
      expect(said).toMatch(about)
      expect(said).toMatch(isEmpty)
      expect(yield* TestConsole.errorLines).toEqual([])
    }
  )
})

it.effect("assembly wait names each of several Assemblies whose error does not name it", function* () {
  yield* Effect.flip(make({}, { "Assemblies.get": forbidden }).run("wait", id, other))
  const said = (yield* TestConsole.errorLines).map(String)
  expect(said.toSorted().map((line) => line.slice(0, 44))).toEqual([id, other].map((one) => `assembly: ${one}: `))
})

it.effect("assembly cancel fails if the Assembly still runs, and cancels no other Assembly", function* () {
  const status = { ok: "ASSEMBLY_EXECUTING", assembly_id: id }
  const { asked, run } = make({ "Assemblies.cancel": status, "Assemblies.get": status })
  expect(yield* Effect.flip(run("cancel", id, other))).toMatchObject({
    _tag: "UnexpectedResponse",
    assemblyId: id,
    description: "the Assembly has not ended after its cancellation"
  })
  expect(asked.every(({ path }) => JSON.stringify(path).includes(id))).toBe(true)
  expect(yield* TestConsole.logLines).toEqual([])
})
