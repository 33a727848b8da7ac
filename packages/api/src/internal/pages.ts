import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** The state of a walk through the pages. */
interface Walk<E> {
  readonly page: number
  /** The request for this page. It was started when the previous page was emitted. */
  readonly request: Fiber.Fiber<AssemblyList.Page, E> | undefined
  /** The ids of the last two pages, which a shifted page may repeat. */
  readonly seen: ReadonlyArray<ReadonlySet<string>>
}

/** Whether a page is the last one: by the total if the service reports it, else if the page is not full. */
const isLast = (found: AssemblyList.Page, page: number, pageSize: number): boolean =>
  found.items.length === 0 ||
  (found.count === undefined ? found.items.length < pageSize : page * pageSize >= found.count)

/** Emits a page and starts the request for the next one. */
const step =
  <E, R>(list: (page: number) => Effect.Effect<AssemblyList.Page, E, R>, pageSize: number, scope: Scope.Scope) =>
  (walk: Walk<E> | undefined): Effect.Effect<readonly [AssemblyList.Page, Walk<E> | undefined] | undefined, E, R> =>
    Effect.gen(function* () {
      if (walk === undefined) return undefined
      const found = yield* walk.request === undefined ? list(walk.page) : Fiber.join(walk.request)
      const items = found.items.filter(({ id }) => !walk.seen.some((page) => page.has(id)))
      const next: Walk<E> | undefined = isLast(found, walk.page, pageSize)
        ? undefined
        : {
            page: walk.page + 1,
            request: yield* Effect.forkIn(list(walk.page + 1), scope),
            seen: [...walk.seen.slice(-1), new Set(found.items.map(({ id }) => id))]
          }
      return [{ ...found, items }, next] as const
    })

/** A lazy stream of pages. Nothing is requested before the first pull; after that, one page is prefetched. */
export const walk = <E, R>(
  query: AssemblyList.Query,
  list: (query: AssemblyList.Query) => Effect.Effect<AssemblyList.Page, E, R>
): Stream.Stream<AssemblyList.Page, E, R> =>
  Stream.unwrap(
    Effect.map(Effect.scope, (scope) => {
      const pageSize = query.pageSize ?? AssemblyList.defaults.pageSize
      const begin: Walk<E> = { page: query.page ?? AssemblyList.defaults.page, request: undefined, seen: [] }
      return Stream.unfold<Walk<E> | undefined, AssemblyList.Page, E, R>(
        begin,
        step((page) => list({ ...query, page, pageSize }), pageSize, scope)
      )
    })
  )
