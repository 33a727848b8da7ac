/**
 * Runs `assembly upload` in a separate process, kills it during the upload, and runs the same command again.
 */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"

const bin = fileURLToPath(new URL("../src/bin.ts", import.meta.url))
const bytes = Uint8Array.from({ length: 96 * 1024 * 1024 }, (_, index) => (index * 31 + (index >> 8)) % 251)
const sha256 = createHash("sha256").update(bytes).digest("hex")

/** Runs the command line. With `signal`, the process gets this signal as soon as a fifth of the bytes was sent. */
const run = Effect.fnUntraced(function* (args: ReadonlyArray<string>, signal?: NodeJS.Signals) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const env = {
    ...process.env,
    // The program prints commands as a user of npm or pnpm types them. The tests may run in a script of both.
    npm_execpath: "",
    ASSEMBLY_BASE_URL: baseUrl,
    ASSEMBLY_AUTH_KEY: credentials.key,
    ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
  }
  return yield* Effect.promise(
    () =>
      new Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | null }>((resolve) => {
        const child = spawn(process.execPath, [bin, ...args], { env, stdio: ["ignore", "pipe", "pipe"] })
        let stdout = ""
        let stderr = ""
        let isKilled = false
        child.stdout.on("data", (text: Buffer) => {
          stdout += text.toString()
        })
        child.stderr.on("data", (text: Buffer) => {
          stderr += text.toString()
          // A second signal would end the program at once.
          if (signal !== undefined && / [2-9]\d% /.test(stderr)) isKilled ||= child.kill(signal)
        })
        child.on("close", (code) => resolve({ stdout, stderr, code }))
      })
  )
})

const live = Layer.mergeAll(Emulator.layer(), NodeServices.layer)

layer(live, { excludeTestServices: true })("assembly upload", (it) => {
  for (const signal of ["SIGKILL", "SIGINT"] as const) {
    it.effect(`that ${signal} ended is continued by the same command`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        yield* fs.writeFile(`${folder}/a.bin`, bytes)
        const args = ["upload", "--journal", `${folder}/state`, `${folder}/a.bin`]

        const ended = yield* run(args, signal)
        const [, id] = /^a\.bin: Assembly (\w{32})$/m.exec(ended.stderr) ?? []
        expect(id).toBeDefined()
        expect(ended).toMatchObject({ stdout: "" })
        expect(ended.stderr).not.toContain("Processing")
        if (signal === "SIGINT") {
          expect(ended.code).toBe(130)
          expect(ended.stderr).toMatch(/\nassembly: the upload is kept; run the same command again to continue it\n$/)
        }

        const { code, stderr, stdout } = yield* run(args)
        expect(code).toBe(0)
        expect(stderr).toContain(`a.bin: Continuing Assembly ${id}\n`)
        expect(stderr).toContain("a.bin: Resumed at ")
        expect(stdout).toContain(sha256)
      })
    )
  }
})
