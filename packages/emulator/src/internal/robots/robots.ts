import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as EmulatorRobots from "./emulatorRobots.ts"
import * as FileHash from "./fileHash.ts"
import type { Robot } from "./robot.ts"
import * as TransloaditStore from "./transloaditStore.ts"
import { uploadHandle } from "./uploadHandle.ts"

/** The robots that Steps may name. */
export class Robots extends Context.Service<Robots, ReadonlyMap<string, Robot>>()("@assembly-effect/emulator/Robots") {}

const make = Effect.gen(function* () {
  return new Map<string, Robot>([
    ["/upload/handle", uploadHandle],
    ["/transloadit/store", yield* TransloaditStore.make],
    ["/file/hash", yield* FileHash.make],
    ["/emulator/fail", EmulatorRobots.fail],
    ["/emulator/wait", EmulatorRobots.wait]
  ])
})

export const layer = Layer.effect(Robots, make)
