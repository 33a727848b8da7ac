/**
 * Remembers the Assembly of each unfinished command, apart from the content of its files. The journal finds an upload
 * only if its files have not changed. With this memory, a command finds the Assembly that its changed files have left
 * behind.
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

/** The entry of an unfinished job in the journal. */
const entryOf = Effect.fnUntraced(function* (assemblyId: Assembly.AssemblyId) {
  const { assemblies } = yield* UploadJournal.UploadJournal
  const entries = yield* assemblies.list
  return entries.find(({ entry }) => entry.assemblyId === assemblyId && entry._tag !== "Completed")
})

/** Cancels an Assembly that no command can continue. Says what became of it, or nothing if it had ended before. */
const leave = (assemblyId: Assembly.AssemblyId, what: string) =>
  Effect.gen(function* () {
    const found = yield* entryOf(assemblyId)
    if (found === undefined) return undefined
    const { assemblies, lease } = yield* UploadJournal.UploadJournal
    // Another process may still run this upload.
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
 * - `created`: remembers a new Assembly. Says what became of the Assembly that the command has left behind, if any.
 * - `completed`: forgets the Assembly.
 */
export interface Memory {
  readonly created: (
    assemblyId: Assembly.AssemblyId
  ) => Effect.Effect<string | undefined, never, AssemblyClient | UploadJournal.UploadJournal>
  readonly completed: Effect.Effect<void>
}

/** A command that remembers nothing, because nothing can continue its upload. */
export const none: Memory = { created: () => Effect.undefined, completed: Effect.void }

/** The memory of a command in the folder of the journal. A memory that cannot be read or written is not a failure. */
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

  /** Removes what earlier commands remember of jobs that the journal no longer has. */
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
      // Anybody who knows the id can read the Status.
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
