import { expect, it } from "vitest"
import * as UploadPlan from "../src/internal/uploadPlan.ts"

it.each<readonly [pattern: string, paths: string, matches: string]>([
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

it("a file is uploaded if it matches one of several includes and none of the excludes", () => {
  const isPicked = UploadPlan.picking({ include: ["*.jpg", "*.png"], exclude: ["b.*"] })
  expect(["a.jpg", "a.png", "a.txt", "b.jpg"].filter(isPicked)).toEqual(["a.jpg", "a.png"])
})
