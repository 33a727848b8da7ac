import * as Progress from "../src/internal/progress.ts"
import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Duration, Schema } from "effect"
import { CliOutput } from "effect/cli"
import { columns, control, text } from "./support/texts.ts"

const MiB = 1024n * 1024n

const half = Progress.update(Progress.start(120n * MiB, 1000), { now: 2000, sent: 60n * MiB, acknowledged: 30n * MiB })

describe("Progress.line", () => {
  it("shows sent and remaining bytes", () => {
    expect(Progress.line(half, { label: "cat.mp4", width: 96 })).toBe(
      "cat.mp4  █████████████████░░░░░░░░░░░░░░░░░░   50%   60.0 MiB / 120.0 MiB   60.0 MiB/s  1 s left"
    )
  })

  it("drops the bytes, the speed, the time and then the bar when the terminal gets narrow", () => {
    const line = (width: number) => Progress.line(half, { label: "cat.mp4", width })
    expect(line(65)).toBe("cat.mp4  █████████████░░░░░░░░░░░░░░   50%   60.0 MiB/s  1 s left")
    expect(line(40)).toBe("cat.mp4  ███████░░░░░░░░   50%  1 s left")
    expect(line(30)).toBe("cat.mp4  ███████░░░░░░░░   50%")
    expect(line(14)).toBe("cat…   50%")
    expect(line(5)).toBe("…")
  })

  it("counts the seconds of a wait instead of a speed, until bytes are sent again", () => {
    const waiting = Progress.pause(half, 3000, 15_000)
    const line = (progress: Progress.Progress, width: number) => Progress.line(progress, { label: "cat.mp4", width })
    expect(line(waiting, 80)).toMatch(/ 50% {3}60\.0 MiB \/ 120\.0 MiB {2}retrying in 12 s$/)
    expect(line(Progress.update(waiting, { now: 20_000 }), 80)).toMatch(/ retrying$/)
    const again = Progress.update(waiting, { now: 16_000, sent: 61n * MiB })
    expect(line(again, 80)).toMatch(/ left$/)
    expect(line(Progress.pause(waiting, 3000), 80)).not.toContain("retrying")
  })

  it("shows no percentage and no bar without a total", () => {
    const unknown = Progress.update(Progress.start(undefined, 0), { now: 1000, sent: 5n * MiB })
    expect(Progress.percent(unknown)).toBeUndefined()
    expect(Progress.line(unknown, { label: "tape", width: 46 })).toMatch(/^tape {2}5\.0 MiB {4}5\.0 MiB\/s$/)
  })

  it("is complete at once for an empty file", () => {
    const empty = Progress.start(0n, 0)
    expect(Progress.line(empty, { label: "empty", width: 60 })).toMatch(/^empty {2}█+ {2}100% {2}0 B \/ 0 B {2}in 0 s$/)
  })

  it("shows that it waits for the server when all bytes are sent", () => {
    const sent = Progress.update(half, { now: 3000, sent: 120n * MiB })
    expect(Progress.sentence(sent)).toBe("99% (120.0 MiB of 120.0 MiB), finishing")
  })

  const bytes = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 63n - 1n }))
  const millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 }))
  const anySteps = Arbitrary.array(
    Arbitrary.schema(Schema.Struct({ sent: bytes, acknowledged: bytes, wait: millis })),
    { maxLength: 6 }
  )
  const anyTotal = Schema.Union([bytes, Schema.Undefined])

  it.prop(
    "never leaves its line, whatever the numbers and the label",
    { steps: anySteps, total: anyTotal, label: text, width: columns(1) },
    ({ label, steps, total, width }) => {
      let progress = Progress.start(total, 0)
      for (const { acknowledged, sent, wait } of steps) {
        progress = Progress.update(progress, { now: progress.now + wait, sent, acknowledged })
        const line = Progress.line(progress, { label, width })
        expect(CliOutput.displayWidth(line)).toBeLessThanOrEqual(width)
        expect(line).not.toMatch(control)
        expect(Progress.sentence(progress)).not.toMatch(/undefined|NaN|Infinity|-\d/)
      }
    }
  )

  it.prop("100% means that every byte is stored", { steps: anySteps, total: bytes }, ({ steps, total }) => {
    for (const { acknowledged, sent } of steps) {
      const progress = Progress.update(Progress.start(total, 0), { now: 1, sent, acknowledged })
      expect(Progress.percent(progress) === 100).toBe(acknowledged >= total)
    }
  })
})

describe("Progress.rate", () => {
  const begin = Progress.start(1000n * MiB, 0)

  it("ignores measurements too short to mean something", () => {
    const first = Progress.update(begin, { now: 1000, sent: 10n * MiB })
    const soon = Progress.update(first, { now: 1001, sent: 20n * MiB })
    expect(Progress.rate(soon)).toBe(Progress.rate(first))
  })

  it("follows a change slowly", () => {
    const fast = Progress.update(begin, { now: 1000, sent: 100n * MiB })
    const slow = Progress.update(fast, { now: 2000, sent: 100n * MiB })
    const slower = Progress.update(slow, { now: 12_000 })
    expect(Progress.rate(slow)).toBeLessThan(Progress.rate(fast) ?? 0)
    expect(Progress.rate(slow)).toBeGreaterThan((Progress.rate(fast) ?? 0) / 2)
    expect(Progress.rate(slower)).toBeLessThan((Progress.rate(fast) ?? 0) / 100)
  })

  it("is not negative when the server has less than was sent", () => {
    const sent = Progress.update(begin, { now: 1000, sent: 100n * MiB })
    expect(Progress.rate(Progress.update(sent, { now: 2000, sent: 60n * MiB }))).toBeGreaterThan(0)
  })

  it("is the average at the end", () => {
    const moving = Progress.update(begin, { now: 1000, sent: 900n * MiB })
    const done = Progress.update(moving, { now: 4000, sent: 1000n * MiB, acknowledged: 1000n * MiB })
    expect(Progress.rate(done)).toBe(250 * 1024 * 1024)
    expect(Duration.toMillis(Progress.elapsed(done))).toBe(4000)
  })
})

it("Progress.sentence says the same in words", () => {
  expect(Progress.sentence(half)).toBe("50% (60.0 MiB of 120.0 MiB), 60.0 MiB/s, 1 s left")
})
