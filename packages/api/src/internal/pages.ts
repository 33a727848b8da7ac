import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as ApiError from "../ApiError.ts"
import * as Exchange from "../unstable/Exchange.ts"

/** A page of a list. `count` is the number of items on all pages, if the service reports it. */
interface Page {
  readonly items: ReadonlyArray<{ readonly id: string }>
  readonly count?: number
}

/**
 * Whether a page is the last page. An empty page is always the last page. For any other page, the total number of items
 * decides, if the service reports it. Without this number, a page that is not full is the last page.
 */
const isLast = (found: Page, page: number, pageSize: number): boolean =>
  found.items.length === 0 ||
  (found.count === undefined ? found.items.length < pageSize : page * pageSize >= found.count)

/** The first page and the number of items on a page, if the query does not contain them. */
const defaults = { page: 1, pageSize: 50 }

/** A lazy stream of pages. Nothing is requested before the first pull; after that, the next page is prefetched. */
export const walk = <Query extends { readonly page?: number; readonly pageSize?: number }, P extends Page, E, R>(
  query: Query,
  list: (query: Query) => Effect.Effect<P, E, R>
): Stream.Stream<P, E, R> =>
  Stream.unwrap(
    Effect.map(Effect.scope, (scope) => {
      const { page: first, pageSize } = { ...defaults, ...query }
      const request = (page: number) => list(Input.isRecord(query) ? { ...query, page, pageSize } : query)
      // `request` was started when the previous page was emitted. `seen` has the ids of the entries on the last two pages:
      // the next page repeats some of these entries if new entries have shifted them.
      const seen: ReadonlyArray<ReadonlySet<string>> = []
      return Stream.paginate({ page: first, request: Effect.suspend(() => request(first)), seen }, (walked) =>
        Effect.gen(function* () {
          const found = yield* walked.request
          const page = { ...found, items: found.items.filter(({ id }) => !walked.seen.some((ids) => ids.has(id))) }
          if (isLast(found, walked.page, pageSize)) return [[page], Option.none()] as const
          const next = {
            page: walked.page + 1,
            request: Fiber.join(yield* Effect.forkIn(request(walked.page + 1), scope)),
            seen: [...walked.seen.slice(-1), new Set(found.items.map(({ id }) => id))]
          }
          return [[page], Option.some(next)] as const
        })
      )
    })
  )

/**
 * A lazy stream of pages, each of which contains the cursor of the next page. Nothing is requested before the first
 * pull; after that, one page is requested for each pull, because only the previous page contains the cursor. If the
 * `next_cursor` of a page is the cursor with which this page was requested, the stream fails, because the pages would
 * never end.
 */
export const follow = <Query extends { readonly cursor?: unknown }, P extends { readonly next_cursor: unknown }, E, R>(
  operation: string,
  query: Query,
  list: (query: Query) => Effect.Effect<P, E, R>
): Stream.Stream<P, E | ApiError.UnexpectedResponse, R> =>
  Stream.paginate(query, (at) =>
    Effect.flatMap(list(at), (page) => {
      const cursor = page.next_cursor
      return cursor !== null && cursor === at.cursor
        ? Effect.fail(Exchange.unexpected({ operation }, 200, "a page whose next_cursor is its own cursor"))
        : Effect.succeed([[page], cursor === null ? Option.none() : Option.some({ ...at, cursor })] as const)
    })
  )
