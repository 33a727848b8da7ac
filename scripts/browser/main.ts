// Tests the example page in the browsers of this machine: an undisturbed upload, a paused upload, a reload, two tabs, a
// restart of the browser, a stalled connection and a lost connection. At the end of each upload, the service must have
// stored the given file exactly once.
//
//   node scripts/browser/main.ts                  Chromium and Firefox, where they are installed
//   node scripts/browser/main.ts chrome           one of them
//   node scripts/browser/main.ts --only=tabs      one kind of run
//   node scripts/browser/main.ts --http1          over plain HTTP/1.1 instead of HTTP/2
import { createHash, randomBytes } from "node:crypto"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import * as path from "node:path"
import type { Browser, Page as BrowserPage } from "puppeteer-core"
import * as Application from "./Application.ts"
import * as Page from "./Page.ts"

const args = process.argv.slice(2)

/** The rate of the link in bytes per second, and the size of a file in bytes. An upload takes about four seconds. */
const rate = 4_000_000
const size = 16_000_000

const sha256 = async (file: string) =>
  createHash("sha256")
    .update(await readFile(file))
    .digest("hex")

interface World {
  readonly application: Application.Application
  readonly kind: Page.Kind
  readonly browser: Browser
  readonly profile: string
  readonly file: string
  /** Must be called with a browser that replaces `browser`, so that it is closed at the end. */
  readonly restarted: (browser: Browser) => void
}

/** Opens the page, chooses the file, and waits until about so many percent are sent. */
const begun = async ({ application, browser, file }: World, percent: 20 | 30): Promise<BrowserPage> => {
  const page = await Page.open(browser, application.url)
  await Page.choose(page, file)
  await Page.until(page, percent === 20 ? /, [2-9]\d%/ : /, [3-9]\d%/)
  return page
}

/** The text that shows where an upload continued. Fails if the upload started again at its first byte. */
const continued = (said: ReadonlyArray<string>): string => {
  const text = said.find((one) => /^Continuing at [1-9]/.test(one))
  if (text === undefined) throw new Error(`it did not continue: ${said.slice(-5).join(" | ")}`)
  return text
}

/**
 * The disturbances of the upload of `world.file`. Each function returns a text for the output, or undefined if the
 * browser does not support the disturbance.
 */
const scenarios: Readonly<Record<string, (world: World) => Promise<string | undefined>>> = {
  whole: async ({ application, browser, file }) => {
    const page = await Page.open(browser, application.url)
    await Page.choose(page, file)
    const said = await Page.until(page, /^Stored/)
    const moves = said.filter((text) => text.includes("%")).length
    if (moves < 3) throw new Error(`its progress moved ${moves} times`)
    return `progress moved ${moves} times`
  },
  paused: async (world) => {
    const page = await begun(world, 30)
    await Page.click(page, "pause")
    await Page.until(page, /^Paused/)
    await Page.click(page, "resume")
    return continued(await Page.until(page, /^Stored/))
  },
  "with the keyboard alone": async ({ application, browser, file }) => {
    const page = await Page.open(browser, application.url)
    await page.keyboard.press("Tab")
    const focused = () => page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.id)
    if ((await focused()) !== "files") throw new Error(`the first Tab focuses ${await focused()}`)
    await Page.choose(page, file)
    await Page.until(page, /, [3-9]\d%/)
    await page.keyboard.press("Tab")
    if ((await focused()) !== "Pause holiday.mov") throw new Error(`the second Tab focuses ${await focused()}`)
    await page.keyboard.press(" ")
    await Page.until(page, /^Paused/)
    if ((await focused()) !== "Resume holiday.mov")
      throw new Error(`after the pause, the focus is on ${await focused()}`)
    await page.keyboard.press("Enter")
    const labels = await page.$$eval("progress, input, ul", (all) => all.map((one) => one.ariaLabel ?? one.id))
    if (labels.join() !== "files,Uploads,Progress of holiday.mov") throw new Error(`labels: ${labels.join()}`)
    return continued(await Page.until(page, /^Stored/))
  },
  canceled: async (world) => {
    const page = await begun(world, 30)
    const canceled = page.waitForResponse((response) => response.request().method() === "DELETE")
    await Page.click(page, "cancel")
    const status = (await canceled).status()
    if (status !== 204) throw new Error(`the application answered ${status}`)
    await page.reload()
    await page.waitForNetworkIdle()
    const rows = await page.$$(".upload")
    if (rows.length > 0) throw new Error("the canceled upload is still shown after a reload")
    return "nothing is left"
  },
  reloaded: async (world) => {
    const { file } = world
    const page = await begun(world, 30)
    await page.reload()
    await Page.until(page, /^Not finished/)
    await Page.choose(page, file)
    return continued(await Page.until(page, /^Stored/))
  },
  "two tabs, the first is closed": async ({ application, browser, file }) => {
    const first = await Page.open(browser, application.url)
    const second = await Page.open(browser, application.url)
    await first.bringToFront()
    await Page.choose(first, file)
    await Page.until(first, /, [2-9]\d%/)
    await second.bringToFront()
    await Page.choose(second, file)
    await Page.until(second, /^Another tab/)
    const closed = Date.now()
    await first.close()
    await Page.until(second, /, \d+%|^Continuing/)
    const waited = Date.now() - closed
    await Page.until(second, /^Stored/)
    if (waited > 4000) throw new Error(`the second tab waited for ${waited} ms`)
    return `the second tab went on after ${waited} ms`
  },
  "browser killed and started again": async (world) => {
    const { application, browser, file, kind, profile, restarted } = world
    await begun(world, 30)
    const ended = new Promise((resolve) => browser.process()?.once("exit", resolve))
    browser.process()?.kill("SIGKILL")
    await ended
    const again = await Page.launch(kind, profile)
    restarted(again)
    const next = await Page.open(again, application.url)
    await Page.until(next, /^Not finished/)
    await Page.choose(next, file)
    return continued(await Page.until(next, /^Stored/))
  },
  "no space for the journal": async ({ application, browser, file, kind }) => {
    // Only Chromium supports this command.
    if (kind.name !== "chrome") return undefined
    const page = await Page.open(browser, application.url)
    const session = await page.createCDPSession()
    await session.send("Storage.overrideQuotaForOrigin", { origin: application.url, quotaSize: 1 })
    await Page.choose(page, file)
    const said = await Page.until(page, /make space/)
    return said.at(-1) ?? ""
  },
  "connection lost for 5 s": async (world) => {
    const { application, kind } = world
    const page = await begun(world, 20)
    // Firefox does not support this command, so only its connections are reset.
    if (kind.name === "chrome") await page.setOfflineMode(true)
    application.proxy.set("down")
    await Page.until(page, /^The connection was lost/)
    await new Promise((resolve) => setTimeout(resolve, 5000))
    if (kind.name === "chrome") await page.setOfflineMode(false)
    application.proxy.set("up")
    return continued(await Page.until(page, /^Stored/))
  },
  "laptop closed for 40 s": async (world) => {
    const { application } = world
    const page = await begun(world, 20)
    application.proxy.set("stalled")
    await new Promise((resolve) => setTimeout(resolve, 40_000))
    application.proxy.set("up")
    return continued(await Page.until(page, /^Stored/, 120))
  }
}

/** After these, the service need not have stored the file. */
const unfinished = new Set(["canceled", "no space for the journal"])

/** Runs a scenario with a new profile and a new service. */
const run = async (kind: Page.Kind, name: string, scenario: (typeof scenarios)[string]): Promise<boolean> => {
  const application = await Application.start({ rate, http1: args.includes("--http1") })
  const profile = path.join(application.folder, "profile")
  await mkdir(profile)
  const file = path.join(application.folder, "holiday.mov")
  await writeFile(file, randomBytes(size))
  const began = Date.now()
  let browser: Browser | undefined
  try {
    browser = await Page.launch(kind, profile)
    const restarted = (next: Browser) => (browser = next)
    const told = await scenario({ application, kind, browser, profile, file, restarted })
    if (told === undefined) {
      console.log(`not run ${kind.name}  ${name}`)
      return true
    }
    const stored = await Promise.all((await application.stored()).map(sha256))
    const given = await sha256(file)
    // The service may keep a part of a canceled upload until the part expires.
    const isAsItShouldBe = unfinished.has(name) ? !stored.includes(given) : stored.length === 1 && stored[0] === given
    if (!isAsItShouldBe) throw new Error(`${stored.length} files, or other bytes`)
    const overhead = application.proxy.sent() / size - 1
    if (overhead > 0.3) throw new Error(`${Math.round(overhead * 100)}% were sent again`)
    console.log(`ok      ${kind.name}  ${name}: ${told} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
    return true
  } catch (error) {
    console.log(`FAILED  ${kind.name}  ${name}: ${String(error)}`)
    return false
  } finally {
    await browser?.close().catch(() => {})
    await application.close()
  }
}

await Application.bundle()
const only = args.filter((arg) => arg.startsWith("--only=")).map((arg) => arg.slice("--only=".length))
const chosen = Object.entries(scenarios).filter(
  ([name]) => only.length === 0 || only.some((word) => name.includes(word))
)
const named = Page.kinds.filter((kind) => args.includes(kind))
for (const name of named.length > 0 ? named : Page.kinds) {
  const kind = Page.find(name)
  if (kind === undefined) console.log(`not run ${name}: this machine does not have it`)
  else for (const scenario of chosen) if (!(await run(kind, ...scenario))) process.exitCode = 1
}
