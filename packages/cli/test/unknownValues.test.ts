/**
 * What a user has mistyped is said, and is not shown as an empty result.
 */
import * as Program from "../src/internal/main.ts"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as TestConsole from "effect/testing/TestConsole"
import { environment, folderWith } from "./support/processes.ts"
import * as Screen from "./support/screen.ts"
import * as Failure from "../src/internal/failure.ts"

/** Runs the command line in this process. The argument `a.txt` is the path of a file. */
const run = Effect.fnUntraced(function* (...given: ReadonlyArray<string>) {
  const env = yield* environment
  const cwd = yield* folderWith({ "a.txt": "a" })
  const args = given.map((arg) => (arg === "a.txt" ? `${cwd}/a.txt` : arg))
  const logs = (yield* TestConsole.logLines).length
  const errors = (yield* TestConsole.errorLines).length
  const exit = yield* Program.run("0.0.0").pipe(
    Effect.provide([
      Screen.make({ columns: 0, animated: false }).layer,
      Stdio.layerTest({ args: Effect.succeed(args) })
    ]),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.exit
  )
  const text = (lines: ReadonlyArray<unknown>) => lines.map((line) => `${String(line)}\n`).join("")
  return {
    code: Failure.codeOfExit(exit),
    stdout: text((yield* TestConsole.logLines).slice(logs)),
    said: text((yield* TestConsole.errorLines).slice(errors)).replaceAll(new URL(env.ASSEMBLY_BASE_URL).host, "<host>")
  }
})

const services = Layer.mergeAll(Emulator.layer(), NodeServices.layer, TestConsole.layer)

layer(services, { excludeTestServices: true })("unknown values", (it) => {
  it.effect("a region", () =>
    Effect.gen(function* () {
      const why = "status 400: There is no such region: this service has eu-west-1."
      const next = "Set --region to a region such as eu-west-1, or to all."
      expect(yield* run("stats", "--region", "atlantis")).toEqual({
        code: 1,
        stdout: "",
        said: `assembly: Assemblies.statistics at <host> failed with ASSEMBLY_STATS_MISSING_REGION, ${why}\n${next}\n`
      })
      expect(yield* run("queues", "stats", "--region", "nowhere")).toEqual({
        code: 1,
        stdout: "",
        said: `assembly: Queues.statistics at <host> failed with PRIORITY_JOB_SLOT_STATS_MISSING_REGION, ${why}\n${next}\n`
      })
      for (const region of ["eu-west-1", "all"]) {
        expect(yield* run("queues", "stats", "--region", region)).toMatchObject({ code: 0, said: "" })
      }
      expect(yield* run("stats", "--region", "all")).toMatchObject({ code: 0, said: "" })
    }).pipe(Effect.scoped)
  )

  it.effect("a cursor behind the last page", () =>
    Effect.gen(function* () {
      yield* run("upload", "a.txt")
      const { stdout } = yield* run("list", "--json")
      const { count } = JSON.parse(stdout) as { readonly count: number }
      const behind = { code: 1, stdout: "" }
      const said = `assembly: there are no Assemblies at --cursor=99 of ${count}; the last is --cursor=1\n`
      expect(yield* run("list", "--cursor", "99")).toEqual({ ...behind, said })
      expect(yield* run("list", "--cursor", "99", "--json")).toEqual({ ...behind, said })
      expect(yield* run("list", "--cursor", "99", "--all")).toMatchObject({ ...behind })
      expect(yield* run("templates", "list", "--cursor", "2")).toEqual({
        ...behind,
        said: "assembly: there are no Templates at --cursor=2 of 0; the last is --cursor=1\n"
      })
      expect(yield* run("templates", "list")).toMatchObject({ code: 0, said: "" })
    }).pipe(Effect.scoped)
  )

  it.effect("a Step", () =>
    Effect.gen(function* () {
      const uploaded = yield* run("upload", "a.txt")
      const [, id = ""] = /Assembly (\w{32})/.exec(uploaded.stdout) ?? []
      const said = `assembly: the Assembly ${id} has no results of nope; it has results of stored\n`
      expect(yield* run("results", "list", id, "--step", "nope")).toEqual({ code: 1, stdout: "", said })
      expect(yield* run("results", "list", id, "--step", "stored", "--step", "nope")).toMatchObject({ code: 1, said })
      expect(yield* run("results", "download", id, "--step", "nope")).toEqual({ code: 1, stdout: "", said })
      expect(yield* run("results", "list", id, "--step", "stored")).toMatchObject({ code: 0, said: "" })
    }).pipe(Effect.scoped)
  )

  it.effect("a field that is given twice, before anything is sent", () =>
    Effect.gen(function* () {
      const twice = yield* run("upload", "a.txt", "--fields", "a=b", "--fields", "a=c")
      expect(twice).toEqual({
        code: 2,
        stdout: "",
        said: 'assembly: Invalid value for flag --fields: "a=c". Expected: each key once, but a has two values\nSee: assembly upload --help\n'
      })
      const noValue = yield* run("upload", "a.txt", "--fields", "a")
      expect(noValue.said).toMatch(
        /^assembly: Invalid value for flag --fields: "a"\. Expected: key=value, such as name=cat\n/
      )
      expect(yield* run("upload", "a.txt", "--dry-run", "--fields", "a=b=c", "--fields", "b=c")).toMatchObject({
        code: 0
      })
    }).pipe(Effect.scoped)
  )

  it.effect("a command and a flag, with what may be meant, in one line", () =>
    Effect.gen(function* () {
      expect((yield* run("lst")).said).toMatch(
        /^assembly: Unknown subcommand "lst" for "assembly"; did you mean .*list.*\?\nSee/
      )
      expect((yield* run("list", "--jsn")).said).toMatch(
        /^assembly: Unrecognized flag: --jsn .*; did you mean --json\?\nSee/
      )
    }).pipe(Effect.scoped)
  )
})
