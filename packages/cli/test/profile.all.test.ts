/** Where the settings of a command come from: profiles, variables, `.env`, and the official names. */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as InProcess from "./support/inProcess.ts"
import * as Processes from "./support/processes.ts"
import * as Uploading from "./support/uploading.ts"

type Values = Readonly<Record<string, string>>

/** A command with its variables, as lines of its outputs. `{...}` names a value of the emulator. */
type Row = readonly [about: string, env: Values, args: string, said: RegExp]

const ours: Values = { ASSEMBLY_BASE_URL: "{url}", ASSEMBLY_AUTH_KEY: "{key}", ASSEMBLY_AUTH_SECRET: "{secret}" }
const other: Values = { ASSEMBLY_BASE_URL: "http://127.0.0.1:9", ASSEMBLY_AUTH_KEY: "a", ASSEMBLY_AUTH_SECRET: "b" }
const official: Values = { TRANSLOADIT_KEY: "{key}", TRANSLOADIT_SECRET: "{secret}" }
const url: Values = { ASSEMBLY_BASE_URL: "{url}" }

const settings = /^✓ settings +ASSEMBLY_BASE_URL \((.+?)\), ASSEMBLY_AUTH_KEY \((.+?)\), ASSEMBLY_AUTH_SECRET \(.+\)$/m

layer(Uploading.live)("the settings of a command", (it) => {
  /** Runs a command in a folder with a file of profiles, and perhaps with `.env`. */
  const run = Effect.fnUntraced(function* (env: Values, args: string, mode = 0o600, dotEnv: Values = {}) {
    const fs = yield* FileSystem.FileSystem
    const { ASSEMBLY_AUTH_KEY = "", ASSEMBLY_AUTH_SECRET = "", ASSEMBLY_BASE_URL = "" } = yield* Processes.environment
    const fill = (text: string) =>
      text
        .replaceAll("{url}", ASSEMBLY_BASE_URL)
        .replaceAll("{key}", ASSEMBLY_AUTH_KEY)
        .replaceAll("{secret}", ASSEMBLY_AUTH_SECRET)
    const profiles = `${Processes.toDotEnv(ours)}\n[ other ]\n${Processes.toDotEnv(other)}\n[half]\nASSEMBLY_AUTH_KEY\n`
    const folder = yield* Uploading.folderWith({ "assembly/credentials": fill(profiles) })
    yield* fs.chmod(`${folder}/assembly/credentials`, mode)
    if (Object.keys(dotEnv).length > 0) yield* fs.writeFileString(`${folder}/.env`, fill(Processes.toDotEnv(dotEnv)))
    const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]))
    const given = { XDG_CONFIG_HOME: folder, ...filled }
    const { code, stderr, stdout } = yield* InProcess.assembly(folder, given, args.split(" "))
    return { code, text: stdout + stderr.replaceAll(folder, "~") }
  })

  it.effect.each<Row>([
    ["the profile default", {}, "doctor --no-upload", /\(profile default\)/],
    ["a named profile before the environment", ours, "doctor --profile other", /\(profile other\)/],
    ["a profile that ASSEMBLY_PROFILE names", { ...ours, ASSEMBLY_PROFILE: "other" }, "doctor", /\(profile other\)/],
    [
      "--profile before ASSEMBLY_PROFILE",
      { ASSEMBLY_PROFILE: "half" },
      "--profile default doctor",
      /\(profile default\)/
    ],
    ["the environment before the profile default", other, "doctor", /\(environment\)/],
    [
      "the official names",
      { ...official, ...url, XDG_CONFIG_HOME: "/nowhere" },
      "doctor --no-upload",
      /\(environment\).*\(TRANSLOADIT_KEY and TRANSLOADIT_SECRET\)[^]*TRANSLOADIT_KEY and TRANSLOADIT_SECRET are used/
    ],
    ["the profile default before the official names", official, "doctor --no-upload", /\(profile default\)/],
    [
      "the address of the profile in advice",
      ours,
      "list --profile other",
      /^Check ASSEMBLY_BASE_URL: no service listens at 127\.0\.0\.1:9\.$/m
    ],
    [
      "no such profile",
      ours,
      "list --profile nope",
      /^assembly: there is no profile nope\nAdd it to ~\/assembly\/credentials; assembly help environment shows how\.\n$/
    ],
    [
      "a profile without all settings",
      ours,
      "list --profile half",
      /the profile half has no ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET/
    ]
  ])("%s", function* ([, env, args, said]) {
    const { code, text } = yield* run(env, args)
    expect(text).toMatch(said)
    const isOurs = !text.includes("127.0.0.1:9") && settings.test(text)
    expect(code).toBe(isOurs ? 0 : args.startsWith("list") && !/:9/.test(text) ? 2 : 4)
  })

  it.effect("uses no file of profiles that others can read, unless it needs none", function* () {
    const { code, text } = yield* run({}, "list", 0o640)
    expect({ code, text }).toEqual({
      code: 2,
      text: "assembly: ~/assembly/credentials: other users can read this file\nRun chmod 600 ~/assembly/credentials\n"
    })
    expect((yield* run(ours, "list", 0o640)).code).toBe(0)
  })

  it.effect("sends neither the credentials of a profile nor the official ones to the address of .env", function* () {
    const evil = { ASSEMBLY_BASE_URL: "http://127.0.0.1:9" }
    expect((yield* run({}, "doctor --no-upload", 0o600, evil)).text).toMatch(/ASSEMBLY_BASE_URL \(profile default\)/)
    const { code, text } = yield* run({ ...official, XDG_CONFIG_HOME: "/nowhere" }, "list", 0o600, evil)
    expect(code).toBe(2)
    expect(text).toMatch(/^assembly: set the environment variables ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET\n/)
  })
})
