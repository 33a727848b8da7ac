import { describe, expect, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import * as Chart from "../src/internal/chart.ts"

const at = (text: string): number => DateTime.makeUnsafe(`${text}Z`).epochMilliseconds
const hour = 3_600_000
const day = 24 * hour
/** A Sunday. */
const now = at("2026-11-22T05:42")

const axis = (days: number, maxBars: number) =>
  Chart.make({ from: now - days * day, to: now, granularity: hour }, maxBars)

describe("Chart.make", () => {
  it.each([
    [1, 70, "hour", "2026-11-21T05:00", 25],
    [7, 70, "6 hours", "2026-11-15T00:00", 29],
    [30, 70, "day", "2026-10-23T00:00", 31],
    [91, 70, "week", "2026-08-17T00:00", 14],
    [91, 10, "2 weeks", "2026-08-17T00:00", 7]
  ])("shows %i days in %i bars as bars of %s", (days, maxBars, name, start, bars) => {
    const found = axis(days, maxBars)
    expect({ name: found.name, start: found.start, bars: found.bars }).toEqual({ name, start: at(start), bars })
  })

  it("ends at the end of the window, also in the middle of a bar", () => {
    expect(axis(7, 70).end).toBe(now)
  })

  it("has bars of whole buckets if no calendar step is a whole number of buckets", () => {
    const found = Chart.make({ from: 0, to: 100 * hour, granularity: 5 * hour }, 8)
    expect(found).toMatchObject({ name: "15 h", step: 15 * hour, bars: 7 })
  })

  it("has the smaller step if its bars just fit", () => {
    expect(axis(1, 25).name).toBe("hour")
    expect(axis(1, 24).name).toBe("6 hours")
  })

  it("starts weeks on Mondays", () => {
    expect(DateTime.toPartsUtc(DateTime.makeUnsafe(axis(91, 70).start)).weekDay).toBe(1)
  })

  const number = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

  it.prop(
    "the bars are at most as many as wanted, cover the window, and each bucket is in one bar",
    {
      days: number(91),
      maxBars: number(200),
      offset: number(1_000_000),
      minutes: Schema.Literals([1, 7, 60, 300, 1440])
    },
    ({ days, maxBars, minutes, offset }) => {
      const from = now - offset * 60_000 - days * day
      const to = from + days * day
      const found = Chart.make({ from, to, granularity: minutes * 60_000 }, maxBars)
      expect(found.bars).toBeLessThanOrEqual(maxBars)
      expect(found.start).toBeLessThanOrEqual(from)
      expect(found.start + found.bars * found.step).toBeGreaterThan(to)
      expect(found.step % (minutes * 60_000)).toBe(0)
      const points = [from, to].map((time) => ({ at: DateTime.makeUnsafe(time), value: 1 }))
      expect(Chart.sums(found, points).reduce((sum, value) => sum + value, 0)).toBe(2)
    }
  )
})

describe("Chart.sums", () => {
  it("leaves out what is before the first bar or behind the last one", () => {
    const found = axis(1, 70)
    const end = found.start + found.bars * found.step
    const points = [found.start - 1, found.start, end - 1, end].map((time) => ({
      at: DateTime.makeUnsafe(time),
      value: 1
    }))
    const sums = Chart.sums(found, points)
    expect([sums[0], sums.at(-1)]).toEqual([1, 1])
    expect(sums.reduce((sum, value) => sum + value, 0)).toBe(2)
  })
})

describe("Chart.ticks", () => {
  it("names days at midnight and hours otherwise", () => {
    expect(Chart.ticks(axis(1, 70), 6).map(({ label }) => label)).toEqual(["06:00", "12:00", "18:00", "Nov 22"])
    expect(Chart.ticks(axis(7, 70), 4).map(({ label }) => label)).toEqual(
      [15, 16, 17, 18, 19, 20, 21, 22].map((date) => `Nov ${date}`)
    )
  })

  it("has a tick at the start if no calendar distance fits", () => {
    expect(Chart.ticks(axis(1, 3), 99)).toEqual([{ index: 0, label: "Nov 21" }])
  })
})
