import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { SourceFailed } from "../UploadSource.ts"

/**
 * The stream of exactly so many bytes, or its failure. HTTP clients differ on a body that is too short, one hangs and
 * one ends in silence, and all report a failing body as a broken connection: so the count is kept here, and the
 * failure kept apart.
 *
 * `onCount` hears how many bytes were passed on.
 */
export const exactly = (
  source: Stream.Stream<Uint8Array, SourceFailed>,
  length: bigint,
  onCount: (count: bigint) => Effect.Effect<void>
): {
  readonly stream: Stream.Stream<Uint8Array, SourceFailed>
  readonly failure: Effect.Effect<Option.Option<SourceFailed>>
} => {
  let failure = Option.none<SourceFailed>()
  const stream = Stream.suspend(() => {
    let count = 0n
    const counted = Stream.mapEffect(source, (piece) => {
      count += BigInt(piece.length)
      return count > length
        ? Effect.fail(new SourceFailed({ problem: `it holds more than the announced ${length} bytes from its offset` }))
        : Effect.as(onCount(count), piece)
    })
    const end = Stream.suspend(() =>
      count < length
        ? Stream.fail(new SourceFailed({ problem: `it ended after ${count} of ${length} bytes` }))
        : Stream.empty
    )
    return Stream.concat(counted, end)
  }).pipe(
    Stream.tapError((error) =>
      Effect.sync(() => {
        failure = Option.some(error)
      })
    )
  )
  return { stream, failure: Effect.sync(() => failure) }
}
