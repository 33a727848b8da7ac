/** On Node, Bun and Deno: the config is in the environment, the report the only line of the output. */
import * as RuntimeClient from "@assembly-effect/node/RuntimeClient"
import * as Checks from "../checks.ts"

const report = await Checks.run(JSON.parse(process.env["RUNTIME_CONFIG"] ?? ""), RuntimeClient.layer)
process.stdout.write(`${JSON.stringify(report)}\n`)
process.exit(0)
