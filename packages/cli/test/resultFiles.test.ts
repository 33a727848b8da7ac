import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { text } from "./support/texts.ts"
import * as Shown from "../src/internal/assembly.ts"

const places = (...files: ReadonlyArray<readonly [step: string, name: string]>) =>
  Shown.place(files.map(([step, name]) => ({ step, file: { name } }))).map(({ folder, name }) =>
    folder === "" ? name : `${folder}/${name}`
  )

const stored = (...paths: ReadonlyArray<string>) =>
  Shown.place(paths.map((path) => ({ step: "stored", file: { name: "report.csv", path } }))).map(({ folder, name }) =>
    folder === "" ? name : `${folder}/${name}`
  )

describe("Shown.of", () => {
  const results = {
    thumbs: [{ name: "10.jpg" }, { name: "2.jpg" }],
    ":original": [{ name: "a.png" }, { name: "b.png" }],
    empty: [],
    archived: [{ name: "z", path: "b/1" }, { path: "a/2" }]
  }
  const names = (...steps: ReadonlyArray<string>) =>
    (steps.length === 0 ? Shown.of({ results }) : Shown.of({ results }, steps)).map(
      ({ file, step }) => `${step} ${file.path ?? file.name}`
    )

  it("has the files of every Step except the uploads, sorted by Step and by name", () => {
    expect(names()).toEqual(["archived a/2", "archived b/1", "thumbs 2.jpg", "thumbs 10.jpg"])
    expect(Shown.stepsOf({ results })).toEqual(["archived", "thumbs"])
    expect(Shown.counted({ results })).toBe("4 results")
    expect(Shown.counted({ results: { ":original": [{}], a: [{}] } })).toBe("1 result")
  })

  it("has the uploads if their Step is given, and a Step that is given twice once", () => {
    expect(names("thumbs", ":original", "thumbs")).toEqual([
      ":original a.png",
      ":original b.png",
      "thumbs 2.jpg",
      "thumbs 10.jpg"
    ])
    expect(names("nope")).toEqual([])
  })

  it("is empty without results", () => {
    expect(Shown.of({})).toEqual([])
    expect(Shown.total({ results: null })).toBe(0)
  })
})

describe("Shown.place", () => {
  it("puts the files of one Step together, and those of several Steps into folders", () => {
    expect(places(["a", "x.jpg"], ["a", "y.jpg"])).toEqual(["x.jpg", "y.jpg"])
    expect(places(["a", "x.jpg"], ["b", "x.jpg"])).toEqual(["a/x.jpg", "b/x.jpg"])
  })

  it("keeps files with equal names apart, also if only their case or their normalization differs", () => {
    expect(places(["a", "x.tar.gz"], ["a", "X.tar.gz"], ["a", "x.tar.gz"], ["a", "x.tar-2.gz"])).toEqual([
      "x.tar.gz",
      "X.tar-2.gz",
      "x.tar-3.gz",
      "x.tar-2-2.gz"
    ])
    expect(places(["a", "\u00fc"], ["a", "u\u0308"])).toEqual(["\u00fc", "u\u0308-2"])
  })

  it("keeps the folders of the paths in the Workspace", () => {
    expect(stored("d1/report.csv", "d2/report.csv", "report.csv")).toEqual([
      "d1/report.csv",
      "d2/report.csv",
      "report.csv"
    ])
    expect(places(["a", "d1/report.csv"], ["b", "d1/report.csv"])).toEqual(["a/d1/report.csv", "b/d1/report.csv"])
  })

  it("gives no file the path of a folder of another file", () => {
    expect(stored("D1", "d1/a", "d1-2/b")).toEqual(["D1-3", "d1/a", "d1-2/b"])
  })

  it.each([
    ["../../etc/passwd", "etc/passwd"],
    [String.raw`..\..\system.ini`, "system.ini"],
    [String.raw`C:\Windows\system.ini`, "C_/Windows/system.ini"],
    ["/etc/", "etc"],
    ["..", "file"],
    ["a/./b//../c", "a/b/c"],
    ["...", "_"],
    [" .env", "_env"],
    [".git/config", "_git/config"],
    ["nul", "_nul"],
    ["Con.txt", "_Con.txt"],
    ["com1 .log/lpt\u00b2", "_com1 .log/_lpt\u00b2"],
    ["console", "console"],
    ["a. ./b", "a_/b"],
    [".env", "_env"],
    ["", "file"],
    ["a\u001b[2Jb\n", "a_[2Jb_"],
    ["C:x", "C_x"],
    // A file system cannot store a half of a pair of UTF-16.
    ["a\ud800", "a\ufffd"]
  ])("saves %j as %s", (name, saved) => {
    expect(places(["a", name])).toEqual([saved])
  })

  it.each([
    ["a".repeat(255), "a".repeat(240)],
    [`${"a".repeat(300)}.jpeg`, `${"a".repeat(235)}.jpeg`],
    [`${"\u{1f408}".repeat(80)}.png`, `${"\u{1f408}".repeat(59)}.png`],
    [`a.${"b".repeat(300)}`, `a.${"b".repeat(238)}`]
  ])("shortens a name that no file system accepts: %j", (name, saved) => {
    expect(stored(`${name}/${name}`, `${name}/${name}`).map((path) => path.split("/"))).toEqual([
      [saved, saved],
      [saved, expect.stringMatching(/-2(?:\.|$)/)]
    ])
  })

  const names = Arbitrary.array(Arbitrary.all([Arbitrary.schema(Schema.Literals(["..", "a", "b/../c"])), text]), {
    maxLength: 8
  })

  it.prop("every place is different, visible and inside of the destination", { files: names }, ({ files }) => {
    const found = places(...files)
    expect(new Set(found.map((path) => path.toLowerCase())).size).toBe(files.length)
    for (const path of found) {
      for (const part of path.split("/")) {
        expect(part).toMatch(/^[^./\\][^/\\]*$/)
        expect(new TextEncoder().encode(part).length).toBeLessThan(256)
      }
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      expect(path).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    }
  })
})
