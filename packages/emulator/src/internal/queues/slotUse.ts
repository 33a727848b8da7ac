/**
 * Counts how many slots are in use over time, from the times at which slots were taken and released. Times are in
 * milliseconds since the epoch.
 */

/** A time window that is divided into buckets. Each bucket starts at a multiple of its length. */
export interface Window {
  readonly since: number
  readonly until: number
  readonly bucketLength: number
}

/** The average and the maximum number of slots that were in use. */
interface Use {
  readonly average: number
  readonly most: number
}

/** The use of the slots in one bucket. Only the part of the bucket that is inside the window counts. */
export interface BucketUse extends Use {
  readonly start: number
}

export interface Summary extends Use {
  readonly buckets: ReadonlyArray<BucketUse>
}

/** The numbers of slots that were taken and released in one millisecond. */
export interface Change {
  readonly at: number
  readonly taken: number
  readonly released: number
}

const nothing: Summary = { average: 0, most: 0, buckets: [] }

/**
 * Counts the slots in a window that starts with `initial` slots in use. In each millisecond, the taken slots are
 * counted before the released slots. The maximum therefore includes a slot that is taken and released in the same
 * millisecond.
 */
export const counter = ({ bucketLength, since, until }: Window, initial: number) => {
  const buckets: Array<BucketUse> = []
  let start = Math.floor(since / bucketLength) * bucketLength
  let time = since
  let inUse = initial
  let most = initial
  /** The sum of the milliseconds for which each slot was in use in the current bucket. */
  let area = 0
  let totalArea = 0

  const wait = (end: number) => {
    area += inUse * (end - time)
    time = end
  }

  const close = () => {
    const length = time - Math.max(start, since)
    if (length > 0) buckets.push({ start, average: area / length, most })
    totalArea += area
    start += bucketLength
    area = 0
    most = inUse
  }

  const advance = (end: number) => {
    for (let next = start + bucketLength; next <= end; next += bucketLength) {
      wait(next)
      close()
    }
    wait(end)
  }

  return {
    /** Applies a change inside the window. `at` must increase from call to call. */
    apply: ({ at, released, taken }: Change): void => {
      advance(at)
      inUse += taken
      most = Math.max(most, inUse)
      inUse -= released
    },
    /** Counts until the end of the window. */
    summarize: (): Summary => {
      if (until <= since) return nothing
      advance(until)
      close()
      return {
        average: totalArea / (until - since),
        most: buckets.reduce((all, bucket) => Math.max(all, bucket.most), 0),
        buckets
      }
    }
  }
}
