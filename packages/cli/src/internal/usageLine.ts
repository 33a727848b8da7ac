/**
 * Describes an error of the command line parser in one line. The messages of the parser have several lines, and repeat
 * words of the schemas.
 */
import * as CliError from "effect/cli/CliError"
import * as Schema from "effect/Schema"

const isInvalidValue = Schema.is(CliError.InvalidValue)
const isMistyped = Schema.is(Schema.Union([CliError.UnrecognizedOption, CliError.UnknownSubcommand]))

/** For each message of the parser about a path: how the message begins, and what the path must be. */
const paths: ReadonlyArray<readonly [words: RegExp, rule: string]> = [
  [/^Path is not a file: /, "a file, not a folder"],
  [/^Path is not a directory: /, "a folder, not a file"],
  [/^Path does not exist: /, "a path that exists"],
  [/^Failed to (?:check path existence|stat path): /, "a path that can be read"]
]

/**
 * Says once what a flag or an argument expects. The parser adds `Expected:` to the texts of schemas, which already
 * begin with this word. The message also names the value only once.
 */
const invalid = ({ expected, kind, option, value }: CliError.InvalidValue): string => {
  const rule = expected.replace(/^(?:Schema validation failed: *)+/, "").replace(/^(?:Expected:? +){2,}/, "Expected ")
  const said = paths.find(([words]) => words.test(rule))?.[1] ?? rule
  const repeated = `, got ${JSON.stringify(value)}`
  const once = said.endsWith(repeated) ? said.slice(0, -repeated.length) : said
  if (kind === "flag" && value === "") return missing(option, once.replace(/^Expected:? +/, ""))
  return new CliError.InvalidValue({ option, value, kind, expected: once }).message
}

/**
 * Describes a flag without a value. `rule` is the word for the value in the help, the list of the possible values, or
 * the rule that an empty value breaks.
 */
const missing = (option: string, rule: string): string => {
  // This is the rule of a text that must not be empty.
  if (/^a value with a length of at least 1\b/.test(rule)) return `--${option} needs a value`
  if (rule.includes(" | ")) return `--${option} needs a value: ${rule.replaceAll(" | ", ", ")}`
  return /^[\w=:-]+$/.test(rule)
    ? `--${option} needs a value: --${option} <${rule}>`
    : `--${option} needs a value: ${rule}`
}

const mistyped = (error: CliError.UnrecognizedOption | CliError.UnknownSubcommand): string => {
  const [first = ""] = error.message.split("\n")
  return error.suggestions.length === 0 ? first : `${first}; did you mean ${error.suggestions.join(" or ")}?`
}

/** The error as one line. The result is undefined if the error is not about an invalid value or a mistyped name. */
export const of = (error: unknown): string | undefined => {
  if (isInvalidValue(error)) return invalid(error)
  return isMistyped(error) ? mistyped(error) : undefined
}
