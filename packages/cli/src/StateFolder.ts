/**
 * The folder in which the command line keeps unfinished uploads for the next command.
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Path from "effect/Path"

/**
 * The services that a job of `assembly upload` needs.
 *
 * @since 0.1.0
 * @category models
 */
export type JobServices = AssemblyClient | HttpClient.HttpClient | UploadJournal.UploadJournal

/**
 * The folder of unfinished uploads: `$XDG_STATE_HOME/assembly/uploads`, else `~/.local/state/assembly/uploads`. If
 * neither XDG_STATE_HOME nor HOME is set, as is usual on Windows, the folder is `%LOCALAPPDATA%\assembly\uploads`. A
 * variable whose path is relative is ignored, as the XDG Base Directory Specification says. The result is `None` if none
 * of these three variables has an absolute path.
 *
 * @since 0.1.0
 * @category getters
 */
export const uploads = Effect.gen(function* () {
  const path = yield* Path.Path
  const variable = (name: string) =>
    Effect.map(
      Config.option(Config.String(name)),
      Option.filter((at) => path.isAbsolute(at))
    )
  const state = yield* variable("XDG_STATE_HOME")
  const home = yield* variable("HOME")
  const local = yield* variable("LOCALAPPDATA")
  return state.pipe(
    Option.orElse(() => Option.map(home, (at) => path.join(at, ".local", "state"))),
    Option.orElse(() => local),
    Option.map((at) => path.join(at, "assembly", "uploads"))
  )
})

/**
 * The journal of uploads in a folder. Without a folder the journal is in memory, so the next command starts a new
 * upload. After a crash of the process that ran an upload, another process can continue the upload after at most 10
 * seconds.
 *
 * @since 0.1.0
 * @category layers
 */
export const journal = (folder: Option.Option<string>) =>
  Option.match(folder, {
    onNone: () => UploadJournal.layerMemory(),
    // 24 hours after an upload has completed, the same command uploads again: a user who uploads the same files on
    // another day wants another Assembly.
    onSome: (at) => UploadJournal.layerFileSystem(at, { completedExpiry: "24 hours" })
  })
