/**
 * Commands write to the standard output and error only with this module. The exceptions are the questions of `Prompt`,
 * and `internal/launch.ts`, which runs before this module is loaded. Text from outside is escaped; colours and cursor
 * moves come only from this program.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import * as Interruption from "./internal/interruption.ts"
import * as Message from "./internal/message.ts"
import * as Style from "./Style.ts"

/** Rendered lines contain colours, which {@link lines} would escape. Rendered lines are for {@link report}. */
type Unrendered<T extends string> = T extends Style.Line ? never : T

/**
 * Writes texts, one line each. Control characters in a text are escaped.
 *
 * @since 0.1.0
 * @category output
 */
export const lines = <T extends string>(texts: ReadonlyArray<T & Unrendered<T>>): Effect.Effect<void> =>
  Console.log(texts.map(Printable.escape).join("\n"))

/**
 * Writes rendered lines with their colours.
 *
 * @since 0.1.0
 * @category output
 */
export const report = (rendered: ReadonlyArray<Style.Line>): Effect.Effect<void> => Console.log(rendered.join("\n"))

/**
 * Writes a message to the standard error. If the message cannot be written, `launch.ts` sets the exit code. A message
 * has no line breaks of its own, because a user pastes the commands in it.
 */
const tell = (text: string): Effect.Effect<void> => Effect.andThen(Effect.sync(Message.begin), Console.error(text))

/**
 * Whether the process was able to write all earlier output to its standard output. Waits until this output is written.
 *
 * @since 0.1.0
 * @category output
 */
export const isWritten: Effect.Effect<boolean> = Effect.callback((resume) => {
  process.stdout.write("", (error) => resume(Effect.succeed(error === undefined || error === null)))
})

/**
 * Prints each value of a stream, and ends the stream when the output can no longer be written, for example because
 * `head` has ended. Nobody would read the further values.
 *
 * @since 0.1.0
 * @category output
 */
export const whileRead = <A, E, R, E2, R2>(
  values: Stream.Stream<A, E, R>,
  print: (value: A) => Effect.Effect<unknown, E2, R2>
): Stream.Stream<A, E | E2, R | R2> =>
  Stream.takeWhileEffect(values, (value) => Effect.andThen(print(value), isWritten))

/**
 * Writes a rendered line to the standard error, such as a line of a log.
 *
 * @since 0.1.0
 * @category output
 */
export const log = (line: Style.Line): Effect.Effect<void> => tell(line)

/**
 * Writes an error to the standard error.
 *
 * @since 0.1.0
 * @category output
 */
export const error = (text: string): Effect.Effect<void> => tell(keepLines(`assembly: ${text}`))

/**
 * Writes a hint to the standard error, such as what to do after an error.
 *
 * @since 0.1.0
 * @category output
 */
export const hint = (text: string): Effect.Effect<void> => tell(Printable.escape(text))

/**
 * Writes the line for a Ctrl-C that arrives before `assembly upload` has begun its work. Writes nothing for every other
 * command.
 *
 * @since 0.1.0
 * @category output
 */
export const interruptedAtStart = (args: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(Interruption.textAtStart(args, process.stderr, process.env))
  })

/**
 * A response cannot be written as JSON.
 *
 * @since 0.1.0
 * @category errors
 */
export class CannotPrint extends Schema.TaggedError<CannotPrint>()("CannotPrint", {
  description: Schema.String
}) {
  override get message() {
    return `the response of the service cannot be printed as JSON: ${this.description}`
  }
}

/** `JSON.stringify` is recursive: it throws if the value is too deep or the text is too long. */
const stringify = (value: unknown, indentation = 2): Effect.Effect<string, CannotPrint> =>
  Effect.try({
    try: () => JSON.stringify(value, null, indentation),
    catch: () => new CannotPrint({ description: "the response is nested too deeply or too long" })
  })

/**
 * Writes a value as JSON, encoded by its schema.
 *
 * @since 0.1.0
 * @category output
 */
export const json = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S) => {
  const encode = Schema.encodeEffect(schema)
  return (value: S["Type"]): Effect.Effect<void, CannotPrint> =>
    encode(value).pipe(
      Effect.mapError(({ message }) => new CannotPrint({ description: message })),
      Effect.flatMap(stringify),
      Effect.flatMap((text) => Console.log(Printable.escapeJson(text)))
    )
}

/**
 * Writes a record as one line of JSON, for programs that read line by line.
 *
 * @since 0.1.0
 * @category output
 */
export const jsonLine = (record: Readonly<Record<string, Schema.Json>>): Effect.Effect<void> =>
  Console.log(Printable.escapeJson(JSON.stringify(record)))

/**
 * Writes values as JSON, one line each, encoded by their schema.
 *
 * @since 0.1.0
 * @category output
 */
export const jsonLines = <S extends Schema.ConstraintCodec<unknown, unknown>>(schema: S) => {
  const encode = Schema.encodeEffect(schema)
  return (values: ReadonlyArray<S["Type"]>): Effect.Effect<void, CannotPrint> =>
    Effect.forEach(values, (value) =>
      encode(value).pipe(
        Effect.mapError(({ message }) => new CannotPrint({ description: message })),
        Effect.flatMap((encoded) => stringify(encoded, 0)),
        Effect.map(Printable.escapeJson)
      )
    ).pipe(Effect.flatMap((texts) => (texts.length === 0 ? Effect.void : Console.log(texts.join("\n")))))
}

/**
 * Writes a text to the terminal. The text may contain colours, and the control sequences that redraw a line. A closed
 * terminal is not a failure.
 *
 * @since 0.1.0
 * @category output
 */
export const draw = (text: string): Effect.Effect<void, never, Terminal.Terminal> =>
  Effect.flatMap(Terminal.Terminal, (terminal) => Effect.ignore(terminal.display(guard(text, Style.screen))))

/**
 * How progress is written to the standard error of the process.
 *
 * @since 0.1.0
 * @category output
 */
export const standardError: Pick<Terminal.Terminal, "columns" | "rows" | "display"> = {
  columns: Effect.sync(() => process.stderr.columns ?? 0),
  rows: Effect.sync(() => process.stderr.rows ?? 0),
  display: (text) =>
    Effect.sync(() => {
      process.stderr.write(text)
    })
}

const keepLines = (text: string): string => text.split("\n").map(Printable.escape).join("\n")

/** Escapes every control sequence in the text except line breaks and the sequences that match `own`. */
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

/** The methods of a console whose arguments {@link layer} escapes. `table`, `dir` and others are not among them. */
const writing = ["log", "error", "info", "warn", "debug", "trace", "group", "groupCollapsed"] as const

const guarded = (console: Console.Console): Console.Console =>
  Object.assign(
    Object.create(console) as Console.Console,
    Object.fromEntries(
      writing.map((method) => [method, (...values: ReadonlyArray<unknown>) => console[method](guardAll(values))])
    )
  )

/**
 * Escapes what is written with `Console.log`, `Console.error` and the other methods in `writing`, also by code that
 * does not use this module, such as the loggers of Effect. Colours and line breaks are kept.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never> = Layer.effect(Console.Console)(Effect.map(Console.Console, guarded))

/**
 * The layout of the standard output. `width` is undefined if the output is a file or a pipe, because lines are not cut
 * there.
 *
 * @since 0.1.0
 * @category getters
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
