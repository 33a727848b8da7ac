/** What the commands of several resources do: lists that come in pages, and deletions after a question. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Table from "./table.ts"
import * as Text from "./text.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"
import * as Cli from "./cli.ts"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"

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

/** A list, and how its pages are shown. */
export interface Listing<Page, Item> {
  readonly what: string
  readonly page: Schema.ConstraintCodec<Page, unknown>
  readonly item: Schema.ConstraintCodec<Item, unknown>
  readonly items: (page: Page) => ReadonlyArray<Item>
  readonly columns: (layout: Output.Layout) => ReadonlyArray<Table.Column<Item>>
  readonly empty?: string
}

/** Prints each page of a stream when it arrives: as JSON with one thing on each line, or as a table. */
export const all = Effect.fnUntraced(function* <Page, Item, E, R>(
  listing: Listing<Page, Item>,
  pages: Stream.Stream<Page, E, R>,
  json: Output.Json
) {
  const layout = yield* Output.layout
  const columns = listing.columns(layout)
  const { empty = `no ${listing.what}` } = listing
  const render = Table.makeParts(columns, layout)
  let end: ReadonlyArray<Text.Line> | undefined
  const print = (page: Page): Effect.Effect<void, Failure.CommandError> => {
    const items = listing.items(page)
    if (json) return Output.jsonLines(listing.item, json)(items)
    if (items.length === 0) return Effect.void
    const part = render(items)
    end = part.end
    return Output.report(part.lines)
  }
  yield* Stream.runDrain(Output.whileRead(pages, print))
  if (!json) yield* Output.report(end ?? Table.render(columns, [], { ...layout, empty }))
})

/** Prints one page: as JSON, or as a table and the cursor of the next page. `more` is undefined after the last page. */
export const page = Effect.fnUntraced(function* <Page, Item>(
  listing: Listing<Page, Item>,
  found: Page,
  json: Output.Json,
  more: { readonly cursor: string | number; readonly count?: number | undefined } | undefined
) {
  const items = listing.items(found)
  const { empty = `no ${listing.what}` } = listing
  if (json && json.length > 0) return yield* Output.json(Schema.Array(listing.item), json)(items)
  yield* Output.show(json, listing.page, found, (layout) =>
    Table.render(listing.columns(layout), items, { ...layout, empty })
  )
  if (json || more === undefined) return
  const part = more.count === undefined ? "" : `${items.length} of ${more.count} ${listing.what}; `
  const rest = `${part}--cursor=${Text.word(String(more.cursor))} goes on, --all lists all`
  yield* Output.below(rest)
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
  R,
  E2,
  R2
>(
  listing: Omit<Listing<Page, Item>, "items">,
  asked: Command.Command.Config.Infer<ReturnType<typeof numberedFlags>>,
  read: {
    readonly list: (query: Query & Numbers) => Effect.Effect<Page, E, R>
    readonly listPages: (query: Query & Numbers) => Stream.Stream<Page, E2, R2>
  },
  about: Query
) => {
  const whole: Listing<Page, Item> = { ...listing, items: ({ items }) => items }
  // A whole list is faster with more things in each response.
  const pageSize = Option.getOrElse(asked.limit, () => (asked.all ? 500 : 50))
  const query = { ...about, page: asked.cursor, pageSize }
  const refuse = ({ count, items }: Page) => {
    if (items.length > 0 || asked.cursor === 1) return Effect.void
    const last =
      count === undefined ? "" : ` of ${count}; the last is --cursor=${Math.max(1, Math.ceil(count / pageSize))}`
    return Effect.fail(Failure.failed(`there are no ${listing.what} at --cursor=${asked.cursor}${last}`))
  }
  if (asked.all) {
    const checked = Stream.mapEffect(read.listPages(query), (found, index) =>
      index === 0 ? Effect.as(refuse(found), found) : Effect.succeed(found)
    )
    return all(whole, checked, asked.json)
  }
  return Effect.flatMap(read.list(query), (found) => {
    const { count } = found
    const isLast = count === undefined || count <= (query.page - 1) * pageSize + found.items.length
    const more = isLast ? undefined : { cursor: query.page + 1, count }
    return Effect.andThen(refuse(found), page(whole, found, asked.json, more))
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

/** Lists each id or name that the user gave, and beside it the text of `describe`, unless `describe` fails. */
const list = Effect.fnUntraced(function* <Id extends string, E, R>({ describe, ids }: Things<Id, E, R>) {
  const shown = ids.slice(0, mostListed).map((id) => ({ id, text: Printable.escape(id) }))
  const cells = Math.max(...shown.map(({ text }) => Text.width(text)))
  const lines = yield* Effect.forEach(
    shown,
    ({ id, text }) =>
      Effect.map(Effect.option(describe(id)), (name) =>
        `  ${Text.pad(text, cells, "left")}  ${Printable.escape(Option.getOrUndefined(name) ?? "")}`.trimEnd()
      ),
    { concurrency: mostListed }
  )
  return ids.length > mostListed ? [...lines, `  and ${Text.count(ids.length - mostListed)} more`] : lines
})

/** Lists the things, and asks whether to delete them. Fails if the answer is no, or if there is no terminal. */
export const confirm = Effect.fnUntraced(function* <Id extends string, E, R>(things: Things<Id, E, R>) {
  const { ids, words } = things
  const what = ids.length === 1 ? `the ${words[0]} ${ids[0]}` : `${ids.length} ${words[1]}`
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (!canPrompt) {
    return yield* Failure.usage(`nothing was deleted: add --yes to delete ${what}, because there is no terminal to ask`)
  }
  yield* Output.draw(`${(yield* list(things)).join("\n")}\n`)
  // The tick is the mark of `assembly doctor` for a good finding.
  const agreed = yield* Prompt.run(
    Prompt.Confirm({ message: `Delete ${Printable.escape(what)}?`, theme: { tick: "✓" } })
  ).pipe(
    // After Ctrl-C, Ctrl-D or Escape, the prompt leaves the cursor at the end of the question.
    Effect.catchTag("QuitError", () => Effect.andThen(Output.draw("\n"), Effect.interrupt))
  )
  if (!agreed) return yield* Failure.failed("nothing was deleted")
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
