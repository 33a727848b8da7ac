/**
 * Runs on Node, Bun and Deno. An environment variable contains the config, and the output is the report in one line.
 */
import * as RuntimeClient from "@assembly-effect/node/RuntimeClient"
import * as Layer from "effect/Layer"
import * as Checks from "../checks.ts"

const report = await Checks.run(JSON.parse(process.env["RUNTIME_CONFIG"] ?? ""), Layer.orDie(RuntimeClient.layer))
process.stdout.write(`${JSON.stringify(report)}\n`)
process.exit(0)
