/**
 * The help of a command as lines that fit the terminal. Lines are broken only between words, so a word that is wider
 * than the terminal does not fit.
 */
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as ExitCode from "./ExitCode.ts"
import * as Invocation from "./internal/invocation.ts"
import * as Text from "./internal/text.ts"
import * as Style from "./Style.ts"

/** A term and its explanation. */
type Row = readonly [term: string, explanation: string]

/**
 * The environment variables that a command reads, for its help. By default, these are the variables of the service.
 *
 * @since 0.1.0
 * @category references
 */
export const Environment = Context.Reference<ReadonlyArray<readonly [name: string, meaning: string]>>(
  "@assembly-effect/cli/HelpText/Environment",
  {
    defaultValue: () => [
      ["ASSEMBLY_BASE_URL", "The address of the service, such as https://api2.example.com (required)"],
      ["ASSEMBLY_AUTH_KEY", "The Auth Key (required)"],
      ["ASSEMBLY_AUTH_SECRET", "The secret of the Auth Key (required)"]
    ]
  }
)

const exitCodes: ReadonlyArray<Row> = Object.entries(ExitCode.codes).map(([kind, code]) => [
  `${code}`,
  ExitCode.meanings[kind as keyof typeof ExitCode.codes]
])

/** The help shows this text once, below the variables. `DotEnv` reads the file. */
const fromFile =
  "The file .env in the current folder may set these variables too. The file is not used if the environment has ASSEMBLY_AUTH_KEY or ASSEMBLY_AUTH_SECRET."

const environment = (variables: ReadonlyArray<Row>, layout: Layout): ReadonlyArray<string> =>
  variables.length === 0 ? [] : [...rows(variables, layout), ...indented(fromFile, 2, layout)]

/** The maximum width of a term beside its explanation, in cells. A longer term is on a line of its own. */
const longestTerm = 24

/**
 * The minimum width of a terminal in which explanations are beside their terms, in cells. In a narrower terminal, each
 * explanation is below its term.
 */
const narrow = 60

/** The maximum width of a line, in cells, because wider lines are harder to read. */
const widest = 100

interface Layout {
  readonly width: number
  readonly program: string
  readonly style: Style.Style
}

const indented = (text: string, indent: number, { program, width }: Layout): ReadonlyArray<string> =>
  Text.wrap(Invocation.inHelp(text, program), width - indent).map((line) => " ".repeat(indent) + line)

const rows = (entries: ReadonlyArray<Row>, layout: Layout): ReadonlyArray<string> => {
  const cells = Math.min(longestTerm, Math.max(0, ...entries.map(([term]) => Text.width(term))))
  return entries.flatMap(([term, explanation]) => {
    const isBelow = layout.width < narrow || Text.width(term) > longestTerm
    const indent = isBelow ? 6 : cells + 4
    const [first = "", ...others] = indented(explanation, indent, layout)
    const painted = layout.style.green(term)
    // A term that is too long is broken at its spaces, for example between the values of a flag.
    if (isBelow) {
      const [head = "", ...tail] = Text.wrap(term, layout.width - 2)
      return [`  ${layout.style.green(head)}`, ...tail.map((line) => `      ${line}`), first, ...others].filter(
        (line) => line.trim() !== ""
      )
    }
    return [`  ${painted}${first.slice(2 + Text.width(term))}`, ...others]
  })
}

const section = (title: string, lines: ReadonlyArray<string>, { style }: Layout): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [style.bold(title), ...lines, ""]

/** Matches the list of the values of a flag, which Effect adds to the description of the flag. */
const choices = / ?\(choices: ([^)]*)\)/

/**
 * The description of a flag, without the list of its values. The help shows these values beside the name of the flag.
 */
const describe = (description: Option.Option<string>): string =>
  Option.getOrElse(description, () => "").replace(choices, "")

const valuesOf = ({ description, type }: HelpDoc.FlagDoc): string => {
  const [, listed] = choices.exec(Option.getOrElse(description, () => "")) ?? []
  if (listed !== undefined) return ` ${listed.split(", ").join(" | ")}`
  return type === "boolean" || type === "[=boolean]" ? "" : ` ${type.replace(/^<(.*)>$/, "$1").replaceAll("|", " | ")}`
}

const flagRow = (flag: HelpDoc.FlagDoc): Row => {
  const { aliases, description, name, required } = flag
  const names = [...aliases, `--${name}`].join(", ")
  const values = valuesOf(flag)
  return [names + values, `${describe(description)}${required ? " (required)" : ""}`]
}

/**
 * Matches a description that names a default. Only an optional argument has a default, so its help does not add
 * `(optional)`.
 */
const hasDefault = /\(default: /

const argumentRow = ({ description, name, required, variadic }: HelpDoc.ArgDoc): Row => [
  variadic ? `${name}...` : name,
  `${describe(description)}${required ? " (required)" : hasDefault.test(describe(description)) ? "" : " (optional)"}`
]

const examples = (docs: ReadonlyArray<HelpDoc.ExampleDoc>, layout: Layout): ReadonlyArray<string> =>
  docs.flatMap(({ command: text, description }, index) => [
    ...(index === 0 ? [] : [""]),
    ...(description === undefined
      ? []
      : Text.wrap(description, layout.width - 4).map((line) => `  ${layout.style.dim(`# ${line}`)}`)),
    // A command is never broken into lines, because a user pastes it.
    `  ${layout.style.cyan(Invocation.inHelp(text, layout.program))}`
  ])

const subcommands = (doc: HelpDoc.HelpDoc): ReadonlyArray<Row> =>
  (doc.subcommands ?? []).flatMap(({ commands }) =>
    commands.map(({ description, name, shortDescription }): Row => [name, shortDescription ?? description])
  )

/**
 * Renders the help of a command.
 *
 * - `width`: the number of cells of the terminal, by default 80.
 * - `program`: how the user runs this program, such as `npx --no-install assembly`. The default is `assembly`.
 *
 * @since 0.1.0
 * @category formatting
 */
export const render = (
  doc: HelpDoc.HelpDoc,
  options: {
    readonly width: number | undefined
    readonly style?: Style.Style | undefined
    readonly program?: string | undefined
  }
): ReadonlyArray<Style.Line> => {
  const { program = "assembly", style = Style.plain, width = 80 } = options
  const layout = { width: Math.min(width, widest), style, program }
  const below = subcommands(doc)
  const isGroup = below.length > 0
  // A group with flags also runs without one of its commands.
  const usage = doc.usage.replace("<subcommand>", doc.flags.length > 0 ? "[<command>]" : "<command>")
  const group = (doc.commandPath ?? []).join(" ")
  const lines = [
    ...indented(doc.description, 0, layout),
    "",
    ...section("USAGE", indented(usage, 2, layout), layout),
    ...section("ARGUMENTS", rows((doc.args ?? []).map(argumentRow), layout), layout),
    ...section("FLAGS", rows(doc.flags.map(flagRow), layout), layout),
    ...section("COMMANDS", rows(below, layout), layout),
    ...section("EXAMPLES", examples(doc.examples ?? [], layout), layout),
    ...section("ENVIRONMENT", environment(Context.get(doc.annotations, Environment), layout), layout),
    ...section("EXIT CODES", rows(exitCodes, layout), layout),
    ...section("GLOBAL FLAGS", rows((doc.globalFlags ?? []).map(flagRow), layout), layout),
    ...(isGroup ? indented(`Run ${group} <command> --help for the help of a command.`, 0, layout) : [])
  ]
  const end = lines.findLastIndex((line) => line !== "")
  return lines.slice(0, end + 1).map((line) => Style.toLine(line))
}
