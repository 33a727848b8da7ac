/**
 * Runs every command with a standard output that cannot be written: a full disk, and a pipe whose reader has ended.
 */
import { everything, root } from "../src/commands/root.ts"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { closeSync, existsSync, openSync } from "node:fs"
import { assembly, environment, folderWith } from "./support/processes.ts"
import * as Spawned from "./support/spawned.ts"
import * as Uploading from "./support/uploading.ts"

const full = "/dev/full"

/** The commands without commands below them, such as `templates list`, and the commands that also work alone. */
const leavesOf = (command: Completions.CommandDescriptor, above: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  command.subcommands.flatMap((one) =>
    one.subcommands.length === 0 ? [[...above, one.name].join(" ")] : leavesOf(one, [...above, one.name])
  )

interface Known {
  readonly assembly: string
  readonly template: string
  readonly credentials: string
  readonly key: string
  readonly asset: string
  /** The Assembly of an unfinished upload. */
  readonly unfinished: string
}

/** The commands in the order in which they run, each with its arguments. Later commands use what earlier ones change. */
const invocations = ({
  asset,
  assembly: id,
  credentials,
  key,
  template,
  unfinished
}: Known): ReadonlyArray<readonly [command: string, args: string]> => [
  ["upload", "new.txt"],
  ["stats", ""],
  ["list", "--all"],
  ["get", id],
  ["watch", `--json ${id}`],
  ["wait", id],
  ["cancel", id],
  ["replay", id],
  ["results list", id],
  ["results download", `${id} -o results`],
  ["move", `--filename moved.txt -- ${asset}`],
  ["templates list", ""],
  ["templates get", template],
  ["templates create", "second-template steps.json"],
  ["templates update", `${template} --name third-template`],
  ["templates delete", template],
  ["credentials list", ""],
  ["credentials get", credentials],
  ["credentials types", "--json"],
  ["credentials create", "second --type s3 --content s3.json"],
  ["credentials update", `${credentials} --name third`],
  ["credentials delete", credentials],
  ["keys list", "--json"],
  ["keys create", "--scope assemblies:read --show-secret"],
  ["keys update", `${key} --description new`],
  ["keys secret", `${key} --show-secret`],
  ["keys delete", `${key} --yes`],
  ["keys scopes", ""],
  ["assets list", ""],
  ["assets get", `-- ${asset}`],
  ["assets move", "moved.txt again.txt"],
  ["assets move-many", `--root -- ${asset}`],
  ["assets delete", `-- ${asset}`],
  ["bill", ""],
  ["notifications list", `${id} --json`],
  ["notifications replay", `${id} --url http://127.0.0.1:9/`],
  ["queues stats", ""],
  ["queues", ""],
  ["token", ""],
  ["emulator", ""],
  ["doctor", ""],
  ["completions", "bash"],
  ["help", "exit-codes"],
  ["uploads", ""],
  ["uploads forget", unfinished]
]

/** Interrupts an upload after the creation of its Assembly, whose id it returns. */
const interrupted = (cwd: string) =>
  Effect.map(
    Uploading.assembly(cwd, ["upload", "large.txt", "--limit-rate", "20k"], {
      state: cwd,
      onError: (text, kill) => {
        if (created.test(text)) kill()
      }
    }),
    ({ stderr }) => created.exec(stderr)?.[1] ?? ""
  )

const created = /Assembly ([0-9a-f]{32})\n/

const problem = /^assembly: the output cannot be written: ENOSPC[^\n]*\n$/m

layer(Layer.merge(Emulator.layer(), NodeServices.layer), { excludeTestServices: true })("lost output", (it) => {
  it.effect.skipIf(!existsSync(full))("is never a success of a command", () =>
    Effect.gen(function* () {
      const cwd = yield* folderWith({
        "a.txt": "meow",
        "new.txt": "new",
        "large.txt": "meow".repeat(100_000),
        "steps.json": JSON.stringify({
          steps: {
            ":original": { robot: "/upload/handle" },
            stored: { use: ":original", robot: "/transloadit/store" }
          }
        }),
        "s3.json": JSON.stringify({ key: "k", secret: "s", bucket: "b", bucket_region: "eu-west-1" })
      })
      const env = { ...(yield* environment), XDG_STATE_HOME: cwd }
      const said = (pattern: RegExp, ...args: ReadonlyArray<string>) =>
        Effect.map(assembly(cwd, env, ...args), ({ stderr, stdout }) => {
          const [, found] = pattern.exec(stdout) ?? []
          expect(found, stdout + stderr).toBeDefined()
          return found ?? ""
        })
      const id = /"id": "([^"]+)"/
      const known: Known = {
        assembly: yield* said(/"assembly_id":"(\w+)"/, "upload", "a.txt", "--json"),
        template: yield* said(id, "templates", "create", "first-template", "steps.json", "--json"),
        credentials: yield* said(
          id,
          "credentials",
          "create",
          "first",
          "--type",
          "s3",
          "--content",
          "s3.json",
          "--json"
        ),
        key: yield* said(id, "keys", "create", "--scope", "assemblies:read", "--can-show-secret", "--json"),
        asset: yield* said(/"asset_id": "([^"]+)"/, "assets", "list", "--json"),
        unfinished: yield* interrupted(cwd)
      }
      const all = invocations(known)
      const leaves = leavesOf(Completions.fromCommand(yield* root(everything)))
      expect(all.map(([command]) => command).toSorted()).toEqual([...leaves, "queues", "uploads"].toSorted())

      const disk = openSync(full, "w")
      yield* Effect.addFinalizer(() => Effect.sync(() => closeSync(disk)))
      for (const [command, args] of [...all, ["--help", ""], ["list", "--help"], ["--version", ""]] as const) {
        const words = `${command} ${args}`.split(" ").filter((word) => word !== "")
        const { code, stderr } = yield* Spawned.run(words, { cwd, env, stdout: disk })
        expect(stderr, words.join(" ")).toMatch(problem)
        expect(code, words.join(" ")).toBe(1)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("has no message if the reader has ended, and the exit code says so", () =>
    Effect.gen(function* () {
      const cwd = yield* folderWith({})
      const env = { ...(yield* environment), XDG_STATE_HOME: cwd }
      for (const args of ["list", "list --json", "list --all", "doctor", "token", "completions fish", "emulator"]) {
        const { code, stderr } = yield* Spawned.run(args.split(" "), { cwd, env, stdout: "closed" })
        expect({ args, code, stderr }).toEqual({ args, code: 141, stderr: "" })
      }
    }).pipe(Effect.scoped)
  )
})
