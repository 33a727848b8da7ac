// Runs an unmodified Uppy (@uppy/core with @uppy/transloadit) in the Chromium of this machine. The page gets its params
// signed by the routes of docs/examples/http-server.ts, uploads a file of 50 MiB to the emulator, and the service
// notifies the application.
//
//   node scripts/uppy/main.ts                    prints what happened
//   node scripts/uppy/main.ts --shot <file.png>  also takes a picture of the page
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { createHash, randomBytes } from "node:crypto"
import { existsSync, globSync } from "node:fs"
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { type ElementHandle, launch, type Page } from "puppeteer-core"
import * as Application from "./Application.ts"

const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium"
const args = process.argv.slice(2)
const shotAt = args.indexOf("--shot")
const shot = shotAt === -1 ? undefined : path.resolve(args[shotAt + 1] ?? "uppy.png")
const size = 50 * 1024 * 1024

const linesOf = (page: Page): Promise<ReadonlyArray<string>> =>
  page.$$eval("#lines li", (lines) => lines.map((line) => line.textContent ?? ""))

/** Chooses a file in the page, and waits until Uppy has ended. Returns the lines of the page. */
const upload = async (url: string, file: string): Promise<ReadonlyArray<string>> => {
  const browser = await launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] })
  try {
    const page = await browser.newPage()
    page.on("pageerror", (error) => console.error("page:", error))
    await page.goto(url)
    const input = (await page.$("input")) as ElementHandle<HTMLInputElement> | null
    await input?.uploadFile(file)
    await page.waitForFunction(() => /Done|Failed/.test(document.querySelector("#lines")?.textContent ?? ""), {
      timeout: 180_000
    })
    if (shot !== undefined) await page.screenshot({ path: shot as `${string}.png` })
    return await linesOf(page)
  } finally {
    await browser.close()
  }
}

const sha256 = async (file: string) =>
  createHash("sha256")
    .update(await readFile(file))
    .digest("hex")

const program = (folder: string) =>
  Effect.gen(function* () {
    const file = path.join(folder, "holiday.mov")
    const data = path.join(folder, "service")
    yield* Effect.promise(() => writeFile(file, randomBytes(size)))
    const script = yield* Effect.promise(Application.bundle)
    const notified = yield* Deferred.make<Assembly.Status>()
    const store = (status: Assembly.Status) => Effect.asVoid(Deferred.succeed(notified, status))
    const url = yield* Application.start({ script, data, store })

    for (const line of yield* Effect.promise(() => upload(url, file))) console.log(`page:        ${line}`)

    const { fields, ok, uploads } = yield* Deferred.await(notified).pipe(Effect.timeout("1 minute"))
    console.log(`application: notified of ${ok}, ${uploads?.[0]?.name}, ${uploads?.[0]?.size} bytes`)
    console.log(`application: fields ${JSON.stringify(fields)}`)

    const given = yield* Effect.promise(() => sha256(file))
    const stored = globSync(`${data}/files/**/*`)
    const isStored = yield* Effect.promise(async () => {
      for (const one of stored) {
        if ((await stat(one)).isFile() && (await sha256(one)) === given) return true
      }
      return false
    })
    const isRight = ok === "ASSEMBLY_COMPLETED" && uploads?.[0]?.size === size && isStored
    console.log(`service:     ${isStored ? "stored the bytes that were chosen" : "stored OTHER BYTES"}`)
    return isRight
  })

if (existsSync(executablePath)) {
  const folder = await mkdtemp(path.join(tmpdir(), "assembly-uppy-"))
  const isRight = await Effect.runPromise(Effect.scoped(program(folder))).finally(() =>
    rm(folder, { recursive: true, force: true })
  )
  console.log(isRight ? "ok" : "FAILED")
  process.exitCode = isRight ? 0 : 1
} else {
  console.log(`not run: ${executablePath} does not exist`)
}
