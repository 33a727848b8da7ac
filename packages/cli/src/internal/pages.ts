/**
 * Pages of lists.
 */
import * as Effect from "effect/Effect"
import * as CommandError from "../CommandError.ts"

interface Page {
  readonly items: ReadonlyArray<unknown>
  readonly count?: number | undefined
}

/**
 * Fails if the page is after the last page of its list. Without this error, the user would see an empty table and think
 * that the list is empty.
 */
export const check = (
  { count, items }: Page,
  asked: { readonly page: number; readonly pageSize: number; readonly what: string }
): Effect.Effect<void, CommandError.NoSuchPage> =>
  items.length > 0 || asked.page === 1
    ? Effect.void
    : Effect.fail(new CommandError.NoSuchPage({ ...asked, ...(count === undefined ? {} : { count }) }))
