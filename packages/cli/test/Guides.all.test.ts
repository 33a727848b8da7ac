/** Checks each program of docs/guides: its guide shows it unchanged, it runs, and it prints what the guide shows. */
import { Emulator, Template } from "@assembly-effect/emulator"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert } from "@effect/vitest"
import { layer, test } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, Option, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Company from "./support/company.ts"
import { run } from "./support/program.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const read = (path: string) => readFileSync(root + path, "utf8")

const guides = globSync("docs/guides/*.md", { cwd: root }).toSorted()
const programs = globSync("docs/examples/guides/*.ts", { cwd: root }).toSorted()

/** Tests, which packages/api/test/Examples.test.ts runs. */
const tests = globSync("docs/examples/testing-*.ts", { cwd: root })

interface Shown {
  readonly guide: string
  readonly program: string
  /** The first block of output after the program. */
  readonly prints: string | undefined
}

const shown: ReadonlyArray<Shown> = guides.flatMap((guide) =>
  read(guide)
    .split("```ts\n")
    .slice(1)
    .map((text) => ({
      guide,
      program: text.slice(0, text.indexOf("```")),
      prints: /```text\n(.*?)```/s.exec(text)?.[1]
    }))
)

/** The lines of the blocks of a guide that a reader pastes into a shell. */
const commandsOf = (guide: string): ReadonlyArray<string> =>
  Array.from(read(guide).matchAll(/```sh\n(.*?)```/gs), ([, lines = ""]) => lines.trimEnd().split("\n")).flat()

/** Makes the files of a guide with the commands of the guide. */
const makeFiles = Effect.fnUntraced(function* (guide: string, cwd: string) {
  const lines = commandsOf(guide).filter((line) => / > \S+$/.test(line))
  if (lines.length > 0) execFileSync("sh", ["-ec", lines.join("\n")], { cwd })
  const fs = yield* FileSystem.FileSystem
  const written = yield* Effect.option(fs.readFileString(`${cwd}/templates.json`))
  return yield* Option.match(written, {
    onNone: () => Effect.succeed([]),
    onSome: Schema.decodeEffect(Schema.fromJsonString(Schema.Array(Template.Template)))
  })
})

/** The emulator with the Templates of a guide, and an empty folder with its files. */
const prepare = Effect.fnUntraced(function* (guide: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const service = yield* Layer.build(Emulator.layer({ templates: yield* makeFiles(guide, folder) }))
  return { folder, run: (path: string) => Effect.provide(run(root + path, folder), service) }
})

/** The codes of the service that the packages know, and the tag of the error of each code. */
const codes: ReadonlyArray<readonly [code: string, tag: string]> = [
  ...globSync("packages/api/src/**/*.ts", { cwd: root }).flatMap((file) =>
    Array.from(read(file).matchAll(/([A-Z_]+): ApiError\.(\w+)/g), ([, code = "", tag = ""]) => [code, tag] as const)
  ),
  ...Array.from(ServiceError.authenticationCodes, (code) => [code, "AuthenticationFailed"] as const),
  ...Array.from(ServiceError.rateLimitCodes, (code) => [code, "RateLimited"] as const)
]

/** The tags of the errors that a program can get from the packages. No program handles the errors of `assembly`. */
const tags = globSync("packages/*/src/*.ts", { cwd: root })
  .filter((file) => !file.startsWith("packages/cli/"))
  .flatMap((file) =>
    Array.from(read(file).matchAll(/(?:TaggedError|refusal|ending)(?:<\w+>\(\))?\(\s*"(\w+)"/g), ([, tag = ""]) => tag)
  )

layer(NodeServices.layer)("guides", (it) => {
  test("show every program, and no other program", () => {
    assert.isAtLeast(programs.length, 11)
    const texts = new Set([...programs, ...tests].map(read))
    // A part of a program imports nothing.
    assert.isEmpty(shown.filter(({ program }) => /^import /m.test(program) && !texts.has(program)))
    assert.isEmpty(programs.filter((path) => !shown.some(({ program }) => program === read(path))))
  })

  test.each(programs)("the guide of %s says under which name to save it and how to run it", (path) => {
    const { guide = "" } = shown.find(({ program }) => program === read(path)) ?? {}
    const name = path.slice(path.lastIndexOf("/") + 1)
    const before = read(guide).slice(0, read(guide).indexOf(read(path)))
    assert.match(before, new RegExp(`Save this program as \\\`${name}\\\`[^\\n]*(?:\\n[^\\n]+)*\\n\\n\`{3}ts\\n$`))
    assert.include(commandsOf(guide), `node ${name}`)
  })

  const companyProgram = "docs/examples/guides/proxy.ts"

  it.effect(
    "a program reaches a service with a private certificate through a proxy, and nothing goes past it",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const company = yield* Company.make(folder)
      const service = yield* Layer.build(Emulator.layer({ publicUrl: company.serviceUrl }))
      company.forwardTo((yield* Effect.provide(Emulator.Emulator, service)).localUrl)
      yield* makeFiles("docs/guides/production.md", folder)
      const here = (proxyUrl: string) =>
        Effect.provide(run(root + companyProgram, folder, { HTTPS_PROXY: proxyUrl }), service)

      const { prints = "" } = shown.find(({ program }) => program === read(companyProgram)) ?? {}
      assert.deepStrictEqual(yield* here(company.proxyUrl), { output: prints, exitCode: 0 })
      assert.isAbove(company.tunnels.length, 0)
      assert.deepStrictEqual([...new Set(company.tunnels)], [company.host])
      assert.deepStrictEqual([...new Set(company.clients)], ["Program"])
      assert.strictEqual(company.clients.length, company.tunnels.length)

      const { exitCode, output } = yield* here(company.proxyUrl.replace("s3cret", "wr0ng"))
      assert.strictEqual(exitCode, 1)
      assert.include(output, "the proxy responded with status 407")
      assert.notInclude(output, "wr0ng")

      const refused = yield* here("name:s3cret@proxy.example.com:3128")
      assert.strictEqual(refused.exitCode, 1)
      assert.include(refused.output, "Expected an http or https URL")
      assert.include(refused.output, "HTTPS_PROXY")
      assert.notMatch(refused.output, /s3cret|TypeError|InvalidArgumentError/)
    }
  )

  it.effect.each(programs.filter((path) => path !== companyProgram))(
    "%s prints what its guide shows",
    function* (path) {
      const { guide = "", prints = "" } = shown.find(({ program }) => program === read(path)) ?? {}
      const { folder, run: here } = yield* prepare(guide)
      // These two programs need an Assembly, so an upload runs first.
      if (/(?:list|reports)\.ts$/.test(path)) {
        yield* makeFiles("docs/guides/getting-started.md", folder)
        yield* here("docs/examples/guides/upload.ts")
      }
      assert.deepStrictEqual(yield* here(path), { output: prints, exitCode: 0 })
    }
  )

  it.effect("a job continues its Assembly in the next process", function* () {
    const { run: here } = yield* prepare("docs/guides/surviving-restarts.md")
    yield* here("docs/examples/guides/resumable.ts")
    const { output } = yield* here("docs/examples/guides/resumable.ts")
    assert.strictEqual(output, "the Assembly of an earlier run\nASSEMBLY_COMPLETED, 4194304 bytes\n")
  })

  test("have a row for each code of the service, which leads to a row with its tag", () => {
    const page = read("docs/guides/troubleshooting.md")
    assert.isAtLeast(codes.length, 40)
    for (const [code, tag] of codes) {
      const [, links = ""] = new RegExp(`^\\| \`${code}\` \\| (.*) \\|$`, "m").exec(page) ?? []
      assert.include(links, `[\`${tag}\`]`, code)
      const [, section = ""] = new RegExp(`\\[\`${tag}\`\\]\\(#([a-z-]+)\\)`).exec(links) ?? []
      const heading = (text: string) => text.slice(0, text.indexOf("\n")).toLowerCase().replaceAll(",", "")
      const linked = page.split("\n## ").find((text) => heading(text).replaceAll(" ", "-") === section)
      assert.include(linked ?? "", `| \`${tag}\` |`, code)
    }
  })

  test("have a row for the tag of each error of the packages", () => {
    const page = read("docs/guides/troubleshooting.md")
    assert.isAtLeast(tags.length, 90)
    assert.isEmpty(tags.filter((tag) => !page.includes(`| \`${tag}\` |`)))
  })
})
