/**
 * Errors as one line of text for people.
 */
import * as Input from "@assembly-effect/api/unstable/Input"
import * as Printable from "@assembly-effect/schema/Printable"
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as Config from "effect/Config"
import * as Formatter from "effect/Formatter"
import * as Schema from "effect/Schema"

const configuration = ({ cause }: Config.ConfigError): string => {
  if (!Schema.isSchemaError(cause)) return "the configuration cannot be read"
  const names = [...new Set(Input.fromSchemaIssue(cause.issue).map(({ path }) => path.join("_")))]
  return `set the environment ${names.length === 1 ? "variable" : "variables"} ${names.join(", ")}`
}

/**
 * An upload error whose `message` is the text of the server, without the status. The status is appended to its line.
 */
const isAnswer = Schema.is(Schema.Struct({ request: Schema.String, message: Schema.String, status: Schema.Int }))

const isInvalidValue = Schema.is(CliError.InvalidValue)

const text = (error: unknown): string => {
  if (error instanceof Config.ConfigError) return configuration(error)
  // `Argument.withSchema` and `Flag.withSchema` put these words before the text of a Schema, which says what it expects.
  if (isInvalidValue(error)) return error.message.replace("Expected: Schema validation failed: Expected", "Expected")
  if (isAnswer(error)) return `${error.message} (status ${error.status})`
  if (error instanceof Error && error.message !== "") return error.message
  if (error instanceof Error) return error.name
  // Formatted, because `String(error)` would be `[object Object]`.
  return typeof error === "string" ? error : Formatter.format(error)
}

/**
 * The error in one line. Control characters are escaped.
 *
 * @since 0.1.0
 * @category formatting
 */
export const fromError = (error: unknown): string =>
  Printable.escape(
    text(error)
      .trim()
      .replace(/\s*\n\s*/g, " ")
  )

/**
 * The error of a whole `Cause` in one line: its first typed error. A defect is a bug in this program, so its stack is
 * kept. Undefined if the cause is only an interruption.
 *
 * @since 0.1.0
 * @category formatting
 */
export const fromCause = <E>(cause: Cause.Cause<E>): string | undefined => {
  if (Cause.hasInterruptsOnly(cause)) return undefined
  return cause.reasons.some(Cause.isFailReason) ? fromError(Cause.squash(cause)) : Cause.pretty(cause)
}
