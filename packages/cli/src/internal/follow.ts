/**
 * Shows a job: the upload of all its files, then the work of the Assembly. In a terminal, one line is rewritten. In a
 * file or pipe, a new line is written for each 10 %, or for each 64 MiB if the size is unknown.
 */
import { Assembly } from "@assembly-effect/schema"
import type { AssemblyUploadEvent } from "@assembly-effect/tus/AssemblyUploadEvent"
import { Clock, Duration, Effect, Stream, Terminal } from "./effect.ts"
import * as Advice from "./advice.ts"
import * as Progress from "./progress.ts"
import type { JobEvent } from "./uploadJob.ts"
import * as Text from "./text.ts"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { TerminalCapabilities } from "effect/cli"
import * as Output from "./output.ts"

type FileEvent = Extract<AssemblyUploadEvent, { readonly _tag: "FileEvent" }>

/** Makes a function that returns the progress after an event. */
export const makeAdvance = (total: bigint | undefined) => {
  /** The files whose bytes are counted, because an event has reported that they were created, resumed or complete. */
  const begun = new Set<number>()

  const ofFile = (progress: Progress.Progress, { event, file }: FileEvent, now: number): Progress.Progress => {
    const isBegun = begun.has(file)
    if (["Created", "Resumed", "Completed"].includes(event._tag)) begun.add(file)
    switch (event._tag) {
      case "Resumed":
        return isBegun
          ? Progress.pause(Progress.update(progress, { now }), now)
          : Progress.inherit(progress, { now, bytes: event.offset })
      case "Completed":
        return isBegun ? progress : Progress.inherit(progress, { now, bytes: event.length })
      case "Waiting":
        return Progress.pause(progress, now, event.until)
      case "Retrying":
        return Progress.pause(progress, now, now + Duration.toMillis(event.delay))
      default:
        return progress
    }
  }

  return (progress: Progress.Progress, event: JobEvent, now: number): Progress.Progress => {
    switch (event._tag) {
      case "AssemblyCreated":
        begun.clear()
        return Progress.pause({ ...Progress.start(total, now), startedAt: progress.startedAt }, now)
      case "AssemblyResumed":
        return Progress.pause(Progress.update(progress, { now, total }), now)
      case "Progress": {
        // In a new attempt, the sum lacks a file until the first event of this file. So a smaller sum is ignored.
        const sizes = event.sent < progress.sent ? {} : { sent: event.sent, acknowledged: event.acknowledged }
        return Progress.update(progress, { now, total: event.total, ...sizes })
      }
      case "Waiting":
        return Progress.pause(progress, now, event.until)
      case "FileEvent":
        return ofFile(progress, event, now)
      case "Uploaded": {
        const all = progress.total ?? progress.sent
        return Progress.update(progress, { now, sent: all, acknowledged: all, total: all })
      }
      default:
        return Progress.update(progress, { now })
    }
  }
}

/**
 * Whether this run may send bytes from this event on. If an earlier run has uploaded all files, so that the Assembly is
 * no longer uploading, the result is false for every event.
 */
const begins = (event: JobEvent): boolean =>
  event._tag === "AssemblyCreated" ||
  (event._tag === "AssemblyResumed" && event.status.ok === "ASSEMBLY_UPLOADING") ||
  (event._tag === "FileEvent" && ["Created", "Resumed", "Retrying"].includes(event.event._tag))

/** With more files than this, a resumed file leaves no note. */
const mostNamed = 4

/**
 * Makes a function that returns the note that an event leaves on the screen for good, if any. With several files, the
 * name of the file comes first. A reason is told once until a file or the Assembly resumes.
 */
const makeNotes = (names: ReadonlyArray<string>) => {
  const told = new Set<string>()
  const once = (reason: string, text: string): string | undefined => {
    if (told.has(reason)) return undefined
    told.add(reason)
    return text
  }
  let continued: string | undefined

  const ofFile = ({ event, file }: FileEvent): string | undefined => {
    const prefix = names.length === 1 ? "" : `${names[file] ?? ""}: `
    switch (event._tag) {
      case "Retrying": {
        const { attempt, delay, reason } = event
        return once(reason, `${prefix}Retrying in ${Text.duration(delay)} (attempt ${attempt}): ${reason}`)
      }
      case "Resumed":
        told.clear()
        return event.offset === 0n || names.length > mostNamed
          ? undefined
          : `${prefix}Resumed at ${Text.bytes(event.offset)}`
      case "Waiting":
        return once(event.reason, `${prefix}Waiting: ${event.reason}`)
      default:
        return undefined
    }
  }

  return (event: JobEvent): string | undefined => {
    switch (event._tag) {
      case "AssemblyCreated": {
        const { assembly_id } = event.status
        return continued === undefined
          ? `Assembly ${assembly_id}`
          : `Assembly ${continued} was canceled, because it is not known which files it has. Starting again in Assembly ${assembly_id}`
      }
      case "AssemblyResumed":
        if (Assembly.isOver(event.status)) return undefined
        continued = event.status.assembly_id
        told.clear()
        return `Continuing Assembly ${continued}`
      case "Notice":
        continued = undefined
        return event.message
      case "Waiting":
        return once(event.reason, `Waiting: ${event.reason}`)
      case "FileEvent":
        return ofFile(event)
      case "FileFailed": {
        // If the job has one file, the error of the command says why this file failed.
        if (names.length === 1 || event.error._tag === "CreationUnknown") return undefined
        const reason = Advice.line(event.error)
        return once(reason, `${names[event.file] ?? ""}: ${reason}`)
      }
      default:
        return undefined
    }
  }
}

/** The names of the files, and their size in bytes if it is known. */
export interface Job {
  readonly names: ReadonlyArray<string>
  readonly total: bigint | undefined
}

const labelOf = ({ names }: Job): string => (names.length === 1 ? (names[0] ?? "") : `${names.length} files`)

/** What a job has shown so far. `endedAt` is when all bytes were stored; `isWaiting` is whether the service is gone. */
interface Shown {
  readonly progress: Progress.Progress
  readonly isBegun: boolean
  readonly endedAt: number | undefined
  readonly isWaiting: boolean
}

/** What an event is: the end of the uploads, and its note. */
type Step = { readonly isEnd: boolean; readonly note: string | undefined }

type Drawing = Effect.Effect<void, never, Terminal.Terminal>

/** How a job is shown: after an event, in the time between (without a step), at the begin and at the end. */
interface View {
  readonly interval: Duration.Input
  readonly show: (shown: Shown, now: number, step?: Step) => Drawing
  readonly begin: Drawing
  readonly end: Drawing
}

/** What happens while no bar is shown, such as `Connecting, 2 s` or `Processing, 5 s, waiting`. */
const working = ({ endedAt, isWaiting, progress }: Shown, now: number): string => {
  const [what, since] = endedAt === undefined ? ["Connecting", progress.startedAt] : ["Processing", endedAt]
  return `${what}, ${Text.duration(now - since)}${isWaiting ? ", waiting" : ""}`
}

/**
 * The width of the progress line. Three cells stay free, because a full line wraps in some terminals, and because the
 * terminal appends `^C` when a user presses Ctrl-C.
 */
const drawingWidth = (columns: number): number => (columns === 0 ? 80 : columns) - 3

/** One line, which is rewritten. At the end, the cursor is shown again, at the start of an empty line. */
const screen = Effect.fnUntraced(function* (job: Job) {
  const terminal = yield* Terminal.Terminal
  const style = yield* Text.current
  /** Whether the line with the cursor stays on the screen at the end. A line such as `Connecting, 2 s` is removed. */
  let isKept = false

  const draw = Effect.fnUntraced(function* (shown: Shown, now: number, step?: Step) {
    // At the end of the uploads, the bar stays, and the work of the Assembly begins on the next line.
    const isLast = shown.isBegun && step?.isEnd === true
    const note = step?.note
    if (step !== undefined && note === undefined && !isLast) return
    const width = drawingWidth(yield* terminal.columns)
    const isBar = shown.isBegun && (shown.endedAt === undefined || isLast)
    const line = isBar
      ? Progress.line(shown.progress, { label: labelOf(job), width, style })
      : Text.truncate(working(shown, now), width)
    // Notes are wrapped instead of cut, because the reason of a retry is at the end of the note.
    const notes = note === undefined ? [] : Text.wrap(Printable.escape(note), width, { breakWords: true })
    const above = notes.map((text) => `${text}\n`).join("")
    yield* Output.draw(Text.eraseLine + above + line + (isLast ? "\n" : ""))
    isKept = !isLast && (shown.isBegun || shown.endedAt !== undefined)
  })

  return {
    // Ten redraws a second look smooth, and an upload may report progress far more often.
    interval: "100 millis",
    show: draw,
    begin: Output.draw(Text.hideCursor),
    end: Effect.suspend(() => Output.draw((isKept ? "\n" : Text.eraseLine) + Text.showCursor))
  } satisfies View
})

/** A log has one line for each step of this many bytes, while the length of the upload is unknown. */
const unknownStep = 64n * 1024n * 1024n

/**
 * The number of steps that the progress has reached. A step is 10 %, or `unknownStep` bytes if the size is unknown. The
 * number is 0 when all bytes are sent, because the end of the upload prints its own line.
 */
const milestone = (progress: Progress.Progress): number => {
  const share = Progress.percent(progress)
  if (share === undefined) return Number(progress.sent / unknownStep)
  return progress.sent === progress.total ? 0 : Math.floor(share / 10)
}

/** A new line for each note, each step of the progress, and from time to time for the work after the upload. */
const log = (job: Job): View => {
  const write = (text: string) => Output.draw(`${Printable.escape(labelOf(job))}: ${text}\n`)
  let told = 0
  return {
    interval: "30 seconds",
    show: Effect.fnUntraced(function* (shown, now, step) {
      if (step === undefined) return yield* shown.endedAt === undefined ? Effect.void : write(working(shown, now))
      const { isEnd, note } = step
      if (note !== undefined) yield* write(Printable.escape(note))
      const reached = shown.isBegun && shown.endedAt === undefined ? milestone(shown.progress) : 0
      if (reached > told || (isEnd && shown.isBegun)) yield* write(Progress.sentence(shown.progress))
      if (isEnd) yield* write("Processing")
      told = Math.max(told, reached)
    }),
    begin: Effect.void,
    end: Effect.void
  }
}

/**
 * Runs a job and shows its events. Returns the final progress. In a terminal, the notes of events, such as `Retrying`
 * and `Resumed`, stay above the line. Without a terminal (a pipe, a log, `TERM=dumb`), each is a line. One fiber handles
 * the events and the clock ticks, and only this fiber draws, so that two draws never mix.
 */
export const follow = Effect.fnUntraced(function* <E, R>(events: Stream.Stream<JobEvent, E, R>, job: Job) {
  const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
  const view: View = canAnimate ? yield* screen(job) : log(job)
  const advance = makeAdvance(job.total)
  const noteOf = makeNotes(job.names)
  const progress = Progress.start(undefined, yield* Clock.currentTimeMillis)
  let shown: Shown = { progress, isBegun: false, endedAt: undefined, isWaiting: false }

  const take = Effect.fnUntraced(function* (event: JobEvent) {
    const now = yield* Clock.currentTimeMillis
    const isOver = shown.endedAt !== undefined
    const isEnd = !isOver && event._tag === "Uploaded"
    shown = {
      isBegun: shown.isBegun || begins(event),
      progress: isOver ? shown.progress : advance(shown.progress, event, now),
      isWaiting: event._tag === "Waiting" || (shown.isWaiting && !event._tag.startsWith("Assembly")),
      endedAt: isEnd ? now : shown.endedAt
    }
    yield* view.show(shown, now, { isEnd, note: noteOf(event) })
  })
  const tick = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (shown.endedAt === undefined) shown = { ...shown, progress: Progress.update(shown.progress, { now }) }
    yield* view.show(shown, now)
  })

  const ticks = Stream.map(Stream.drop(Stream.tick(view.interval), 1), () => tick)
  const steps = Stream.merge(Stream.map(events, take), ticks, { haltStrategy: "left" })
  yield* Effect.ensuring(
    Effect.andThen(
      view.begin,
      Stream.runForEach(steps, (step) => step)
    ),
    view.end
  )
  return shown.progress
})
