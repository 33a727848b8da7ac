/** The commands of the resources beyond the specification, against the emulator. */
import { assets } from "../src/commands/assets.ts"
import { bill } from "../src/commands/workspace.ts"
import { credentials } from "../src/commands/credentials.ts"
import { keys } from "../src/commands/keys.ts"
import { notifications } from "../src/commands/workspace.ts"
import { queues } from "../src/commands/workspace.ts"
import { templates } from "../src/commands/templates.ts"
import { upload } from "../src/commands/upload.ts"
import * as Advice from "../src/internal/advice.ts"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestConsole from "effect/testing/TestConsole"
import * as Screen from "./support/screen.ts"
import * as Service from "./support/service.ts"
import * as Uploading from "./support/uploading.ts"

const services = Layer.mergeAll(Client.signed(), TestConsole.layer).pipe(
  Layer.provideMerge([
    Emulator.layer({ notificationPause: "5 millis" }),
    NodeHttpClient.layerUndici,
    NodeServices.layer
  ])
)

/** Runs a command with the client of the test. */
const assembly = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const root = Command.make("assembly").pipe(
    Command.withSubcommands([templates, credentials, keys, assets, notifications, bill, queues])
  )
  yield* Service.run(root, args)
  return String((yield* TestConsole.logLines).at(-1))
})

/** The output of a command with `--json`. */
const json = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S, ...args: ReadonlyArray<string>) =>
  Effect.flatMap(assembly(...args, "--json"), Schema.decodeUnknownEffect(Schema.fromJsonString(schema)))

const fileOf = (value: unknown) =>
  Effect.map(Uploading.folderWith({ "value.json": JSON.stringify(value) }), (folder) => `${folder}/value.json`)

layer(services)("the commands against the emulator", (it) => {
  it.effect("create, show, change, list and delete Template Credentials, and hide their secrets", function* () {
    const { types } = yield* json(TemplateCredential.TypeListing, "credentials", "types")
    const [type = "", { fields } = { fields: {} }] = Object.entries(types)[0] ?? []
    const contentOf = (mark: string) =>
      Object.fromEntries(Object.keys(fields).map((name) => [name, `${mark}-${name}-0123456789`]))
    const file = yield* fileOf(contentOf("first"))
    const args = ["credentials", "create", "photos", "--type", type, "--content", file]
    const { credential } = yield* json(TemplateCredential.Created, ...args)
    const id = credential?.id ?? ""
    expect(credential).toMatchObject({ name: "photos", type })
    expect(yield* Effect.flip(assembly(...args))).toMatchObject({ _tag: "TemplateCredentialsNotCreated" })

    yield* assembly("credentials", "update", "--content", yield* fileOf(contentOf("second")), id)
    yield* assembly("credentials", "update", "--name", "videos", id)
    yield* assembly("credentials", "get", id)
    const { credentials: listed } = yield* json(TemplateCredential.Listing, "credentials", "list")
    expect(listed).toMatchObject([{ id, name: "videos", type }])
    const shown = (yield* TestConsole.logLines).join("\n")
    // A name does what the id does.
    expect(yield* assembly("credentials", "get", "videos")).toContain(id)
    yield* assembly("credentials", "update", "--name", "films", "videos")
    expect(shown).not.toMatch(/(?:first|second)-\w+-0123456789/)

    expect(yield* assembly("credentials", "delete", "films")).toBe("deleted films")
    expect(yield* Effect.flip(assembly("credentials", "get", id))).toMatchObject({
      _tag: "TemplateCredentialsNotRead"
    })
  })

  it.effect("create an Auth Key that works, change and delete it", function* () {
    const args = ["--scope", "templates:read", "--description", "dashboard", "--show-secret"]
    const { auth_key: key } = yield* json(AuthKey.Created, "keys", "create", ...args)
    const other = Client.signed({ key: key.auth_key, secret: key.auth_secret })
    const list = Effect.provide(assembly("templates", "list"), other)
    yield* list
    expect(yield* Effect.flip(Effect.provide(assembly("keys", "list"), other))).toMatchObject({
      code: "INSUFFICIENT_AUTH_SCOPE"
    })

    expect(yield* Effect.flip(assembly("keys", "secret", "--show-secret", key.id))).toMatchObject({
      _tag: "AuthSecretNotRetrieved"
    })
    yield* assembly("keys", "update", "--can-show-secret", "--scope", "read", key.id)
    expect(yield* assembly("keys", "secret", "--show-secret", key.id)).toBe(Redacted.value(key.auth_secret))
    const { auth_keys: all } = yield* json(AuthKey.Listing, "keys", "list")
    const listed = all.find(({ id }) => id === key.id)
    expect(listed).toMatchObject({ description: "dashboard", scope: ["read"], can_show_auth_secret: true })
    expect(yield* assembly("keys", "scopes")).toContain("templates:read")

    expect(yield* assembly("keys", "delete", "--yes", key.id)).toBe(`deleted ${key.id}`)
    expect(yield* Effect.flip(list)).toMatchObject({ _tag: "AuthenticationFailed" })
  })

  it.effect("list, show, move and delete assets", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const names = ["a.txt", "b.txt"]
    for (const name of names) yield* fs.writeFileString(`${folder}/${name}`, name)
    const screen = Screen.make({ columns: 0, animated: false })
    const paths = names.map((name) => `${folder}/${name}`)
    yield* Service.run(upload, [...paths, "--journal", `${folder}/state`]).pipe(Effect.provide(screen.layer))

    const list = json(DamEntries.Page, "assets", "list")
    const pathsOf = Effect.map(list, (page) => page.assets.map(({ path }) => path).toSorted())
    expect(yield* pathsOf).toEqual(names)
    const ids = (yield* list).assets.map(({ asset_id }) => asset_id)
    const [first = ""] = ids
    expect(yield* assembly("assets", "get", "--", first)).toContain("Size       5 B")
    for (const path of ["b.txt", "/b.txt"]) expect(yield* assembly("assets", "get", path)).toMatch(/^Path +b\.txt$/m)
    const absent = yield* Effect.flip(assembly("assets", "delete", "b.tx"))
    expect(Advice.line(absent)).toBe("there is no asset b.tx")
    const page = yield* json(DamEntries.Page, "assets", "list", "--limit", "1")
    const next = yield* json(DamEntries.Page, "assets", "list", "--limit", "1", `--cursor=${page.next_cursor}`)
    expect([...page.assets, ...next.assets].map(({ path }) => path).toSorted()).toEqual(names)

    expect(yield* assembly("assets", "move", "a.txt", "c.txt")).toBe("a.txt is now c.txt")
    expect(yield* pathsOf).toEqual(["b.txt", "c.txt"])
    expect(yield* assembly("assets", "move-many", "--root", "--", ...ids)).toContain("is now b.txt")
    yield* fs.writeFileString(`${folder}/d.txt`, "d")
    yield* Service.run(upload, [`${folder}/d.txt`, "--journal", `${folder}/state`]).pipe(Effect.provide(screen.layer))
    expect(yield* assembly("assets", "delete", "d.txt")).toBe("deleted d.txt")
    expect(yield* assembly("assets", "delete", "--yes", "--", ...ids)).toContain(`deleted ${first}`)
    expect(yield* pathsOf).toEqual([])
    expect(yield* Effect.flip(assembly("assets", "get", "--", first))).toMatchObject({ _tag: "DamResourceNotFound" })
  })
})
