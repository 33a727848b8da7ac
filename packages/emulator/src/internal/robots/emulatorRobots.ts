import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type Robot, StepFailed } from "./robot.ts"

const decodeFailure = Schema.decodeUnknownEffect(
  Schema.Struct({
    error: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(256))),
    message: Schema.optionalKey(Schema.NonEmptyString),
    filename: Schema.optionalKey(Schema.NonEmptyString)
  })
)

const decodeWait = Schema.decodeUnknownEffect(
  Schema.Struct({ seconds: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)) })
)

const invalid = ({ message }: Schema.SchemaError) => new StepFailed({ error: "ASSEMBLY_STEP_INVALID", message })

/**
 * `/emulator/fail`: fails with the `error` and the `message` of its Step. With a `filename`, it fails only if a file has
 * this name, and otherwise returns its input files. This robot exists only in the emulator.
 */
export const fail: Robot = {
  isSlow: false,
  run: Effect.fnUntraced(function* ({ files, step }) {
    const {
      error = "INTERNAL_COMMAND_ERROR",
      filename,
      message = "The Step is configured to fail."
    } = yield* decodeFailure(step).pipe(Effect.mapError(invalid))
    if (filename !== undefined && !files.some(({ file }) => file.name === filename)) return files
    return yield* new StepFailed({ error, message })
  })
}

/** `/emulator/wait`: returns its input files after `seconds` seconds. This robot exists only in the emulator. */
export const wait: Robot = {
  isSlow: true,
  run: Effect.fnUntraced(function* ({ files, step }) {
    const { seconds } = yield* decodeWait(step).pipe(Effect.mapError(invalid))
    return yield* Effect.as(Effect.sleep(Duration.seconds(seconds)), files)
  })
}
