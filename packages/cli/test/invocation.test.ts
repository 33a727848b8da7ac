import * as Help from "../src/internal/help.ts"
import { expect, it } from "@effect/vitest"

/** Without `--no-install`, npx offers an unrelated package of this name outside of a project. */
const npx = "npx --no-install assembly"
const local = "/home/me/first-upload/node_modules/.bin/assembly"

it.each<readonly [string, Readonly<Record<string, string>>, string, string]>([
  ["a shell", {}, "/usr/bin/assembly", "assembly"],
  ["a shell that finds the program of a project", {}, local, "assembly"],
  ["npx assembly", { npm_command: "exec" }, local, npx],
  ["npx on Windows", { npm_command: "exec" }, "C:\\a\\node_modules\\bin.js", npx],
  [
    "npx without an installation",
    { npm_command: "exec" },
    "/a/_npx/1f/node_modules/.bin/assembly",
    "npx @assembly-effect/cli"
  ],
  ["npm run and pnpm assembly", { npm_command: "run-script" }, local, npx],
  ["a script that runs an installed program", { npm_command: "run-script" }, "/usr/bin/assembly", "assembly"],
  ["pnpm dlx", { npm_command: "dlx" }, "/a/dlx/node_modules/.bin/assembly", "npx @assembly-effect/cli"]
])("Help.ofProcess: %s", (_, env, path, program) => {
  expect(Help.ofProcess(env, path)).toBe(program)
})

it.each([
  ["assembly get <id>", `${npx} get <id>`],
  ["pg_dump db | assembly upload -", `pg_dump db | ${npx} upload -`],
  ["assembly wait <id> && assembly results list <id>", `${npx} wait <id> && ${npx} results list <id>`],
  ["assembly list | xargs assembly cancel", `${npx} list | xargs ${npx} cancel`],
  ["source <(assembly completions bash)", `source <(${npx} completions bash)`],
  ["assembly completions fish > ~/assembly.fish", `${npx} completions fish > ~/assembly.fish`],
  ["The type; assembly credentials types lists all", `The type; ${npx} credentials types lists all`],
  ["https://app.example.com/assembly <id>", "https://app.example.com/assembly <id>"],
  ["assembly emulator --data .assembly -- npm test", `${npx} emulator --data .assembly -- npm test`]
])("names the program of the user in %s", (line, shown) => {
  expect(Help.inProgram(line, npx)).toBe(shown)
  expect(Help.inProgram(line, "assembly")).toBe(line)
})
