/** The folder in which `assembly upload` keeps unfinished uploads. */
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as StateFolder from "../StateFolder.ts"
import * as UploadPlan from "../UploadPlan.ts"

/** The flag `--journal`, which names another folder. */
export const flag = Flag.String("journal").pipe(
  Flag.withDescription(
    "The folder for unfinished uploads (default: $XDG_STATE_HOME/assembly/uploads or ~/.local/state/assembly/uploads; on Windows %LOCALAPPDATA%\\assembly\\uploads)"
  ),
  Flag.withMetavar("folder"),
  Flag.optional
)

/**
 * The folder of `--journal`, or else the folder of `StateFolder`. The result is `None` if the flag is not given and
 * `StateFolder` has no folder.
 */
export const of = Effect.fnUntraced(function* (typed: Option.Option<string>) {
  if (Option.isNone(typed)) return yield* StateFolder.uploads
  const fs = yield* FileSystem.FileSystem
  if (typed.value === "")
    return yield* new UploadPlan.InvalidInput({ description: "--journal is empty; name a folder" })
  const info = yield* Effect.option(fs.stat(typed.value))
  if (Option.exists(info, ({ type }) => type !== "Directory")) {
    return yield* new UploadPlan.InvalidInput({ description: `--journal ${typed.value} is not a folder` })
  }
  return typed
})
