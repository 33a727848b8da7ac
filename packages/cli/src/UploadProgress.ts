/**
 * Shows what happens during an upload: one line that is rewritten where a terminal watches, lines that stay elsewhere.
 */
import type * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as Printable from "@assembly-effect/schema/Printable"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import * as Format from "./Format.ts"
import * as Output from "./Output.ts"
import * as ProgressBar from "./ProgressBar.ts"
import * as Style from "./Style.ts"
import * as Text from "./internal/text.ts"

/** The progress after an event. */
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

/** What an event leaves on the screen for good; most leave nothing. */
const note = (event: UploadEvent.UploadEvent, progress: ProgressBar.Progress): string | undefined => {
  switch (event._tag) {
    case "Retrying":
      return `Retrying in ${Format.duration(event.delay)} (attempt ${event.attempt}): ${Printable.escape(event.reason)}`
    case "Resumed": {
      const share = ProgressBar.percent(progress)
      return `Resumed at ${Format.bytes(event.offset)}${share === undefined ? "" : ` (${share}%)`}`
    }
    default:
      return undefined
  }
}

/** Ten times a second looks smooth; an upload may report far more often. */
const redrawInterval = "100 millis"

/** The width to draw in: a line that fills the last cell wraps in some terminals. */
const drawingWidth = (columns: number): number => (columns === 0 ? 80 : columns) - 1

interface Options {
  readonly label: string
}

/**
 * One writer for events and ticks, so nothing is ever written into the line. Whatever ends the upload, the cursor comes
 * back at the start of a line of its own.
 */
const animate = <E, R>(events: Stream.Stream<UploadEvent.UploadEvent, E, R>, { label }: Options) =>
  Effect.gen(function* () {
    const terminal = yield* Terminal.Terminal
    const style = yield* Style.current
    const current = yield* Ref.make(ProgressBar.start({ total: undefined, now: yield* Clock.currentTimeMillis }))

    const draw = Effect.fnUntraced(function* (above: string | undefined) {
      const width = drawingWidth(yield* terminal.columns)
      const line = ProgressBar.line(yield* Ref.get(current), { label, width, style })
      const kept = above === undefined ? "" : `${style.yellow(Text.truncate(above, width))}\n`
      yield* Output.draw(Style.eraseLine + kept + line)
    })

    const show = Effect.fnUntraced(function* (event: UploadEvent.UploadEvent | undefined) {
      const now = yield* Clock.currentTimeMillis
      const progress = yield* Ref.updateAndGet(current, (before) =>
        event === undefined ? ProgressBar.update(before, { now }) : advance(before, event, now)
      )
      const above = event === undefined ? undefined : note(event, progress)
      if (event === undefined || above !== undefined || event._tag === "Completed") yield* draw(above)
    })

    const ticks = Stream.map(Stream.tick(redrawInterval), () => undefined)
    yield* Effect.acquireUseRelease(
      Output.draw(Style.hideCursor),
      () => events.pipe(Stream.merge(ticks, { haltStrategy: "left" }), Stream.runForEach(show)),
      () => Output.draw(`\n${Style.showCursor}`)
    )
    return yield* Ref.get(current)
  })

/** Where the end is not known, a line is written for each 64 MiB. */
const unknownStep = 64n * 1024n * 1024n

/** How many lines the progress is worth by now; none more once everything has left, since the end tells it. */
const milestone = (progress: ProgressBar.Progress): number => {
  const share = ProgressBar.percent(progress)
  if (share === undefined) return Number(progress.sent / unknownStep)
  return progress.sent === progress.total ? 0 : Math.floor(share / 10)
}

/** What the lines have told so far. */
interface View {
  readonly progress: ProgressBar.Progress
  readonly told: number
}

const log = <E, R>(events: Stream.Stream<UploadEvent.UploadEvent, E, R>, { label }: Options) =>
  Effect.gen(function* () {
    const write = (text: string) => Output.draw(`${text}\n`)

    const show = Effect.fnUntraced(function* (view: View, event: UploadEvent.UploadEvent) {
      const progress = advance(view.progress, event, yield* Clock.currentTimeMillis)
      const above = note(event, progress)
      if (above !== undefined) yield* write(`${Printable.escape(label)}: ${above}`)
      const reached = milestone(progress)
      if (event._tag === "Completed" || reached > view.told) yield* write(ProgressBar.sentence(progress, label))
      return { progress, told: Math.max(view.told, reached) }
    })

    const progress = ProgressBar.start({ total: undefined, now: yield* Clock.currentTimeMillis })
    const last = yield* Stream.runFoldEffect(events, (): View => ({ progress, told: 0 }), show)
    return last.progress
  })

/**
 * Runs an upload and shows its events under a label; answers where it ended. Fails as the upload fails.
 *
 * **Details**
 *
 * In a terminal one line is rewritten, at most ten times a second; `Retrying` and `Resumed` stay above it. The cursor is
 * hidden meanwhile and comes back also on failure and interruption. Without a terminal (a pipe, a log, `TERM=dumb`) a
 * line is written at each 10 % and at the same events.
 *
 * @example
 * UploadProgress.follow(Upload.events(target, source, options), { label: "video.mp4" })
 */
export const follow = <E, R>(
  events: Stream.Stream<UploadEvent.UploadEvent, E, R>,
  options: Options
): Effect.Effect<ProgressBar.Progress, E, R | Terminal.Terminal> =>
  Effect.flatMap(TerminalCapabilities.TerminalCapabilities, ({ canAnimate }) =>
    canAnimate ? animate(events, options) : log(events, options)
  )
