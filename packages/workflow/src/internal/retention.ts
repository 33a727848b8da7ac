/** Removes jobs that ended longer ago than they are kept, with everything that is stored of them. */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { Outage } from "./outage.ts"
import type { Store } from "./store.ts"

/** How many jobs are removed with one transaction. */
const atOnce = 100

const kept = (byDefault: Duration.Input) => Rules.duration.pipe(Schema.withDecodingDefault(Effect.succeed(byDefault)))

/** How long ended jobs are kept. A canceled job is none of the failures. */
export const Settings = Schema.Struct({ failures: kept("30 days"), successes: kept("7 days") })

/** Removes jobs at an interval, until the scope closes. */
export const loop = (store: Store, { failures, successes }: typeof Settings.Type, outage: Outage) =>
  Clock.currentTimeMillis.pipe(
    Effect.flatMap((now) =>
      store.removeEnded(
        { failures: now - Duration.toMillis(failures), successes: now - Duration.toMillis(successes) },
        atOnce
      )
    ),
    Effect.repeat({ while: (removed) => removed === atOnce }),
    Effect.catchCause((cause) => outage.reportCause("remove old jobs", cause)),
    Effect.repeat(Schedule.spaced(Duration.min(Duration.hours(1), Duration.min(failures, successes))))
  )
