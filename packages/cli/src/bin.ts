#!/usr/bin/env node
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import { assembly } from "./commands/assembly.ts"
import * as ErrorLine from "./ErrorLine.ts"

const decodePackage = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

const readVersion = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(fileURLToPath(new URL("../package.json", import.meta.url)))
  return (yield* decodePackage(text)).version
})

/** A wrong invocation gets one line, not a page of help around it. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.forEach(new Set(event.errors.map(ErrorLine.fromError)), (line) => Console.error(`assembly: ${line}`), {
          discard: true
        }).pipe(Effect.andThen(Console.error(`See: ${event.commandPath.join(" ")} --help`)))
      : CliOutput.defaultPresenter.present(event)
}

/** The presenter has told what is wrong with an invocation; everything else is told here. */
const report = <E>(cause: Cause.Cause<E>): Effect.Effect<void> => {
  const line = Runtime.getErrorReported(Cause.squash(cause)) ? ErrorLine.fromCause(cause) : undefined
  return line === undefined ? Effect.void : Console.error(`assembly: ${line}`)
}

readVersion.pipe(
  Effect.flatMap((version) => Command.run(assembly, { version })),
  Effect.tapCause(report),
  Effect.provide([NodeServices.layer, CliOutput.layerPresenter(presenter)]),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
