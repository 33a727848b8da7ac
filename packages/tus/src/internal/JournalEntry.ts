/**
 * An entry of the journal, and its form at rest.
 */
import * as Json from "@assembly-effect/schema/Json"
import * as Schema from "effect/Schema"
import * as UploadTarget from "../UploadTarget.ts"

const common = {
  target: UploadTarget.AtRest,
  /** Finds an upload again whose creation was not answered. */
  marker: Schema.String,
  /** What the creation carried; a later run is held to it. */
  metadata: Schema.Record(Schema.String, Schema.NullOr(Schema.String)),
  /** The length in bytes. */
  size: Schema.BigInt,
  identity: Schema.NullOr(Schema.String),
  /** Its index among the files of a job, which may have two of the same bytes and name. */
  file: Schema.optionalKey(Schema.Int),
  /** Milliseconds since 1970. */
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
  Untrusted: { ...common, urls: Schema.Array(Url), problem: Schema.String, mayBeWhole: Schema.Boolean }
})

/**
 * - `Creating`: a creation may have been sent; its answer is not known.
 * - `Created`: the upload is at `url`.
 * - `Parts`: each part is at its `url`, where known; one without has a `marker` if its creation may have been sent. Its
 *   bytes are those from `start` up to, and without, `end`.
 * - `Concatenating`: all parts are whole; their final creation may have been sent.
 * - `Completed`: all `size` bytes are stored at `url`.
 * - `Untrusted`: the server may have stored other bytes at `urls` than the ones that were sent, by `problem`. They are
 *   those of all parts, and of the final upload. `mayBeWhole` as in `UploadUntrusted`.
 */
export type Entry = typeof Stored.Type

const codec = Json.fromString(Schema.toCodecJson(Stored))
export const encode = Schema.encodeEffect(codec)
export const decode = Schema.decodeEffect(codec)
