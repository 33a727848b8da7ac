/** Removes jobs that ended longer than `retention` ago, with everything that is stored of them. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { Outage } from "./outage.ts"
import type { Store } from "./store.ts"

/** How many jobs are removed with one transaction. */
const atOnce = 100

/** Removes jobs at an interval, until the scope closes. */
export const loop = (store: Store, retention: Duration.Duration, outage: Outage) =>
  Clock.currentTimeMillis.pipe(
    Effect.flatMap((now) => store.removeEnded(now - Duration.toMillis(retention), atOnce)),
    Effect.repeat({ while: (removed) => removed === atOnce }),
    Effect.catchCause((cause) => outage.reportCause("remove old jobs", cause)),
    Effect.repeat(Schedule.spaced(Duration.min(Duration.hours(1), retention)))
  )
