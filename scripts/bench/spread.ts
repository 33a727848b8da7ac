/**
 * Decides whether two versions differ, from rounds in which both ran. A round gives one ratio, so that a slow minute of
 * the machine affects both versions alike. The rule is an exact confidence interval of the median ratio, by order
 * statistics (the sign test). It assumes no distribution and no equal spread; a few rounds may be arbitrarily wrong.
 */

/** The probability that all figures of a report together raise a false alarm. */
export const falseAlarms = 0.05

/** How many of the lowest ratios, and as many of the highest, the interval may leave out. */
const leftOut = (rounds: number, figures: number): number => {
  const most = falseAlarms / figures
  let count = 0
  // The probability that, by chance, at most `count` of the rounds favour one of the two versions.
  let below = 2 * 0.5 ** rounds
  let term = below
  while (below <= most && 2 * count < rounds) {
    count++
    term *= (rounds - count + 1) / count
    below += term
  }
  return count
}

/** The smallest number of rounds with which a figure is decided although one round favours the other version. */
export const roundsFor = (figures: number): number => {
  let rounds = 2
  while (leftOut(rounds, figures) < 2) rounds++
  return rounds
}

/**
 * The outcome of a figure. `ratio` is the median of new to old. `low` and `high` enclose the true median, unless there
 * were too few rounds (`Undecided`).
 */
export type Verdict =
  | { readonly _tag: "Undecided"; readonly ratio: number }
  | { readonly _tag: "Same" | "Lower" | "Higher"; readonly ratio: number; readonly low: number; readonly high: number }

const middle = (sorted: ReadonlyArray<number>): number =>
  // The geometric mean, so that old to new is the inverse of new to old.
  Math.sqrt((sorted[(sorted.length - 1) >> 1] ?? 1) * (sorted[sorted.length >> 1] ?? 1))

/** Compares the rounds of one figure among `figures`. */
export const compare = (
  rounds: ReadonlyArray<{ readonly old: number; readonly new: number }>,
  figures: number
): Verdict => {
  const ratios = rounds.map((round) => round.new / round.old).toSorted((a, b) => a - b)
  const ratio = middle(ratios)
  const count = leftOut(ratios.length, figures)
  const low = ratios[count - 1]
  const high = ratios[ratios.length - count]
  if (count === 0 || low === undefined || high === undefined) return { _tag: "Undecided", ratio }
  return { _tag: low > 1 ? "Higher" : high < 1 ? "Lower" : "Same", ratio, low, high }
}
