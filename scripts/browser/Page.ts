/**
 * Uses the example page as a user does: reads its text and clicks its buttons.
 */
import { existsSync } from "node:fs"
import * as path from "node:path"
import { type Browser, type ElementHandle, launch as start, type Page } from "puppeteer-core"

export const kinds = ["chrome", "firefox"] as const

/** A browser of this machine. */
export interface Kind {
  readonly name: (typeof kinds)[number]
  readonly executablePath: string
}

const commands = { chrome: ["chromium", "chromium-browser", "google-chrome"], firefox: ["firefox-esr", "firefox"] }

/** The browser of this machine, if it has one. */
export const find = (name: Kind["name"]): Kind | undefined =>
  (process.env["PATH"] ?? "")
    .split(path.delimiter)
    .flatMap((folder) => commands[name].map((command) => path.join(folder, command)))
    .filter((place) => existsSync(place))
    .map((executablePath) => ({ name, executablePath }))[0]

/** Starts a browser, with the profile in a folder if one is given. */
export const launch = ({ executablePath, name }: Kind, userDataDir?: string): Promise<Browser> =>
  start({
    browser: name,
    executablePath,
    ...(userDataDir === undefined ? {} : { userDataDir }),
    acceptInsecureCerts: true,
    // The sandbox of Chromium needs rights that containers and root lack. Without it only our own pages are opened.
    args: name === "chrome" ? ["--no-sandbox", "--disable-dev-shm-usage"] : []
  })

/** Records every text of the first row, because a text may be replaced soon. */
const writeDown = () => {
  const said: Array<string> = []
  Object.assign(globalThis, { said })
  const look = () => {
    const now = document.querySelector(".status")?.textContent ?? undefined
    if (now !== undefined && said.at(-1) !== now) said.push(now)
  }
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true })
}

/** Opens the page of the application in a new tab. */
export const open = async (browser: Browser, url: string): Promise<Page> => {
  const page = await browser.newPage()
  page.on("pageerror", (error) => {
    // Firefox also reports requests that failed because the connection was lost.
    if (!String(error).includes("Cross-Origin Request Blocked")) console.error("page:", error)
  })
  await page.evaluateOnNewDocument(writeDown)
  await page.goto(url)
  return page
}

export const choose = async (page: Page, ...files: ReadonlyArray<string>): Promise<void> => {
  const input = (await page.$("#files")) as ElementHandle<HTMLInputElement> | null
  await input?.uploadFile(...files)
}

/** Waits until the text of the first row matches. Returns every text that the row had since the page was loaded. */
export const until = async (page: Page, wanted: RegExp, seconds = 60): Promise<ReadonlyArray<string>> => {
  const end = Date.now() + seconds * 1000
  for (;;) {
    const said = await page.evaluate(() => (globalThis as unknown as { readonly said: ReadonlyArray<string> }).said)
    if (wanted.test(said.at(-1) ?? "")) return said
    if (Date.now() > end) throw new Error(`the page did not say ${wanted}, but ${said.slice(-5).join(" | ")}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export const click = (page: Page, button: "pause" | "resume" | "cancel"): Promise<void> =>
  page.$eval(`.${button}`, (found) => {
    if (found instanceof HTMLButtonElement) found.click()
  })
