/** Tests with the unmodified command line of `@transloadit/node`. */
import { Emulator } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, it } from "@assembly-effect/testkit/flow"

const command = fileURLToPath(new URL("cli.js", import.meta.resolve("@transloadit/node")))

const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 251)

const hashed = { use: ":original", robot: "/file/hash" }

/** Runs `assemblies create -i in.bin -o <output>`. Returns a function that reads a file of the folder. */
const create = Effect.fnUntraced(function* (steps: object, output: string) {
  const { baseUrl, credentials } = yield* Emulator.Emulator
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* fs.makeDirectory(`${folder}/results`)
  yield* fs.writeFile(`${folder}/in.bin`, bytes)
  yield* fs.writeFileString(`${folder}/steps.json`, JSON.stringify(steps))
  const args = ["assemblies", "create", "--endpoint", baseUrl, "-s", "steps.json", "-i", "in.bin", "-o", output]
  yield* Effect.promise(() =>
    promisify(execFile)(process.execPath, [command, ...args], {
      cwd: folder,
      env: { HOME: folder, TRANSLOADIT_KEY: credentials.key, TRANSLOADIT_SECRET: Redacted.value(credentials.secret) }
    })
  )
  return (name: string) => Effect.map(fs.readFile(`${folder}/${name}`), Buffer.from)
})

const services = Layer.merge(Emulator.layer(), NodeServices.layer)
it.live("`assemblies create -i -o <folder>` writes the results of all Steps", services, function* () {
  const read = yield* create({ ":original": { robot: "/upload/handle" }, hashed }, "results")
  const paths = ["hashed/in.bin", ":original/in.bin"].map((name) => `results/in/${name}`)
  for (const path of paths) assert.isTrue((yield* read(path)).equals(bytes), path)
})
