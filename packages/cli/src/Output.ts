/**
 * The one place that writes: everything on the standard output and error goes through here. What others wrote is
 * escaped; colours and the moves of the cursor are our own.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Terminal from "effect/Terminal"
import * as Style from "./Style.ts"

/** What was rendered has colours, which would be escaped as well: that is for {@link report}. */
type Unrendered<T extends string> = T extends Style.Line ? never : T

/** Writes lines; each text is one line, and nothing in it is obeyed. */
export const lines = <T extends string>(texts: ReadonlyArray<T & Unrendered<T>>): Effect.Effect<void> =>
  Console.log(texts.map(Printable.escape).join("\n"))

/** Writes what was rendered, with its colours. */
export const report = (rendered: ReadonlyArray<Style.Line>): Effect.Effect<void> => Console.log(rendered.join("\n"))

/** Writes what went wrong to the standard error. */
export const error = (text: string): Effect.Effect<void> => Console.error(keepLines(`assembly: ${text}`))

/** Writes what to do about it. */
export const hint = (text: string): Effect.Effect<void> => Console.error(Printable.escape(text))

/** An answer cannot be written as JSON. */
export class CannotPrint extends Schema.TaggedError<CannotPrint>()("CannotPrint", {
  problem: Schema.String
}) {
  override get message() {
    return `the answer of the service cannot be printed as JSON: ${this.problem}`
  }
}

/** JSON text is made by a recursion of the runtime: what it throws is about the depth or the length of the value. */
const stringify = (value: unknown): Effect.Effect<string, CannotPrint> =>
  Effect.try({
    try: () => JSON.stringify(value, null, 2),
    catch: () => new CannotPrint({ problem: "it is nested too deep, or too long" })
  })

/** Writes a value as the JSON of its schema. */
export const json = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S) => {
  const encode = Schema.encodeEffect(schema)
  return (value: S["Type"]): Effect.Effect<void, CannotPrint> =>
    encode(value).pipe(
      Effect.mapError(({ message }) => new CannotPrint({ problem: message })),
      Effect.flatMap(stringify),
      Effect.flatMap((text) => Console.log(Printable.escapeJson(text)))
    )
}

/** Writes to the screen that a person watches; it may move the cursor. A terminal that went away is no failure. */
export const draw = (text: string): Effect.Effect<void, never, Terminal.Terminal> =>
  Effect.flatMap(Terminal.Terminal, (terminal) => Effect.ignore(terminal.display(guard(text, Style.screen))))

const keepLines = (text: string): string => text.split("\n").map(Printable.escape).join("\n")

/** The text with every order escaped that is none of `own`. */
const guard = (text: string, own: RegExp): string => {
  let guarded = ""
  let end = 0
  for (const { 0: order, index } of text.matchAll(own)) {
    guarded += keepLines(text.slice(end, index)) + order
    end = index + order.length
  }
  return guarded + keepLines(text.slice(end))
}

const guardAll = (values: ReadonlyArray<unknown>): string =>
  values.map((value) => guard(typeof value === "string" ? value : Formatter.format(value), Style.colours)).join(" ")

/** The methods of a console that write what they are given. */
const writing = ["log", "error", "info", "warn", "debug", "trace", "group", "groupCollapsed"] as const

const guarded = (console: Console.Console): Console.Console =>
  Object.assign(
    Object.create(console) as Console.Console,
    Object.fromEntries(
      writing.map((method) => [method, (...values: ReadonlyArray<unknown>) => console[method](guardAll(values))])
    )
  )

/** Guards what does not know this module: help and errors of the command line, and logs. Colours pass. */
export const layer: Layer.Layer<never> = Layer.effect(Console.Console)(Effect.map(Console.Console, guarded))

/**
 * What a layout depends on. `width` is undefined where nobody cuts lines: in a file or a pipe.
 */
export const layout: Effect.Effect<
  { readonly width: number | undefined; readonly style: Style.Style },
  never,
  Terminal.Terminal
> = Effect.gen(function* () {
  const { columns } = yield* Terminal.Terminal
  const width = yield* columns
  return { width: width === 0 ? undefined : width, style: yield* Style.current }
})
