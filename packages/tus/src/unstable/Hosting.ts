/**
 * What `@assembly-effect/workflow`, which runs jobs of `AssemblyUpload` with its own journal, needs beside the public
 * modules.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as JournalEntry from "../internal/journalEntry.ts"
import * as PackedStatus from "../internal/packedStatus.ts"

// The declarations of other public modules show these types.
export type { Emit } from "../internal/events.ts"
export type { Item, Limits, Pack, Seen } from "../internal/packing.ts"

export { type Emit as EmitAssembly, Permits } from "../internal/assemblyFiles.ts"
export type { Prepared, Send, Service, Store, StoreError } from "../internal/assemblyJob.ts"
export { isTemporary } from "../internal/context.ts"
export { digestOf } from "../internal/journal.ts"
export { issues } from "../internal/options.ts"
export { shareOf } from "../internal/packedStatus.ts"

/**
 * Decodes the text that an `UploadJournal.Store` has for a job.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeAssembly = Schema.decodeEffect(JournalEntry.assemblies)

/**
 * Encodes the text that {@link decodeAssembly} decodes.
 *
 * @since 0.1.0
 * @category decoding
 */
export const encodeAssembly = Schema.encodeEffect(JournalEntry.assemblies)

const decodeEntry = Schema.decodeEffect(JournalEntry.uploads)

/**
 * The id of a completed upload, from the text that an `UploadJournal.Store` has for it, and the index of its file.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeUpload = (text: string) =>
  Effect.map(decodeEntry(text), ({ file, state }) => ({
    file,
    id: state._tag === "Completed" ? PackedStatus.uploadIdIn(state.url) : undefined
  }))

/**
 * The rules of packs.
 *
 * @since 0.1.0
 * @category packing
 */
export * as Packing from "../internal/packing.ts"
