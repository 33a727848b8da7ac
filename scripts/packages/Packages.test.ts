/** The packages as users get them: packed, installed with npm elsewhere, compiled and run there. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Compiler from "./Compiler.ts"
import * as Foreign from "./Foreign.ts"
import { modulesOf, names, root } from "./Repository.ts"
import * as Surface from "./Surface.ts"
import * as Tarballs from "./Tarballs.ts"
import * as Wrapper from "./Wrapper.ts"

const minutes = 60_000

const folder = mkdtempSync(join(tmpdir(), "packages-"))
const undo: Array<() => void> = [() => rmSync(folder, { recursive: true, force: true })]
afterAll(() => {
  for (const step of undo) step()
})

let tarballs: ReadonlyArray<Tarballs.Tarball> = []
let project: Foreign.Project
let surface: Surface.Surface

beforeAll(async () => {
  // The output of a source that was deleted since.
  for (const name of names) {
    const dist = join(root, "packages", name, "dist")
    rmSync(dist, { recursive: true, force: true })
    mkdirSync(dist)
    writeFileSync(join(dist, "Deleted.js"), "")
  }
  tarballs = await Tarballs.pack(folder)
  project = await Foreign.make("newest", tarballs)
  undo.push(project.remove)
  surface = Surface.read(project)
}, 5 * minutes)

describe.each(names)("the tarball of %s", (name) => {
  const tarball = () => {
    const found = tarballs.find((one) => one.name === name)
    if (found === undefined) throw new Error(`${name} was not packed`)
    return found
  }

  it("has the code and the declarations of each module, and of no other", () => {
    const { files } = tarball()
    const expected = globSync("**/*.ts", { cwd: join(root, "packages", name, "src") }).flatMap((file) => {
      const module = file.slice(0, -".ts".length)
      return [`dist/${module}.d.ts`, `dist/${module}.js`]
    })
    const built = files.filter((file) => /^dist\/.*(?:\.js|\.d\.ts)$/.test(file))
    expect(built.toSorted()).toEqual(expected.toSorted())
  })
})

describe("the declarations", () => {
  const everyModule = () =>
    names
      .flatMap((name) => ["index", ...modulesOf(name)].map((module) => [name, module] as const))
      .map(([name, module], index) =>
        module === "index"
          ? `export * as m${index} from "@assembly-effect/${name}"\n`
          : `export * as m${index} from "@assembly-effect/${name}/${module}"\n`
      )
      .join("")

  beforeAll(() => {
    project.write("every-module.ts", everyModule())
  })

  const settings = (["TypeScript 7", "TypeScript 5"] as const).flatMap((version) =>
    (["nodenext", "bundler"] as const).flatMap((resolution) =>
      [false, true].map((exactOptionalPropertyTypes) => ({ version, resolution, exactOptionalPropertyTypes }))
    )
  )

  it.each(settings)(
    "hold under $version, $resolution, exactOptionalPropertyTypes $exactOptionalPropertyTypes",
    async (options) => {
      expect(await Compiler.diagnose(project, ["every-module.ts"], options)).toEqual([])
    },
    2 * minutes
  )

  it("need no DOM, but for those of Effect", async () => {
    const options = { version: "TypeScript 7", resolution: "nodenext", exactOptionalPropertyTypes: false } as const
    const diagnostics = await Compiler.diagnose(project, ["every-module.ts"], { ...options, lib: "es2022" })
    expect(diagnostics.filter((line) => !line.startsWith("node_modules/effect/"))).toEqual([])
  })

  it("show no type of a module that cannot be imported", () => {
    expect(surface.types).toBeGreaterThan(5_000)
    expect(surface.leaks).toEqual([])
  })

  it.each(["TypeScript 7", "TypeScript 5"] as const)(
    "of a library that wraps every function hold under %s",
    async (version) => {
      const sources = Wrapper.sources(surface)
      expect(sources.size).toBeGreaterThan(60)
      for (const [path, text] of sources) project.write(`wrapper/${path}`, text)
      const options = { version, resolution: "nodenext", exactOptionalPropertyTypes: false } as const
      const declarations = `wrapped-${version.at(-1)}`
      const files = Array.from(sources.keys(), (path) => `wrapper/${path}`)
      expect(await Compiler.diagnose(project, files, { ...options, declarations })).toEqual([])

      const written = globSync("*.d.ts", { cwd: join(project.folder, declarations) })
      expect(written.length).toBe(sources.size)
      const leaking = written.flatMap((file) =>
        Array.from(
          readFileSync(join(project.folder, declarations, file), "utf8").matchAll(/import\("([^"]+)"\)/g),
          ([, specifier = ""]) => specifier
        ).filter((specifier) => specifier.startsWith(".") || /\/(?:internal|node_modules)\//.test(specifier))
      )
      expect([...new Set(leaking)]).toEqual([])
      const again = written.map((file) => `${declarations}/${file}`)
      expect(await Compiler.diagnose(project, again, options)).toEqual([])
    },
    2 * minutes
  )
})
