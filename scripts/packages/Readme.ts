/**
 * Reads the examples of a README: the install command, a program, the output of the program, and commands.
 */

export interface Readme {
  /** The packages in the first `npm install`: the name of each, and the version if the command names one. */
  readonly installs: ReadonlyMap<string, string | undefined>
  readonly program: string | undefined
  readonly prints: string | undefined
  /** The arguments of each line that runs `assembly`. */
  readonly commands: ReadonlyArray<ReadonlyArray<string>>
}

const blocksOf = (text: string, language: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs")), ([, block = ""]) => block)

const linesOf = (text: string, start: string): ReadonlyArray<string> =>
  blocksOf(text, "sh")
    .flatMap((block) => block.split("\n"))
    .filter((line) => line.startsWith(start))
    .map((line) => line.slice(start.length))

export const read = (text: string): Readme => ({
  installs: new Map(
    linesOf(text, "npm install ")
      .slice(0, 1)
      .flatMap((line) => line.split(" "))
      .filter((word) => !word.startsWith("-"))
      .map((word) => {
        const at = word.indexOf("@", 1)
        return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
      })
  ),
  program: blocksOf(text, "ts")[0],
  prints: blocksOf(text, "text")[0],
  commands: linesOf(text, "assembly ").map((line) => line.split(" "))
})

/** The packages that a program imports. */
export const imports = (program: string): ReadonlyArray<string> => [
  ...new Set(
    Array.from(program.matchAll(/ from "([^"]+)"/g), ([, specifier = ""]) =>
      specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/")
    )
  )
]
