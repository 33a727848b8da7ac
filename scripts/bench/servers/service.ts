/** The emulator in a separate process. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Service from "../service.ts"

const program = Effect.gen(function* () {
  const { localUrl } = yield* Emulator.Emulator
  process.send?.({ port: Number(new URL(localUrl).port) })
  return yield* Effect.never
}).pipe(Effect.provide(Emulator.layer({ credentials: Service.credentials })))

NodeRuntime.runMain(program)
