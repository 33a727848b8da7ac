#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import * as Output from "./Output.ts"
import * as Program from "./Program.ts"

const decodePackage = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

const readVersion = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(fileURLToPath(new URL("../package.json", import.meta.url)))
  return (yield* decodePackage(text)).version
})

Output.reportLost.pipe(
  Effect.andThen(readVersion),
  Effect.flatMap(Program.run),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
