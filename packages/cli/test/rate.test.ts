import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import * as TestConsole from "effect/testing/TestConsole"
import * as Layer from "effect/Layer"
import * as Rate from "../src/internal/rate.ts"

/** The value of `--limit-rate`, as a command gets it. */
const parse = Effect.fnUntraced(function* (text: string) {
  let found: number | undefined
  const command = Command.make("test", { rate: Rate.flag("limit-rate") }, ({ rate }) =>
    Effect.sync(() => {
      found = rate
    })
  )
  yield* Command.runWith(command, { version: "0.0.0" })([`--limit-rate=${text}`])
  return found
})

layer(Layer.merge(NodeServices.layer, TestConsole.layer))("--limit-rate", (it) => {
  it.effect.each([
    ["1", 1],
    ["500B", 500],
    ["500k", 512_000],
    ["2.5M", 2_621_440],
    ["1g", 1_073_741_824],
    ["64KiB/s", 65_536],
    ["10MB/s", 10_000_000]
  ] as const)("%s is %i bytes a second", ([text, bytes]) =>
    Effect.map(parse(text), (found) => expect(found).toBe(bytes))
  )

  it.effect.each(["0", "0.1", "", "fast", "-1", "1t", "1e6", " 1"])("refuses %j", (text) =>
    Effect.map(Effect.flip(parse(text)), (error) =>
      expect(error).toMatchObject({ _tag: "ShowHelp", errors: [{ _tag: "InvalidValue", option: "limit-rate" }] })
    )
  )
})
