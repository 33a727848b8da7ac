/**
 * Waits until an Assembly is done.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

/** The Assembly ended otherwise than completed. `code` and `message` are the service's. */
export class AssemblyNotCompleted extends Schema.TaggedError<AssemblyNotCompleted>()("AssemblyNotCompleted", {
  assemblyId: Schema.String,
  state: Schema.Literals(["Canceled", "Aborted", "Failed"]),
  code: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `Assembly ${this.assemblyId} ${this.state.toLowerCase()}: ${this.reason}`
  }
}

/** Soon at first, since small Assemblies are done at once; then seldom, since asking is rate limited. */
const pace = Schedule.exponential("50 millis").pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.seconds(3))))
)

const decodeId = Schema.decodeEffect(Assembly.AssemblyId)

/**
 * Asks for the Status of an Assembly until it is completed. Fails with `AssemblyNotCompleted` when it ends otherwise.
 */
export const wait = Effect.fnUntraced(function* (created: Assembly.Status) {
  const assemblyId = yield* decodeId(created.assembly_id)
  const status = yield* Assemblies.get(assemblyId).pipe(
    Effect.repeat({ schedule: pace, while: (seen) => Assembly.state(seen) === "Busy" })
  )
  const state = Assembly.state(status)
  if (state === "Completed" || state === "Busy") return status
  const code = status.error ?? status.ok ?? ""
  return yield* new AssemblyNotCompleted({ assemblyId, state, code, reason: status.message ?? code })
})
