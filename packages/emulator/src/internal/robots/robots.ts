import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Ids from "../data/ids.ts"
import * as FileStore from "../files/fileStore.ts"
import { type Robot, StepFailed } from "./robot.ts"
import * as TransloaditStore from "./transloaditStore.ts"

/** Reads the options of a Step. Invalid options fail the Step with `error`. */
const reader = <A>(error: string, options: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownEffect(options)
  return (step: unknown) => Effect.mapError(decode(step), ({ message }) => new StepFailed({ error, message }))
}

/** `/upload/handle`: returns its input files. Without a `use`, these are the uploads. */
const uploadHandle: Robot = { isSlow: false, run: ({ files }) => Effect.succeed(files) }

const readHash = reader(
  "FILE_HASH_VALIDATION",
  Schema.Struct({
    algorithm: Schema.optionalKey(Schema.Literals(["b2", "md5", "sha1", "sha224", "sha256", "sha384", "sha512"]))
  })
)

/**
 * `/file/hash`: hashes each file. The `meta` of each result contains only the hash, as `hash`. `algorithm` is `sha256`
 * by default.
 */
const fileHash = Effect.gen(function* () {
  const blobs = yield* FileStore.FileStore
  const newId = yield* Ids.hex

  const robot: Robot = {
    isSlow: false,
    run: Effect.fnUntraced(function* ({ files, step }) {
      const { algorithm = "sha256" } = yield* readHash(step)
      // The name that Node uses for the algorithm.
      const name = algorithm === "b2" ? "blake2b512" : algorithm
      return yield* Effect.forEach(
        files,
        Effect.fnUntraced(function* ({ file, ...source }) {
          const hash = yield* blobs.hash(source.blob, name)
          return { ...source, file: { ...file, id: yield* newId, original_id: file.id ?? null, meta: { hash } } }
        })
      )
    })
  }
  return robot
})

const readFailure = reader(
  "ASSEMBLY_STEP_INVALID",
  Schema.Struct({
    error: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(256))),
    message: Schema.optionalKey(Schema.NonEmptyString),
    filename: Schema.optionalKey(Schema.NonEmptyString)
  })
)

/**
 * `/emulator/fail`: fails with the `error` and the `message` of its Step. With a `filename`, it fails only if a file has
 * this name, and otherwise returns its input files. This robot exists only in the emulator.
 */
const fail: Robot = {
  isSlow: false,
  run: Effect.fnUntraced(function* ({ files, step }) {
    const asked = yield* readFailure(step)
    const { error = "INTERNAL_COMMAND_ERROR", filename, message = "The Step is configured to fail." } = asked
    if (filename !== undefined && !files.some(({ file }) => file.name === filename)) return files
    return yield* new StepFailed({ error, message })
  })
}

const readWait = reader(
  "ASSEMBLY_STEP_INVALID",
  Schema.Struct({ seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)) })
)

/** `/emulator/wait`: returns its input files after `seconds` seconds. This robot exists only in the emulator. */
const wait: Robot = {
  isSlow: true,
  run: ({ files, step }) =>
    Effect.flatMap(readWait(step), ({ seconds }) => Effect.as(Effect.sleep(Duration.seconds(seconds)), files))
}

/** The robots that Steps may name. */
export const make = Effect.gen(function* () {
  return new Map<string, Robot>([
    ["/upload/handle", uploadHandle],
    ["/transloadit/store", yield* TransloaditStore.make],
    ["/file/hash", yield* fileHash],
    ["/emulator/fail", fail],
    ["/emulator/wait", wait]
  ])
})
