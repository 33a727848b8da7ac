import * as Context from "effect/Context"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as DamStore from "../dam/damStore.ts"
import type * as FileStore from "../files/fileStore.ts"
import type * as Origin from "../http/origin.ts"
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

export const layer: Layer.Layer<
  Robots,
  never,
  DamStore.DamStore | FileStore.FileStore | Origin.Origin | SecureRandom.SecureRandom
> = Layer.effect(Robots, make)
