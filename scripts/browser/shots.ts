/**
 * Pictures of the page: light and dark, wide and narrow, with uploads in every state.
 */
import { randomBytes } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import * as path from "node:path"
import * as Application from "./Application.ts"
import * as Page from "./Page.ts"

const files = [
  ["invoice-2026-11.pdf", 240_000],
  ["holiday-in-the-mountains-first-day-from-the-summit.mov", 16_000_000],
  ["interview.wav", 9_000_000]
] as const

export const shoot = async (kind: Page.Kind, folder: string): Promise<void> => {
  const application = await Application.start({ rate: 2_000_000 })
  await mkdir(folder, { recursive: true })
  const profile = path.join(application.folder, "profile")
  await mkdir(profile)
  const browser = await Page.launch(kind, profile)
  try {
    const paths = await Promise.all(
      files.map(async ([name, size]) => {
        const file = path.join(application.folder, name)
        await writeFile(file, randomBytes(size))
        return file
      })
    )
    const page = await Page.open(browser, application.url)
    const picture = async (name: string) => {
      for (const [width, height] of [
        [1200, 900],
        [400, 900]
      ] as const) {
        for (const value of ["light", "dark"]) {
          await page.setViewport({ width, height, deviceScaleFactor: 1 })
          await page.emulateMediaFeatures([
            { name: "prefers-color-scheme", value },
            { name: "prefers-reduced-motion", value: "reduce" }
          ])
          await page.screenshot({ path: path.join(folder, `${name}-${width}-${value}.png`) })
        }
      }
    }
    await picture("empty")
    await Page.choose(page, ...paths.slice(0, 1))
    await Page.until(page, /^Stored/)
    await Page.choose(page, ...paths.slice(1))
    await page.waitForFunction(() => /[2-9]\d%/.test(document.querySelectorAll(".status")[1]?.textContent ?? ""))
    await page.$$eval(".pause", ([, , third]) => third instanceof HTMLButtonElement && third.click())
    await picture("uploading")
    await page.reload()
    await Page.until(page, /^Not finished/)
    await page.focus(".resume")
    await picture("reloaded")
  } finally {
    await browser.close().catch(() => {})
    await application.close()
  }
}
