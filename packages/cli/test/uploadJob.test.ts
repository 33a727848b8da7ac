import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Event from "@assembly-effect/tus/AssemblyUploadEvent"
import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as UploadJob from "../src/internal/uploadJob.ts"

const assemblyId = Assembly.AssemblyId.make("a".repeat(32))
const status = { assembly_id: assemblyId, ok: "ASSEMBLY_EXECUTING" } as Assembly.Status

/** Runs a job that completes. The Status of its Assembly is read only after `released`. */
const tagsOf = (order: "before the end" | "after the end") =>
  Effect.gen(function* () {
    const released = yield* Deferred.make<void>()
    const client: AssemblyClient.AssemblyClient["Service"] = {
      origins: Result.getOrThrow(ServiceOrigins.make("https://api2.example.com")),
      run: <Op extends Operation.Any>(operation: Op) =>
        Deferred.await(released).pipe(
          Effect.andThen(Schema.decodeUnknownEffect(operation.success)(status)),
          Effect.orDie
        ),
      open: () => Effect.die(new Error("no address is opened"))
    }
    const release = Stream.drain(Stream.fromEffect(Deferred.succeed(released, undefined)))
    const pause = Stream.drain(Stream.fromEffect(Effect.sleep("1 second")))
    const end = Stream.succeed(Event.Completed({ status }))
    const job = Stream.make(Event.AssemblyCreated({ status }), Event.Uploaded({ assemblyId })).pipe(
      Stream.concat(order === "after the end" ? end : release),
      Stream.concat(pause),
      Stream.concat(order === "after the end" ? release : end),
      Stream.concat(pause)
    )
    const fiber = yield* Effect.forkChild(
      Stream.runCollect(UploadJob.withWork(job)).pipe(Effect.provideService(AssemblyClient.AssemblyClient, client))
    )
    for (let second = 0; second < 5; second++) yield* TestClock.adjust("1 second")
    return (yield* Fiber.join(fiber)).map(({ _tag }) => _tag)
  })

it.effect("tells the work of the Assembly between the uploads and the end", () =>
  Effect.gen(function* () {
    expect(yield* tagsOf("before the end")).toEqual(["AssemblyCreated", "Uploaded", "Executing", "Completed"])
    expect(yield* tagsOf("after the end")).toEqual(["AssemblyCreated", "Uploaded", "Completed"])
  })
)

it.effect("a number of bytes in JSON keeps every digit", () =>
  Effect.gen(function* () {
    const safe = BigInt(Number.MAX_SAFE_INTEGER)
    const event = Event.Progress({ sent: safe, acknowledged: safe + 2n, total: undefined })
    const record = yield* UploadJob.toRecord(event, [])
    expect(record).toMatchObject({ event: "Progress", sent: 9_007_199_254_740_991, acknowledged: "9007199254740993" })
  })
)
