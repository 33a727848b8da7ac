/**
 * What the commands and doctor say about the settings: missing, invalid, refused, and the file `.env`.
 */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { assembly, environment, folderWith, toDotEnv } from "./support/processes.ts"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

/** A server that is not the service. */
const foreign = Loopback.serve((_, response) => response.end("<h1>hello</h1>"))

layer(Layer.merge(Emulator.layer(), NodeServices.layer))("settings", (it) => {
  it.effect("doctor ends with the exit code of what failed first, and with the advice of the commands", function* () {
    const env = yield* environment
    const { host } = new URL(env.ASSEMBLY_BASE_URL)
    const cwd = yield* folderWith({})
    const doctor = (changes: Readonly<Record<string, string>>) => assembly(cwd, { ...env, ...changes }, "doctor")

    const unset = yield* assembly(cwd, {}, "doctor")
    expect(unset).toMatchObject({ code: 2, stderr: "assembly: 1 thing does not work\n" })
    expect(unset.stdout).toContain("→ Set them in the environment or in the file .env; assembly emulator prints")

    const invalid = yield* doctor({ ASSEMBLY_BASE_URL: "ftp://example.com" })
    expect(invalid).toEqual({
      code: 2,
      stdout:
        "✗ settings      ASSEMBLY_BASE_URL: Expected an absolute http or https URL\n                → Correct the variable; assembly doctor --help shows an example.\n",
      stderr: "assembly: 1 thing does not work\n"
    })

    const refused = yield* doctor({ ASSEMBLY_AUTH_SECRET: "wrong" })
    expect(refused.code).toBe(3)
    expect(refused.stdout).toContain(
      `→ Check ASSEMBLY_AUTH_SECRET: it is not the secret of ASSEMBLY_AUTH_KEY at ${host}.\n`
    )
    const unknown = yield* doctor({ ASSEMBLY_AUTH_KEY: "nobody" })
    expect(unknown.code).toBe(3)
    expect(unknown.stdout).toContain(`→ Check ASSEMBLY_AUTH_KEY: ${host} has no such key.\n`)

    const json = yield* assembly(cwd, { ...env, ASSEMBLY_BASE_URL: "http://127.0.0.1:1" }, "doctor", "--json")
    expect(JSON.parse(json.stdout)).toMatchObject([
      { about: "settings", verdict: "good" },
      { about: "address", verdict: "bad", text: expect.stringContaining("ECONNREFUSED") as unknown }
    ])
    const nowhere = yield* doctor({ ASSEMBLY_BASE_URL: "http://127.0.0.1:1" })
    expect(nowhere.code).toBe(4)
    expect(nowhere.stdout).toContain("→ Check ASSEMBLY_BASE_URL: no service listens at 127.0.0.1:1.\n")

    const origin = yield* foreign
    const other = yield* doctor({ ASSEMBLY_BASE_URL: origin })
    expect(other.code).toBe(1)
    expect(other.stdout).toContain(
      `→ Check ASSEMBLY_BASE_URL: ${new URL(origin).host} does not answer as the Assembly Processing Service does.`
    )

    const path = yield* doctor({ ASSEMBLY_BASE_URL: `${env.ASSEMBLY_BASE_URL}/api` })
    expect(path.code).toBe(1)
    expect(path.stdout).toContain(
      `→ Check ASSEMBLY_BASE_URL: it has the path /api, and ${host} does not answer there as the Assembly Processing Service does.\n`
    )
    expect(path.stdout).not.toContain("ASSEMBLY_AUTH_KEY.")
  })

  it.effect("doctor says from where each variable is, and why .env is not used", function* () {
    const { ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET, ASSEMBLY_BASE_URL } = yield* environment
    const values = { ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET }
    const cwd = yield* folderWith({ ".env": toDotEnv(values) })
    const doctor = (env: Readonly<Record<string, string>>) =>
      Effect.map(assembly(cwd, env, "doctor", "--no-upload", "--json"), ({ code, stdout }) => ({
        code,
        found: (JSON.parse(stdout) as ReadonlyArray<{ about: string; verdict: string; text: string }>)
          .filter(({ about }) => about === ".env" || about === "settings")
          .map(({ text, verdict }) => `${verdict}: ${text}`)
      }))
    expect(yield* doctor({ ASSEMBLY_BASE_URL })).toEqual({
      code: 0,
      found: ["good: ASSEMBLY_BASE_URL (environment), ASSEMBLY_AUTH_KEY (.env), ASSEMBLY_AUTH_SECRET (.env)"]
    })
    expect(yield* doctor(values)).toEqual({
      code: 0,
      found: [
        `note: ${cwd}/.env is not used: the environment has ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET, and the file could send them to another address. Set all three variables in the environment, or all three in the file.`,
        "good: ASSEMBLY_BASE_URL (environment), ASSEMBLY_AUTH_KEY (environment), ASSEMBLY_AUTH_SECRET (environment)"
      ]
    })
  })

  it.effect("says which variables are from .env if the others are from the environment", function* () {
    const { ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET, ASSEMBLY_BASE_URL } = yield* environment
    const { host } = new URL(ASSEMBLY_BASE_URL)
    const file = { ASSEMBLY_BASE_URL: "http://127.0.0.1:1", ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET }
    const wrong = yield* folderWith({ ".env": toDotEnv({ ...file, ASSEMBLY_AUTH_KEY: "nobody" }) })
    const refused = yield* assembly(wrong, { ASSEMBLY_BASE_URL }, "list")
    expect({ code: refused.code, said: refused.stderr.split("\n").slice(1) }).toEqual({
      code: 3,
      said: [
        `Check ASSEMBLY_AUTH_KEY: ${host} has no such key.`,
        `ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET: from .env; ASSEMBLY_BASE_URL: from the environment.`,
        ""
      ]
    })

    const part = yield* folderWith({ ".env": toDotEnv({ ASSEMBLY_AUTH_SECRET }) })
    const mixed = yield* assembly(part, { ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY }, "list")
    expect({ code: mixed.code, said: mixed.stderr.split("\n") }).toEqual({
      code: 2,
      said: [
        "assembly: set the environment variable ASSEMBLY_AUTH_SECRET",
        "Set it in the environment or in the file .env; assembly emulator prints it for a service on this machine.",
        `${part}/.env is not used: the environment has ASSEMBLY_AUTH_KEY, and the file could send it to another address. Set all three variables in the environment, or all three in the file.`,
        ""
      ]
    })
  })

  it.effect("a command whose settings are missing says why .env does not help", function* () {
    const fs = yield* FileSystem.FileSystem
    const { ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET, ASSEMBLY_BASE_URL } = yield* environment
    const ofFile = (content: string, env: Readonly<Record<string, string>> = {}) =>
      Effect.flatMap(folderWith({ ".env": content }), (cwd) =>
        Effect.map(assembly(cwd, env, "list"), ({ code, stderr }) => ({
          code,
          said: stderr.replaceAll(cwd, "<folder>").split("\n").slice(2, -1)
        }))
      )

    expect(yield* ofFile(toDotEnv({ ASSEMBLY_BASE_URL }), { ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET })).toEqual({
      code: 2,
      said: [
        "<folder>/.env is not used: the environment has ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET, and the file could send them to another address. Set all three variables in the environment, or all three in the file."
      ]
    })
    const cwd = yield* folderWith({})
    yield* fs.makeDirectory(`${cwd}/.env`)
    const folder = yield* assembly(cwd, {}, "list")
    expect(folder.stderr.split("\n").slice(2)).toEqual([`${cwd}/.env: is a folder`, ""])
    yield* fs.remove(`${cwd}/.env`, { recursive: true })
    // A device stands for a pipe, whose content may never end.
    yield* fs.symlink("/dev/zero", `${cwd}/.env`)
    expect((yield* assembly(cwd, {}, "list")).stderr).toContain(`${cwd}/.env: is not a file\n`)
    // A file that is not needed is no reason for a word.
    const env = { ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET }
    expect(yield* assembly(cwd, env, "list")).toMatchObject({ code: 0, stderr: "" })
  })
})
