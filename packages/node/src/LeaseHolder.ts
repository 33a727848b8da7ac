/**
 * Which processes of this machine hold uploads of a journal, and which of them have ended.
 */
import * as Tus from "@assembly-effect/tus/LeaseHolder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile, readlink } from "node:fs/promises"
import * as Process from "node:process"

/** Texts of Linux that name a process: none of them is used again while the others are the same. */
const Id = Schema.Struct({
  boot: Schema.NonEmptyString,
  /** The PID namespace. A process id is unique only within it. */
  pids: Schema.NonEmptyString,
  /** Start times are told by the clock of a namespace; older kernels have one for all. */
  times: Schema.String,
  pid: Schema.Int.check(Schema.isGreaterThan(0)),
  /** In clock ticks since the boot. A process id is used again, at another time. */
  started: Schema.NonEmptyString
})
type Id = typeof Id.Type

const AtRest = Schema.fromJsonString(Id)
const decode = Schema.decodeOption(AtRest)
const encode = Schema.encodeSync(AtRest)

const attempt = (read: () => Promise<string>) => Effect.option(Effect.tryPromise(read))
const text = (path: string) => attempt(() => readFile(path, "utf8"))
const link = (path: string) => attempt(() => readlink(path))

interface Stat {
  readonly pid: number
  readonly state: string
  readonly started: string
}

/** `/proc/<pid>/stat`; the second field is a name in parentheses that may hold anything. */
const stat = (process: string): Effect.Effect<Option.Option<Stat>> =>
  Effect.map(
    text(`/proc/${process}/stat`),
    Option.flatMap((line) => {
      const fields = line.slice(line.lastIndexOf(")") + 2).split(" ")
      const [state] = fields
      // Field 22 of the line; the first of these is the third.
      const started = fields[19]
      return state === undefined || started === undefined
        ? Option.none()
        : Option.some({ pid: Number.parseInt(line, 10), state, started })
    })
  )

/** This process, or nothing where it has no such name, or where `/proc` shows another namespace than its own. */
const self: Effect.Effect<Option.Option<Id>> = Effect.gen(function* () {
  const boot = yield* text("/proc/sys/kernel/random/boot_id")
  const pids = yield* link("/proc/self/ns/pid")
  const times = yield* link("/proc/self/ns/time")
  const own = yield* stat("self")
  return Option.gen(function* () {
    const { pid, started } = yield* Option.filter(own, (found) => found.pid === Process.pid)
    return {
      boot: (yield* boot).trim(),
      pids: yield* pids,
      times: Option.getOrElse(times, () => ""),
      pid,
      started
    }
  })
})

/** Whether the kernel knows no process of this id. A `/proc` may hide those of other users. */
const isUnknown = (pid: number): boolean => {
  try {
    Process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}

/** A process that ended and was not waited for yet is a zombie. */
const ended: ReadonlySet<string> = new Set(["Z", "X", "x"])

const hasEnded = ({ pid, started }: Id): Effect.Effect<boolean> =>
  Effect.map(
    stat(String(pid)),
    Option.match({
      onNone: () => isUnknown(pid),
      onSome: (found) => found.started !== started || ended.has(found.state)
    })
  )

const make: Effect.Effect<Tus.Service> = Effect.map(
  self,
  Option.match({
    onNone: () => Tus.unknown,
    onSome: (own) => ({
      id: encode(own),
      isGone: (id) =>
        Option.match(decode(id), {
          onNone: () => Effect.succeed(false),
          onSome: (other) =>
            other.boot === own.boot && other.pids === own.pids && other.times === own.times
              ? hasEnded(other)
              : Effect.succeed(false)
        })
    })
  })
)

/**
 * Names this process in the leases of upload journals, and tells of a holder on the same machine whether it has ended.
 *
 * **When to use**
 *
 * With `UploadJournal.layerFileSystem`, so that the upload of a process that crashed continues at once.
 *
 * **Details**
 *
 * On Linux a process is known by the boot, its process namespace, its id and its start. A holder of another boot or
 * namespace, another machine or container, may be alive: its lease is waited for. On other systems nothing is known.
 *
 * **Gotchas**
 *
 * Clones of a running virtual machine have the same boot and namespaces. Do not share a journal between them.
 *
 * @example ResumableUpload.run(target, source, options).pipe(Effect.provide(LeaseHolder.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never> = Layer.effect(Tus.LeaseHolder, make)
