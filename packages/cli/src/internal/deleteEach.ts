/**
 * Deletes several things, one after the other.
 */
import * as Effect from "effect/Effect"
import * as CommandError from "../CommandError.ts"
import * as Output from "../Output.ts"

/** Deletes the thing of each id or name and prints this id or name. Stops at the first thing that cannot be deleted. */
export const deleteEach = <Id extends string, A, E, R>(
  ids: ReadonlyArray<Id>,
  remove: (id: Id) => Effect.Effect<A, E, R>
): Effect.Effect<void, E | CommandError.NotDeleted, R> =>
  Effect.forEach(
    ids,
    (id) =>
      remove(id).pipe(
        Effect.mapError((cause) => (ids.length === 1 ? cause : new CommandError.NotDeleted({ id, cause }))),
        Effect.andThen(Output.lines<string>([`deleted ${id}`]))
      ),
    { discard: true }
  )
