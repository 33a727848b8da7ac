import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as Harness from "../harness.ts"

/** Milliseconds until a new process has imported a program, the start of Node itself left out. */
const importTime = (program: string) =>
  Harness.attempt(
    () =>
      new Promise<number>((resolve, reject) => {
        let output = ""
        const path = fileURLToPath(new URL(`../programs/${program}.js`, import.meta.url))
        const node = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "inherit"] })
        node.stdout.on("data", (chunk) => (output += chunk))
        node.on("error", reject)
        node.on("close", (code) =>
          code === 0 ? resolve(Number(output)) : reject(new Error(`${program} ended with ${code}`))
        )
      })
  )

export const row: Harness.Row = {
  id: "P9",
  work: "import in a new process: schema, auth, api and tus, built",
  run: Effect.gen(function* () {
    const samples = yield* Harness.alternate(
      { ours: importTime("import-ours"), official: importTime("import-official") },
      { rounds: 15, warmups: 3 }
    )
    return [
      Harness.ratio({
        peer: "@transloadit/node",
        target: Harness.atMost(0.6),
        unit: "ms",
        ours: samples.ours,
        theirs: samples.official
      })
    ]
  })
}
