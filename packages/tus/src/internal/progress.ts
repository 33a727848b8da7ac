/** The progress of one of several uploads, in bytes. */
export interface Progress {
  readonly sent: bigint
  readonly acknowledged: bigint
}

/** Makes a function that records the progress of one upload, and returns the sum of the progress of all uploads. */
export const sums = (count: number): ((index: number, now: Progress) => Progress) => {
  const each = Array.from({ length: count }, (): Progress => ({ sent: 0n, acknowledged: 0n }))
  let all: Progress = { sent: 0n, acknowledged: 0n }
  return (index, { acknowledged, sent }) => {
    const before = each[index]
    if (before === undefined) return all
    each[index] = { sent, acknowledged }
    all = {
      sent: all.sent + sent - before.sent,
      acknowledged: all.acknowledged + acknowledged - before.acknowledged
    }
    return all
  }
}
