import { Dam } from "@assembly-effect/api"
import { DamAsset, DamEntries, Identifier } from "@assembly-effect/schema"
import { Argument, Flag } from "effect/cli"
import { Effect, Option, Schema, Stream } from "../internal/effect.ts"
import { Cli, Failure, Output, Table, Text } from "../internal/index.ts"
import * as Resource from "../internal/resource.ts"

const assetId = Argument.withSchema(Cli.argument("assetId"), Identifier.AssetId)

const assetIds = Cli.argument("assetIds").pipe(
  Argument.withSchema(Identifier.AssetId),
  Argument.variadic({ min: 1, max: 500 })
)

/** An asset by its id or its path. */
const either = Argument.withSchema(Cli.argument("asset"), Schema.NonEmptyString)

const decodeId = Schema.decodeOption(Identifier.AssetId)

/** The id of the asset that a user gave by its id or its path. A path in the form of an id begins with `/`. */
const idOf = Effect.fnUntraced(function* (typed: string) {
  const given = decodeId(typed)
  if (Option.isSome(given)) return given.value
  const path = typed.replace(/^\/+/, "")
  const pages = Stream.flattenIterable(Stream.map(Dam.listPages({ prefix: path, limit: 500 }), (page) => page.assets))
  const found = yield* Stream.runHead(Stream.filter(pages, (one) => one.path === path))
  if (Option.isSome(found)) return found.value.asset_id
  return yield* Failure.failed(`there is no asset ${typed}`, "Run assembly assets list to see what there is.")
})

const columns = (): ReadonlyArray<Table.Column<DamAsset.Asset>> => [
  { title: "Asset", value: ({ asset_id }) => asset_id, keep: true },
  { title: "Path", value: ({ path }) => path, least: 16 },
  Table.sizeColumn(({ size }) => size),
  { title: "Type", value: ({ mime }) => Table.known(mime) }
]

const list = Cli.command(
  "assets list",
  {
    prefix: Argument.optional(Cli.argument("prefix")),
    ...Resource.flags(DamAsset.Asset, 500),
    cursor: Flag.optional(Flag.withSchema(Cli.text("cursor", "cursor"), DamEntries.Cursor))
  },
  Effect.fnUntraced(function* ({ all, cursor, json, limit, prefix }) {
    const query = { ...Cli.given({ prefix, cursor }), limit: Option.getOrElse(limit, () => (all ? 500 : 100)) }
    const empty = Option.isSome(prefix) ? { empty: `no assets whose path begins with ${prefix.value}` } : {}
    const listing = { what: "assets", page: DamEntries.Page, item: DamAsset.Asset, columns, ...empty }
    const pages = {
      first: Dam.list(query),
      all: Dam.listPages(query),
      items: (page: DamEntries.Page) => page.assets,
      next: ({ next_cursor: next }: DamEntries.Page) => (next === null ? undefined : { cursor: next })
    }
    yield* Resource.list(listing, { all, json }, pages)
  })
)

const factsOf = ({ height, width, ...asset }: DamAsset.Asset): ReadonlyArray<Table.Fact> => [
  ["Asset", asset.asset_id],
  ["Version", asset.version_id],
  ["Path", asset.path],
  ["Workspace", asset.workspace],
  ["Size", Text.bytes(asset.size)],
  ["Type", asset.mime],
  ["Pixels", width === undefined || height === undefined ? undefined : `${width} × ${height}`],
  ["SHA-256", asset.sha256]
]

const get = Cli.query(
  "assets get",
  { asset: either, versionId: Flag.optional(Flag.withSchema(Cli.text("version-id", "id"), Identifier.VersionId)) },
  DamEntries.Found,
  ({ asset: typed, versionId }) => Effect.flatMap(idOf(typed), (id) => Dam.get(id, Cli.given({ versionId }))),
  (found, layout) => Table.facts(factsOf(found.asset), layout)
)

const moveEntry = Cli.query(
  "assets move",
  { source: Cli.argument("source"), destination: Cli.argument("destination") },
  DamEntries.EntryMoved,
  ({ destination, source }) => {
    // A path that ends with / is the folder for the same name, as in `mv`.
    const target = /[^/]\/$/.test(destination) ? destination + source.replace(/^.*\/(?=.)/, "") : destination
    return Dam.moveEntry({ source, destination: target })
  },
  ({ path }, _, { source }) => Output.sentence(`${source} is now ${path}`)
)

const folderFlag = Flag.optional(Flag.withSchema(Cli.text("folder", "id"), Identifier.FolderId))

const isNow = ({ asset_id: id, path }: { readonly asset_id: string; readonly path: string }) =>
  Output.sentence(`${id} is now ${path}`)

const moveMany = Cli.query(
  "assets move-many",
  { assetIds, folder: folderFlag, root: Cli.flag("root") },
  DamEntries.MovedMany,
  ({ assetIds: ids, folder }) => Dam.moveMany({ assetIds: ids, destinationFolderId: Option.getOrNull(folder) }),
  (moved) => moved.assets.flatMap(isNow),
  ({ folder, root }) => (root === Option.isSome(folder) ? "give either --folder or --root" : undefined)
)

const remove = Cli.command(
  "assets delete",
  {
    assets: Argument.variadic(either, { min: 1, max: 500 }),
    yes: Resource.yes,
    json: Cli.json(DamEntries.DeletedMany)
  },
  Effect.fnUntraced(function* ({ assets: typed, json, yes }) {
    const ids = yield* Effect.forEach(typed, idOf, { concurrency: 8 })
    const describe = (id: Identifier.AssetId) => Effect.map(Dam.get(id), ({ asset }) => asset.path)
    if (!yes && ids.length > 1) yield* Resource.confirm({ ids, words: ["asset", "assets"], describe })
    const deleted = yield* Dam.deleteMany({ assetIds: ids })
    yield* Output.show(json, DamEntries.DeletedMany, deleted, () =>
      typed.flatMap((one) => Output.sentence(`deleted ${one}`))
    )
  })
)

/** `assembly assets`: the stored files of the Workspace. */
export const assets = Cli.group("assets", [list, get, moveEntry, moveMany, remove])

/** `assembly move`: renames an asset, moves it, or both. */
export const move = Cli.query(
  "move",
  {
    assetId,
    filename: Flag.optional(Flag.withSchema(Cli.text("filename", "name"), DamAsset.Filename)),
    folder: folderFlag,
    root: Cli.flag("root")
  },
  DamAsset.Moved,
  ({ assetId: id, filename, folder, root }) =>
    Dam.move(
      id,
      root || Option.isSome(folder)
        ? { ...Cli.given({ filename }), destinationFolderId: Option.getOrNull(folder) }
        : { filename: Option.getOrElse(filename, () => "") }
    ),
  isNow,
  ({ filename, folder, root }) => {
    if (root) return Option.isSome(folder) ? "--folder and --root cannot be used together" : undefined
    return Cli.noChange({ filename, folder }, "--filename, --folder and --root")
  }
)
