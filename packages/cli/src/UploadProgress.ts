/**
 * Shows the progress of an upload. In a terminal, one line is rewritten. In a file or pipe, a new line is written for
 * each 10 %, or for each 64 MiB if the size is unknown.
 */
import type * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as Printable from "@assembly-effect/schema/Printable"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import * as Format from "./Format.ts"
import * as Output from "./Output.ts"
import * as ProgressBar from "./ProgressBar.ts"
import * as Style from "./Style.ts"
import * as Text from "./internal/text.ts"

/**
 * The progress of one file after an event.
 *
 * @since 0.1.0
 * @category combinators
 */
export const advance = (
  progress: ProgressBar.Progress,
  event: UploadEvent.UploadEvent,
  now: number
): ProgressBar.Progress => {
  switch (event._tag) {
    case "Created":
      return ProgressBar.update(progress, { now, total: event.length })
    case "Progress":
      return ProgressBar.update(progress, { now, ...event })
    case "Resumed":
      return ProgressBar.resume(progress, { now, offset: event.offset })
    case "Completed":
      return ProgressBar.update(progress, { now, sent: event.length, acknowledged: event.length, total: event.length })
    default:
      return ProgressBar.update(progress, { now })
  }
}

/** The note that an event leaves on the screen for good. Most events leave no note. */
const note = (event: UploadEvent.UploadEvent, progress: ProgressBar.Progress): string | undefined => {
  switch (event._tag) {
    case "Retrying":
      return `Retrying in ${Format.duration(event.delay)} (attempt ${event.attempt}): ${event.reason}`
    case "Resumed": {
      if (event.offset === 0n) return undefined
      const share = ProgressBar.percent(progress)
      return `Resumed at ${Format.bytes(event.offset)}${share === undefined ? "" : ` (${share}%)`}`
    }
    default:
      return undefined
  }
}

/**
 * The time between two redraws of the line. Ten redraws a second look smooth, and an upload may report progress far
 * more often.
 */
const redrawInterval = "100 millis"

/**
 * The width of the progress line. Three cells stay free, because a full line wraps in some terminals, and because the
 * terminal appends `^C` when a user presses Ctrl-C.
 */
const drawingWidth = (columns: number): number => (columns === 0 ? 80 : columns) - 3

/**
 * Describes how events are shown.
 *
 * - `label`: the text in front of the progress.
 * - `advance`: returns the progress after an event. `now` is in milliseconds since 1970.
 * - `note`: returns the note that an event leaves on the screen for good, if any.
 * - `begins`: returns whether bytes may be sent from this event on. No bar is drawn before the first such event.
 *   Without `begins`, the bar is drawn from the start.
 * - `isEnd`: returns whether all bytes are stored after this event.
 * - `after`: the name of the work that follows the upload, such as `Processing`, if any.
 * - `work`: returns the progress of the work of `after`, such as `3 results`. The result is empty if this work has no
 *   progress yet, and undefined if the event does not change its progress.
 *
 * @since 0.1.0
 * @category models
 */
export interface View<Event> {
  readonly label: string
  readonly advance: (progress: ProgressBar.Progress, event: Event, now: number) => ProgressBar.Progress
  readonly note: (event: Event, progress: ProgressBar.Progress) => string | undefined
  readonly begins?: ((event: Event) => boolean) | undefined
  readonly isEnd: (event: Event) => boolean
  readonly after?: string | undefined
  readonly work?: ((event: Event) => string | undefined) | undefined
}

/**
 * What happens while no bar is shown, in words: `Connecting, 2 s`, or the work that follows the upload, such as
 * `Processing, 5 s, 3 results`.
 */
const working = (after: string, elapsedMillis: number, work: string | undefined): string =>
  [after, Format.duration(elapsedMillis), work].filter((part) => part !== undefined && part !== "").join(", ")

/**
 * Describes how the upload of one file is shown.
 *
 * @since 0.1.0
 * @category constructors
 */
export const view = (label: string): View<UploadEvent.UploadEvent> => ({
  label,
  advance,
  note,
  isEnd: ({ _tag }) => _tag === "Completed"
})

/**
 * One fiber handles the events and the clock ticks, and only this fiber draws, so that two draws never mix. When the
 * upload ends, fails or is interrupted, the cursor is shown again, at the start of an empty line.
 */
const animate = <Event, E, R>(events: Stream.Stream<Event, E, R>, shown: View<Event>) =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const style = yield* Style.current
    const startedAt = yield* Clock.currentTimeMillis
    let progress = ProgressBar.start({ total: undefined, now: startedAt })
    let isBegun = shown.begins === undefined
    let endedAt: number | undefined
    let work: string | undefined
    /** Whether the line with the cursor stays on the screen at the end. A line such as `Connecting, 2 s` is removed. */
    let isKept = false

    const lineAt = (now: number, width: number) => {
      if (endedAt !== undefined && shown.after !== undefined) {
        return Text.truncate(working(shown.after, now - endedAt, work), width)
      }
      return isBegun
        ? ProgressBar.line(progress, { label: shown.label, width, style })
        : Text.truncate(working("Connecting", now - startedAt, work), width)
    }

    const draw = Effect.fnUntraced(function* (above: string | undefined, below = "") {
      const width = drawingWidth(yield* terminal.columns)
      const now = yield* Clock.currentTimeMillis
      // Notes are wrapped instead of cut, because the reason of a retry is at the end of the note.
      const notes = above === undefined ? [] : Text.wrap(Printable.escape(above), width, { breakWords: true })
      const kept = notes.map((line) => `${style.yellow(line)}\n`).join("")
      yield* Output.draw(Style.eraseLine + kept + lineAt(now, width) + below)
      isKept = below === "" && (isBegun || endedAt !== undefined)
    })

    const tick = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (endedAt === undefined) progress = ProgressBar.update(progress, { now })
      yield* draw(undefined)
    })

    const show = Effect.fnUntraced(function* (event: Event) {
      const now = yield* Clock.currentTimeMillis
      isBegun ||= shown.begins?.(event) === true
      if (endedAt === undefined) progress = shown.advance(progress, event, now)
      work = shown.work?.(event) ?? work
      const above = shown.note(event, progress)
      const isEnd = endedAt === undefined && shown.isEnd(event)
      if (isEnd && isBegun) yield* draw(above, shown.after === undefined ? "" : "\n")
      else if (above !== undefined) yield* draw(above)
      if (isEnd) endedAt = now
    })

    const ticks = Stream.map(Stream.tick(redrawInterval), () => tick)
    yield* Effect.acquireUseRelease(
      Output.draw(Style.hideCursor),
      () =>
        events.pipe(
          Stream.map(show),
          Stream.merge(ticks, { haltStrategy: "left" }),
          Stream.runForEach((step) => step)
        ),
      () => Output.draw((isKept ? "\n" : Style.eraseLine) + Style.showCursor)
    )
    return progress
  })

/** A log has one line for each step of this many bytes, while the length of the upload is unknown. */
const unknownStep = 64n * 1024n * 1024n

/**
 * The number of steps that the progress has reached. A step is 10 %, or `unknownStep` bytes if the size is unknown. The
 * number is 0 when all bytes are sent, because the end of the upload prints its own line.
 */
const milestone = (progress: ProgressBar.Progress): number => {
  const share = ProgressBar.percent(progress)
  if (share === undefined) return Number(progress.sent / unknownStep)
  return progress.sent === progress.total ? 0 : Math.floor(share / 10)
}

/** The latest progress, the number of steps that were printed ({@link milestone}), and the work after the upload. */
interface Told {
  readonly isBegun: boolean
  readonly progress: ProgressBar.Progress
  readonly told: number
  readonly endedAt: number | undefined
  readonly work: string | undefined
}

/** The time between two lines about the work after the upload, so that the log is not silent during long work. */
const workInterval = "30 seconds"

const log = <Event, E, R>(
  events: Stream.Stream<Event, E, R>,
  { advance: next, after, begins, isEnd, label, note: noteOf, work: workOf }: View<Event>
) =>
  Effect.gen(function* () {
    const name = Printable.escape(label)
    const write = (text: string) => Output.draw(`${text}\n`)

    const show = Effect.fnUntraced(function* (before: Told, event: Event) {
      const now = yield* Clock.currentTimeMillis
      const progress = before.endedAt === undefined ? next(before.progress, event, now) : before.progress
      const work = workOf?.(event) ?? before.work
      const above = noteOf(event, progress)
      if (above !== undefined) yield* write(`${name}: ${Printable.escape(above)}`)
      if (before.endedAt !== undefined) return { ...before, work }
      const isBegun = before.isBegun || begins?.(event) === true
      const isEnded = isEnd(event)
      const reached = isBegun ? milestone(progress) : 0
      if ((isBegun && isEnded) || reached > before.told) yield* write(ProgressBar.sentence(progress, label))
      if (isEnded && after !== undefined) yield* write(`${name}: ${after}`)
      return { isBegun, progress, endedAt: isEnded ? now : undefined, told: Math.max(before.told, reached), work }
    })

    const tick = Effect.fnUntraced(function* (told: Told) {
      if (told.endedAt === undefined || after === undefined) return told
      const now = yield* Clock.currentTimeMillis
      yield* write(`${name}: ${working(after, now - told.endedAt, told.work)}`)
      return told
    })

    const progress = ProgressBar.start({ total: undefined, now: yield* Clock.currentTimeMillis })
    const steps = Stream.merge(
      Stream.map(events, (event) => (told: Told) => show(told, event)),
      Stream.map(Stream.drop(Stream.tick(workInterval), 1), () => tick),
      { haltStrategy: "left" }
    )
    const start = (): Told => ({
      isBegun: begins === undefined,
      progress,
      endedAt: undefined,
      told: 0,
      work: undefined
    })
    const last = yield* Stream.runFoldEffect(steps, start, (told, step) => step(told))
    return last.progress
  })

/**
 * Runs an upload and shows its events. Returns the final progress. Fails with the error of the upload.
 *
 * **Details**
 *
 * In a terminal, one line is rewritten about ten times a second. The notes of events, such as `Retrying` and `Resumed`,
 * stay above that line. The cursor is hidden during the upload and shown again at its end, also after a failure or an
 * interruption. Without a terminal (a pipe, a log, `TERM=dumb`), a line is written for each 10 % (each 64 MiB if the
 * size is unknown), at the end, and for each note. During the work after the upload, a line is written every 30
 * seconds.
 *
 * @example
 * UploadProgress.follow(Upload.events(target, source, options), UploadProgress.view("video.mp4"))
 *
 * @since 0.1.0
 * @category running
 */
export const follow = <Event, E, R>(
  events: Stream.Stream<Event, E, R>,
  shown: View<Event>
): Effect.Effect<ProgressBar.Progress, E, R | Terminal.Terminal> =>
  Effect.flatMap(TerminalCapabilities.TerminalCapabilities, ({ canAnimate }) =>
    canAnimate ? animate(events, shown) : log(events, shown)
  )
