import * as UploadPlan from "../src/internal/uploadPlan.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layerTest, test } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Option, PlatformError, Result } from "effect"
import { writeFileSync } from "node:fs"
import { relative } from "node:path"
import * as Uploading from "./support/uploading.ts"

/** A folder with these files, whose content is their name. `link -> target` is a link, and `name/` a folder. */
const folderWith = Effect.fnUntraced(function* (...names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const files = names.filter((name) => !/ -> |\/$/.test(name))
  const folder = yield* Uploading.folderWith(Object.fromEntries(files.map((name) => [name, name])))
  for (const name of names) {
    const [link = "", target] = name.split(" -> ")
    if (target !== undefined) yield* fs.symlink(target.replace("~", folder), `${folder}/${link}`)
    else if (name.endsWith("/")) yield* fs.makeDirectory(`${folder}/${name}`)
  }
  return folder
})

const flags = { listed: [], include: [], exclude: [], watch: false, folder: undefined }

const plan = (paths: ReadonlyArray<string>, isRecursive = false, inputName?: string) =>
  UploadPlan.make({ ...flags, paths, recursive: isRecursive, name: Option.fromUndefinedOr(inputName) })

const namesOf = (files: ReadonlyArray<UploadPlan.Planned>) => files.map(({ name }) => name)

/** The words of a command with the files below `~`, and the names at the service, or the message of the refusal. */
type Row = readonly [files: string, args: string, expected: string]

const control = "the service refuses a name with control characters; rename the file"
const input = "the standard input (-)"

layerTest(NodeServices.layer)("UploadPlan.make", (it) => {
  it.effect("skips a link in a watched folder, and finds the files beside it", function* () {
    const folder = yield* folderWith("in/a.txt", "in/gone -> nowhere", "in/loop -> ~", "in/z.txt")
    const skipped: Array<string> = []
    const files = yield* UploadPlan.make({
      ...flags,
      paths: [`${folder}/in`],
      recursive: true,
      watch: true,
      name: Option.none(),
      skip: ({ message }) => Effect.sync(() => void skipped.push(message.replaceAll(folder, "~")))
    })
    expect(namesOf(files)).toEqual(["in/a.txt", "in/z.txt"])
    expect(skipped).toEqual([
      "~/in/gone: no such file",
      "~/in/loop: is a link to a folder, which is not followed; remove the link, or upload its target"
    ])
  })

  it.effect.each([
    ["a/a.txt", ["a", "cache"], ["cache/"]],
    ["no file is left after --include and --exclude", ["cache"], ["cache/"]]
  ] as const)("gives %s if a folder is excluded as a whole", function* ([expected, names, exclude]) {
    const folder = yield* folderWith("a/a.txt", "cache/x.o")
    const paths = names.map((name) => `${folder}/${name}`)
    const made = UploadPlan.make({ ...flags, paths, exclude, recursive: true, name: Option.none() })
    const told = yield* Effect.match(made, { onSuccess: (all) => namesOf(all).join(" "), onFailure: String })
    expect(told).toContain(expected)
  })

  it.effect.each<Row>([
    ["d1/a.csv b.csv", "~/d1/a.csv ~/b.csv", "a.csv b.csv"],
    ["photos/2026/a.jpg photos/b.jpg", "~/photos", "~/photos: is a folder; add -r to upload its files"],
    ["photos/2026/a.jpg photos/b.jpg", "-r ~/photos", "photos/2026/a.jpg photos/b.jpg"],
    ["photos/2026/a.jpg photos/b.jpg", "-r ~/photos/", "photos/2026/a.jpg photos/b.jpg"],
    ["empty/", "-r ~/empty", "~/empty: the folder contains no files"],
    [
      "d1/report.csv d2/report.csv",
      "~/d1/report.csv ~/d2/report.csv",
      "~/d1/report.csv and ~/d2/report.csv have the same name, report.csv: add -r to keep the folders, or rename one"
    ],
    ["d1/report.csv d2/report.csv", "-r ~/d1 ~/d2", "d1/report.csv d2/report.csv"],
    // The same name in another normal form.
    [
      "e/\u00e9 f/e\u0301",
      "~/e/\u00e9 ~/f/e\u0301",
      "~/e/\u00e9 and ~/f/e\u0301 have the same name, \u00e9: add -r to keep the folders, or rename one"
    ],
    // A file is uploaded once that several arguments name.
    ["a.txt b.txt link->~", "~/a.txt ~/./a.txt ~/link/a.txt ~/*.txt", "a.txt b.txt"],
    ["a.txt link->nowhere", "~/link", "~/link: no such file"],
    ["a.txt link->nowhere", "-r ~", "~/link: no such file"],
    ["a.jpg b.jpg c.txt photos/d.jpg", "~/*.jpg", "a.jpg b.jpg"],
    ["a.jpg b.jpg c.txt photos/d.jpg", "~/**/*.jpg", "a.jpg b.jpg d.jpg"],
    ["a.jpg b.jpg c.txt photos/d.jpg", "-r ~/p*", "photos/d.jpg"],
    ["a.jpg", "~/*.png", "~/*.png: no file matches"],
    // Links that match a pattern are taken as links that are typed.
    ["a.jpg photos/d.jpg link.jpg->~/a.jpg more.jpg->~/photos", "~/*.jpg", "a.jpg link.jpg"],
    ["a.jpg photos/d.jpg link.jpg->~/a.jpg more.jpg->~/photos", "-r ~/*.jpg", "a.jpg link.jpg more.jpg/d.jpg"],
    ["a.jpg broken.jpg->nowhere", "~/*.jpg", "~/broken.jpg: no such file"],
    ["a[1].txt a1.txt", "~/a[1].txt", "a[1].txt"],
    // What is below a matching folder is taken once, and a file whose name begins as the folder does, too.
    ["photos/a.jpg photos-old.jpg", "-r ~/{photos,photos/*}", "photos/a.jpg"],
    ["photos/a.jpg photos-old.jpg", "-r ~/photos*", "photos-old.jpg photos/a.jpg"],
    // The line break of a name is shown, and does not break the line.
    ["a\u0007b", "~/a\u0007b", `~/a\\x07b: ${control}`],
    ["a\nb", "~/a\nb", `~/a\\x0ab: ${control}`],
    [
      String.raw`a\b`,
      String.raw`~/a\b`,
      String.raw`~/a\b: the service refuses this name (Expected a name without slash or backslash); rename the file`
    ],
    ["photos/a.jpg photos/c.jpg->~/photos/a.jpg", "-r ~/photos", "photos/a.jpg photos/c.jpg"],
    [
      "photos/a.jpg b/b.jpg photos/link->~/b",
      "-r ~/photos",
      "~/photos/link: is a link to a folder, which is not followed; remove the link, or upload its target"
    ],
    ["a.txt", "-", `give ${input} a name with --name`],
    ["a.txt", "--name=a - -", `${input} can be uploaded only once`],
    ["a.txt", "--name=a ~/a.txt", "--name is the name of the standard input; add - to the paths"]
  ])("of %j with %j is %j", function* ([files, args, expected]) {
    const folder = yield* folderWith(...files.split(" ").map((name) => name.replace("->", " -> ")))
    const words = args.replaceAll("~", folder).split(" ")
    const paths = words.filter((word) => !/^-./.test(word))
    const name = /--name=(\S+)/.exec(args)?.[1]
    const found = yield* Effect.result(plan(paths, words.includes("-r"), name))
    const told = Result.isSuccess(found) ? namesOf(found.success).toSorted().join(" ") : found.failure.message
    expect(told.replaceAll(folder, "~")).toBe(expected)
  })

  it.effect("has the whole size, if it is known, and the files, if they can be read again", function* () {
    const folder = yield* folderWith("d1/a.csv", "b.csv")
    const files = yield* plan([`${folder}/d1/a.csv`, `${folder}/b.csv`])
    expect([UploadPlan.totalSize(files), UploadPlan.replayable(files)?.length]).toEqual([13n, 2])
    expect((yield* Effect.flip(plan(["-"], false, ".."))).message).toMatch(/^-: .*; give another --name$/)
    const mixed = yield* plan(["-", `${folder}/b.csv`], false, "b.txt")
    expect(namesOf(mixed)).toEqual(["b.txt", "b.csv"])
    expect([UploadPlan.totalSize(mixed), UploadPlan.replayable(mixed)]).toEqual([undefined, undefined])
  })

  it.effect("leaves out a file with a problem, and tells it, if the caller says so", function* () {
    const folder = yield* folderWith("d/a.jpg", "d/b\nc.jpg")
    const told: Array<string> = []
    const skip = ({ message }: { readonly message: string }) => Effect.sync(() => void told.push(message))
    const options = { ...flags, paths: [`${folder}/d`], recursive: true, name: Option.none() }
    expect(namesOf(yield* UploadPlan.make({ ...options, skip }))).toEqual(["d/a.jpg"])
    expect(told).toEqual([`${folder}/d/b\\x0ac.jpg: ${control}`])
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
    const planned = Effect.provideService(plan([`${folder}/photos`], true), FileSystem.FileSystem, guarded)
    expect((yield* Effect.flip(planned)).message).toBe(`${folder}/photos/2026/secret: permission denied`)
  })

  it.effect("names no folder above the working folder", function* () {
    const above = relative(process.cwd(), `${yield* folderWith("photos/a.jpg")}/photos`)
    expect(above).toMatch(/^\.\.\//)
    expect(namesOf(yield* plan([above], true))).toEqual(["photos/a.jpg"])
  })

  it.effect("refuses a name that is not UTF-8, also in a folder", function* () {
    const folder = yield* folderWith()
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff])]), "")
    const problem = "the name is not valid UTF-8; rename the file"
    expect((yield* Effect.flip(plan([`${folder}/a\ufffd`]))).message).toBe(`${folder}/a\ufffd: ${problem}`)
    expect((yield* Effect.flip(plan([folder], true))).message).toBe(`${folder}/a\ufffd: ${problem}`)
  })
})

test.each<readonly [pattern: string, paths: string, matches: string]>([
  ["*.jpg", "a.jpg d/b.jpg a.jpg.txt jpg", "a.jpg d/b.jpg"],
  ["b.jpg", "b.jpg d/b.jpg ab.jpg b.jpg/c", "b.jpg d/b.jpg b.jpg/c"],
  ["/b.jpg", "b.jpg d/b.jpg", "b.jpg"],
  ["cache/", "cache d/cache/x cache/y caches/z", "d/cache/x cache/y"],
  ["d/*.txt", "d/a.txt c/d/a.txt d/e/a.txt", "d/a.txt c/d/a.txt"],
  ["d/**", "d/a d/e/f x", "d/a d/e/f"],
  ["/d/**/z", "d/z d/e/f/z z", "d/z d/e/f/z"],
  ["?.[a-c]", "1.a 1.d 12.a /.a", "1.a"],
  ["[!a].t", "a.t b.t", "b.t"],
  ["*.{jpg,png?}", "a.jpg a.png a.pngx", "a.jpg a.pngx"],
  ["a+(b).$", "a+(b).$ aab", "a+(b).$"],
  ["caf\u00e9", "cafe\u0301 cafe", "cafe\u0301"]
])("the pattern %j picks of %j: %j", (pattern, paths, matches) => {
  const all = paths.split(" ")
  const [included, excluded] = [
    UploadPlan.picking({ include: [pattern], exclude: [] }),
    UploadPlan.picking({ include: [], exclude: [pattern] })
  ]
  expect(all.filter(included).join(" ")).toBe(matches)
  expect(all.filter((path) => !excluded(path)).join(" ")).toBe(matches)
})

test("a file is uploaded if it matches one of several includes and none of the excludes", () => {
  const isPicked = UploadPlan.picking({ include: ["*.jpg", "*.png"], exclude: ["b.*"] })
  expect(["a.jpg", "a.png", "a.txt", "b.jpg"].filter(isPicked)).toEqual(["a.jpg", "a.png"])
})
