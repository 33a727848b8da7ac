/** The help: `manual.md` says what each command and each parameter does. Lines are broken only between words. */
import { readFileSync } from "node:fs"
import type { HelpDoc } from "effect/cli"
import { Context, Option } from "./effect.ts"
import * as Text from "./text.ts"

/** How a user runs the program after a global installation, and how the texts of the help write every command. */
const installed = "assembly"

/**
 * The words with which a printed command begins. The shell of the user does not find a program in the `node_modules` of a
 * project by its name alone.
 */
export const Program = Context.Reference<string>("@assembly-effect/cli/Program", { defaultValue: () => installed })

/**
 * Matches `assembly` before a command, a flag or a placeholder such as `<command>`. A path such as `.assembly` does not
 * match.
 */
const own = /(?<![\w./-])assembly(?= [a-z<[-])/g

/** A text in which `program` replaces the name of this program. */
export const inProgram = (text: string, program: string): string => text.replace(own, () => program)

/**
 * The words with which a user runs this program, from its path and the variable that npm and pnpm set. Both install
 * programs of a project where npx finds them. Without `--no-install`, npx offers an unrelated package of this name.
 */
export const ofProcess = ({ npm_command: kind }: NodeJS.ProcessEnv, path: string): string => {
  if (kind === "dlx" || /[\\/]_npx[\\/]/.test(path)) return "npx @assembly-effect/cli"
  return kind !== undefined && /[\\/]node_modules[\\/]/.test(path) ? "npx --no-install assembly" : installed
}

/** A term and its explanation. */
type Row = readonly [term: string, explanation: string]

const parse = (section: string) => {
  const [text = "", code = ""] = section.split("```")
  return {
    description: text
      .replaceAll(/^- .*$/gm, "")
      .trim()
      .replaceAll(/\s+/g, " "),
    rows: Array.from(text.matchAll(/^- `([^`]+)`: (.*)$/gm), ([, term = "", about = ""]): Row => [term, about]),
    examples: Array.from(code.matchAll(/^# (.*)\n(.*)$/gm), ([, about = "", command = ""]) => ({
      command,
      description: about
    }))
  }
}

/** The sections by the path of their command, such as `templates list`. The path of the root is empty. */
const pages = new Map(
  readFileSync(new URL("../../manual.md", import.meta.url), "utf8")
    .split(/^## /m)
    .map((section) => {
      const [, path = "", rest = ""] = /^(?:assembly ?)?(.*)\n([^]*)$/.exec(section) ?? []
      return [path, parse(rest)] as const
    })
)

/** The section of a command, or a page such as `help environment`. */
export const page = (path: string): ReturnType<typeof parse> => pages.get(path) ?? parse("")

/** What a parameter of a command means. The name of a flag begins with `--`. */
export const parameter = (path: string, name: string): string =>
  [...page(path).rows, ...page("Parameters of several commands").rows].find(([term]) => term === name)?.[1] ?? ""

const words = [...new Set([...pages.keys()].flatMap((path) => path.split(" ")))].filter((word) =>
  /^[a-z-]+$/.test(word)
)

/** Matches the commands in a message, which are never broken into lines, because a user pastes them. */
export const commandsOf = (program: string): RegExp =>
  new RegExp(
    String.raw`(?:${program}(?: (?:${words.join("|")}|--?\w\S*|<\S+>|…|[0-9a-f]{32})(?![\w-]))+|chmod \d+ \S+)`,
    "g"
  )

/** The maximum width of a term beside its explanation, in cells. A longer term is on a line of its own. */
const longestTerm = 24

/** In a narrower terminal, each explanation is below its term. */
const narrow = 60

/** The maximum width of a line, in cells, because wider lines are harder to read. */
const widest = 100

/** `program` is how the user runs this program, such as `npx --no-install assembly`. */
interface Layout {
  readonly width: number | undefined
  readonly style: Text.Style
  readonly program: string
}

const widthOf = ({ width = 80 }: Layout): number => Math.min(width, widest)

const indented = (text: string, indent: number, layout: Layout): ReadonlyArray<string> =>
  Text.wrap(inProgram(text, layout.program), widthOf(layout) - indent).map((line) => " ".repeat(indent) + line)

const rows = (entries: ReadonlyArray<Row>, layout: Layout): ReadonlyArray<string> => {
  const cells = Math.min(longestTerm, Math.max(0, ...entries.map(([term]) => Text.width(term))))
  return entries.flatMap(([term, explanation]) => {
    const isBelow = widthOf(layout) < narrow || Text.width(term) > longestTerm
    if (!isBelow) {
      const [first = "", ...others] = indented(explanation, cells + 4, layout)
      return [`  ${layout.style.green(term)}${first.slice(2 + Text.width(term))}`, ...others]
    }
    // A term that is too long is broken at its spaces, for example between the values of a flag.
    const [head = "", ...tail] = Text.wrap(term, widthOf(layout) - 2)
    const lines = [`  ${layout.style.green(head)}`, ...tail.map((line) => `      ${line}`)]
    return [...lines, ...indented(explanation, 6, layout)].filter((line) => line.trim() !== "")
  })
}

const section = (title: string, lines: ReadonlyArray<string>, { style }: Layout): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [style.bold(title), ...lines, ""]

/** Matches the list of the values of a flag, which Effect adds to its description. */
const choices = / ?\(choices: ([^)]*)\)/

const valuesOf = ({ description, type }: HelpDoc.FlagDoc): string => {
  const [, listed] = choices.exec(Option.getOrElse(description, () => "")) ?? []
  if (listed !== undefined) return ` ${listed.split(", ").join(" | ")}`
  if (type.startsWith("[=")) return type === "[=boolean]" ? "" : type
  return type === "boolean" ? "" : ` ${type.replace(/^<(.*)>$/, "$1").replaceAll("|", " | ")}`
}

const flagRow =
  (path: string) =>
  (flag: HelpDoc.FlagDoc): Row => {
    const names = [...flag.aliases, `--${flag.name}`]
    const about = parameter(path, `--${flag.name}`)
    return [names.join(", ") + valuesOf(flag), about + (flag.required ? " (required)" : "")]
  }

const argumentRow =
  (path: string) =>
  ({ name, required, variadic }: HelpDoc.ArgDoc): Row => {
    const text = parameter(path, name)
    // A text that names a default needs no word that the argument is optional.
    const suffix = required ? " (required)" : text.includes("(default: ") ? "" : " (optional)"
    return [variadic ? `${name}...` : name, text + suffix]
  }

const examples = (docs: ReadonlyArray<HelpDoc.ExampleDoc>, layout: Layout): ReadonlyArray<string> =>
  docs.flatMap(({ command, description = "" }) => [
    ...Text.wrap(description, widthOf(layout) - 4).map((line) => `  ${layout.style.dim(`# ${line}`)}`),
    // A command is never broken into lines, because a user pastes it.
    `  ${layout.style.cyan(inProgram(command, layout.program))}`
  ])

const trimmed = (lines: ReadonlyArray<string>): ReadonlyArray<Text.Line> =>
  lines.slice(0, lines.findLastIndex((line) => line !== "") + 1).map((line) => Text.toLine(line))

/** The commands that send nothing to the service. */
const withoutService = new Set(["emulator", "completions", "help"])

/** Renders the help of a command. */
export const render = (doc: HelpDoc.HelpDoc, layout: Layout): ReadonlyArray<Text.Line> => {
  const below = (doc.subcommands ?? []).flatMap(({ commands }) =>
    commands.map(({ description, name, shortDescription }): Row => [name, shortDescription ?? description])
  )
  const [program = "", ...names] = doc.commandPath ?? []
  const path = names.join(" ")
  // A group of commands and a command that needs no service have no use for a profile.
  const isOwn = withoutService.has(path) || (below.length > 0 && doc.flags.length === 0)
  const common = isOwn ? [] : (doc.globalFlags ?? []).filter(({ name }) => name === "profile")
  // A group with flags also runs without one of its commands.
  const usage = doc.usage.replace("<subcommand>", doc.flags.length > 0 ? "[<command>]" : "<command>")
  const more = [
    ...(below.length > 0 ? [`${[program, ...names].join(" ")} <command> --help`] : []),
    ...(path === "" ? [`${program} --version`] : []),
    "assembly help environment, assembly help exit-codes"
  ]
  const whole = commandsOf(layout.program)
  return trimmed([
    ...indented(doc.description, 0, layout),
    ...section("USAGE", indented(usage, 2, layout), layout),
    ...section("ARGUMENTS", rows((doc.args ?? []).map(argumentRow(path)), layout), layout),
    ...section("FLAGS", rows([...doc.flags, ...common].map(flagRow(path)), layout), layout),
    ...section("COMMANDS", rows(below, layout), layout),
    ...section("EXAMPLES", examples(doc.examples ?? [], layout), layout),
    ...more.flatMap((one, index) =>
      Text.wrap(inProgram(`${index === 0 ? "More:" : "     "} ${one}`, layout.program), widthOf(layout), { whole })
    )
  ])
}

/** Renders a page that belongs to no command: terms with their explanations, and a text below them. */
export const renderPage = (path: string, layout: Layout): ReadonlyArray<Text.Line> => {
  const { description, rows: entries } = page(path)
  return trimmed([...rows(entries, layout), "", ...indented(description, 0, layout)])
}
