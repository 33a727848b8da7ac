/**
 * The progress of one transfer as a value and as one line of text. All functions are pure: the current time is an
 * argument.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Duration from "effect/Duration"
import * as Format from "./Format.ts"
import * as Text from "./internal/text.ts"
import * as Style from "./Style.ts"

/**
 * A measurement: `rate` is the speed at the time `at`, in bytes per second, and `sent` is the number of bytes that were
 * sent until then.
 */
interface Measure {
  readonly at: number
  readonly sent: bigint
  readonly rate: number | undefined
  /** Whether the measurement of the speed is paused until `sent` changes. */
  readonly isPaused?: boolean
}

/**
 * The progress of a transfer. `sent` bytes were sent; the server has stored `acknowledged` bytes. `total` is the size,
 * which is undefined while it is unknown. Times are milliseconds since 1970.
 *
 * @since 0.1.0
 * @category models
 */
export interface Progress {
  readonly sent: bigint
  readonly acknowledged: bigint
  readonly total: bigint | undefined
  /** The number of bytes that an earlier run has sent. The speed does not include these bytes. */
  readonly earlier: bigint
  readonly startedAt: number
  readonly now: number
  readonly measure: Measure
  /**
   * The time until which nothing is sent, for example because a request failed. `waitsUntil` is undefined while bytes
   * are sent.
   */
  readonly waitsUntil?: number | undefined
}

/**
 * The progress of a transfer that starts now.
 *
 * @since 0.1.0
 * @category constructors
 */
export const start = (options: { readonly total: bigint | undefined; readonly now: number }): Progress => ({
  sent: 0n,
  acknowledged: 0n,
  total: options.total,
  earlier: 0n,
  startedAt: options.now,
  now: options.now,
  measure: { at: options.now, sent: 0n, rate: undefined }
})

/** The minimum time of one measurement, because the speed of a shorter measurement varies too much. */
const minMeasureMillis = 200

/** The time constant of the smoothing: after this time, the weight of a measured speed has fallen to about a third. */
const smoothingMillis = 2000

const measureAgain = (measure: Measure, sent: bigint, now: number): Measure => {
  if (measure.isPaused === true) return sent === measure.sent ? measure : { at: now, sent, rate: measure.rate }
  const elapsed = now - measure.at
  if (elapsed < minMeasureMillis) return measure
  // After a broken connection the server may have fewer bytes than were sent. Then the measured speed is 0, and not
  // negative.
  const moved = sent > measure.sent ? Number(sent - measure.sent) : 0
  const rate = (moved * 1000) / elapsed
  const weight = 1 - Math.exp(-elapsed / smoothingMillis)
  return {
    at: now,
    sent,
    rate: measure.rate === undefined ? rate : measure.rate + weight * (rate - measure.rate)
  }
}

/**
 * The progress after an event, or after some time. The sizes that are not given stay unchanged.
 *
 * @since 0.1.0
 * @category combinators
 */
export const update = (
  progress: Progress,
  change: {
    readonly now: number
    readonly sent?: bigint | undefined
    readonly acknowledged?: bigint | undefined
    readonly total?: bigint | undefined
  }
): Progress => {
  const now = Math.max(progress.now, change.now)
  const sent = change.sent ?? progress.sent
  return {
    ...progress,
    waitsUntil: sent > progress.sent ? undefined : progress.waitsUntil,
    sent,
    acknowledged: change.acknowledged ?? progress.acknowledged,
    total: change.total ?? progress.total,
    now,
    measure: measureAgain(progress.measure, sent, now)
  }
}

/**
 * The progress of one upload at the offset that the server reported. If this run has not sent anything, an earlier run
 * has sent the bytes before the offset. The time since the last measurement does not change the speed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const resume = (progress: Progress, change: { readonly now: number; readonly offset: bigint }): Progress => ({
  ...progress,
  waitsUntil: undefined,
  earlier: progress.sent === 0n ? change.offset : progress.earlier,
  sent: change.offset,
  acknowledged: change.offset,
  now: Math.max(progress.now, change.now),
  measure: { at: Math.max(progress.now, change.now), sent: change.offset, rate: progress.measure.rate }
})

/**
 * The progress after the service has reported that an earlier run has sent `bytes` bytes of a file. The speed does not
 * include these bytes.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inherit = (progress: Progress, change: { readonly now: number; readonly bytes: bigint }): Progress => ({
  ...progress,
  waitsUntil: undefined,
  now: Math.max(progress.now, change.now),
  sent: progress.sent + change.bytes,
  acknowledged: progress.acknowledged + change.bytes,
  earlier: progress.earlier + change.bytes,
  measure: { ...progress.measure, sent: progress.measure.sent + change.bytes }
})

/**
 * Pauses the measurement of the speed until the number of sent bytes changes, so that the time without a transfer does
 * not change the speed.
 *
 * @since 0.1.0
 * @category combinators
 */
export const pauseMeasure = (progress: Progress): Progress => ({
  ...progress,
  waitsUntil: undefined,
  measure: { ...progress.measure, sent: progress.sent, isPaused: true }
})

/**
 * The progress of a transfer that sends nothing until the time `until`, for example because a request failed. Until the
 * transfer continues, neither the speed nor the remaining time is shown.
 *
 * @since 0.1.0
 * @category combinators
 */
export const wait = (progress: Progress, change: { readonly now: number; readonly until: number }): Progress => ({
  ...pauseMeasure(progress),
  now: Math.max(progress.now, change.now),
  waitsUntil: change.until
})

/**
 * Whether all bytes are stored.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isComplete = ({ acknowledged, total }: Progress): boolean => total !== undefined && acknowledged >= total

/**
 * Whether all bytes are sent, but not yet acknowledged by the server.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isFinishing = (progress: Progress): boolean =>
  progress.total !== undefined && progress.sent >= progress.total && !isComplete(progress)

/**
 * The share of sent bytes in whole percent. The share is 100 only when all bytes are stored.
 *
 * @since 0.1.0
 * @category getters
 */
export const percent = (progress: Progress): number | undefined => {
  const { sent, total } = progress
  if (total === undefined) return undefined
  if (isComplete(progress)) return 100
  return Math.min(99, Number((sent * 100n) / total))
}

/**
 * The time since the start.
 *
 * @since 0.1.0
 * @category getters
 */
export const elapsed = ({ now, startedAt }: Progress): Duration.Duration => Duration.millis(now - startedAt)

/**
 * The speed in bytes per second. During the transfer the speed is smoothed; at the end it is the average of the whole
 * transfer.
 *
 * @since 0.1.0
 * @category getters
 */
export const rate = (progress: Progress): number | undefined => {
  const { earlier, measure, now, sent, startedAt } = progress
  const average = now > startedAt ? (Number(sent - earlier) * 1000) / (now - startedAt) : undefined
  return isComplete(progress) ? average : (measure.rate ?? average)
}

/**
 * The estimated remaining time at the current speed. The result is undefined if the speed is zero or unknown, or if the
 * length is unknown.
 *
 * @since 0.1.0
 * @category getters
 */
export const timeLeft = (progress: Progress): Duration.Duration | undefined => {
  const { sent, total } = progress
  const speed = rate(progress)
  if (total === undefined || speed === undefined || speed <= 0) return undefined
  return Duration.seconds(Math.max(0, Number(total - sent)) / speed)
}

const maxBarCells = 40
const minBarCells = 8

/** Shows the stored, the sent and the missing bytes. If the length is unknown, a block moves from end to end. */
const bar = (progress: Progress, cells: number, style: Style.Style): string => {
  const { acknowledged, now, sent, startedAt, total } = progress
  if (total === undefined) {
    const block = Math.max(1, Math.floor(cells / 4))
    const position = Math.floor((now - startedAt) / 100) % (cells - block + 1)
    const rest = cells - block - position
    return style.dim("░".repeat(position)) + style.cyan("▓".repeat(block)) + style.dim("░".repeat(rest))
  }
  // The bar of an upload of zero bytes is full from the start.
  const share = (bytes: bigint): number =>
    total === 0n ? cells : Math.min(cells, Number((bytes * BigInt(cells)) / total))
  const stored = share(acknowledged)
  const underway = Math.max(0, share(sent) - stored)
  return (
    style.green("█".repeat(stored)) +
    style.cyan("▓".repeat(underway)) +
    style.dim("░".repeat(cells - stored - underway))
  )
}

/** Whether an earlier run has sent every byte. Then this run has sent nothing and has no speed. */
const isEarlier = (progress: Progress): boolean =>
  isComplete(progress) && progress.earlier > 0n && progress.sent === progress.earlier

/**
 * The time in words: the elapsed time at the end, the wait after a failure, `finishing` before the last response, else
 * the remaining time. If an earlier run has sent every byte, the words are `sent before`.
 */
const timeInWords = (progress: Progress): string | undefined => {
  if (isEarlier(progress)) return "sent before"
  if (isComplete(progress)) return `in ${Format.duration(elapsed(progress))}`
  if (progress.waitsUntil !== undefined) {
    const left = progress.waitsUntil - progress.now
    return left > 0 ? `retrying in ${Format.duration(left)}` : "retrying"
  }
  if (isFinishing(progress)) return "finishing"
  const left = timeLeft(progress)
  return left === undefined ? undefined : `${Format.duration(left)} left`
}

/** The facts about a transfer as texts. A fact is undefined while it is unknown. */
const facts = (progress: Progress) => {
  const { sent, total } = progress
  const share = percent(progress)
  // During a wait, and while the server finishes, nothing is sent and no speed is shown, because a falling speed would
  // look like a fault.
  const isMoving = !isFinishing(progress) && !isEarlier(progress) && progress.waitsUntil === undefined
  const speed = isMoving ? rate(progress) : undefined
  return {
    share: share === undefined ? undefined : `${share}%`,
    sent: Format.bytes(sent),
    total: total === undefined ? undefined : Format.bytes(total),
    speed: speed === undefined ? undefined : Format.rate(speed),
    time: timeInWords(progress)
  }
}

/** The width of the longest usual speed, such as `999.9 KiB/s`. With a constant width the text does not jump. */
const speedCells = 11

const separator = "  "

/**
 * The texts to the right of the bar, as many as fit into `cells`. In a narrow terminal, the bytes are left out first,
 * and then the speed, because the percentage and the remaining time are more important to a user.
 */
const columns = (progress: Progress, cells: number): string => {
  const { sent, share, speed, time, total } = facts(progress)
  const amount = total === undefined ? sent : `${sent.padStart(total.length)} / ${total}`
  const pace = speed?.padStart(speedCells)
  const choices = [
    [share?.padStart(4), amount, pace, time],
    [share?.padStart(4), pace, time],
    [share?.padStart(4), time],
    [progress.waitsUntil === undefined ? undefined : time],
    [share?.padStart(4) ?? amount]
  ].map((texts) => texts.filter((fact) => fact !== undefined).join(separator))
  return choices.find((text) => text !== "" && Text.width(text) <= cells) ?? ""
}

/**
 * Renders one line, at most `width` cells wide: the label, the bar, percent, bytes, speed and time. The label is cut to
 * a third of the width. Facts that do not fit are left out. If no fact fits beside the bar, the bar is left out.
 *
 * @example
 * ProgressBar.line(progress, { label: "video.mp4", width: 80 })
 * // "video.mp4  ████████▓▓▓▓▓░░░░░░░  62%  74.4 MiB / 120.0 MiB  77.4 MiB/s  0.6 s left"
 *
 * @since 0.1.0
 * @category formatting
 */
export const line = (
  progress: Progress,
  options: { readonly label: string; readonly width: number; readonly style?: Style.Style | undefined }
): string => {
  const { style = Style.plain, width } = options
  const label = Text.truncate(Printable.escape(options.label), Math.floor(width / 3))
  const before = label === "" ? "" : label + separator
  const room = width - Text.width(before)
  const text = columns(progress, room - minBarCells - separator.length)
  if (text === "") return (before + columns(progress, room)).trimEnd()
  const barCells = Math.min(maxBarCells, room - Text.width(text) - separator.length)
  return before + bar(progress, barCells, style) + separator + text
}

/**
 * Renders the facts of {@link line} as words, for output that cannot be overwritten: a file, a log or a pipe.
 *
 * @example "video.mp4: 50% (60.0 MiB of 120.0 MiB), 77.4 MiB/s, 0.7 s left"
 *
 * @since 0.1.0
 * @category formatting
 */
export const sentence = (progress: Progress, label: string): string => {
  const { sent, share, speed, time, total } = facts(progress)
  const amount = total === undefined ? sent : `${share} (${sent} of ${total})`
  return `${Printable.escape(label)}: ${[amount, speed, time].filter((fact) => fact !== undefined).join(", ")}`
}
