import * as ExitCode from "@assembly-effect/cli/ExitCode"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Confirm from "../src/internal/confirm.ts"
import * as Screen from "./support/screen.ts"

const asked = (screen: ReturnType<typeof Screen.make>) =>
  Effect.exit(Confirm.deletion("the asset a", false)).pipe(
    Effect.provide(Layer.provideMerge(screen.layer, NodeServices.layer))
  )

it.effect("agrees to a deletion after y", () =>
  Effect.gen(function* () {
    const exit = yield* asked(Screen.make({ columns: 80, animated: true, typed: "y" }))
    expect(Exit.isSuccess(exit)).toBe(true)
  })
)

it.effect("ends its line after Ctrl-C at the question, and is interrupted", () =>
  Effect.gen(function* () {
    const screen = Screen.make({ columns: 80, animated: true, typed: "", quits: true })
    const exit = yield* asked(screen)
    expect(ExitCode.fromExit(exit)).toBe(ExitCode.codes.interrupted)
    expect(screen.text()).toMatch(/Delete the asset a\?[^\n]*\n$/)
  })
)
