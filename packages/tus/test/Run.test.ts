/**
 * What an upload stores before it fails or is interrupted.
 */
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert } from "@effect/vitest"
import { layer } from "./utils/Tests.ts"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Context from "../src/internal/context.ts"
import * as Engine from "../src/internal/engine.ts"
import * as Journaled from "../src/internal/journaled.ts"
import type { UploadEvent } from "@assembly-effect/tus/UploadEvent"
import * as UploadState from "../src/internal/uploadState.ts"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"

const bytes = Scene.content(600_000)

const wrong = (method: "PATCH", offset: string): Fault => ({ _tag: "WrongOffset", method, offset })

/** An upload that meets these faults, and why its store was told not to trust it. */
const kept = Effect.fnUntraced(function* (
  faults: ReadonlyArray<Fault>,
  onEvent: (event: UploadEvent) => void,
  retryDelay: "1 millis" | "1 hour"
) {
  const { target } = yield* Scene.make(faults)
  const heard: Array<string> = []
  const store = UploadState.written(UploadState.planned, Journaled.settle, (state) =>
    Effect.sync(() => {
      if (state._tag === "Untrusted") heard.push(state.description)
    })
  )
  const source = UploadSource.fromBytes(bytes)
  return {
    heard,
    run: Effect.flatMap(Context.make(target, source, { ...Scene.options, retryDelay }, onEvent, store), Engine.perform)
  }
})

layer(NodeHttpClient.layerUndici, { excludeTestServices: true })("the store of an upload", (it) => {
  it.effect("stores that an upload is untrusted before it fails with UploadUntrusted", function* () {
    const { heard, run } = yield* kept([wrong("PATCH", "600001")], () => undefined, "1 millis")
    const before = yield* run.pipe(
      Effect.catchTag("UploadUntrusted", ({ description }) => Effect.succeed({ description, heard: [...heard] }))
    )
    assert.deepStrictEqual(before, {
      description: "upload-offset is 600001, but bytes up to 600000 were sent",
      heard: ["upload-offset is 600001, but bytes up to 600000 were sent"]
    })
  })

  it.effect("stores no untrusted state if an upload is interrupted between two requests", function* () {
    const waiting = yield* Deferred.make<void>()
    const { heard, run } = yield* kept(
      [{ _tag: "Cut", method: "PATCH", bytes: 1000 }],
      ({ _tag }) => {
        if (_tag === "Retrying") Deferred.doneUnsafe(waiting, Effect.void)
      },
      "1 hour"
    )
    const fiber = yield* Effect.forkChild(run)
    yield* Deferred.await(waiting)
    yield* Effect.yieldNow
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(heard, [])
  })
})
