import * as Credentials from "@assembly-effect/auth/Credentials"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as RuntimeClient from "@assembly-effect/node/RuntimeClient"
import * as Command from "effect/cli/Command"
import * as Layer from "effect/Layer"
import { emulator } from "./emulator.ts"
import { list } from "./list.ts"
import { move } from "./move.ts"
import { stats } from "./stats.ts"
import { token } from "./token.ts"
import { upload } from "./upload.ts"

/**
 * The client of the service. ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET are read when a command
 * needs the client.
 */
const service = AssemblyNode.layerConfig()

const access = Layer.merge(Credentials.layerConfig, RuntimeClient.layer)

/** The root command: `assembly <command>`. */
export const assembly = Command.make("assembly").pipe(
  Command.withDescription("The Assembly Processing Service from the command line"),
  Command.withSubcommands([
    Command.provide(upload, service),
    Command.provide(stats, service),
    Command.provide(list, service),
    Command.provide(move, service),
    Command.provide(token, access),
    emulator
  ])
)
