import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Links from "./Links.ts"
import * as Pages from "./Pages.ts"

/** Runs a test with a new folder that contains these files. */
const within = (files: Readonly<Record<string, string>>, test: (folder: string) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), "site-"))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    test(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe("Links", () => {
  it("names each link to a file or an anchor that does not exist", () =>
    within(
      {
        "a.html": `<h1 id="a&amp;b">A</h1><a href="#a%26b"></a><a href="#c"></a><a href="b/c.html#d"></a>`,
        "b/c.html": `<h1 id="d">D</h1><a href="../a.html"></a><a href="../a.html#z"></a><img src="no.svg"/>`,
        "d.html": `<a href="https://example.com/none"></a><a href="mailto:a@example.com"></a><a href="http://spec.md"></a>`
      },
      (folder) =>
        assert.sameMembers(Array.from(Links.broken(folder)), [
          "a.html: #c: no such anchor",
          `${join("b", "c.html")}: ../a.html#z: no such anchor`,
          `${join("b", "c.html")}: no.svg: no such file`,
          "d.html: http://spec.md: plain http"
        ])
    ))
})

const repository = {
  "README.md": "# The name\n\n[guide](docs/guides/a.md), [package](packages/tus)\n",
  "packages/tus/README.md": "# `@assembly-effect/tus`\n",
  "packages/tus/src/Upload.ts": "export {}\n",
  "packages/tus/src/internal/run.ts": "export {}\n",
  "docs/guides/a.md": [
    "# The `a` of b",
    "[m](../../packages/tus/src/Upload.ts) [s](../../packages/tus/src/internal/run.ts) [f](../../packages) [h](#x)",
    "![p](p.svg)",
    "```md",
    "# [code](none.md)",
    "```"
  ].join("\n"),
  "docs/guides/p.svg": "<svg/>"
}

describe("Pages", () => {
  it("gives each page a title and a group, and its links a target in the site", () =>
    within(repository, (root) =>
      within({}, (site) => {
        const pages = Pages.write(root, site)
        assert.deepStrictEqual([...pages], [join(site, "docs/guides/a.md"), join(site, "packages/tus/README.md")])
        const lines = readFileSync(join(site, "docs/guides/a.md"), "utf8").split("\n")
        assert.deepStrictEqual(lines.slice(0, 6), [
          "---",
          'title: "The a of b"',
          "group: Guides",
          "---",
          "",
          "# The a of b"
        ])
        const [, toModule = ""] = /^\[m\]\(([^)]*)\)/.exec(lines[6] ?? "") ?? []
        assert.strictEqual(join(site, "docs/guides", toModule), join(root, "packages/tus/src/Upload.ts"))
        assert.include(lines[6], "[s](../../packages/tus/src/internal/run.ts.txt) f [h](#x)")
        assert.deepStrictEqual(lines.slice(7), ["![p](./p.svg)", "```md", "# [code](none.md)", "```"])
        assert.strictEqual(readFileSync(join(site, "docs/guides/p.svg"), "utf8"), "<svg/>")
        assert.strictEqual(
          readFileSync(join(site, "README.md"), "utf8"),
          "\n[guide](./docs/guides/a.md), [package](./packages/tus/README.md)\n"
        )
      })
    ))

  it("refuses a link to a file that does not exist", () =>
    within({ ...repository, "docs/guides/b.md": "# B\n\n[c](c.md)\n" }, (root) =>
      within({}, (site) =>
        assert.throws(() => Pages.write(root, site), "docs/guides/b.md links to c.md, which does not exist")
      )
    ))

  it("finds the target of every link in the Markdown of the repository", () =>
    within({}, (site) => {
      const pages = Pages.write(join(import.meta.dirname, "../.."), site)
      assert.isAbove(pages.length, 30)
    }))
})
