/**
 * Deletes several things, one after the other.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Output from "../Output.ts"

/** One of several things could not be deleted. The message names it, because the error of the service does not. */
export class NotDeleted extends Schema.TaggedError<NotDeleted>()("NotDeleted", {
  id: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.id}: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

/** Deletes each thing and prints its id. Stops at the first that fails. */
export const deleteEach = <Id extends string, A, E, R>(
  ids: ReadonlyArray<Id>,
  remove: (id: Id) => Effect.Effect<A, E, R>
): Effect.Effect<void, E | NotDeleted, R> =>
  Effect.forEach(
    ids,
    (id) =>
      remove(id).pipe(
        Effect.mapError((cause) => (ids.length === 1 ? cause : new NotDeleted({ id, cause }))),
        Effect.andThen(Output.lines<string>([`deleted ${id}`]))
      ),
    { discard: true }
  )
