/**
 * Remembers the Assembly of each unfinished command by the paths of the files, and not by their content. The journal
 * finds an upload only if its files have not changed. If a file has changed, this memory finds the earlier Assembly,
 * and the command cancels it.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as ErrorLine from "../ErrorLine.ts"
import type * as UploadPlan from "../UploadPlan.ts"

const decodeId = Schema.decodeUnknownOption(Assembly.AssemblyId)

/** The entry of the journal for an Assembly whose job is not complete. Undefined if the journal has no such entry. */
const entryOf = Effect.fnUntraced(function* (assemblyId: Assembly.AssemblyId) {
  const { assemblies } = yield* UploadJournal.UploadJournal
  const entries = yield* assemblies.list
  return entries.find(({ entry }) => entry.assemblyId === assemblyId && entry._tag !== "Completed")
})

/**
 * Cancels an Assembly that no command can continue. Returns a sentence about the result for the user. Undefined if the
 * Assembly had ended before.
 */
const leave = (assemblyId: Assembly.AssemblyId, what: string) =>
  Effect.gen(function* () {
    const found = yield* entryOf(assemblyId)
    if (found === undefined) return undefined
    const { assemblies, lease } = yield* UploadJournal.UploadJournal
    // The lease fails if another process still runs this upload.
    yield* lease(found.key)
    const status = yield* Assemblies.cancel(assemblyId)
    yield* assemblies.forget(found.key)
    return Assembly.state(status) === "Canceled"
      ? `${what} changed after an interrupted upload. Its Assembly ${assemblyId} was canceled`
      : undefined
  }).pipe(
    Effect.scoped,
    Effect.catchTag("UploadLeased", () =>
      Effect.succeed(`${what} changed, but another process still uploads the earlier content to Assembly ${assemblyId}`)
    ),
    Effect.catch((error) =>
      Effect.succeed(
        `${what} changed after an interrupted upload. Its Assembly ${assemblyId} could not be canceled and may still wait for files: ${ErrorLine.fromError(error)}`
      )
    )
  )

/**
 * The memory of one command.
 *
 * - `created`: remembers a new Assembly. If an earlier run of the command has left another Assembly behind, cancels
 *   that Assembly and returns a sentence about the result.
 * - `completed`: forgets the Assembly of the command, which is complete.
 */
export interface Memory {
  readonly created: (
    assemblyId: Assembly.AssemblyId
  ) => Effect.Effect<string | undefined, never, AssemblyClient | UploadJournal.UploadJournal>
  readonly completed: Effect.Effect<void>
}

/** The memory of a command whose upload cannot be continued. This memory stores nothing. */
export const none: Memory = { created: () => Effect.undefined, completed: Effect.void }

/**
 * Makes the memory of a command, which is a file in the folder of the journal. The command does not fail if this file
 * cannot be read or written.
 */
export const make = Effect.fnUntraced(function* (
  folder: string,
  files: ReadonlyArray<UploadPlan.Planned>,
  params: Assembly.CreateParams
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { origins } = yield* AssemblyClient
  const key = yield* UploadJournal.assemblyKeyOf([
    origins.entries[0] ?? "",
    JSON.stringify(params),
    files.map(({ name, realPath }) => [realPath, name])
  ])
  const inside = path.join(folder, "commands")
  const own = path.join(inside, key)
  const read = (file: string) =>
    Effect.map(Effect.option(fs.readFileString(file)), (text) => Option.flatMap(text, decodeId))

  /** Removes the files of other commands whose jobs are no longer in the journal. */
  const sweep = Effect.gen(function* () {
    for (const name of yield* fs.readDirectory(inside)) {
      const file = path.join(inside, name)
      const found = yield* read(file)
      if (Option.isNone(found) || (yield* entryOf(found.value)) === undefined) yield* fs.remove(file, { force: true })
    }
  })

  const remember = (assemblyId: Assembly.AssemblyId) =>
    Effect.gen(function* () {
      yield* fs.makeDirectory(inside, { recursive: true, mode: 0o700 })
      // Only the owner may read the file, because anybody who knows the id of an Assembly can read its Status.
      yield* fs.writeFileString(own, assemblyId, { mode: 0o600 })
      yield* sweep
    }).pipe(Effect.ignore)

  const what = files.length === 1 ? (files[0]?.path ?? "") : "A file"
  return {
    created: Effect.fnUntraced(function* (assemblyId) {
      const earlier = Option.getOrUndefined(yield* read(own))
      yield* remember(assemblyId)
      return earlier === undefined || earlier === assemblyId ? undefined : yield* leave(earlier, what)
    }),
    completed: Effect.ignore(fs.remove(own, { force: true }))
  } satisfies Memory
})
