/**
 * The blocks of a page that show a terminal:
 *
 *     ```console
 *     $ assembly list
 *     no Assemblies
 *     ```
 *
 * A command is a line after `$ `, continued by lines after `> `. The lines up to the next command are its output. The
 * line `^C` says that the command is interrupted, when its progress has reached 10 %. A line `✓ Delete …? … yes` says
 * that the question of the command is answered with `y`.
 */

export interface Command {
  readonly text: string
  readonly isInterrupted: boolean
  readonly isAnswered: boolean
}

const block = /(?<=^```console\n).*?(?=^```$)/gms

/** The lines of a command, and its output. */
const step = /^(\$ .*\n(?:>.*\n)*)((?:(?!\$ ).*\n)*)/gm

/** The commands of a page in their order. */
export const commandsOf = (page: string): ReadonlyArray<Command> =>
  Array.from(page.matchAll(block))
    .flatMap(([shown]) => Array.from(shown.matchAll(step)))
    .map(([, lines = "", output = ""]) => ({
      text: lines.replace(/^[$>] ?/gm, "").trimEnd(),
      isInterrupted: output.split("\n").includes("^C"),
      isAnswered: /\? \(y\/N\) … y$/m.test(output)
    }))

/** The page with other outputs, one for each command. */
export const withOutputs = (page: string, outputs: ReadonlyArray<string>): string => {
  const next = outputs.values()
  return page.replace(block, (shown) => shown.replace(step, (_, lines: string) => lines + (next.next().value ?? "")))
}
