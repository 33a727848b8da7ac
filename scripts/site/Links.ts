/** Checks the links of a folder of HTML pages. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

const entities: Record<string, string> = { "&amp;": "&", "&quot;": '"', "&#39;": "'", "&lt;": "<", "&gt;": ">" }

const decoded = (value: string) => value.replace(/&(?:amp|quot|#39|lt|gt);/g, (entity) => entities[entity] ?? entity)

const values = (html: string, attribute: string): ReadonlyArray<string> =>
  Array.from(html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, "g")), ([, value = ""]) => decoded(value))

/**
 * Every link within the folder whose file or whose anchor does not exist, and every link to a host by plain http, as one
 * line. Nobody writes such a link: it is a file name that was taken for a domain.
 */
export const broken = (folder: string): ReadonlyArray<string> => {
  const pages = globSync("**/*.html", { cwd: folder }).map((page) => join(folder, page))
  const read = new Map(pages.map((page) => [page, readFileSync(page, "utf8")]))
  const anchors = new Map(Array.from(read, ([page, html]) => [page, new Set(values(html, "id"))]))
  return Array.from(read).flatMap(([page, html]) =>
    Array.from(new Set([...values(html, "href"), ...values(html, "src")])).flatMap((target) => {
      if (/^http:\/\/(?!localhost|127\.)/.test(target)) return [`${relative(folder, page)}: ${target}: plain http`]
      if (/^(?:[a-z]+:|\/\/)/.test(target)) return []
      const [path = "", anchor = ""] = target.split("#")
      const file = path === "" ? page : join(dirname(page), decodeURIComponent(path.split("?")[0] ?? ""))
      const problem = !existsSync(file)
        ? "no such file"
        : anchor === "" || anchors.get(file)?.has(decodeURIComponent(anchor)) !== false
          ? undefined
          : "no such anchor"
      return problem === undefined ? [] : [`${relative(folder, page)}: ${target}: ${problem}`]
    })
  )
}
