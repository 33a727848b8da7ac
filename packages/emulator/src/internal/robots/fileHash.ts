import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as FileStore from "../files/fileStore.ts"
import * as Ids from "../data/ids.ts"
import { type Robot, StepFailed } from "./robot.ts"

const Algorithm = Schema.Literals(["b2", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"])

/** The name that Node uses for an algorithm. */
const toNode = (algorithm: typeof Algorithm.Type): string => (algorithm === "b2" ? "blake2b512" : algorithm)

const Options = Schema.Struct({ algorithm: Schema.optionalKey(Algorithm) })
const decodeOptions = Schema.decodeUnknownEffect(Options)

/**
 * `/file/hash`: hashes each file. The `meta` of each result contains only the hash, as `hash`. `algorithm` is `sha256`
 * by default.
 */
export const make = Effect.gen(function* () {
  const files = yield* FileStore.FileStore
  const newId = yield* Ids.hex

  const robot: Robot = {
    isSlow: false,
    run: Effect.fnUntraced(function* ({ files: sources, step }) {
      const { algorithm = "sha256" } = yield* decodeOptions(step).pipe(
        Effect.mapError(({ message }) => new StepFailed({ error: "FILE_HASH_VALIDATION", message }))
      )
      return yield* Effect.forEach(
        sources,
        Effect.fnUntraced(function* (source) {
          const hash = yield* files.hash(source.blob, toNode(algorithm))
          return {
            ...source,
            file: { ...source.file, id: yield* newId, original_id: source.file.id ?? null, meta: { hash } }
          }
        })
      )
    })
  }
  return robot
})
