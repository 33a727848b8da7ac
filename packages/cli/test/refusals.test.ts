/**
 * What commands say about arguments that they refuse before they send a request. The commands are those of the file
 * `fixtures/refusals.txt`, after `$ `; `-u` writes what they say below them.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync } from "node:fs"
import * as InProcess from "./support/inProcess.ts"
import { folderWith } from "./support/uploading.ts"

const page = "fixtures/refusals.txt"
const commands = readFileSync(new URL(page, import.meta.url), "utf8").match(/^\$ .*$/gm) ?? []

/** Nothing listens at this address, so a command that sends a request ends with the exit code 4. */
const service = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s", ASSEMBLY_BASE_URL: "http://127.0.0.1:9" }

const files = {
  "a.txt": "meow",
  "secrets.json": '["s3cret"]',
  "t.json": '{ "steps": { "a": { "use": "b" } } }',
  "list.json": "[{}]",
  "reserved.json": '[{ "id": "all", "content": {} }]',
  "nothing.json": "{}",
  "empty.json": '{ "steps": {} }',
  "more.json": '{ "steps": { "a": { "robot": "/file/hash" } }, "notify_url": "http://a.example" }'
}

it.effect("each command says what the file says", NodeServices.layer, function* () {
  yield* TestClock.setTime(Date.UTC(2026, 2, 1))
  const cwd = yield* folderWith(files)
  const told = yield* Effect.forEach(
    commands,
    Effect.fnUntraced(function* (line) {
      const [, empty, variables = "", args = ""] = /^\$ (env -i )?((?:\w+=\S+ )*)assembly (.*)$/.exec(line) ?? []
      const set = Object.fromEntries(Array.from(variables.matchAll(/(\w+)=(\S+)/g), ([, name, value]) => [name, value]))
      const env = { ...(empty === undefined ? service : {}), ...set }
      const { code, stderr, stdout } = yield* InProcess.assembly(cwd, env, args.split(" "))
      return `${line}\n${stdout}${stderr}exit code ${code}\n`
    })
  )
  yield* Effect.promise(() => expect(told.join("\n")).toMatchFileSnapshot(page))
})
