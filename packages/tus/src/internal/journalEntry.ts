/**
 * The entries of the journal: the stored form of the state of an upload with the identity of the upload, and of the
 * Assembly of a job.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Part, Piece, UploadState } from "./uploadState.ts"
import * as UploadTarget from "../UploadTarget.ts"

const common = {
  target: UploadTarget.AtRest,
  /** The marker is used to find an upload whose creation got no response. */
  marker: Schema.String,
  /** The metadata of the creation. A later run must keep this metadata. */
  metadata: Schema.Record(Schema.String, Schema.NullOr(Schema.String)),
  /** The length of the upload in bytes. */
  size: Schema.BigInt,
  identity: Schema.NullOr(Schema.String),
  /** The index of the file in its job, which distinguishes two files with the same bytes and names. */
  file: Schema.optionalKey(Schema.Int),
  /** The time of the write, in milliseconds since 1970. */
  writtenAt: Schema.Finite
}

const Url = Schema.String

const Stored = Schema.TaggedUnion({
  Creating: common,
  Created: { ...common, url: Url },
  Parts: {
    ...common,
    parts: Schema.Array(
      Schema.Struct({
        marker: Schema.NullOr(Schema.String),
        url: Schema.NullOr(Url),
        start: Schema.BigInt,
        end: Schema.BigInt
      })
    )
  },
  Concatenating: { ...common, urls: Schema.Array(Url) },
  Completed: { ...common, url: Url },
  Untrusted: { ...common, urls: Schema.Array(Url), description: Schema.String, mayBeWhole: Schema.Boolean }
})

/**
 * - `Creating`: the creation may have been sent; its result is unknown.
 * - `Created`: the upload is at `url`.
 * - `Parts`: each part is at its `url`, if known. A part without `url` has a `marker` if its creation may have been
 *   sent. A part contains the bytes from `start` (inclusive) to `end` (exclusive).
 * - `Concatenating`: all parts are complete; the creation of the final upload may have been sent.
 * - `Completed`: all `size` bytes are stored at `url`.
 * - `Untrusted`: the bytes that the server stored at `urls` may differ from the sent bytes, because of `description`.
 *   `urls` contains the URLs of all parts and of the final upload. `mayBeWhole` has the same meaning as in
 *   `UploadUntrusted`.
 */
export type Entry = typeof Stored.Type

export const uploads = Json.fromString(Schema.toCodecJson(Stored))

/** The fields that identify an upload, which are the same in all its entries. */
export type About = Pick<Entry, "target" | "metadata" | "size" | "identity" | "file">

type PartAtRest = Extract<Entry, { readonly _tag: "Parts" }>["parts"][number]

const pieceAtRest = (piece: Piece): Pick<PartAtRest, "marker" | "url"> => ({
  marker: piece._tag === "Planned" ? null : piece.marker,
  url: piece._tag === "Created" ? Redacted.value(piece.url) : null
})

/**
 * The entry of a state, or undefined if nothing has to be stored. The offset of an upload, and the URL of a final
 * upload that is not complete, are not stored. A later run requests the offset from the server, and finds the URL in
 * the receipts.
 */
export const fromState = (
  state: UploadState,
  { file, identity, metadata, size, target }: About,
  writtenAt: number
): Entry | undefined => {
  const about = { target, metadata, size, identity, ...(file === undefined ? undefined : { file }), writtenAt }
  switch (state._tag) {
    case "Planned":
      return undefined
    case "Creating":
      return { ...about, ...state }
    case "Created":
      return { ...about, _tag: "Created", marker: state.marker, url: Redacted.value(state.url) }
    case "Parts":
      return {
        ...about,
        _tag: "Parts",
        marker: "",
        parts: state.parts.map(({ end, piece, start }) => ({ start, end, ...pieceAtRest(piece) }))
      }
    case "Concatenating":
      return { ...about, _tag: "Concatenating", marker: state.marker, urls: state.parts.map(Redacted.value) }
    case "Completed":
      return { ...about, _tag: "Completed", marker: "", url: Redacted.value(state.url) }
    case "Untrusted": {
      const { mayBeWhole, description, urls } = state
      return { ...about, _tag: "Untrusted", marker: "", urls: urls.map(Redacted.value), description, mayBeWhole }
    }
  }
}

type Reopened<A> = Result.Result<A, UploadTarget.UnsafeLocation>

const toPart = (target: UploadTarget.UploadTarget, { end, marker, start, url }: PartAtRest): Reopened<Part> => {
  if (marker === null) return Result.succeed({ start, end, piece: { _tag: "Planned" } })
  return url === null
    ? Result.succeed({ start, end, piece: { _tag: "Creating", marker } })
    : Result.map(UploadTarget.resolve(target, url), (found) => ({
        start,
        end,
        piece: { _tag: "Created", marker, url: found }
      }))
}

/** The state that an entry contains. All URLs of the entry are checked against the target again. */
export const toState = (entry: Entry, target: UploadTarget.UploadTarget): Reopened<UploadState> =>
  Result.gen(function* () {
    const resolve = (url: string) => UploadTarget.resolve(target, url)
    const { marker } = entry
    switch (entry._tag) {
      case "Creating":
        return { _tag: "Creating", marker }
      case "Created":
        return { _tag: "Created", marker, url: yield* resolve(entry.url) }
      case "Parts":
        return { _tag: "Parts", parts: yield* Result.all(entry.parts.map((part) => toPart(target, part))) }
      case "Concatenating":
        return {
          _tag: "Concatenating",
          marker,
          parts: yield* Result.all(entry.urls.map(resolve)),
          length: entry.size
        }
      case "Completed":
        return { _tag: "Completed", url: yield* resolve(entry.url), length: entry.size }
      case "Untrusted": {
        const { mayBeWhole, description } = entry
        return { _tag: "Untrusted", urls: yield* Result.all(entry.urls.map(resolve)), description, mayBeWhole }
      }
    }
  })

const ofAssembly = {
  assemblyId: Assembly.AssemblyId,
  /** Whether the creating request contains the files. */
  isForm: Schema.optionalKey(Schema.Boolean),
  /** The ids of the Assemblies whose forms broke before. */
  earlier: Schema.optionalKey(Schema.Array(Assembly.AssemblyId)),
  /** The ids of the uploads of a job, if the Assembly has the uploads of other jobs too. */
  uploads: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The time of the write, in milliseconds since 1970. */
  writtenAt: Schema.Finite
}

const StoredAssembly = Schema.TaggedUnion({ Creating: ofAssembly, Created: ofAssembly, Completed: ofAssembly })

/**
 * The Assembly of a job of `AssemblyUpload`.
 *
 * - `Creating`: the creation of the Assembly may have been sent. Only the service knows whether the Assembly exists.
 * - `Created`: the Assembly exists.
 * - `Completed`: a run has seen that the Assembly has completed.
 */
export type AssemblyEntry = typeof StoredAssembly.Type

export const assemblies = Schema.fromJsonString(Schema.toCodecJson(StoredAssembly))
