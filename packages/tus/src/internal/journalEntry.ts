/**
 * The entries of the journal: the stored form of the state of an upload with the identity of the upload, and of the
 * Assembly of a job.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Piece, type UploadState, urlsOf } from "./uploadState.ts"
import * as UploadTarget from "../UploadTarget.ts"

const url = Schema.String
const urls = Schema.Array(url)
/** The marker is used to find an upload whose creation got no response. */
const creating = { marker: Schema.String }
const created = { ...creating, url }

const Part = Schema.Struct({
  start: Schema.BigInt,
  end: Schema.BigInt,
  piece: Schema.TaggedUnion({ Planned: {}, Creating: creating, Created: created })
})

const Stored = Schema.Struct({
  target: UploadTarget.AtRest,
  /** The metadata of the creation. A later run must keep this metadata. */
  metadata: Schema.StructWithRest(Schema.Struct({ filename: Schema.String, fieldname: Schema.String }), [
    Schema.Record(Schema.String, Schema.NullOr(Schema.String))
  ]),
  /** The length of the upload in bytes. */
  size: Schema.BigInt,
  identity: Schema.NullOr(Schema.String),
  /** The index of the file in its job, which distinguishes two files with the same bytes and names. */
  file: Schema.optionalKey(Schema.Int),
  /** The time of the write, in milliseconds since 1970. */
  writtenAt: Schema.Finite,
  state: Schema.TaggedUnion({
    Creating: creating,
    Created: created,
    Parts: { parts: Schema.Array(Part) },
    Concatenating: { ...creating, parts: urls, length: Schema.BigInt },
    Completed: { url, length: Schema.BigInt },
    Untrusted: { urls, description: Schema.String, mayBeWhole: Schema.Boolean }
  })
})

/**
 * What identifies an upload, and its `state`:
 *
 * - `Creating`: the creation may have been sent; its result is unknown.
 * - `Created`: the upload is at `url`.
 * - `Parts`: each part contains the bytes from `start` (inclusive) to `end` (exclusive), and has a state of its own.
 * - `Concatenating`: all `parts` are complete; the creation of the final upload may have been sent.
 * - `Completed`: all bytes are stored at `url`.
 * - `Untrusted`: the bytes that the server stored at `urls` may differ from the sent bytes, because of `description`.
 *   `urls` contains the URLs of all parts and of the final upload. `mayBeWhole` has the same meaning as in
 *   `UploadUntrusted`.
 */
export type Entry = typeof Stored.Type

export const uploads = Json.fromString(Schema.toCodecJson(Stored))

/** The fields that identify an upload, which are the same in all its entries. */
export type About = Omit<Entry, "writtenAt" | "state">

const mapPiece = <A, B>(piece: Piece<A>, to: (url: A) => B): Piece<B> =>
  piece._tag === "Created" ? { _tag: "Created", marker: piece.marker, url: to(piece.url) } : piece

/**
 * The same state with other URLs. The response to a creation, and the URL of a final upload that is not complete, are left
 * out: a later run requests the offset from the server, and finds the URL in the receipts.
 */
const mapUrls = <A, B>(state: UploadState<A>, to: (url: A) => B): UploadState<B> => {
  switch (state._tag) {
    case "Parts":
      return { ...state, parts: state.parts.map((part) => ({ ...part, piece: mapPiece(part.piece, to) })) }
    case "Concatenating": {
      const { length, marker, parts } = state
      return { _tag: "Concatenating", marker, parts: parts.map(to), length }
    }
    case "Completed":
      return { ...state, url: to(state.url) }
    case "Untrusted":
      return { ...state, urls: state.urls.map(to) }
    default:
      return mapPiece(state, to)
  }
}

/** The entry of a state, or undefined if nothing has to be stored. */
export const fromState = (state: UploadState, about: About, writtenAt: number): Entry | undefined => {
  const stored = mapUrls(state, Redacted.value)
  return stored._tag === "Planned" ? undefined : { ...about, writtenAt, state: stored }
}

/** The state of an entry. Its URLs are checked against the origins of `target`. */
export const toState = ({ state }: Entry, target: UploadTarget.UploadTarget) => {
  const resolve = (text: string) => UploadTarget.resolve(target, text)
  return Result.map(Result.all(urlsOf<string>(state).map(resolve)), () =>
    mapUrls(state, (text) => Result.getOrThrow(resolve(text)))
  )
}

const ofAssembly = {
  assemblyId: Assembly.AssemblyId,
  /** Whether the creating request contains the files. */
  isForm: Schema.optionalKey(Schema.Boolean),
  /** The ids of the Assemblies whose forms broke before. */
  earlier: Schema.optionalKey(Schema.Array(Assembly.AssemblyId)),
  /** The ids of the uploads of a job, if the Assembly has the uploads of other jobs too. Empty before it has completed. */
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
