import { changes } from "../Mutant.ts"

export const cli = [
  ...changes(
    "packages/cli/src/Output.ts",
    ["HostileService"],
    [
      {
        name: "a line of a command is written as it came",
        find: `Console.log(texts.map(Printable.escape).join("\\n"))`,
        replace: `Console.log(texts.join("\\n"))`
      },
      {
        name: "JSON is written as it came",
        find: `Console.log(Printable.escapeJson(text))`,
        replace: `Console.log(text)`
      },
      {
        name: "JSON that is too deep is a defect",
        find: `Effect.flatMap(stringify),`,
        replace: `Effect.flatMap((encoded) => Effect.orDie(stringify(encoded))),`
      },
      {
        name: "a hint reaches the terminal as it is",
        find: `Console.error(Printable.escape(text))`,
        replace: `Console.error(text)`
      },
      {
        name: "what is drawn is not guarded",
        find: `terminal.display(guard(text, Style.screen))`,
        replace: `terminal.display(text)`
      },
      {
        name: "the console is not guarded",
        find: `Effect.map(Console.Console, guarded)`,
        replace: `Effect.tap(Console.Console, (console) => Effect.sync(() => guarded(console)))`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/Table.ts",
    ["HostileService", "Table"],
    [
      {
        name: "a cell is written as it came",
        find: `Printable.escape(column.value(row))`,
        replace: `column.value(row)`
      }
    ]
  ),
  ...changes(
    "packages/cli/src/internal/shell.ts",
    ["shell"],
    [
      {
        name: "a secret is a command of the shell",
        find: `if (plain.test(text)) return`,
        replace: `if (plain.test(text) || text.includes(";")) return`
      },
      {
        name: "a quote ends the word",
        find: String.raw`text.replaceAll(/['\\]+/g,`,
        replace: String.raw`text.replaceAll(/[\\]+/g,`
      },
      {
        name: "the last line breaks of a secret are lost",
        find: String.raw`%_}"`,
        replace: String.raw`%__}"`
      }
    ]
  )
]
