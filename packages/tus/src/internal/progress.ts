/** The progress of one of several uploads, in bytes. */
export interface Progress {
  readonly sent: bigint
  readonly acknowledged: bigint
}

/** Adds up the progress of several uploads, and emits the sum after each progress. */
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
