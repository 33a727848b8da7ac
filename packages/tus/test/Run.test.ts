/**
 * What the state of an upload says when the upload is not to be gone on with.
 */
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Interpreter from "../src/internal/interpreter.ts"
import * as Session from "../src/internal/session.ts"
import * as StateStore from "../src/internal/stateStore.ts"
import type { UploadEvent } from "@assembly-effect/tus/UploadEvent"
import * as UploadState from "@assembly-effect/tus/UploadState"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"

const bytes = Scene.content(600_000)

const wrong = (method: "PATCH" | "HEAD", offset = "17"): Fault => ({ _tag: "WrongOffset", method, offset })

/** An upload that meets these faults, and why its store was told not to trust it. */
const kept = Effect.fnUntraced(function* (
  faults: ReadonlyArray<Fault>,
  onEvent: (event: UploadEvent) => void,
  retryDelay: "1 millis" | "1 hour"
) {
  const { target } = yield* Scene.make(faults)
  const heard: Array<string> = []
  const store = StateStore.written(UploadState.planned, (state) =>
    Effect.sync(() => {
      if (state._tag === "Untrusted") heard.push(state.description)
    })
  )
  const session = yield* Session.make(target, { ...Scene.options, retryDelay }, onEvent, store)
  return { heard, run: Interpreter.run({ session, source: UploadSource.fromBytes(bytes), concurrency: 1 }) }
})

layer(NodeHttpClient.layerUndici, { excludeTestServices: true })("the store of an upload", (it) => {
  it.effect("hears that an upload is untrusted before the error is told", () =>
    Effect.gen(function* () {
      const { heard, run } = yield* kept([wrong("PATCH", "600001"), wrong("HEAD")], () => undefined, "1 millis")
      const before = yield* run.pipe(
        Effect.catchTag("UploadUntrusted", ({ description }) => Effect.succeed({ description, heard: [...heard] }))
      )
      assert.deepStrictEqual(before, {
        description: "upload-offset is 17, but bytes up to 600000 were sent",
        heard: ["upload-offset is 17, but bytes up to 600000 were sent"]
      })
    })
  )

  it.effect("hears that an upload was left before the server could tell", () =>
    Effect.gen(function* () {
      const waiting = yield* Deferred.make<void>()
      const { heard, run } = yield* kept(
        [wrong("PATCH")],
        ({ _tag }) => {
          if (_tag === "Retrying") Deferred.doneUnsafe(waiting, Effect.void)
        },
        "1 hour"
      )
      const fiber = yield* Effect.forkChild(run)
      yield* Deferred.await(waiting)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(heard, ["the upload stopped before the server reported its offset"])
    })
  )

  it.effect("hears nothing of an upload that was left in the middle", () =>
    Effect.gen(function* () {
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
  )
})
