import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Slices from "../http/slices.ts"
import type * as Turns from "../http/turns.ts"

const encodeStatus = Schema.encodeSync(Assembly.Status)
const encodeFile = Schema.encodeSync(Assembly.File)
const encodeReceipt = Schema.encodeSync(Assembly.TusReceipt)

/** Encodes a Status as JSON. Its files are encoded slice by slice, because a Status may have thousands of files. */
export const encode = Effect.fnUntraced(function* (status: Assembly.Status, turns: Turns.Turns["Service"]) {
  const { results, tus_uploads, uploads, ...rest } = status
  const encoded = yield* turns.share(Effect.sync(() => encodeStatus(rest)))
  return {
    ...encoded,
    ...(Predicate.isNotNullish(tus_uploads)
      ? { tus_uploads: yield* Slices.map(turns, tus_uploads, encodeReceipt) }
      : {}),
    ...(Predicate.isNotNullish(uploads) ? { uploads: yield* Slices.map(turns, uploads, encodeFile) } : {}),
    ...(Predicate.isNotNullish(results) ? { results: yield* Slices.mapRecord(turns, results, encodeFile) } : {})
  }
})
