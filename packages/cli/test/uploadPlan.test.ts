import * as UploadPlan from "../src/internal/uploadPlan.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layerTest } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as PlatformError from "effect/PlatformError"
import { writeFileSync } from "node:fs"
import { relative } from "node:path"
import * as Uploading from "./support/uploading.ts"

/** A folder with these files, whose content is their name. */
const folderWith = (...names: ReadonlyArray<string>) =>
  Uploading.folderWith(Object.fromEntries(names.map((name) => [name, name])))

const flags = { listed: [], include: [], exclude: [], watch: false, folder: undefined }

const plan = (paths: ReadonlyArray<string>, isRecursive = false, inputName?: string) =>
  UploadPlan.make({ ...flags, paths, recursive: isRecursive, name: Option.fromUndefinedOr(inputName) })

const namesOf = (files: ReadonlyArray<UploadPlan.Planned>) => files.map(({ name }) => name)

layerTest(NodeServices.layer)("UploadPlan.make", (it) => {
  it.effect("names a file by the last part of its path", function* () {
    const folder = yield* folderWith("d1/a.csv", "b.csv")
    const files = yield* plan([`${folder}/d1/a.csv`, `${folder}/b.csv`])
    expect(namesOf(files)).toEqual(["a.csv", "b.csv"])
    expect(UploadPlan.totalSize(files)).toBe(13n)
    expect(UploadPlan.replayable(files)?.length).toBe(2)
  })

  it.effect("refuses a folder without -r, and keeps the folders with -r", function* () {
    const folder = yield* folderWith("photos/2026/a.jpg", "photos/b.jpg")
    const error = yield* Effect.flip(plan([`${folder}/photos`]))
    expect(error.message).toBe(`${folder}/photos: is a folder; add -r to upload its files`)
    expect(namesOf(yield* plan([`${folder}/photos`], true))).toEqual(["photos/2026/a.jpg", "photos/b.jpg"])
    expect(namesOf(yield* plan([`${folder}/photos/`], true))).toEqual(["photos/2026/a.jpg", "photos/b.jpg"])
  })

  it.effect("leaves out a file with a problem, and tells it, if the caller says so", function* () {
    const folder = yield* folderWith("d/a.jpg", "d/b\nc.jpg")
    const told: Array<string> = []
    const skip = ({ message }: { readonly message: string }) => Effect.sync(() => void told.push(message))
    const options = { ...flags, paths: [`${folder}/d`], recursive: true, name: Option.none() }
    expect(namesOf(yield* UploadPlan.make({ ...options, skip }))).toEqual(["d/a.jpg"])
    const problem = `${folder}/d/b\\x0ac.jpg: the service refuses a name with control characters; rename the file`
    expect(told).toEqual([problem])
    expect((yield* Effect.flip(UploadPlan.make(options))).message).toBe(problem)
  })

  it.effect("names the folder that cannot be read, and not the folder above", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith("photos/2026/secret/a.jpg", "photos/b.jpg")
    const denied = PlatformError.systemError({
      _tag: "PermissionDenied",
      module: "FileSystem",
      method: "readDirectory",
      cause: { code: "EACCES" }
    })
    const guarded = FileSystem.FileSystem.of({
      ...fs,
      readDirectory: (path, options) =>
        path.endsWith("/secret") || options?.recursive === true ? Effect.fail(denied) : fs.readDirectory(path, options)
    })
    const error = yield* plan([`${folder}/photos`], true).pipe(
      Effect.provideService(FileSystem.FileSystem, guarded),
      Effect.flip
    )
    expect(error.message).toBe(`${folder}/photos/2026/secret: permission denied`)
  })

  it.effect("refuses a folder without files, and names no folder above the working folder", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith("photos/a.jpg")
    yield* fs.makeDirectory(`${folder}/empty`)
    expect((yield* Effect.flip(plan([`${folder}/empty`], true))).message).toBe(
      `${folder}/empty: the folder contains no files`
    )
    const above = relative(process.cwd(), `${folder}/photos`)
    expect(above).toMatch(/^\.\.\//)
    expect(namesOf(yield* plan([above], true))).toEqual(["photos/a.jpg"])
  })

  it.effect("refuses equal names, also in another normal form, and keeps them apart with -r", function* () {
    const folder = yield* folderWith("d1/report.csv", "d2/report.csv", "e/\u00e9", "f/e\u0301")
    const paths = [`${folder}/d1/report.csv`, `${folder}/d2/report.csv`]
    expect((yield* Effect.flip(plan(paths))).message).toBe(
      `${paths.join(" and ")} have the same name, report.csv: add -r to keep the folders, or rename one`
    )
    expect((yield* Effect.flip(plan([`${folder}/e/\u00e9`, `${folder}/f/e\u0301`]))).message).toContain(
      "have the same name"
    )
    expect(namesOf(yield* plan([`${folder}/d1`, `${folder}/d2`], true))).toEqual(["d1/report.csv", "d2/report.csv"])
  })

  it.effect("takes a file once that several arguments name", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith("a.txt", "b.txt")
    yield* fs.symlink(folder, `${folder}/link`)
    const paths = [`${folder}/a.txt`, `${folder}/./a.txt`, `${folder}/link/a.txt`, `${folder}/*.txt`]
    expect(namesOf(yield* plan(paths))).toEqual(["a.txt", "b.txt"])
  })

  it.effect("refuses a broken link, also in a folder", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith("a.txt")
    yield* fs.symlink("nowhere", `${folder}/link`)
    const message = `${folder}/link: no such file`
    expect((yield* Effect.flip(plan([`${folder}/link`]))).message).toBe(message)
    expect((yield* Effect.flip(plan([folder], true))).message).toBe(message)
  })

  it.effect("expands a pattern that the shell did not expand", function* () {
    const folder = yield* folderWith("a.jpg", "b.jpg", "c.txt", "photos/d.jpg")
    expect(namesOf(yield* plan([`${folder}/*.jpg`]))).toEqual(["a.jpg", "b.jpg"])
    expect(namesOf(yield* plan([`${folder}/**/*.jpg`]))).toEqual(["a.jpg", "b.jpg", "d.jpg"])
    expect(namesOf(yield* plan([`${folder}/p*`], true))).toEqual(["photos/d.jpg"])
    expect((yield* Effect.flip(plan([`${folder}/*.png`]))).message).toBe(`${folder}/*.png: no file matches`)
  })

  it.effect("takes the links that match a pattern as it takes links that are typed", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith("a.jpg", "photos/d.jpg")
    yield* fs.symlink(`${folder}/a.jpg`, `${folder}/link.jpg`)
    yield* fs.symlink(`${folder}/photos`, `${folder}/more.jpg`)
    expect(namesOf(yield* plan([`${folder}/*.jpg`]))).toEqual(["a.jpg", "link.jpg"])
    expect(namesOf(yield* plan([`${folder}/*.jpg`], true))).toHaveLength(3)
    yield* fs.symlink("nowhere", `${folder}/broken.jpg`)
    const message = `${folder}/broken.jpg: no such file`
    expect((yield* Effect.flip(plan([`${folder}/*.jpg`]))).message).toBe(message)
  })

  it.effect("takes a file whose name looks like a pattern", function* () {
    const folder = yield* folderWith("a[1].txt", "a1.txt")
    expect(namesOf(yield* plan([`${folder}/a[1].txt`]))).toEqual(["a[1].txt"])
  })

  it.effect.each<readonly [name: string, problem: string]>([
    ["a\u0007b", "the service refuses a name with control characters; rename the file"],
    ["a\nb", "the service refuses a name with control characters; rename the file"],
    [String.raw`a\b`, "the service refuses this name (Expected a name without slash or backslash); rename the file"]
  ])("refuses %j by name", function* ([name, problem]) {
    const folder = yield* folderWith(name)
    // The line break of a name is shown, and does not break the line.
    const shown = name.replace("\u0007", "\\x07").replace("\n", "\\x0a")
    expect((yield* Effect.flip(plan([`${folder}/${name}`]))).message).toBe(`${folder}/${shown}: ${problem}`)
  })

  it.effect("refuses a name that is not UTF-8, also in a folder", function* () {
    const folder = yield* folderWith()
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff])]), "")
    const problem = "the name is not valid UTF-8; rename the file"
    expect((yield* Effect.flip(plan([`${folder}/a\ufffd`]))).message).toBe(`${folder}/a\ufffd: ${problem}`)
    expect((yield* Effect.flip(plan([folder], true))).message).toBe(`${folder}/a\ufffd: ${problem}`)
  })

  it.effect("takes a link to a file, and refuses a link to a folder in a folder", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* folderWith("photos/a.jpg", "elsewhere/b.jpg")
    yield* fs.symlink(`${folder}/photos/a.jpg`, `${folder}/photos/c.jpg`)
    expect(namesOf(yield* plan([`${folder}/photos`], true))).toEqual(["photos/a.jpg", "photos/c.jpg"])
    yield* fs.symlink(`${folder}/elsewhere`, `${folder}/photos/link`)
    expect((yield* Effect.flip(plan([`${folder}/photos`], true))).message).toMatch(
      /\/photos\/link: is a link to a folder, which is not followed/
    )
  })

  it.effect("requires a name for the standard input, and only for it", function* () {
    const folder = yield* folderWith("a.txt")
    expect((yield* Effect.flip(plan(["-"]))).message).toBe("give the standard input (-) a name with --name")
    expect((yield* Effect.flip(plan(["-", "-"], false, "a"))).message).toBe(
      "the standard input (-) can be uploaded only once"
    )
    expect((yield* Effect.flip(plan([`${folder}/a.txt`], false, "a"))).message).toBe(
      "--name is the name of the standard input; add - to the paths"
    )
    expect((yield* Effect.flip(plan(["-"], false, ".."))).message).toMatch(/^-: .*; give another --name$/)
    const files = yield* plan(["-", `${folder}/a.txt`], false, "b.txt")
    expect(namesOf(files)).toEqual(["b.txt", "a.txt"])
    expect(UploadPlan.totalSize(files)).toBeUndefined()
    expect(UploadPlan.replayable(files)).toBeUndefined()
  })

  it.effect(
    "takes what is below a matching folder once, and a file whose name begins as the folder does",
    function* () {
      const folder = yield* folderWith("photos/a.jpg", "photos-old.jpg")
      expect(namesOf(yield* plan([`${folder}/{photos,photos/*}`], true))).toEqual(["photos/a.jpg"])
      expect(namesOf(yield* plan([`${folder}/photos*`], true)).toSorted()).toEqual(["photos-old.jpg", "photos/a.jpg"])
    }
  )
})
