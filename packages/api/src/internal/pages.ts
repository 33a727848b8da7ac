import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as ApiError from "../ApiError.ts"
import * as Exchange from "../unstable/Exchange.ts"

/** A page of a list. `count` is the number of items on all pages, if the service reports it. */
interface Page {
  readonly items: ReadonlyArray<{ readonly id: string }>
  readonly count?: number
}

/** The state of a walk through the pages. */
interface Walk<P, E> {
  readonly page: number
  /** The request for this page, which was started when the previous page was emitted. */
  readonly request: Fiber.Fiber<P, E> | undefined
  /**
   * The ids of the entries on the last two pages. The next page repeats some of these entries if new entries have
   * shifted them.
   */
  readonly seen: ReadonlyArray<ReadonlySet<string>>
}

/**
 * Whether a page is the last page. An empty page is always the last page. For any other page, the total number of items
 * decides, if the service reports it. Without this number, a page that is not full is the last page.
 */
const isLast = (found: Page, page: number, pageSize: number): boolean =>
  found.items.length === 0 ||
  (found.count === undefined ? found.items.length < pageSize : page * pageSize >= found.count)

/** Emits a page and starts the request for the next page. */
const step =
  <P extends Page, E, R>(list: (page: number) => Effect.Effect<P, E, R>, pageSize: number, scope: Scope.Scope) =>
  (walk: Walk<P, E> | undefined): Effect.Effect<readonly [P, Walk<P, E> | undefined] | undefined, E, R> =>
    Effect.gen(function* () {
      if (walk === undefined) return undefined
      const found = yield* walk.request === undefined ? list(walk.page) : Fiber.join(walk.request)
      const items = found.items.filter(({ id }) => !walk.seen.some((page) => page.has(id)))
      const next: Walk<P, E> | undefined = isLast(found, walk.page, pageSize)
        ? undefined
        : {
            page: walk.page + 1,
            request: yield* Effect.forkIn(list(walk.page + 1), scope),
            seen: [...walk.seen.slice(-1), new Set(found.items.map(({ id }) => id))]
          }
      return [{ ...found, items }, next] as const
    })

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
      const begin: Walk<P, E> = { page: first, request: undefined, seen: [] }
      return Stream.unfold<Walk<P, E> | undefined, P, E, R>(
        begin,
        step((page) => list(Input.isRecord(query) ? { ...query, page, pageSize } : query), pageSize, scope)
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
  Stream.unfold(query as Query | undefined, (at) => {
    if (at === undefined) return Effect.undefined
    return Effect.flatMap(list(at), (page) => {
      const cursor = page.next_cursor
      if (cursor !== null && cursor === at.cursor) {
        return Effect.fail(Exchange.unexpected({ operation }, 200, "a page whose next_cursor is its own cursor"))
      }
      return Effect.succeed([page, cursor === null ? undefined : { ...at, cursor }] as const)
    })
  })
