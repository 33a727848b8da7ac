/**
 * One PATCH: the bytes counted as they leave, watched for a stall, and their own failure told from the network's.
 */
import * as Transport from "@assembly-effect/api/Transport"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Stream from "effect/Stream"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
import type { SourceFailed } from "../UploadSource.ts"
import type { UploadUrl } from "../UploadTarget.ts"
import { tooLong, tooShort, type Body } from "./Outgoing.ts"
import type { Policy, RequestError } from "./Policy.ts"
import * as Slices from "./Slices.ts"
import { inTime } from "./Timeout.ts"

/** What is known of a request on its way: bytes that left, when something last moved, and the source's own failure. */
interface Meter {
  count: bigint
  movedAt: number
  allSent: boolean
  failure: SourceFailed | undefined
}

/**
 * The stream of exactly so many bytes, or its failure. HTTP clients differ on a body that is too short, one hangs and
 * one ends in silence, and all report a failing body as a broken connection: so the count is kept here, and the
 * failure kept apart.
 */
const metered = (
  source: Stream.Stream<Uint8Array, SourceFailed>,
  length: bigint,
  meter: Meter,
  clock: Clock.Clock,
  onMove: () => void
): Stream.Stream<Uint8Array, SourceFailed> => {
  const move = () => {
    meter.movedAt = clock.currentTimeMillisUnsafe()
    onMove()
  }
  const counted = Stream.mapEffect(source, (piece) => {
    meter.count += BigInt(piece.length)
    if (meter.count > length) return Effect.fail(tooLong(length))
    move()
    return Effect.succeed(piece)
  })
  const end = Stream.suspend(() => {
    if (meter.count < length) return Stream.fail(tooShort(meter.count, length))
    meter.allSent = true
    move()
    return Stream.empty
  })
  return Stream.concat(counted, end).pipe(
    Stream.tapError((error) =>
      Effect.sync(() => {
        meter.failure = error
      })
    )
  )
}

/**
 * Fails when nothing moved for too long. After the last byte the server may take longer: it stores what it has, and a
 * second request would make it do so twice.
 */
const watch = (
  request: TusError.RequestName,
  meter: Meter,
  policy: Policy,
  clock: Clock.Clock
): Effect.Effect<never, TusError.Stalled> =>
  Effect.suspend(() => {
    const limit = meter.allSent ? policy.finishTimeout : policy.stallTimeout
    const left = meter.movedAt + Duration.toMillis(limit) - clock.currentTimeMillisUnsafe()
    return left <= 0
      ? Effect.fail(new TusError.Stalled({ request, after: limit }))
      : Effect.flatMap(Effect.sleep(left), () => watch(request, meter, policy, clock))
  })

/**
 * Sends one body and answers the offset that the server tells. `onSent` hears how many bytes of it have left, and
 * whether they are all. Of a body that is sent as a whole nobody knows: it is heard of when it is answered.
 */
export const append = (options: {
  readonly url: UploadUrl
  readonly body: Body
  readonly declare: bigint | undefined
  readonly checksum?: string | undefined
  readonly policy: Policy
  readonly slices: Slices.Learned | undefined
  readonly onSent: (count: bigint, all: boolean) => void
}): Effect.Effect<bigint, RequestError, HttpClient.HttpClient> =>
  Clock.clockWith((clock) => {
    const { body, checksum, declare, onSent, policy, slices, url } = options
    const { bytes } = body
    const request = (sent: Tus.Body<SourceFailed>) =>
      Tus.append(url, { offset: body.start, body: sent, length: declare, checksum })

    if (bytes instanceof Uint8Array || !("length" in bytes)) {
      const sent = inTime("append", Slices.limit(policy, body.end === body.total), request(bytes))
      return slices === undefined ? sent : slices.from(sent, body.end - body.start, policy)
    }

    const meter: Meter = {
      count: 0n,
      movedAt: clock.currentTimeMillisUnsafe(),
      allSent: false,
      failure: undefined
    }
    return Transport.withLimitFromDeparture(
      request({
        length: bytes.length,
        stream: metered(bytes.stream, bytes.length, meter, clock, () => onSent(meter.count, meter.allSent))
      }),
      Effect.suspend(() => {
        meter.movedAt = clock.currentTimeMillisUnsafe()
        return watch("append", meter, policy, clock)
      })
    ).pipe(
      // A source that fails breaks the request; the HTTP client reports that as a broken connection.
      Effect.mapError((error): RequestError => meter.failure ?? error)
    )
  })
