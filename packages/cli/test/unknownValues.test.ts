/**
 * What a user has mistyped is said, and is not shown as an empty result.
 */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as InProcess from "./support/inProcess.ts"
import { environment, folderWith } from "./support/processes.ts"

/** Runs the command line in this process, in a folder with the file `a.txt`. */
const run = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const cwd = yield* folderWith({ "a.txt": "a" })
  const { code, stderr, stdout } = yield* InProcess.assembly(
    cwd,
    { ...(yield* environment), XDG_STATE_HOME: cwd },
    args
  )
  return { code, stdout, said: stderr }
})

const services = Layer.mergeAll(Emulator.layer(), NodeServices.layer)

layer(services)("unknown values", (it) => {
  it.effect("a region", function* () {
    for (const command of [["stats"], ["queues", "stats"]]) {
      expect(yield* run(...command, "--region", "atlantis")).toEqual({
        code: 1,
        stdout: "",
        said: "assembly: there is no region atlantis\nSet --region to a region such as eu-west-1, or to all.\n"
      })
    }
    for (const region of ["eu-west-1", "all"]) {
      expect(yield* run("queues", "stats", "--region", region)).toMatchObject({ code: 0, said: "" })
    }
    expect(yield* run("stats", "--region", "all")).toMatchObject({ code: 0, said: "" })
  })

  it.effect.each<readonly [args: string, words: string, next: string | undefined]>([
    ["get <id>", "is no Assembly <id>", "list"],
    ["cancel <id>", "is no Assembly <id>", "list"],
    ["wait <id>", "is no Assembly <id>", "list"],
    ["notifications list <id>", "is no Assembly <id>", "list"],
    ["templates get nope", "is no Template nope", "templates list"],
    ["templates delete nope", "is no Template nope", "templates list"],
    ["upload a.txt --template nope", "is no Template nope", "templates list"],
    ["upload a.txt --template <id>", "is no Template <id>", "templates list"],
    ["stats --template nope", "is no Template nope", "templates list"],
    ["credentials get <id>", "are no Template Credentials <id>", "credentials list"],
    ["keys update --scope read <id>", "is no Auth Key <id>", "keys list"],
    ["assets get AAAAAAAAAAAAAAAAAAAAAA", "is no asset or folder AAAAAAAAAAAAAAAAAAAAAA", "assets list"],
    ["assets move a/b c", "is no asset or folder a/b", "assets list"],
    ["bill 2020-01", "is no bill of 2020-01", undefined],
    ["uploads forget <id>", "is no unfinished upload <id>", "uploads"]
  ])("%s: there %s", function* ([args, words, next]) {
    const real = (text: string) => text.replaceAll("<id>", "0".repeat(32))
    const advice = next === undefined ? "" : `Run assembly ${next} to see what there is.\n`
    expect(yield* run(...real(args).split(" "))).toEqual({
      code: 1,
      stdout: "",
      said: `assembly: there ${real(words)}\n${advice}`
    })
  })

  it.effect("a field of --json, with the fields that there are, before anything is sent", function* () {
    const { stdout } = yield* run("upload", "a.txt", "--no-wait")
    const id = stdout.trim()
    yield* run("wait", id)
    for (const [args, found] of [
      [["list", "--limit", "1", "--json=ok"], [{ ok: "ASSEMBLY_COMPLETED" }]],
      [["list", "--limit", "1", "--json", "region,ok"], [{ region: "eu-west-1", ok: "ASSEMBLY_COMPLETED" }]],
      [["get", "--json=ok,template_id", id], { ok: "ASSEMBLY_COMPLETED", template_id: null }],
      [["results", "list", "--json=step,size", id], [{ step: "stored", size: 1 }]],
      [["templates", "list", "--json=id,name"], []],
      [["keys", "list", "--json=description"], [{ description: null }]]
    ] as const) {
      const shown = yield* run(...args)
      expect({ args, said: shown.said, found: JSON.parse(shown.stdout) as unknown }).toEqual({
        args,
        said: "",
        found
      })
    }
    const one = yield* run("list", "--all", "--json=id")
    expect(one.stdout).toContain(`{"id":"${id}"}\n`)
    expect((yield* run("keys", "list", "--json=id,nope")).said).toMatch(
      /^assembly: Invalid value for flag --json: "nope"\. Expected: fields of id, auth_key, .*\nSee: assembly keys list --help\n$/
    )
  })

  it.effect("a cursor behind the last page", function* () {
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
  })

  it.effect("a Step", function* () {
    const uploaded = yield* run("upload", "a.txt")
    const [, id = ""] = /Assembly (\w{32})/.exec(uploaded.stdout) ?? []
    const said = `assembly: there are no results of nope in the Assembly ${id}; it has results of stored\n`
    expect(yield* run("results", "list", id, "--step", "nope")).toEqual({ code: 1, stdout: "", said })
    expect(yield* run("results", "list", id, "--step", "stored", "--step", "nope")).toMatchObject({ code: 1, said })
    expect(yield* run("results", "download", id, "--step", "nope")).toEqual({ code: 1, stdout: "", said })
    expect(yield* run("results", "list", id, "--step", "stored")).toMatchObject({ code: 0, said: "" })
  })
})
