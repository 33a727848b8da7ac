import * as Invocation from "../src/internal/invocation.ts"
import { describe, expect, it } from "@effect/vitest"

const npm = "/usr/lib/node_modules/npm/bin/npm-cli.js"
const pnpm = "/opt/pnpm/pnpm"
const ofNpx = "/home/me/.npm/_npx/9c7067c5737e830f/node_modules/pnpm/pnpm"
const agent = "pnpm/12.21.0 npm/? node/? linux x64"
/** Without `--no-install`, npx offers an unrelated package of this name outside of a project. */
const npx = "npx --no-install assembly"
const local = "/home/me/first-upload/node_modules/.bin/assembly"

const ofNpmExec = (script: string) => ({
  npm_execpath: npm,
  npm_command: "exec",
  npm_lifecycle_event: "npx",
  npm_lifecycle_script: script
})

const ofScript = (script: string, event = "get") => ({
  npm_lifecycle_event: event,
  npm_lifecycle_script: script
})

describe("Invocation.ofProcess", () => {
  // The variables are those that npm 11, pnpm 12 and yarn 1 were seen to set.
  it.each<readonly [string, Readonly<Record<string, string>>, string, string]>([
    ["a shell", {}, "/usr/bin/assembly", "assembly"],
    ["npx assembly", ofNpmExec("'assembly'"), local, npx],
    ["npx -c 'assembly get'", ofNpmExec("assembly get"), local, npx],
    ["npx of another program", ofNpmExec("'vitest'"), local, "assembly"],
    [
      "npx without an installation",
      ofNpmExec("'assembly'"),
      "/a/_npx/1f/node_modules/.bin/assembly",
      "npx @assembly-effect/cli"
    ],
    ["npx on Windows", { ...ofNpmExec("'assembly'"), npm_execpath: "C:\\npm\\bin\\npx-cli.js" }, "C:\\a\\bin.js", npx],
    ["npm run", { npm_execpath: npm, npm_command: "run", ...ofScript("assembly get") }, local, npx],
    ["npm run-script", { npm_execpath: npm, npm_command: "run-script", ...ofScript("A=1 assembly get") }, local, npx],
    [
      "npm run of another program",
      { npm_execpath: npm, npm_command: "run", ...ofScript("node bin.ts") },
      "/a/bin.ts",
      "assembly"
    ],
    ["npm test", { npm_execpath: npm, npm_command: "test", ...ofScript("vitest") }, local, "assembly"],
    [
      "pnpm exec",
      { npm_execpath: pnpm, npm_command: "exec", npm_config_user_agent: agent },
      local,
      "pnpm exec assembly"
    ],
    [
      "pnpm assembly",
      { npm_execpath: pnpm, npm_command: "run-script", npm_config_user_agent: agent },
      local,
      "pnpm assembly"
    ],
    [
      "pnpm run",
      { npm_execpath: pnpm, npm_command: "run-script", npm_config_user_agent: agent, ...ofScript("assembly get") },
      local,
      "pnpm exec assembly"
    ],
    [
      "pnpm run of another program",
      { npm_execpath: pnpm, npm_command: "run-script", npm_config_user_agent: agent, ...ofScript("vitest run") },
      local,
      "assembly"
    ],
    [
      "pnpm dlx",
      { npm_execpath: pnpm, npm_command: "dlx", npm_config_user_agent: agent },
      local,
      "pnpm dlx @assembly-effect/cli"
    ],
    ["pnpm on Windows", { npm_execpath: "C:\\pnpm\\pnpm.exe", npm_command: "exec" }, local, "pnpm exec assembly"],
    [
      "npx pnpm@12 assembly",
      { npm_execpath: ofNpx, npm_command: "run-script", npm_config_user_agent: agent, ...ofScript("'pnpm'", "npx") },
      local,
      "npx -y pnpm@12 assembly"
    ],
    [
      "npx pnpm@12 exec assembly",
      { npm_execpath: ofNpx, npm_command: "exec", npm_config_user_agent: agent, ...ofScript("'pnpm'", "npx") },
      local,
      "npx -y pnpm@12 exec assembly"
    ],
    ["npx in a script of pnpm", { ...ofNpmExec("'assembly'"), npm_config_user_agent: agent }, local, npx],
    [
      "yarn in npx",
      {
        npm_execpath: npm,
        npm_command: "exec",
        npm_config_user_agent: "yarn/1.22.22",
        ...ofScript("'yarn'", "assembly")
      },
      local,
      "assembly"
    ]
  ])("%s", (_, env, path, program) => {
    expect(Invocation.ofProcess({ env, path })).toBe(program)
  })
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
  expect(Invocation.inHelp(line, npx)).toBe(shown)
  expect(Invocation.inHelp(line, "assembly")).toBe(line)
})
