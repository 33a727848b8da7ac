/**
 * Tests the packages as users get them: packed, installed with npm in another folder, compiled and run there, on the
 * oldest and the newest Node. `Packages.test.ts` has what every change may break.
 */
import { checkPackage } from "@arethetypeswrong/core"
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { publint } from "publint"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Pure from "../pure.ts"
import * as Bundled from "./bundled.ts"
import * as Compiler from "./Compiler.ts"
import * as Foreign from "./Foreign.ts"
import * as Guide from "./Guide.ts"
import * as Readme from "./Readme.ts"
import { libraries, manifestOf, modulesOf, names, root, versionOf } from "./Repository.ts"
import type * as Service from "./Service.ts"
import * as Surface from "./Surface.ts"
import * as Tarballs from "./Tarballs.ts"
import * as Wrapper from "./Wrapper.ts"

const folder = mkdtempSync(join(tmpdir(), "packages-"))
const undo: Array<() => void> = [() => rmSync(folder, { recursive: true, force: true })]
afterAll(() => {
  for (const step of undo) step()
})

let tarballs: ReadonlyArray<Tarballs.Tarball> = []
let project: Foreign.Project

const tarballOf = (name: string) => Tarballs.of(tarballs, name)

/** The versions of the peer dependencies of all packages, by name. */
const peers = new Map(names.flatMap((name) => Object.entries(manifestOf(name).peerDependencies ?? {})))

/** A program that prints each module whose two forms export different names, or that has no bundled form. */
const valuesOf = (dist: string, modules: ReadonlyArray<string>): string =>
  [
    `for (const module of ${JSON.stringify(modules)}) {`,
    `  const plain = await import("${dist}/" + module + ".js")`,
    `  const bundled = await import("${dist}/${Bundled.folder}/" + module + ".js")`,
    "  const names = [plain, bundled].map((one) => Object.keys(one).sort().join())",
    "  if (names[0] !== names[1]) console.log(module, ...names)",
    "}"
  ].join("\n")

/** The Markdown pages that show programs, by the folder that contains them. */
const pages = new Map(
  ["", ...names.map((name) => `packages/${name}/`)].map((place) => [
    `${place}README.md`,
    Readme.read(readFileSync(join(root, place, "README.md"), "utf8"))
  ])
)

beforeAll(async () => {
  tarballs = await Tarballs.pack(folder)
  project = await Foreign.make("newest", tarballs)
  undo.push(project.remove)
})

describe.each(names)("the tarball of %s", (name) => {
  it.runIf(Bundled.bundledForNode.includes(name))(
    "has a second form of each module for Node, with the same values",
    async () => {
      const dist = join(project.folder, "node_modules/@assembly-effect", name, "dist")
      const modules = ["index", ...modulesOf(name)]
      const differences = await project.node(["--input-type=module", "--eval", valuesOf(dist, modules)])
      expect(differences).toEqual({ exitCode: 0, output: "" })
      // Each source is named in the map of the bundle, or it is a module that the index does not load.
      const bundle = `${Bundled.folder}/bundle.js`
      const { sources } = JSON.parse(readFileSync(join(dist, `${bundle}.map`), "utf8")) as {
        readonly sources: ReadonlyArray<string>
      }
      expect(sources.length).toBeGreaterThan(10)
      const places = sources.map((source) => join(dist, dirname(bundle), source))
      expect(places.filter((place) => !existsSync(place))).toEqual([])
    }
  )

  it.skipIf(!Pure.bundled.includes(name))("has the marks that let a bundler leave code out", () => {
    const { files, text } = tarballOf(name)
    const code = files.filter((file) => file.endsWith(".js")).map((file) => [file, text(file)] as const)
    expect(code.some(([, one]) => one.includes("@__PURE__"))).toBe(true)
    expect(code.filter(([file, one]) => Pure.annotate(file, one) !== one)).toEqual([])
  })

  it("has no problem that publint finds", async () => {
    const { messages } = await publint({ pack: { tarball: tarballOf(name).bytes.buffer }, strict: true })
    expect(messages).toEqual([])
  })

  it.runIf(libraries.includes(name))("resolves to the right types, says @arethetypeswrong", async () => {
    const entrypoints = [".", ...modulesOf(name).map((module) => `./${module}`)]
    const analysis = await checkPackage(tarballOf(name).content, { entrypoints })
    if (analysis.types === false) throw new Error(`${name} has no types`)
    // The packages are ES modules, as Effect is, so the analysis reports a problem for `require` in CommonJS.
    const problems = analysis.problems.filter(({ kind }) => kind !== "CJSResolvesToESM")
    expect(problems.filter((one) => !("resolutionKind" in one) || one.resolutionKind !== "node10")).toEqual([])
    expect(Object.keys(analysis.entrypoints).length).toBe(entrypoints.length)
  })
})

describe.each(["oldest", "newest"] as const)("on the %s Node", (runtime) => {
  let here: Foreign.Project
  let service: Service.Service

  beforeAll(async () => {
    if (runtime === "newest") here = project
    else {
      here = await Foreign.make(runtime, tarballs)
      undo.push(here.remove)
    }
    service = await here.emulator()
  })
  afterAll(() => service?.stop())

  it("is the one that the manifests name", async () => {
    const { output } = await here.node(["--version"])
    const version = versionOf(`node-${runtime}`).replace("npm:node@", "")
    expect(output.trim()).toBe(`v${version}`)
  })

  it.each([...pages].filter(([, { program }]) => program !== undefined))(
    "the program of %s runs",
    async (page, { installs, prints, program = "" }) => {
      expect([...installs.keys()]).toEqual(expect.arrayContaining([...Readme.imports(program)]))
      // A later version of Effect does not fit the peer dependencies, and npm would refuse to install it.
      for (const [name, version] of installs) {
        const peer = peers.get(name)
        if (peer !== undefined) expect([name, `~${version}.0`]).toEqual([name, peer.replace(/\.[0-9]+$/, ".0")])
      }
      const file = `${page.replaceAll("/", "-")}.ts`
      here.write(file, program)
      const { exitCode, output } = await here.node(["--experimental-strip-types", "--no-warnings", file], service.env)
      expect({ exitCode, output }).toEqual({
        exitCode: 0,
        output: page === "README.md" ? "16 bytes are stored\n" : (prints ?? "")
      })
    }
  )

  it("the commands of the README of cli run", async () => {
    const { commands = [] } = pages.get("packages/cli/README.md") ?? {}
    expect(commands.length).toBeGreaterThan(1)
    const outcomes = []
    for (const command of commands) {
      // The commands run one after another, because a later command lists what an earlier one has created.
      outcomes.push(
        await here.node(["node_modules/.bin/assembly", ...command], { ...service.env, XDG_STATE_HOME: here.folder })
      )
    }
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual(commands.map(() => 0))
    expect(outcomes[1]?.output).toContain("cat.jpg")
  })
})

describe("the guide for beginners", () => {
  const page = readFileSync(join(root, "docs/guides/getting-started.md"), "utf8")
  let walk: Guide.Walk
  afterAll(() => walk?.stop())

  it("is true word for word in an empty folder", async () => {
    expect(page).toContain(`\n${Tarballs.command("~/assembly-effect-packages")}\n`)
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain(
      `\n${Tarballs.command("~/assembly-effect-packages")}\n`
    )
    const home = mkdtempSync(join(tmpdir(), "home-"))
    undo.push(() => rmSync(home, { recursive: true, force: true }))
    symlinkSync(folder, join(home, "assembly-effect-packages"))
    // npm keeps its settings and its downloads in the home folder of the user.
    const { npm_config_cache = join(homedir(), ".npm"), npm_config_userconfig = join(homedir(), ".npmrc") } =
      process.env
    const npm = { npm_config_cache, npm_config_userconfig, npm_config_audit: "false" }
    // Node 22 warns that it strips types.
    walk = await Guide.walk(page, {
      home,
      env: { ...Foreign.environment("oldest"), ...npm, NODE_NO_WARNINGS: "1" }
    })
    expect(walk.outputs.length).toBeGreaterThan(2)
    for (const { command, printed, shown } of walk.outputs) {
      expect({ command, printed }).toEqual({ command, printed: shown })
    }
  })

  it("has settings with which TypeScript finds a wrong type and syntax that Node cannot run", async () => {
    const { exitCode, output } = await walk.run(
      "sed 's/steps:/stepz:/' upload.ts > wrong.ts && echo 'enum Color { Red }' > enum.ts; npx tsc; code=$?; rm wrong.ts enum.ts; exit $code"
    )
    expect(exitCode).not.toBe(0)
    expect(output).toMatch(/^wrong\.ts\(\d+,\d+\): error TS/m)
    expect(output).toMatch(/^enum\.ts\(\d+,\d+\): error TS1294/m)
  })

  it("names the error of a program without a service", async () => {
    await walk.stop()
    const { exitCode, output } = await walk.run("node list.ts")
    expect(exitCode).toBe(1)
    expect(output).toContain("TransportFailure")
  })
})

describe("the declarations", () => {
  const everyModule = (of: ReadonlyArray<string>) =>
    of
      .flatMap((name) => ["", ...modulesOf(name).map((module) => `/${module}`)].map((path) => name + path))
      .map((path, index) => `export * as m${index} from "@assembly-effect/${path}"\n`)
      .join("")

  let surface: Surface.Surface
  beforeAll(() => {
    surface = Surface.read(project)
    project.write("every-module.ts", everyModule(libraries))
    project.write("every-module-without-dom.ts", everyModule(libraries.filter((name) => name !== "browser")))
  })

  // Each two values occur together once. All eight combinations would take minutes.
  const settings = [
    { version: "TypeScript 7", resolution: "nodenext", exactOptionalPropertyTypes: true },
    { version: "TypeScript 7", resolution: "bundler", exactOptionalPropertyTypes: false },
    { version: "TypeScript 5", resolution: "nodenext", exactOptionalPropertyTypes: false },
    { version: "TypeScript 5", resolution: "bundler", exactOptionalPropertyTypes: true }
  ] as const

  it.each(settings)(
    "hold under $version, $resolution, exactOptionalPropertyTypes $exactOptionalPropertyTypes",
    async (options) => {
      expect(await Compiler.diagnose(project, ["every-module.ts"], options)).toEqual([])
    }
  )

  it.each([false, true])("fit the programs of the READMEs, exactOptionalPropertyTypes %s", async (exact) => {
    const programs = Array.from(pages, ([page, { program }]) => [`${page.replaceAll("/", "-")}.ts`, program] as const)
    const files = programs.flatMap(([file, program]) => (program === undefined ? [] : [{ file, program }]))
    expect(files.length).toBe(names.length)
    for (const { file, program } of files) project.write(file, program)
    const options = { version: "TypeScript 7", resolution: "nodenext", exactOptionalPropertyTypes: exact } as const
    const paths = files.map(({ file }) => file)
    expect(await Compiler.diagnose(project, paths, options)).toEqual([])
  })

  it("need no DOM, but for those of Effect", async () => {
    const options = { version: "TypeScript 7", resolution: "nodenext", exactOptionalPropertyTypes: false } as const
    const diagnostics = await Compiler.diagnose(project, ["every-module-without-dom.ts"], { ...options, lib: "es2022" })
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
    }
  )
})
