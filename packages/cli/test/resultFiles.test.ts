import * as ResultFiles from "../src/internal/resultFiles.ts"
import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { text } from "./support/texts.ts"

const places = (...files: ReadonlyArray<readonly [step: string, name: string]>) =>
  ResultFiles.place(files.map(([step, name]) => ({ step, file: { name } }))).map(({ folder, name }) =>
    folder === "" ? name : `${folder}/${name}`
  )

describe("ResultFiles.place", () => {
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

  it.each([
    ["../../etc/passwd", "passwd"],
    [String.raw`..\..\system.ini`, "system.ini"],
    ["/etc/", "file"],
    ["..", "_"],
    [".env", "_env"],
    ["", "file"],
    ["a\u001b[2Jb\n", "a_[2Jb_"],
    ["C:x", "C_x"]
  ])("saves %j as %s", (name, saved) => {
    expect(places(["a", name])).toEqual([saved])
  })

  const names = Arbitrary.array(Arbitrary.all([Arbitrary.schema(Schema.Literals(["..", "a", "b/../c"])), text]), {
    maxLength: 8
  })

  it.prop("every place is different, visible and inside of the destination", { files: names }, ({ files }) => {
    const found = places(...files)
    expect(new Set(found.map((path) => path.toLowerCase())).size).toBe(files.length)
    for (const path of found) {
      expect(path.split("/").length).toBeLessThanOrEqual(2)
      for (const part of path.split("/")) expect(part).toMatch(/^[^./\\][^/\\]*$/)
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      expect(path).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
    }
  })
})
