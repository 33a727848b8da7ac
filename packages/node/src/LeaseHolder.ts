/**
 * Identifies the processes that hold leases of an upload journal, and detects that such a process on this machine has
 * ended.
 */
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { readFile, readlink } from "node:fs/promises"
import * as Process from "node:process"

/**
 * Linux values that together identify a process. Only processes in clones of one virtual machine can have the same
 * values.
 */
const Id = Schema.Struct({
  boot: Schema.NonEmptyString,
  /** The PID namespace. A process id is unique only within its namespace. */
  pids: Schema.NonEmptyString,
  /**
   * The time namespace, whose clock measures start times. `times` is empty on older kernels, which have no time
   * namespaces.
   */
  times: Schema.String,
  pid: Schema.Int.check(Schema.isGreaterThan(0)),
  /**
   * The start time in clock ticks since the boot. A later process may have the same id, but not the same start time.
   */
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

/** Reads `/proc/<pid>/stat`. The second field of the line is a name in parentheses, which may contain any character. */
const stat = (process: string): Effect.Effect<Option.Option<Stat>> =>
  Effect.map(
    text(`/proc/${process}/stat`),
    Option.flatMap((line) => {
      const fields = line.slice(line.lastIndexOf(")") + 2).split(" ")
      const [state] = fields
      // The start time is field 22 of the line. This field has index 19, because `fields` starts with field 3.
      const started = fields[19]
      return state === undefined || started === undefined
        ? Option.none()
        : Option.some({ pid: Number.parseInt(line, 10), state, started })
    })
  )

/**
 * The id of this process. The result is `None` if there is no `/proc`, or if `/proc` shows another namespace.
 */
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

/**
 * Whether the kernel has no process with this id. `/proc` is not enough, because it may hide processes of other users.
 */
const isUnknown = (pid: number): boolean => {
  try {
    Process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}

/** The states of a process that has ended: zombie (`Z`) or dead (`X`, `x`). */
const ended: ReadonlySet<string> = new Set(["Z", "X", "x"])

const hasEnded = ({ pid, started }: Id): Effect.Effect<boolean> =>
  Effect.map(
    stat(String(pid)),
    Option.match({
      onNone: () => isUnknown(pid),
      onSome: (found) => found.started !== started || ended.has(found.state)
    })
  )

const make: Effect.Effect<UploadJournal.Holder> = Effect.map(
  self,
  Option.match({
    onNone: () => ({ id: undefined, isGone: () => Effect.succeed(false) }),
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
 * Writes the id of this process into its leases of upload journals, and detects that the process of another lease on
 * this machine has ended.
 *
 * **When to use**
 *
 * Use this Layer with `UploadJournal.layerFileSystem`, so that the upload of a crashed process continues at once.
 *
 * **Details**
 *
 * On Linux a process is identified by the boot of its machine, its PID and time namespaces, its process id and its
 * start time. A holder with another boot or namespace may run in a container or on another machine, so the upload
 * continues only after the lease of this holder has expired. On other systems, this Layer never detects that a holder
 * has ended.
 *
 * **Gotchas**
 *
 * Clones of a running virtual machine have the same boot and namespaces. Do not share a journal between clones.
 *
 * @example Upload.run(target, source, options).pipe(Effect.provide(LeaseHolder.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never> = Layer.effect(UploadJournal.LeaseHolder, make)
