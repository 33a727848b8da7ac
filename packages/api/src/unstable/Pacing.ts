/**
 * The pace that keeps a quota: pure, so that a simulation can use it too. Times are in milliseconds.
 */

/**
 * A token bucket: `bucket` tokens at most, and one more token in each `interval`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pace {
  readonly bucket: number
  readonly interval: number
}

/**
 * The pace at which no rolling `window` has more than `limit` tokens. A sixtieth of the window is left, because requests
 * take different times to the service. For 250 a minute: a bucket of 5, and a token every 248 ms.
 *
 * A window takes what is in the bucket when it begins, and what comes until it ends: at most `bucket - 1 + ⌈window /
 * interval⌉` tokens.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (limit: number, window: number): Pace => {
  const bucket = Math.max(1, Math.floor(limit / 50))
  return { bucket, interval: Math.ceil((window + window / 60) / (limit - bucket + 1)) }
}

/**
 * A bucket: its tokens at the time `at`, when the last of them came.
 *
 * @since 0.1.0
 * @category models
 */
export interface Bucket {
  readonly tokens: number
  readonly at: number
}

/**
 * The bucket at the time `now`. A bucket that is not known is full. One whose time has not come, because somebody has set
 * the clock back, keeps its tokens.
 *
 * @since 0.1.0
 * @category utilities
 */
export const refilled = (known: Bucket | undefined, { bucket, interval }: Pace, now: number): Bucket => {
  if (known === undefined) return { tokens: bucket, at: now }
  const at = Math.min(known.at, now)
  const came = Math.floor((now - at) / interval)
  const tokens = Math.min(bucket, known.tokens + came)
  return { tokens, at: tokens >= bucket ? now : at + came * interval }
}
