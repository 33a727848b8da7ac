/** Pages of commands with what they say: arguments that are refused, and commands against the emulator. */
import { Emulator } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Processes from "./support/processes.ts"
import * as Transcript from "./support/transcript.ts"

const compare = Effect.fnUntraced(function* (
  name: string,
  files: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>>
) {
  const texts = Object.entries(files).map(([file, value]) => [
    file,
    typeof value === "string" ? value : JSON.stringify(value)
  ])
  const cwd = yield* Processes.folderWith(Object.fromEntries(texts))
  const page = `fixtures/${name}.txt`
  const told = yield* Transcript.run(new URL(page, import.meta.url), cwd, { XDG_STATE_HOME: `${cwd}/.state`, ...env })
  yield* Effect.promise(() => expect(told).toMatchFileSnapshot(page))
})

it.effect("arguments that are refused before a request is sent", NodeServices.layer, function* () {
  yield* TestClock.setTime(Date.UTC(2026, 2, 1))
  const files = {
    "a.txt": "meow",
    "secrets.json": ["s3cret"],
    "t.json": { steps: { a: { use: "b" } } },
    "list.json": [{}],
    "reserved.json": [{ id: "all", content: {} }],
    "nothing.json": {},
    "empty.json": { steps: {} },
    "more.json": { steps: { a: { robot: "/file/hash" } }, notify_url: "http://a.example" }
  }
  // Nothing listens at this address, so a command that sends a request ends with the exit code 4.
  const service = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s", ASSEMBLY_BASE_URL: "http://127.0.0.1:9" }
  yield* compare("refusals", files, service)
  yield* compare("values", files, service)
})

const live = Layer.merge(Emulator.layer(), NodeServices.layer)
const hashed = { robot: "/file/hash", use: ":original" }

it.live("commands against the emulator", live, function* () {
  const files = {
    "a.txt": "content of a.txt",
    "b.txt": "content of b.txt",
    "fail.json": { fail: { robot: "/emulator/fail", error: "NO_COUNTRY" } },
    "steps.json": { hashed },
    "template.json": { steps: { hashed } },
    "other.json": { steps: { hashed: { ...hashed, algorithm: "md5" } } },
    "fields.json": { year: 2026, tags: ["a"] }
  }
  yield* compare("service", files, yield* Processes.environment)
})

it.live("commands that have secrets", live, function* () {
  const files = { "s3.json": { key: "AKIA", secret: "s3cret-0123456789", bucket: "b", bucket_region: "eu-west-1" } }
  yield* compare("secrets", files, yield* Processes.environment)
})

const templates = [{ id: "my-template", name: "hashes", content: { steps: { hashed } } }]

it.live("uploads", Layer.merge(Emulator.layer({ templates }), NodeServices.layer), function* () {
  const files = { "steps.json": { hashed }, "wrapped.json": { steps: { hashed } }, "named.json": { steps: hashed } }
  yield* compare("uploads", files, yield* Processes.environment)
})

it.live("where settings come from", live, function* () {
  const profiles =
    "\n[ other ]\nASSEMBLY_BASE_URL=http://127.0.0.1:9\nASSEMBLY_AUTH_KEY=a\nASSEMBLY_AUTH_SECRET=b\n[half]\nASSEMBLY_AUTH_KEY\n"
  yield* compare("settings", { profiles }, yield* Processes.environment)
})
