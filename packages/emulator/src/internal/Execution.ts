import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { StorageFailed } from "../EmulatorError.ts"
import * as Limits from "../Limits.ts"
import * as AssemblyStore from "./AssemblyStore.ts"
import * as Endings from "./Endings.ts"
import * as Robots from "./Robots.ts"
import { type StepFile, StepFailed, tooManyFiles } from "./robots/Robot.ts"
import * as Steps from "./Steps.ts"
import * as Storage from "./Storage.ts"
import * as Updates from "./Updates.ts"
import * as UploadedFiles from "./UploadedFiles.ts"

/**
 * Brings Assemblies from their last upload to their end. Where the disk does not let it, that is done when it does: what
 * was answered to a client does not wait for a restart.
 */
export class Execution extends Context.Service<
  Execution,
  {
    /** Ends an Assembly at once if its Steps can never run. */
    readonly check: (assemblyId: string) => Effect.Effect<void>
    /** Executes an Assembly if every expected upload has arrived; waits for its end unless one of its Steps is slow. */
    readonly advance: (assemblyId: string) => Effect.Effect<void>
    /** Ends a busy Assembly from outside, and what it does. */
    readonly stop: (assemblyId: string, state: "canceled") => Effect.Effect<void, StorageFailed>
    /** Ends an Assembly whose creation was broken off. */
    readonly abort: (assemblyId: string) => Effect.Effect<void>
    /** Ends a busy Assembly with an error. */
    readonly fail: (assemblyId: string, failure: StepFailed) => Effect.Effect<void, StorageFailed>
  }
>()("@assembly-effect/emulator/Execution") {}

type Results = Map<string, ReadonlyArray<StepFile>>

const toFiles = (files: ReadonlyArray<StepFile>): ReadonlyArray<Assembly.File> => files.map(({ file }) => file)

const toResults = (results: Results) =>
  Object.fromEntries([...results].map(([name, files]) => [name, toFiles(files)] as const))

/** A defect of a robot is the emulator's fault. Its cause is logged, not told. */
const broken = new StepFailed({ error: "INTERNAL_COMMAND_ERROR", message: "The emulator failed; see its log." })

/** What the Steps of an Assembly make together, against its limits. The code of too much is the service's own. */
const meter = ({ resultBytes, resultText, results }: Limits.Values) => {
  let files = 0
  let bytes = 0
  let text = 0
  const tooMuch = (message: string) => Effect.fail(new StepFailed({ error: "ASSEMBLY_MEMORY_LIMIT_EXCEEDED", message }))
  return {
    /** Whether so many files more have room; no robot makes more files than it gets. */
    hasRoom: (more: number): Effect.Effect<void, StepFailed> =>
      files + more > results ? Effect.fail(tooManyFiles) : Effect.void,
    count: (made: ReadonlyArray<StepFile>): Effect.Effect<void, StepFailed> => {
      for (const { file } of made) {
        files++
        bytes += file.size ?? 0
        text += JSON.stringify(file).length
      }
      if (bytes > resultBytes) return tooMuch(`The Steps make more than ${resultBytes} bytes.`)
      return text > resultText ? tooMuch("The Steps make more than a Status can tell.") : Effect.void
    }
  }
}

const make = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const endings = yield* Endings.Endings
  const limits = yield* Limits.Limits
  const robots = yield* Robots.Robots
  const updates = yield* Updates.Updates
  const uploadedFiles = yield* UploadedFiles.UploadedFiles
  const running = yield* FiberMap.make<string>()
  const waiting = yield* FiberMap.make<string>()

  const runSteps = Effect.fnUntraced(function* (
    assembly: AssemblyStore.Row,
    uploaded: ReadonlyArray<StepFile>,
    results: Results
  ) {
    const { id } = assembly
    const plan = yield* Steps.plan(assembly.steps, robots, limits)
    const { count, hasRoom } = meter(limits)
    for (const [index, { name, robot, step, uses }] of plan.entries()) {
      const inputs = uses.length === 0 ? [uploaded] : uses.map((used) => results.get(used) ?? [])
      // A Step that uses another twice doubles its files.
      yield* hasRoom(inputs.reduce((total, files) => total + files.length, 0))
      const made = yield* robot.run({ assembly, name, step, files: inputs.flat() })
      yield* count(made)
      results.set(name, made)
      yield* assemblies.progress(id, { uploads: toFiles(uploaded), results: toResults(results) })
      for (const file of toFiles(made)) yield* updates.publish(Updates.resultFinished(id, name, file))
      if (assembly.emit_progress === 1) {
        yield* updates.publish(Updates.progressed(id, Math.round(((index + 1) / plan.length) * 100)))
      }
    }
  })

  const execute = Effect.fnUntraced(function* (assembly: AssemblyStore.Row) {
    const uploaded = yield* uploadedFiles.ofAssembly(assembly)
    const results: Results = new Map()
    yield* assemblies.progress(assembly.id, { uploads: toFiles(uploaded), results: {} })
    yield* updates.publish(Updates.uploadingFinished(assembly.id))
    yield* updates.publish(Updates.metaDataExtracted(assembly.id))
    const failure = yield* runSteps(assembly, uploaded, results).pipe(
      Effect.as(undefined),
      Effect.catchDefect((defect) =>
        Effect.andThen(Effect.logError(`Assembly ${assembly.id} failed`, defect), Effect.fail(broken))
      ),
      Effect.catchTag("StepFailed", (error) => Effect.succeed(error))
    )
    yield* endings.end(assembly.id, { uploads: toFiles(uploaded), results: toResults(results), failure })
  })

  /** Whether a Step of an Assembly takes its time. What cannot be planned ends at once. */
  const isSlow = ({ steps }: AssemblyStore.Row) =>
    Steps.plan(steps, robots, limits).pipe(
      Effect.map((plan) => plan.some(({ robot }) => robot.isSlow)),
      Effect.catch(() => Effect.succeed(false))
    )

  /** Waits for the end, or until it is known that the disk does not let it end now. */
  const start = Effect.fnUntraced(function* (assembly: AssemblyStore.Row) {
    const tried = yield* Deferred.make<void>()
    const execution = Effect.ensuring(execute(assembly), Deferred.succeed(tried, undefined))
    const fiber = yield* FiberMap.run(running, assembly.id, Storage.untilKept(execution))
    if (yield* isSlow(assembly)) return
    yield* Effect.interruptible(Effect.raceFirst(Deferred.await(tried), Fiber.await(fiber)))
  })

  const startById = (id: string) =>
    Effect.flatMap(assemblies.find(id), Option.match({ onNone: () => Effect.void, onSome: start }))

  /** Now if that can be, else soon. */
  const orSoon = (key: string, work: Effect.Effect<void, StorageFailed>) =>
    work.pipe(
      Effect.catch(() => Effect.asVoid(FiberMap.run(waiting, key, Storage.untilKept(work)))),
      Effect.uninterruptible
    )

  const begin = (id: string) =>
    Effect.flatMap(assemblies.beginExecution(id), (began) => (began ? Storage.untilKept(startById(id)) : Effect.void))

  // The state comes first: an execution that ends meanwhile has not happened.
  const stop = (id: string, state: "canceled" | "request_aborted") =>
    Effect.andThen(endings.stop(id, state), FiberMap.remove(running, id))

  const fail = (id: string, failure: StepFailed) =>
    Effect.andThen(endings.end(id, { uploads: [], results: {}, failure }), FiberMap.remove(running, id))

  const check = Effect.fnUntraced(function* (id: string) {
    const assembly = yield* assemblies.find(id)
    if (Option.isNone(assembly)) return
    yield* Steps.plan(assembly.value.steps, robots, limits).pipe(Effect.catch((failure) => fail(id, failure)))
  })

  const advance = (id: string) => orSoon(`advance ${id}`, begin(id))

  // What a former process left is brought to its end, as far as it can be, before anybody can ask.
  for (const assembly of yield* assemblies.recover) {
    yield* assembly.state === "executing" ? start(assembly) : advance(assembly.id)
  }

  return Execution.of({
    check: (id) => orSoon(`check ${id}`, check(id)),
    advance,
    stop,
    abort: (id) => orSoon(`abort ${id}`, stop(id, "request_aborted")),
    fail
  })
})

export const layer: Layer.Layer<
  Execution,
  StorageFailed,
  AssemblyStore.AssemblyStore | Endings.Endings | Robots.Robots | Updates.Updates | UploadedFiles.UploadedFiles
> = Layer.effect(Execution, make)
