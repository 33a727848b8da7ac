/** The commands of the resources beyond the specification, against a service in memory. */
import { assets } from "../src/commands/assets.ts"
import { credentials } from "../src/commands/credentials.ts"
import { keys } from "../src/commands/keys.ts"
import { bill, notifications, queues } from "../src/commands/workspace.ts"
import { templates } from "../src/commands/templates.ts"
import { describe, expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Command } from "effect/cli"
import { Effect, Layer, Stdio, Stream } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import * as Answers from "./support/resources.ts"
import * as Screen from "./support/screen.ts"
import * as Service from "./support/service.ts"
import * as Uploading from "./support/uploading.ts"

const answers = { ...Answers.templates, ...Answers.credentials, ...Answers.keys, ...Answers.assets, ...Answers.others }

/** All commands below one root, with a service in memory. */
const make = () => {
  const { asked, layer } = Service.makeOf(answers)
  const root = Command.make("assembly").pipe(
    Command.withSubcommands([templates, credentials, keys, assets, bill, notifications, queues])
  )
  const run = (...args: ReadonlyArray<string>) => Service.run(root, args).pipe(Effect.provide(layer))
  /** Runs a command with another screen or another standard input. */
  const runOn = <A>(platform: Layer.Layer<A>, ...args: ReadonlyArray<string>) =>
    Service.run(root, args).pipe(Effect.provide(Layer.provideMerge(platform, layer)))
  return { asked, run, runOn }
}

/** Everything that was printed. */
const output = Effect.gen(function* () {
  return [...(yield* TestConsole.logLines), ...(yield* TestConsole.errorLines)].join("\n")
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
  const cases: ReadonlyArray<readonly [args: string, name: keyof typeof answers, path: object, params: object]> = [
    [
      "templates list --keyword a --sort name --order asc --cursor 2 --limit 10",
      "Templates.list",
      {},
      { keywords: ["a"], sort: "name", order: "asc", page: 2, pagesize: 10 }
    ],
    ["templates get thumbnails", "Templates.get", { templateIdOrName: "thumbnails" }, {}],
    [
      "templates update --name digests --no-require-signature thumbnails",
      "Templates.update",
      { templateIdOrName: "thumbnails" },
      { name: "digests", require_signature_auth: 0 }
    ],
    ["templates delete thumbnails", "Templates.delete", { templateIdOrName: "thumbnails" }, {}],
    ["credentials list", "TemplateCredentials.list", {}, {}],
    ["credentials get c1", "TemplateCredentials.get", { credentialId: "c1" }, {}],
    ["credentials types", "TemplateCredentials.types", {}, {}],
    [
      "credentials update --name n --type s3 c1",
      "TemplateCredentials.update",
      { credentialId: "c1" },
      { name: "n", type: "s3" }
    ],
    ["credentials delete c1", "TemplateCredentials.delete", { credentialId: "c1" }, {}],
    ["keys list", "AuthKeys.list", {}, {}],
    [
      "keys create --scope read --scope write --description d --can-show-secret --smart-cdn --algorithm sha256",
      "AuthKeys.create",
      {},
      {
        scope: ["read", "write"],
        description: "d",
        can_show_auth_secret: true,
        is_allowed_for_smartcdn: true,
        signature_algo: "sha256"
      }
    ],
    [
      "keys update --scope read --no-can-show-secret k1",
      "AuthKeys.update",
      { authKeyId: "k1" },
      { scope: ["read"], can_show_auth_secret: false }
    ],
    ["keys delete --yes k1", "AuthKeys.delete", { authKeyId: "k1" }, {}],
    ["keys scopes", "AuthKeys.scopes", {}, {}],
    ["assets list", "Dam.list", {}, { limit: 100 }],
    ["assets list reports/ --limit 5 --cursor n2", "Dam.list", {}, { prefix: "reports/", limit: 5, cursor: "n2" }],
    [`assets get ${assetId}`, "Dam.get", { assetId }, {}],
    ["assets move a.pdf b/c.pdf", "Dam.moveEntry", {}, { source: "a.pdf", destination: "b/c.pdf" }],
    [`assets move-many --root ${assetId}`, "Dam.moveMany", {}, { asset_ids: [assetId], destination_folder_id: null }],
    [
      `assets move-many --folder=${folderId} ${assetId} ${otherAssetId}`,
      "Dam.moveMany",
      {},
      { asset_ids: [assetId, otherAssetId], destination_folder_id: folderId }
    ],
    [`assets delete ${assetId}`, "Dam.deleteMany", {}, { asset_ids: [assetId] }],
    [`assets delete --yes ${assetId} ${otherAssetId}`, "Dam.deleteMany", {}, { asset_ids: [assetId, otherAssetId] }],
    ["bill 2025-12", "Billing.get", { month: "2025-12" }, {}],
    [`notifications list ${assemblyId}`, "Notifications.list", { assemblyId }, {}],
    [
      `notifications replay --url https://app.example.com/ --no-wait ${assemblyId}`,
      "Notifications.replay",
      { assemblyId },
      { notify_url: "https://app.example.com/", wait: false }
    ],
    ["queues", "Queues.jobSlots", {}, {}],
    [
      "queues stats --region eu-west-1 --since 2026-01-01 --aggregation max",
      "Queues.statistics",
      {},
      { region: "eu-west-1", since: "2026-01-01T00:00:00.000Z", aggregation: "max" }
    ]
  ]

  /** The commands that print no response with `--json`, without secrets, or with numbers for texts. */
  const withheld = /^(?:TemplateCredentials|AuthKeys)\.(?!types|scopes)|^(?:Templates\.delete|Billing\.get)$/

  it.effect.each(cases)("assembly %s, and prints the response with --json", function* ([args, name, path, params]) {
    yield* TestClock.setTime(Date.UTC(2026, 1, 28))
    const { asked, run } = make()
    yield* run(...args.split(" "))
    expect(asked).toEqual([{ name, path, params }])
    if (withheld.test(name)) return
    yield* run(...args.split(" "), "--json")
    expect(JSON.parse(String((yield* TestConsole.logLines).at(-1)))).toEqual(answers[name])
  })

  it.effect("the month of a bill is by default the current month", function* () {
    yield* TestClock.setTime(Date.UTC(2026, 1, 28, 23))
    const { asked, run } = make()
    yield* run("bill")
    expect(asked[0]?.path).toEqual({ month: "2026-02" })
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
    yield* TestClock.setTime(Date.UTC(2026, 0, 5, 11))
    const shown: Array<string> = []
    for (const [columns, some] of [
      [100, commands],
      [80, lists],
      [40, lists]
    ] as const) {
      for (const args of some) {
        const before = (yield* output).length
        yield* make().runOn(Screen.make({ columns, animated: false }).layer, ...args.split(" "))
        const text = (yield* output).slice(before).trimStart()
        expect(text.split("\n").filter((line) => line.length > columns)).toEqual([])
        shown.push(`# ${columns} columns: assembly ${args}\n${text}\n`)
      }
    }
    yield* Effect.promise(() => expect(shown.join("\n")).toMatchFileSnapshot("fixtures/resources.txt"))
  })

  it.effect("of a list for another program: texts between tabs without a heading", function* () {
    const { run } = make()
    yield* run("keys", "list")
    yield* run("credentials", "list")
    yield* run("assets", "list")
    expect(yield* TestConsole.logLines).toEqual([
      `k1\t${"ab".repeat(16)}\tdashboard\tassemblies:read read\tyes\t`,
      "c1\tphotos\ts3\t2026-01-02 10:30",
      `${assetId}\treports/2026.pdf\t2.0 KiB\tapplication/pdf`
    ])
    expect(yield* TestConsole.errorLines).toEqual(["--cursor=n2 continues, --all lists all"])
  })

  it.effect("the content of a Template alone is what create reads", function* () {
    yield* make().run("templates", "get", "--content", "thumbnails")
    expect(JSON.parse(yield* output)).toEqual(content)
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
      yield* run(...args.split(" "))
      expect(asked.length).toBe(1)
      const text = yield* output
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
    yield* make().run(...args.split(" "))
    expect(yield* output).toContain(secret)
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
