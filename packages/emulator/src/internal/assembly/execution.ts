import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../limits.ts"
import * as AssemblyStore from "./assemblyStore.ts"
import * as Robots from "../robots/robots.ts"
import { type StepFile, StepFailed, tooManyFiles } from "../robots/robot.ts"
import * as Steps from "./steps.ts"
import * as StorageFailure from "../data/storageFailure.ts"
import * as Turns from "../http/turns.ts"
import * as Updates from "./updates.ts"
import * as UploadedFiles from "../files/uploadedFiles.ts"
import * as Notifications from "../notifications/notifications.ts"

type Results = Map<string, ReadonlyArray<StepFile>>

const toFiles = (files: ReadonlyArray<StepFile>): ReadonlyArray<Assembly.File> => files.map(({ file }) => file)

const toResults = (results: Results) =>
  Object.fromEntries([...results].map(([name, files]) => [name, toFiles(files)] as const))

/** The error after a defect of a robot. The cause is logged, not sent. */
const broken = new StepFailed({ error: "INTERNAL_COMMAND_ERROR", message: "The emulator failed; see its log." })

/** Counts the results of an Assembly against the limits. The error codes are those of the service. */
const meter = ({ resultBytes, resultText, results }: Limits.Values) => {
  let files = 0
  let bytes = 0
  let text = 0
  const tooMuch = (message: string) => Effect.fail(new StepFailed({ error: "ASSEMBLY_MEMORY_LIMIT_EXCEEDED", message }))
  return {
    /**
     * Fails if the limit does not allow `more` files. This check is enough, because a robot never makes more files than
     * it gets.
     */
    hasRoom: (more: number): Effect.Effect<void, StepFailed> =>
      files + more > results ? Effect.fail(tooManyFiles) : Effect.void,
    /** Counts the files that a Step has made. Returns these files as JSON. */
    count: (made: ReadonlyArray<StepFile>): Effect.Effect<string, StepFailed> => {
      const texts: Array<string> = []
      for (const { file } of made) {
        const said = JSON.stringify(file)
        bytes += file.size ?? 0
        text += said.length
        texts.push(said)
        files++
        if (bytes > resultBytes) return tooMuch(`The results of the Steps exceed ${resultBytes} bytes.`)
        if (text > resultText) return tooMuch("The results are too large for a Status.")
      }
      return Effect.succeed(`[${texts.join(",")}]`)
    }
  }
}

/** Counts the finished Steps of an Assembly, and the bytes of their input and output files, by robot. */
const usageMeter = () => {
  const usage = new Map<string, AssemblyStore.RobotUsage>()
  const sizeOf = (files: ReadonlyArray<StepFile>) => files.reduce((total, { file }) => total + (file.size ?? 0), 0)
  return {
    count: (robot: string, inputs: ReadonlyArray<StepFile>, made: ReadonlyArray<StepFile>): void => {
      const { input_bytes, output_bytes, steps } = usage.get(robot) ?? { steps: 0, input_bytes: 0, output_bytes: 0 }
      usage.set(robot, {
        steps: steps + 1,
        input_bytes: input_bytes + sizeOf(inputs),
        output_bytes: output_bytes + sizeOf(made)
      })
    },
    total: (): AssemblyStore.Outcome["usage"] => Object.fromEntries(usage)
  }
}

const make = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.make
  const limits = yield* Limits.Limits
  const notifications = yield* Notifications.Notifications
  const robots = yield* Robots.make
  const updates = yield* Updates.Updates
  const uploadedFiles = yield* UploadedFiles.make
  const running = yield* FiberMap.make<string>()
  const waiting = yield* FiberMap.make<string>()

  // The end of an Assembly is stored before a notification and the live updates report the end. An Assembly ends only
  // once.
  const end = Effect.fnUntraced(function* (id: string, outcome: AssemblyStore.Outcome) {
    if (!(yield* assemblies.end(id, outcome))) return
    yield* notifications.notify(id)
    yield* updates.publish(outcome.failure === undefined ? Updates.finished(id) : Updates.failed(id, outcome.failure))
  }, Effect.uninterruptible)

  const runSteps = Effect.fnUntraced(function* (
    assembly: AssemblyStore.Row,
    uploaded: ReadonlyArray<StepFile>,
    results: Results,
    usage: ReturnType<typeof usageMeter>
  ) {
    const { id } = assembly
    const plan = yield* Steps.plan(assembly.steps, robots, limits)
    const { count, hasRoom } = meter(limits)
    // The results of the finished Steps as JSON. The results of each Step are encoded only once.
    const told: Array<string> = []
    const filesOf = (used: string) => results.get(used) ?? (used === Steps.original ? uploaded : [])
    for (const [index, { name, robot, step, uses }] of plan.entries()) {
      const inputs = uses.length === 0 ? [uploaded] : uses.map(filesOf)
      // The limit is checked before the Step runs. A Step that names another Step twice gets the files of that Step
      // twice, so a few Steps can multiply the files.
      yield* hasRoom(inputs.reduce((total, files) => total + files.length, 0))
      const files = inputs.flat()
      const made = yield* robot.run({ assembly, name, step, files })
      usage.count(step.robot, files, made)
      told.push(`${JSON.stringify(name)}:${yield* Turns.share(Effect.suspend(() => count(made)))}`)
      results.set(name, made)
      yield* assemblies.progress(id, `{${told.join(",")}}`)
      for (const file of toFiles(made)) yield* updates.publish(Updates.resultFinished(id, name, file))
      if (assembly.emit_progress) {
        yield* updates.publish(Updates.progressed(id, Math.round(((index + 1) / plan.length) * 100)))
      }
    }
  })

  const execute = Effect.fnUntraced(function* (assembly: AssemblyStore.Row) {
    const uploaded = yield* uploadedFiles.ofAssembly(assembly)
    const results: Results = new Map()
    const usage = usageMeter()
    yield* assemblies.works(assembly.id, toFiles(uploaded))
    yield* updates.publish(Updates.uploadingFinished(assembly.id))
    yield* updates.publish(Updates.metaDataExtracted(assembly.id))
    const failure = yield* runSteps(assembly, uploaded, results, usage).pipe(
      Effect.as(undefined),
      Effect.catchDefect((defect) =>
        Effect.andThen(Effect.logError(`Assembly ${assembly.id} failed`, defect), Effect.fail(broken))
      ),
      Effect.catchTag("StepFailed", (error) => Effect.succeed(error))
    )
    yield* end(assembly.id, { uploads: toFiles(uploaded), results: toResults(results), failure, usage: usage.total() })
  })

  /**
   * Whether a Step of an Assembly is slow. The result is false if the Steps cannot be planned, because the Assembly
   * then fails at once.
   */
  const isSlow = ({ steps }: AssemblyStore.Row) =>
    Steps.plan(steps, robots, limits).pipe(
      Effect.map((plan) => plan.some(({ robot }) => robot.isSlow)),
      Effect.catch(() => Effect.succeed(false))
    )

  /** Starts the execution. Unless a Step is slow, waits until the execution has ended or the disk has failed once. */
  const start = Effect.fnUntraced(function* (assembly: AssemblyStore.Row) {
    const tried = yield* Deferred.make<void>()
    const execution = Effect.ensuring(execute(assembly), Deferred.succeed(tried, undefined))
    const fiber = yield* FiberMap.run(running, assembly.id, StorageFailure.retryUntilStored(execution))
    if (yield* isSlow(assembly)) return
    yield* Effect.interruptible(Effect.raceFirst(Deferred.await(tried), Fiber.await(fiber)))
  })

  const startById = (id: string) =>
    Effect.flatMap(assemblies.find(id), Option.match({ onNone: () => Effect.void, onSome: start }))

  /** Runs the work. If the disk fails, the work is retried in the background. */
  const orSoon = (key: string, work: Effect.Effect<void, StorageFailed>) =>
    work.pipe(
      Effect.catch(() => Effect.asVoid(FiberMap.run(waiting, key, StorageFailure.retryUntilStored(work)))),
      Effect.uninterruptible
    )

  const begin = (id: string) =>
    Effect.flatMap(assemblies.beginExecution(id), (began) =>
      began ? StorageFailure.retryUntilStored(startById(id)) : Effect.void
    )

  // The state is stored before the fiber of the execution is removed. If the execution ends in between, that end has no
  // effect.
  /** Cancels a busy Assembly and stops its execution. */
  const stop = Effect.fnUntraced(function* (id: string, state: "canceled" | "request_aborted") {
    if (yield* assemblies.stop(id, state)) {
      yield* notifications.notify(id)
      yield* updates.publish(Updates.finished(id))
    }
    yield* FiberMap.remove(running, id)
  }, Effect.uninterruptible)

  /** Ends a busy Assembly with an error. */
  const fail = (id: string, failure: StepFailed) =>
    Effect.andThen(end(id, { uploads: [], results: {}, failure, usage: {} }), FiberMap.remove(running, id))

  const check = Effect.fnUntraced(function* (id: string) {
    const assembly = yield* assemblies.find(id)
    if (Option.isNone(assembly)) return
    yield* Steps.plan(assembly.value.steps, robots, limits).pipe(Effect.catch((failure) => fail(id, failure)))
  })

  /**
   * Executes an Assembly if every expected upload has arrived. Unless one of its Steps is slow, waits until the
   * execution has ended or the disk has failed once.
   */
  const advance = (id: string) => orSoon(`advance ${id}`, begin(id))

  // The Assemblies that an earlier process left busy continue before the first request.
  for (const assembly of yield* assemblies.recover) {
    yield* assembly.state === "executing" ? start(assembly) : advance(assembly.id)
  }

  return {
    /** Fails an Assembly at once if its Steps are invalid. */
    check: (id: string) => orSoon(`check ${id}`, check(id)),
    advance,
    stop,
    /** Aborts a busy Assembly whose form was not received or not stored completely. */
    abort: (id: string) => orSoon(`abort ${id}`, stop(id, "request_aborted")),
    fail
  }
})

/**
 * Executes Assemblies after their last upload. If the disk fails, the execution is retried until the disk works again,
 * without a restart.
 */
export class Execution extends Context.Service<Execution>()("@assembly-effect/emulator/Execution", { make }) {}

export const layer = Layer.effect(Execution, Execution.make)
