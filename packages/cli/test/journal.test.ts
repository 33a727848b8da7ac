import { AssemblyClient } from "@assembly-effect/api"
import { Assembly } from "@assembly-effect/schema"
import { UploadJournal } from "@assembly-effect/tus"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { ConfigProvider, Context, Effect, FileSystem, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as Journal from "../src/internal/journal.ts"

describe("the journal of the command line", () => {
  it.effect.each<readonly [Readonly<Record<string, string>>, string | undefined]>([
    [{ XDG_STATE_HOME: "/state", HOME: "/me" }, "/state/assembly/uploads"],
    [{ XDG_STATE_HOME: "state", HOME: "/me" }, "/me/.local/state/assembly/uploads"],
    [{ XDG_STATE_HOME: "", HOME: "", LOCALAPPDATA: "/local" }, "/local/assembly/uploads"],
    [{ XDG_STATE_HOME: "state", HOME: "me", LOCALAPPDATA: "local" }, undefined]
  ])("with %j is in %s", NodeServices.layer, function* ([env, folder]) {
    const provider = ConfigProvider.fromEnv({ env })
    const usual = yield* Effect.provideService(Journal.usual, ConfigProvider.ConfigProvider, provider)
    assert.strictEqual(Option.getOrUndefined(usual), folder)
  })

  it.effect("writes the file of a command, which only its owner may read", NodeServices.layer, function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const services = Layer.merge(Journal.layer(Option.some(folder)), AssemblyClient.layerTest([]))
    yield* Effect.gen(function* () {
      const { runs } = yield* Journal.make(folder, [], {})
      yield* runs(Assembly.AssemblyId.make("0".repeat(32)))
    }).pipe(Effect.provide(services))
    const [name = ""] = yield* fs.readDirectory(`${folder}/commands`)
    assert.strictEqual((yield* fs.stat(`${folder}/commands/${name}`)).mode & 0o777, 0o600)
  })

  it.effect(
    "forgets a completed job after a day, so that the same command uploads again",
    NodeServices.layer,
    function* () {
      const fs = yield* FileSystem.FileSystem
      const services = yield* Layer.build(Journal.layer(Option.some(yield* fs.makeTempDirectoryScoped())))
      const { assemblies } = Context.get(services, UploadJournal.UploadJournal)
      const assemblyId = Assembly.AssemblyId.make("0".repeat(32))
      yield* assemblies.put("job", { _tag: "Completed", assemblyId, writtenAt: 0 })
      yield* TestClock.adjust("23 hours")
      assert.isTrue(Option.isSome(yield* assemblies.get("job")))
      yield* TestClock.adjust("1 hour")
      assert.isTrue(Option.isNone(yield* assemblies.get("job")))
    }
  )
})
