/** Packs the packages, installs them beside the next patch of Effect, and runs the program and the command line there. */
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Bundled from "./bundled.ts"
import * as Command from "../Command.ts"
import * as Foreign from "./Foreign.ts"
import * as Readme from "./Readme.ts"
import { names, root, versionOf } from "./Repository.ts"
import type * as Service from "./Service.ts"
import * as Tarballs from "./Tarballs.ts"

const folder = mkdtempSync(join(tmpdir(), "packages-"))
let tarballs: ReadonlyArray<Tarballs.Tarball> = []
let project: Foreign.Project
let service: Service.Service

/** Packs the code of Effect with the version of its next patch. */
const nextPatch = async (): Promise<string> => {
  const from = join(root, "node_modules", "effect")
  const to = join(folder, "effect")
  for (const file of globSync("dist/**/*.js", { cwd: from })) cpSync(join(from, file), join(to, file))
  const manifest = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as { readonly version: string }
  const version = manifest.version.replace(/\d+$/, (patch) => String(Number(patch) + 1))
  writeFileSync(join(to, "package.json"), JSON.stringify({ ...manifest, scripts: {}, version }))
  await Command.runOrFail("npm", ["pack", "--pack-destination", folder], { cwd: to })
  return join(folder, `effect-${version}.tgz`)
}

beforeAll(async () => {
  // `dist` must not contain the output of a source that was deleted.
  for (const name of names) {
    const dist = join(root, "packages", name, "dist")
    rmSync(dist, { recursive: true, force: true })
    mkdirSync(dist)
    writeFileSync(join(dist, "Deleted.js"), "")
  }
  const [effect] = await Promise.all([nextPatch(), Tarballs.pack(folder).then((packed) => (tarballs = packed))])
  const platform = `@effect/platform-node@${versionOf("@effect/platform-node")}`
  project = await Foreign.make("newest", tarballs, [effect, platform])
  service = await project.emulator()
}, 300_000)
afterAll(async () => {
  await service?.stop()
  project?.remove()
  rmSync(folder, { recursive: true, force: true })
})

describe.each(names)("the tarball of %s", (name) => {
  const tarball = () => Tarballs.of(tarballs, name)

  it("has the code and the declarations of each module, and of no other", () => {
    const expected = globSync("**/*.ts", { cwd: join(root, "packages", name, "src") }).flatMap((file) => {
      const module = file.slice(0, -".ts".length)
      return [`dist/${module}.d.ts`, `dist/${module}.js`]
    })
    const built = tarball().files.filter(
      (file) => /^dist\/.*(?:\.js|\.d\.ts)$/.test(file) && !file.startsWith(`dist/${Bundled.folder}/`)
    )
    expect(built.toSorted()).toEqual(expected.toSorted())
  })

  it("has what people read", () => {
    const { files, text } = tarball()
    expect(files).toEqual(expect.arrayContaining(["AGENTS.md", "README.md", "CHANGELOG.md", "LICENSE"]))
    expect(text("LICENSE")).toBe(readFileSync(join(root, "LICENSE"), "utf8"))
    const { version } = JSON.parse(text("package.json")) as { readonly version: string }
    expect(text("CHANGELOG.md")).toContain(`\n## ${version}\n`)
  })

  it("says what it needs, and nothing of how it is developed", () => {
    const manifest = JSON.parse(tarball().text("package.json")) as {
      readonly engines?: object
      readonly dependencies?: Readonly<Record<string, string>>
      readonly peerDependencies?: Readonly<Record<string, string>>
    }
    expect(Object.keys(manifest)).not.toContain("devDependencies")
    expect(Object.keys(manifest)).not.toContain("scripts")
    expect(JSON.stringify(manifest)).not.toMatch(/workspace:|catalog:/)
    expect(manifest).toMatchObject({
      license: "MIT",
      description: expect.stringMatching(/./),
      keywords: expect.arrayContaining(["effect"]),
      exports: { "./package.json": "./package.json" }
    })
    // `browser` runs in a page, so it requires no version of Node.
    const engines = { node: `>=${versionOf("node-oldest").replace("npm:node@", "")}` }
    expect(manifest.engines).toEqual(name === "browser" ? undefined : engines)
    // With an exact version, npm installs a second Effect as soon as the application has another patch.
    const needs = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
    const ofEffect = needs.filter(([other]) => other === "effect" || other.startsWith("@effect/"))
    expect(ofEffect.filter(([, range]) => !range.startsWith("~"))).toEqual([])
  })
})

describe("beside the next patch of Effect", () => {
  it("the project has one Effect", () => {
    expect(globSync("node_modules/**/{effect,platform-node}/package.json", { cwd: project.folder }).toSorted()).toEqual(
      ["node_modules/@effect/platform-node/package.json", "node_modules/effect/package.json"]
    )
  })

  it("the program of the README stores a file", async () => {
    const { program = "" } = Readme.read(readFileSync(join(root, "README.md"), "utf8"))
    project.write("program.ts", program)
    expect(await project.node(["program.ts"], service.env)).toEqual({ exitCode: 0, output: "16 bytes are stored\n" })
  })

  it("the command line uploads to the emulator, and lists what it has uploaded", async () => {
    const env = { ...service.env, XDG_STATE_HOME: project.folder }
    const uploaded = await project.node(["node_modules/.bin/assembly", "upload", "cat.jpg"], env)
    expect(uploaded).toMatchObject({ exitCode: 0, output: expect.stringContaining("cat.jpg") })
    const listed = await project.node(["node_modules/.bin/assembly", "list"], env)
    expect(listed).toMatchObject({ exitCode: 0, output: expect.stringMatching(/completed\s.*\scat\.jpg/) })
  })
})
