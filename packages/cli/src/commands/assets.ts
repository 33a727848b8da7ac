import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Format from "../Format.ts"
import * as Cells from "../internal/cells.ts"
import * as Confirm from "../internal/confirm.ts"
import * as Facts from "../internal/facts.ts"
import { jsonFlag, switchFlag } from "../internal/flags.ts"
import { given } from "../internal/given.ts"
import * as WholeNumber from "../internal/wholeNumber.ts"
import * as Output from "../Output.ts"
import * as Table from "../Table.ts"

const assetIds = Argument.String("assetIds").pipe(
  Argument.withDescription("The ids of the assets, 1 to 500"),
  Argument.withSchema(Identifier.AssetId),
  Argument.variadic({ min: 1, max: 500 })
)

const columns: ReadonlyArray<Table.Column<DamAsset.Asset>> = [
  { title: "Asset", rank: 1, value: ({ asset_id }) => asset_id, keep: true },
  { title: "Path", rank: 2, value: ({ path }) => path, least: 16 },
  { title: "Size", rank: 3, align: "right", value: ({ size }) => Format.bytes(size), keep: true },
  { title: "Type", rank: 4, value: ({ mime }) => Cells.text(mime) }
]

const list = Command.make(
  "list",
  {
    prefix: Argument.String("prefix").pipe(
      Argument.withDescription("Only assets whose path begins with this text, such as reports/"),
      Argument.optional
    ),
    limit: WholeNumber.flag("limit", { minimum: 1, maximum: 500 }).pipe(
      Flag.withDescription("Assets per page, 1 to 500 (default: 100)"),
      Flag.withDefault(100)
    ),
    cursor: Flag.String("cursor").pipe(
      Flag.withMetavar("cursor"),
      Flag.withDescription("The cursor that the previous page printed (default: the first page)"),
      Flag.withSchema(DamEntries.Cursor),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ cursor, json, limit, prefix }) {
    const page = yield* Dam.list({ limit, ...given({ prefix, cursor }) })
    if (json) return yield* Output.json(DamEntries.Page)(page)
    const empty = Option.match(prefix, {
      onNone: () => "no assets",
      onSome: (text) => `no assets whose path begins with ${text}`
    })
    yield* Output.report(Table.render(columns, page.assets, { ...(yield* Output.layout), empty }))
    if (page.next_cursor !== null) yield* Output.lines(["", `next page: --cursor=${page.next_cursor}`])
  })
).pipe(
  Command.withDescription("List the assets of the Workspace"),
  Command.withExamples([
    { command: "assembly assets list reports/", description: "The assets in a folder and its subfolders" },
    { command: "assembly assets list --json", description: "The first page for another program" }
  ])
)

const report = Effect.fnUntraced(function* (asset: DamAsset.Asset) {
  const { height, width } = asset
  const facts: ReadonlyArray<Facts.Fact> = [
    ["Asset", asset.asset_id],
    ["Version", asset.version_id],
    ["Path", asset.path],
    ["Workspace", asset.workspace],
    ["Size", Format.bytes(asset.size)],
    ["Type", asset.mime],
    ["Pixels", width === undefined || height === undefined ? undefined : `${width} × ${height}`],
    ["SHA-256", asset.sha256]
  ]
  yield* Output.report(Facts.render(facts, yield* Output.layout))
})

const get = Command.make(
  "get",
  {
    assetId: Argument.String("assetId").pipe(
      Argument.withDescription("The id of the asset"),
      Argument.withSchema(Identifier.AssetId)
    ),
    versionId: Flag.String("version-id").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription("An older version of the asset (default: the current version)"),
      Flag.withSchema(Identifier.VersionId),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ assetId, json, versionId }) {
    const found = yield* Dam.get(assetId, given({ versionId }))
    yield* json ? Output.json(DamEntries.Found)(found) : report(found.asset)
  })
).pipe(
  Command.withDescription("Show an asset. Write an id that starts with - after --"),
  Command.withExamples([
    { command: "assembly assets get <assetId>", description: "Show an asset" },
    { command: "assembly assets get --json -- <assetId>", description: "An id that starts with -" }
  ])
)

const move = Command.make(
  "move",
  {
    source: Argument.String("source").pipe(Argument.withDescription("The path of an asset or a folder")),
    destination: Argument.String("destination").pipe(Argument.withDescription("The new path, with the name")),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ destination, json, source }) {
    const moved = yield* Dam.moveEntry({ source, destination })
    yield* json ? Output.json(DamEntries.EntryMoved)(moved) : Output.lines([`${source} is now ${moved.path}`])
  })
).pipe(
  Command.withDescription("Move or rename an asset or a folder by its path"),
  Command.withExamples([
    { command: "assembly assets move inbox/report.pdf reports/2026.pdf", description: "Move and rename an asset" },
    { command: "assembly assets move drafts archive/drafts", description: "Move a folder" }
  ])
)

interface Destination {
  readonly folder: Option.Option<Identifier.FolderId>
  readonly root: boolean
}

/** The destination folder, or null for the root. Fails unless exactly one of `--folder` and `--root` is given. */
const toFolder = ({ folder, root }: Destination): Effect.Effect<Identifier.FolderId | null, CliError.ValidationError> =>
  root === Option.isSome(folder)
    ? Effect.fail(new CliError.ValidationError({ message: "give either --folder or --root" }))
    : Effect.succeed(Option.getOrNull(folder))

const moveMany = Command.make(
  "move-many",
  {
    assetIds,
    folder: Flag.String("folder").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription(
        "The id of the folder to move to, which assembly move --json prints for an asset; required without --root"
      ),
      Flag.withSchema(Identifier.FolderId),
      Flag.optional
    ),
    root: switchFlag("root").pipe(
      Flag.withDescription("Move out of all folders; required without --folder"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ assetIds: ids, json, ...destination }) {
    const moved = yield* Dam.moveMany({ assetIds: ids, destinationFolderId: yield* toFolder(destination) })
    if (json) return yield* Output.json(DamEntries.MovedMany)(moved)
    yield* Output.lines(moved.assets.map(({ asset_id, path }) => `${asset_id} is now ${path}`))
  })
).pipe(
  Command.validate((input) => Effect.asVoid(toFolder(input))),
  Command.withDescription("Move many assets to one folder, all or none"),
  Command.withExamples([
    { command: "assembly assets move-many --folder=<folderId> -- <assetId> <assetId>", description: "Move two assets" },
    {
      command: "assembly assets move-many --root -- <assetId> <assetId>",
      description: "Move two assets out of all folders"
    }
  ])
)

const remove = Command.make(
  "delete",
  { assetIds, yes: Confirm.yesFlag, json: jsonFlag },
  Effect.fnUntraced(function* ({ assetIds: ids, json, yes }) {
    const describe = (id: Identifier.AssetId) => Effect.map(Dam.get(id), ({ asset }) => asset.path)
    yield* Confirm.deletion({ ids, one: "asset", many: "assets", describe }, yes || ids.length === 1)
    const [first, ...others] = ids
    if (first !== undefined && others.length === 0) {
      const deleted = yield* Dam.delete(first)
      return yield* json ? Output.json(DamEntries.Deleted)(deleted) : Output.lines([`deleted ${deleted.asset_id}`])
    }
    const deleted = yield* Dam.deleteMany({ assetIds: ids })
    yield* json
      ? Output.json(DamEntries.DeletedMany)(deleted)
      : Output.lines(deleted.assets.map(({ asset_id }) => `deleted ${asset_id}`))
  })
).pipe(
  Command.withDescription(
    "Delete assets. Several are deleted all or none, and only after a question or with --yes. Write an id that starts with - after --"
  ),
  Command.withExamples([
    { command: "assembly assets delete --yes -- <assetId> <assetId>", description: "Delete two assets" },
    { command: "assembly assets delete <assetId>", description: "Delete an asset" }
  ])
)

/** `assembly assets`: the stored files of the Workspace. */
export const assets = <E, R>(service: Layer.Layer<AssemblyClient, E, R>) =>
  Command.make("assets").pipe(
    Command.withSubcommands([
      Command.provide(list, service),
      Command.provide(get, service),
      Command.provide(move, service),
      Command.provide(moveMany, service),
      Command.provide(remove, service)
    ]),
    Command.withExamples([
      { command: "assembly assets list reports/", description: "The assets in a folder and its subfolders" },
      { command: "assembly assets move drafts archive/drafts", description: "Move a folder" }
    ])
  )
