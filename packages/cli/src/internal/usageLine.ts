/**
 * Errors of the command line parser in one line. Its own messages have several lines, and repeat words of schemas.
 */
import * as CliError from "effect/cli/CliError"
import * as Schema from "effect/Schema"

const isInvalidValue = Schema.is(CliError.InvalidValue)
const isMistyped = Schema.is(Schema.Union([CliError.UnrecognizedOption, CliError.UnknownSubcommand]))

/** What the parser says about a path, and what the path must be. */
const paths: ReadonlyArray<readonly [words: RegExp, rule: string]> = [
  [/^Path is not a file: /, "a file, not a folder"],
  [/^Path is not a directory: /, "a folder, not a file"],
  [/^Path does not exist: /, "a path that exists"],
  [/^Failed to (?:check path existence|stat path): /, "a path that can be read"]
]

/**
 * What a flag or an argument expects, said once. The parser writes `Expected:` before the texts of schemas, which say it
 * already. The value is not repeated.
 */
const invalid = ({ expected, kind, option, value }: CliError.InvalidValue): string => {
  const rule = expected.replace(/^(?:Schema validation failed: *)+/, "").replace(/^(?:Expected:? +){2,}/, "Expected ")
  const said = paths.find(([words]) => words.test(rule))?.[1] ?? rule
  const repeated = `, got ${JSON.stringify(value)}`
  const once = said.endsWith(repeated) ? said.slice(0, -repeated.length) : said
  return new CliError.InvalidValue({ option, value, kind, expected: once }).message
}

const mistyped = (error: CliError.UnrecognizedOption | CliError.UnknownSubcommand): string => {
  const [first = ""] = error.message.split("\n")
  return error.suggestions.length === 0 ? first : `${first}; did you mean ${error.suggestions.join(" or ")}?`
}

/** The error as one line. Undefined if it is no such error. */
export const of = (error: unknown): string | undefined => {
  if (isInvalidValue(error)) return invalid(error)
  return isMistyped(error) ? mistyped(error) : undefined
}
