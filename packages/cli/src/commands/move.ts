import * as Dam from "@assembly-effect/api/Dam"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { jsonFlag, switchFlag } from "../internal/flags.ts"
import * as Output from "../Output.ts"

interface Change {
  readonly filename: Option.Option<string>
  readonly folder: Option.Option<Identifier.FolderId>
  readonly root: boolean
}

/** Returns the change to request. Fails if the flags name no change, or both a folder and the root. */
const toRequest = ({
  filename,
  folder,
  root
}: Change): Effect.Effect<DamAsset.MoveRequest, CliError.ValidationError> => {
  if (root && Option.isSome(folder)) {
    return Effect.fail(new CliError.ValidationError({ message: "--folder and --root cannot be used together" }))
  }
  const destination = root
    ? { destinationFolderId: null }
    : Option.match(folder, {
        onNone: () => undefined,
        onSome: (destinationFolderId) => ({ destinationFolderId })
      })
  if (Option.isSome(filename)) return Effect.succeed({ filename: filename.value, ...destination })
  return destination === undefined
    ? Effect.fail(new CliError.ValidationError({ message: "give at least one of --filename, --folder and --root" }))
    : Effect.succeed(destination)
}

/** `assembly move`: renames an asset, moves it, or both. */
export const move = Command.make(
  "move",
  {
    assetId: Argument.String("assetId").pipe(
      Argument.withDescription("The id of the asset"),
      Argument.withSchema(Identifier.AssetId)
    ),
    filename: Flag.String("filename").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription("The new name, without a folder; required without --folder and --root"),
      Flag.withSchema(DamAsset.Filename),
      Flag.optional
    ),
    folder: Flag.String("folder").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription("The id of the folder to move to (default: the current folder)"),
      Flag.withSchema(Identifier.FolderId),
      Flag.optional
    ),
    root: switchFlag("root").pipe(Flag.withDescription("Move out of all folders"), Flag.withDefault(false)),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ assetId, json, ...change }) {
    const moved = yield* Effect.flatMap(toRequest(change), (request) => Dam.move(assetId, request))
    if (json) return yield* Output.json(DamAsset.Moved)(moved)
    yield* Output.lines([`${moved.asset_id} is now ${moved.path}`])
  })
).pipe(
  Command.validate((input) => Effect.asVoid(toRequest(input))),
  Command.withDescription(
    "Rename or move an asset by its id (alpha); assembly assets move takes paths. Write an id that starts with - after -- or --folder="
  ),
  Command.withExamples([
    { command: "assembly move --filename report.pdf -- <assetId>", description: "Rename an asset" },
    { command: "assembly move --folder=<folderId> -- <assetId>", description: "Move an asset to a folder" }
  ])
)
