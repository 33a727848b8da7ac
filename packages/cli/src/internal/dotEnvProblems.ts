/**
 * Finds what is wrong in a `.env` file. Effect's parser of such files skips lines that it cannot read. Without this
 * module, a user would not learn why a variable is missing. All functions are pure.
 */

/**
 * A problem, and the number of its line. The first line has the number 1. The text of the problem does not quote the
 * value of the variable, because this value may be a secret.
 */
export interface Problem {
  readonly line: number
  readonly description: string
}

/** Matches a line that begins with a variable whose name begins with `ASSEMBLY_`. */
const ours = /^[\s\uFEFF]*(?:export\s+)?(ASSEMBLY_\w+)(.*)$/

const quotes = new Set(["'", '"', "`"])

/**
 * What is wrong with the rest of a line, which follows the name of the variable. The result is undefined if the rest is
 * correct.
 */
const problemOf = (name: string, rest: string): string | undefined => {
  const [, value] = /^(?:\s*=|:\s)(.*)$/.exec(rest) ?? []
  if (value === undefined) return `${name} has no value: write ${name}=value`
  const text = value.trim()
  const quote = text[0] ?? ""
  if (text === "" || text.startsWith("#")) return `${name} is empty`
  if (!quotes.has(quote)) return undefined
  const end = text.indexOf(quote, 1)
  if (end === -1) return `the quote of ${name} is not closed`
  return end === 1 ? `${name} is empty` : undefined
}

/**
 * The problems in the text of a `.env` file, in the order of its lines. `names` are the variables that this program
 * reads.
 */
export const of = (text: string, names: ReadonlyArray<string>): ReadonlyArray<Problem> => {
  if (/[\0\uFFFD]/.test(text)) return [{ line: 1, description: "the file is not UTF-8 text; save it as UTF-8" }]
  const seen = new Map<string, number>()
  const problemsOf = (name: string, rest: string, line: number): ReadonlyArray<string | undefined> => {
    if (!names.includes(name)) return [`there is no variable ${name}; this program reads ${names.join(", ")}`]
    const before = seen.get(name)
    seen.set(name, line)
    return [
      problemOf(name, rest),
      before === undefined ? undefined : `${name} is set in line ${before} too; this line is used`
    ]
  }
  return text.split(/\r\n?|\n/).flatMap((content, index) => {
    const [, name = "", rest = ""] = ours.exec(content) ?? []
    const line = index + 1
    const problems = name === "" ? [] : problemsOf(name, rest, line)
    return problems.filter((problem) => problem !== undefined).map((problem) => ({ line, description: problem }))
  })
}
