/** What the commands of several resources do: lists that come in pages, and deletions after a question. */
import { Argument, type Command, Flag, Prompt, TerminalCapabilities } from "effect/cli"
import { Effect, Option, Schema, Stream } from "./effect.ts"
import * as Table from "./table.ts"
import * as Text from "./text.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"
import * as Cli from "./cli.ts"
import * as Printable from "@assembly-effect/schema/unstable/Printable"

/** The flags `--limit`, `--all` and `--json` of a list. */
export const flags = (item: Output.Shape, most: number) => ({
  limit: Flag.optional(Cli.number("limit", [1, most])),
  all: Cli.flag("all"),
  json: Cli.json(item)
})

/** The flags of a list whose pages have numbers. The cursor counts pages of `--limit` things. */
export const numberedFlags = (item: Output.Shape) => ({
  ...flags(item, 5000),
  cursor: Flag.withDefault(Cli.number("cursor", [1]), 1)
})

/** A list, and how its things are shown. */
export interface Listing<Page, Item> {
  readonly what: string
  readonly page: Schema.ConstraintCodec<Page, unknown>
  readonly item: Schema.ConstraintCodec<Item, unknown>
  readonly columns: (layout: Output.Layout) => ReadonlyArray<Table.Column<Item>>
  readonly empty?: string
}

/** The cursor of the next page, the number of all things, and the `--limit` that the cursor counts with. */
interface Next {
  readonly cursor: string | number
  readonly count?: number | undefined
  readonly limit?: number | undefined
}

/** How a list is read. `next` is undefined if there is no other page. */
interface Pages<Page, Item, E, R> {
  readonly first: Effect.Effect<Page, E, R>
  readonly all: Stream.Stream<Page, E, R>
  readonly items: (page: Page) => ReadonlyArray<Item>
  readonly next: (page: Page) => Next | undefined
}

/**
 * Prints the first page of a list, and the cursor of the next page, or all pages, each when it arrives. With `--json`, a
 * page is the response of the service, or the things with some of their fields; of all pages, each thing is a line.
 */
export const list = Effect.fnUntraced(function* <Page, Item, E, R>(
  { empty, item, page, what, ...listing }: Listing<Page, Item>,
  { all, json }: { readonly all: boolean; readonly json: Output.Json },
  pages: Pages<Page, Item, E, R>
) {
  const layout = { ...(yield* Output.layout), empty: empty ?? `no ${what}` }
  const columns = listing.columns(layout)
  if (!all) {
    const found = yield* pages.first
    const items = pages.items(found)
    if (json && json.length > 0) return yield* Output.json(Schema.Array(item), items, json)
    yield* Output.show(json, page, found, () => Table.render(columns, items, layout))
    const more = pages.next(found)
    if (json || more === undefined) return
    const part = more.count === undefined ? "" : `${items.length} of ${more.count} ${what}; `
    const limit = more.limit === undefined ? "" : `--limit=${more.limit} `
    return yield* Output.below(`${part}${limit}--cursor=${Text.word(String(more.cursor))} continues, --all lists all`)
  }
  const render = Table.makeParts(columns, layout)
  let end: ReadonlyArray<Text.Line> | undefined
  const print = (items: ReadonlyArray<Item>): Effect.Effect<void> => {
    if (json) return Output.jsonLines(item, items, json)
    if (items.length === 0) return Effect.void
    const part = render(items)
    end = part.end
    return Output.report(part.lines)
  }
  yield* Stream.runDrain(Output.whileRead(Stream.map(pages.all, pages.items), print))
  if (!json) yield* Output.report(end ?? Table.render(columns, [], layout))
})

interface Numbers {
  readonly page: number
  readonly pageSize: number
}

/**
 * Prints a list whose pages have numbers, which the module `read` reads with the query `about`. Fails if the cursor is
 * after the last page: the user would see an empty table and think that the list is empty.
 */
export const numbered = <
  Query extends object,
  Item,
  Page extends { readonly items: ReadonlyArray<Item>; readonly count?: number | undefined },
  E,
  R
>(
  listing: Listing<Page, Item>,
  asked: Command.Command.Config.Infer<ReturnType<typeof numberedFlags>>,
  read: {
    readonly list: (query: Query & Numbers) => Effect.Effect<Page, E, R>
    readonly listPages: (query: Query & Numbers) => Stream.Stream<Page, E, R>
  },
  about: Query
) => {
  const { all, cursor, limit } = asked
  // A whole list is faster with more things in each response.
  const pageSize = Option.getOrElse(limit, () => (all ? 500 : 50))
  const query = { ...about, page: cursor, pageSize }
  const refuse = ({ count, items }: Page, index = 0) => {
    if (items.length > 0 || index > 0 || cursor === 1) return Effect.void
    const last =
      count === undefined ? "" : ` of ${count}; the last is --cursor=${Math.max(1, Math.ceil(count / pageSize))}`
    return Effect.fail(Failure.failed(`there are no ${listing.what} at --cursor=${cursor}${last}`))
  }
  return list(listing, asked, {
    first: Effect.tap(read.list(query), (found) => refuse(found)),
    all: Stream.mapEffect(read.listPages(query), (found, index) => Effect.as(refuse(found, index), found)),
    items: ({ items }) => items,
    next: ({ count, items }) =>
      count === undefined || count <= (cursor - 1) * pageSize + items.length
        ? undefined
        : { cursor: cursor + 1, count, limit: Option.getOrUndefined(limit) }
  })
}

/** The flag that agrees to a deletion. */
export const yes = Flag.withAlias(Cli.flag("yes"), "y")

/**
 * What a command deletes. `words` are the words for one thing and for several. `ids` are the ids or names that the user
 * gave. `describe` identifies a thing in another way: for example by the path of an asset.
 */
export interface Things<Id extends string, E, R> {
  readonly ids: ReadonlyArray<Id>
  readonly words: readonly [one: string, many: string]
  readonly describe: (id: Id) => Effect.Effect<string | null | undefined, E, R>
}

/** The maximum number of listed things. If there are more things, one more line has the number of the others. */
const mostListed = 10

/**
 * Lists the things, each with the text of `describe`, and asks whether to delete them. Fails if one of them cannot be
 * described, such as a thing that does not exist, if the answer is no, or if there is no terminal.
 */
export const confirm = Effect.fnUntraced(function* <Id extends string, E, R>(things: Things<Id, E, R>) {
  const { ids, words } = things
  const what = ids.length === 1 ? `the ${words[0]} ${ids[0]}` : `${ids.length} ${words[1]}`
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (!canPrompt) {
    return yield* Failure.usage(`nothing was deleted: add --yes to delete ${what}, because there is no terminal to ask`)
  }
  const shown = yield* Effect.forEach(
    ids.slice(0, mostListed),
    (id) => Effect.map(things.describe(id), (name): Table.Fact => [Printable.escape(id), name ?? ""]),
    { concurrency: mostListed }
  )
  const more = ids.length > mostListed ? [`and ${Text.count(ids.length - mostListed)} more`] : []
  yield* Output.draw([...Table.facts(shown), ...more].map((line) => `  ${line}\n`).join(""))
  // `Prompt.Confirm` would take the first `y` for an answer, also one that was typed before the question.
  const answer = yield* Prompt.run(
    Prompt.String({ message: `Delete ${Printable.escape(what)}? (y/N)`, theme: { tick: "–" } })
  ).pipe(
    // After Ctrl-C, Ctrl-D or Escape, the prompt leaves the cursor at the end of the question.
    Effect.catchTag("QuitError", () => Effect.andThen(Output.draw("\n"), Effect.interrupt))
  )
  if (!/^y(?:es)?$/i.test(answer.trim())) return yield* Failure.failed("nothing was deleted")
})

/** Deletes the thing of each id or name, and prints it. Stops at the first thing that cannot be deleted. */
export const each = <Id extends string, A, E, R>(
  ids: ReadonlyArray<Id>,
  remove: (id: Id) => Effect.Effect<A, E, R>
): Effect.Effect<void, E | Failure.CommandError, R> =>
  Effect.forEach(
    ids,
    (id) =>
      remove(id).pipe(
        Effect.mapError((cause) => (ids.length === 1 ? cause : Failure.because(cause, { about: id }))),
        Effect.andThen(Output.lines<string>([`deleted ${id}`]))
      ),
    { discard: true }
  )

/** The command `delete` of a resource. `always` is true if even one thing is deleted only after a question. */
export const command = <Id extends string, A, E, R, E2, R2>(
  path: string,
  ids: Argument.Argument<Id>,
  words: Things<Id, E2, R2>["words"],
  steps: {
    readonly describe: Things<Id, E2, R2>["describe"]
    readonly remove: (id: Id) => Effect.Effect<A, E, R>
    readonly always?: boolean
  }
) =>
  Cli.command(
    path,
    { ids: Argument.variadic(ids, { min: 1 }), yes },
    Effect.fnUntraced(function* ({ ids: given, yes: agreed }) {
      if (!agreed && (steps.always === true || given.length > 1)) {
        yield* confirm({ ids: given, words, describe: steps.describe })
      }
      yield* each(given, steps.remove)
    })
  )
