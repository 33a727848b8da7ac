/** The progress of a transfer as a value, as a line and as words. All functions are pure: the time is an argument. */
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { Duration } from "./effect.ts"
import * as Text from "./text.ts"

/**
 * The progress of a transfer: `sent` bytes were sent, the server has stored `acknowledged` bytes. Times are milliseconds
 * since 1970.
 *
 * - `total`: the size, undefined while it is unknown.
 * - `earlier`: the bytes that an earlier run has sent. The speed does not include them.
 * - `waitsUntil`: until then nothing is sent, for example because a request failed. Undefined while bytes are sent.
 * - `measure`: the `rate` in bytes per second at the time `at`, and the bytes that were sent until then. `isPaused`: the
 *   measurement stops until `sent` changes, so that the time without a transfer does not change the speed.
 */
export interface Progress {
  readonly sent: bigint
  readonly acknowledged: bigint
  readonly total: bigint | undefined
  readonly earlier: bigint
  readonly startedAt: number
  readonly now: number
  readonly waitsUntil?: number | undefined
  readonly measure: {
    readonly at: number
    readonly sent: bigint
    readonly rate: number | undefined
    readonly isPaused: boolean
  }
}

const nothing = { sent: 0n, acknowledged: 0n, earlier: 0n }

/** The progress of a transfer that starts now. */
export const start = (total: bigint | undefined, now: number): Progress => ({
  ...nothing,
  total,
  startedAt: now,
  now,
  measure: { at: now, sent: 0n, rate: undefined, isPaused: false }
})

/** The minimum time of one measurement, because the speed of a shorter measurement varies too much. */
const minMeasureMillis = 200

/** The time constant of the smoothing: after this time, the weight of a measured speed has fallen to about a third. */
const smoothingMillis = 2000

const measureAgain = (measure: Progress["measure"], sent: bigint, now: number): Progress["measure"] => {
  if (measure.isPaused) return sent === measure.sent ? measure : { at: now, sent, rate: measure.rate, isPaused: false }
  const elapsed = now - measure.at
  if (elapsed < minMeasureMillis) return measure
  // After a broken connection the server may have fewer bytes than were sent. Then the speed is 0, and not negative.
  const rate = (Math.max(0, Number(sent - measure.sent)) * 1000) / elapsed
  const weight = 1 - Math.exp(-elapsed / smoothingMillis)
  const smoothed = measure.rate === undefined ? rate : measure.rate + weight * (rate - measure.rate)
  return { at: now, sent, rate: smoothed, isPaused: false }
}

/** The progress after an event, or after some time. The sizes that are not given stay unchanged. */
export const update = (
  progress: Progress,
  change: Pick<Progress, "now"> & Partial<Pick<Progress, "sent" | "acknowledged" | "total">>
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

/** The progress after the service has reported that an earlier run has sent `bytes` bytes of a file. */
export const inherit = (
  progress: Progress,
  { bytes, now }: { readonly now: number; readonly bytes: bigint }
): Progress => ({
  ...progress,
  waitsUntil: undefined,
  now: Math.max(progress.now, now),
  sent: progress.sent + bytes,
  acknowledged: progress.acknowledged + bytes,
  earlier: progress.earlier + bytes,
  measure: { ...progress.measure, sent: progress.measure.sent + bytes }
})

/**
 * Pauses the measurement of the speed until the number of sent bytes changes. With `until`, nothing is sent before this
 * time.
 */
export const pause = (progress: Progress, now: number, until?: number): Progress => ({
  ...progress,
  now: Math.max(progress.now, now),
  waitsUntil: until,
  measure: { ...progress.measure, sent: progress.sent, isPaused: true }
})

const isComplete = ({ acknowledged, total }: Progress): boolean => total !== undefined && acknowledged >= total

/** Whether all bytes are sent, but not yet acknowledged by the server. */
const isFinishing = (progress: Progress): boolean =>
  progress.total !== undefined && progress.sent >= progress.total && !isComplete(progress)

/** Whether an earlier run has sent every byte. Then this run has sent nothing and has no speed. */
const isEarlier = (progress: Progress): boolean =>
  isComplete(progress) && progress.earlier > 0n && progress.sent === progress.earlier

/** The share of sent bytes in whole percent. The share is 100 only when all bytes are stored. */
export const percent = (progress: Progress): number | undefined => {
  const { sent, total } = progress
  if (total === undefined) return undefined
  return isComplete(progress) ? 100 : Math.min(99, Number((sent * 100n) / total))
}

/** The time since the start. */
export const elapsed = ({ now, startedAt }: Progress): Duration.Duration => Duration.millis(now - startedAt)

/** The speed in bytes per second: smoothed during the transfer, at the end the average of the whole transfer. */
export const rate = (progress: Progress): number | undefined => {
  const { earlier, measure, now, sent, startedAt } = progress
  const average = now > startedAt ? (Number(sent - earlier) * 1000) / (now - startedAt) : undefined
  return isComplete(progress) ? average : (measure.rate ?? average)
}

/** The estimated remaining time in words, if the length and the speed are known. */
const left = (progress: Progress): string | undefined => {
  const { sent, total } = progress
  const speed = rate(progress) ?? 0
  if (total === undefined || speed <= 0) return undefined
  return `${Text.duration(Duration.seconds(Math.max(0, Number(total - sent)) / speed))} left`
}

/** The elapsed time at the end, the wait after a failure, `finishing` before the last response, else the rest. */
const timeInWords = (progress: Progress): string | undefined => {
  if (isEarlier(progress)) return "sent before"
  if (isComplete(progress)) return `in ${Text.duration(elapsed(progress))}`
  if (progress.waitsUntil !== undefined) {
    const pausing = progress.waitsUntil - progress.now
    return pausing > 0 ? `retrying in ${Text.duration(pausing)}` : "retrying"
  }
  return isFinishing(progress) ? "finishing" : left(progress)
}

/** The facts about a transfer as texts. A fact is undefined while it is unknown. */
const facts = (progress: Progress) => {
  const { sent, total } = progress
  const share = percent(progress)
  // While nothing is sent, no speed is shown, because a falling speed would look like a fault.
  const isMoving = !isFinishing(progress) && !isEarlier(progress) && progress.waitsUntil === undefined
  const speed = isMoving ? rate(progress) : undefined
  return {
    share: share === undefined ? undefined : `${share}%`,
    sent: Text.bytes(sent),
    total: total === undefined ? undefined : Text.bytes(total),
    speed: speed === undefined ? undefined : Text.rate(speed),
    time: timeInWords(progress)
  }
}

const maxBarCells = 40
const minBarCells = 8

/** Shows the share of the sent bytes. The bar of an upload of zero bytes is full from the start. */
const bar = (sent: bigint, total: bigint, cells: number, style: Text.Style): string => {
  const full = total === 0n ? cells : Math.min(cells, Number((sent * BigInt(cells)) / total))
  return style.green("█".repeat(full)) + style.dim("░".repeat(cells - full))
}

const separator = "  "

/**
 * The texts to the right of the bar, as many as fit into `cells`. In a narrow terminal, the bytes are left out first,
 * and then the speed, because the percentage and the remaining time are more important to a user.
 */
const columns = (progress: Progress, cells: number): string => {
  const { sent, share, speed, time, total } = facts(progress)
  const amount = total === undefined ? sent : `${sent.padStart(total.length)} / ${total}`
  // The width of the longest usual speed, such as `999.9 KiB/s`. With a constant width the text does not jump.
  const pace = speed?.padStart(11)
  const part = share?.padStart(4)
  const choices = [[part, amount, pace, time], [part, pace, time], [part, time], [part ?? amount]].map((texts) =>
    texts.filter((fact) => fact !== undefined).join(separator)
  )
  return choices.find((text) => text !== "" && Text.width(text) <= cells) ?? ""
}

/**
 * Renders one line, at most `width` cells wide: the label, the bar, percent, bytes, speed and time. The label is cut to
 * a third of the width. Facts that do not fit are left out. Without a size, or if no fact fits beside the bar, there is
 * no bar.
 */
export const line = (
  progress: Progress,
  options: { readonly label: string; readonly width: number; readonly style?: Text.Style | undefined }
): string => {
  const { style = Text.plain, width } = options
  const { sent, total } = progress
  const label = Text.truncate(Printable.escape(options.label), Math.floor(width / 3))
  const before = label === "" ? "" : label + separator
  const room = width - Text.width(before)
  const text = columns(progress, room - minBarCells - separator.length)
  if (text === "" || total === undefined) return (before + columns(progress, room)).trimEnd()
  const barCells = Math.min(maxBarCells, room - Text.width(text) - separator.length)
  return before + bar(sent, total, barCells, style) + separator + text
}

/** Renders the facts of {@link line} as words, for output that cannot be overwritten: a file, a log or a pipe. */
export const sentence = (progress: Progress): string => {
  const { sent, share, speed, time, total } = facts(progress)
  const amount = total === undefined ? sent : `${share} (${sent} of ${total})`
  return [amount, speed, time].filter((fact) => fact !== undefined).join(", ")
}
