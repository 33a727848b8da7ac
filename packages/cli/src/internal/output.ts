/**
 * Commands write to the standard output and error only with this module. The exceptions are the questions of `Prompt`,
 * and `launch.ts`, which runs before this module is loaded. Text from outside is escaped; colours and cursor moves come
 * only from this program. Progress is shown on the standard error, so that the standard output contains only results.
 */
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as Console from "effect/Console"
import { DateTime, Effect, Formatter, Layer, Predicate, Schema, SchemaAST, Stdio, Stream, Terminal } from "./effect.ts"
import * as Help from "./help.ts"
import * as Text from "./text.ts"
import { TerminalCapabilities } from "effect/cli"

/** Rendered lines contain colours, which {@link lines} would escape. Rendered lines are for {@link report}. */
type Unrendered<T extends string> = T extends Text.Line ? never : T

/** Writes texts, one line each. Control characters in a text are escaped. */
export const lines = <T extends string>(texts: ReadonlyArray<T & Unrendered<T>>): Effect.Effect<void> =>
  Console.log(texts.map(Printable.escape).join("\n"))

/** Writes rendered lines with their colours. */
export const report = (rendered: ReadonlyArray<Text.Line>): Effect.Effect<void> =>
  rendered.length === 0 ? Effect.void : Console.log(rendered.join("\n"))

/**
 * Writes a message whose commands begin with the words of the user, and whose lines are broken between words if the standard
 * error is a terminal.
 */
const tellWrapped = Effect.fnUntraced(function* (text: string) {
  const width = yield* standardError.columns
  const program = yield* Help.Program
  const whole = Help.commandsOf(program)
  const told = Help.inProgram(text, program)
  const broken = width === 0 ? [told] : told.split("\n").flatMap((line) => Text.wrap(line, width, { whole }))
  yield* Console.error(broken.join("\n"))
})

/** Writes a rendered line to the standard error, such as a line of a log. */
export const log = (line: Text.Line): Effect.Effect<void> => Console.error(line)

/** Writes an error to the standard error. */
export const error = (text: string): Effect.Effect<void> => tellWrapped(keepLines(`assembly: ${text}`))

/** Writes a hint to the standard error, such as what to do after an error. */
export const hint = (text: string): Effect.Effect<void> => tellWrapped(Printable.escape(text))

/** Writes a line that ends with a command to paste, which is never broken. */
export const next = (text: string): Effect.Effect<void> =>
  Effect.flatMap(Help.Program, (program) => Console.error(Help.inProgram(Printable.escape(text), program)))

/** Whether the process was able to write all earlier output to its standard output. Waits until it is written. */
export const isWritten: Effect.Effect<boolean> = Effect.callback((resume) => {
  process.stdout.write("", (problem) => resume(Effect.succeed(problem === undefined || problem === null)))
})

/**
 * Prints each value of a stream, and ends the stream when the output can no longer be written, for example because
 * `head` has ended. Nobody would read the further values.
 */
export const whileRead = <A, E, R, E2, R2>(
  values: Stream.Stream<A, E, R>,
  print: (value: A) => Effect.Effect<unknown, E2, R2>
): Stream.Stream<A, E | E2, R | R2> =>
  Stream.takeWhileEffect(values, (value) => Effect.andThen(print(value), isWritten))

/** What `--json` asks for: a text for a person (false), or JSON with these fields, or with all fields if none is named. */
export type Json = false | ReadonlyArray<string>

const namesOf = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  if (ast._tag === "Arrays") return ast.rest.flatMap(namesOf)
  return ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

/** A schema, of which only the names of its fields are read. */
export type Shape = Pick<Schema.Top, "ast">

/**
 * The fields of a response that can be named, and the key of the response that has them. The service wraps some things:
 * the fields of `{ ok, message, asset }` are those of the asset, and the fields of `{ ok, assets }` those of each asset.
 */
export const fieldsOf = (schema: Shape): { readonly key?: string; readonly names: ReadonlyArray<string> } => {
  const ast = SchemaAST.toEncoded(schema.ast)
  const own = ast._tag === "Objects" ? ast.propertySignatures : []
  const [inside, ...others] = own.filter(({ name }) => name !== "ok" && name !== "message")
  const names = inside === undefined || others.length > 0 ? [] : namesOf(inside.type)
  return names.length > 0 ? { key: String(inside?.name), names } : { names: namesOf(ast) }
}

/** The schema of a response. */
export type Codec = Schema.ConstraintCodec<unknown, unknown>

/** Encodes a value as JSON with all fields, or only with the given ones. */
const encoded = <S extends Codec>(schema: S, value: S["Type"], fields: ReadonlyArray<string>, indentation: number) => {
  const { key } = fieldsOf(schema)
  const pick = (found: unknown) =>
    Object.fromEntries(fields.map((name) => [name, Predicate.hasProperty(found, name) ? found[name] : null]))
  const picked = (json: unknown) => {
    if (fields.length === 0) return json
    const found = key !== undefined && Predicate.hasProperty(json, key) ? json[key] : json
    return Array.isArray(found) ? found.map(pick) : pick(found)
  }
  return Effect.map(Effect.orDie(Schema.encodeEffect(schema)(value)), (json) =>
    Printable.escapeJson(JSON.stringify(picked(json), null, indentation))
  )
}

/** Writes a value as JSON, encoded by its schema, with all fields or only the given ones. */
export const json = <S extends Codec>(schema: S, value: S["Type"], fields: ReadonlyArray<string> = []) =>
  Effect.flatMap(encoded(schema, value, fields, 2), Console.log)

/** Writes values as JSON, one line each, encoded by their schema, with all fields or only the given ones. */
export const jsonLines = <S extends Codec>(
  schema: S,
  values: ReadonlyArray<S["Type"]>,
  fields: ReadonlyArray<string>
) =>
  Effect.flatMap(
    Effect.forEach(values, (value) => encoded(schema, value, fields, 0)),
    (texts) => (texts.length === 0 ? Effect.void : Console.log(texts.join("\n")))
  )

/** Writes a record as one line of JSON, for programs that read line by line. */
export const jsonLine = (record: Readonly<Record<string, Schema.Json>>): Effect.Effect<void> =>
  Console.log(Printable.escapeJson(JSON.stringify(record)))

/** Writes a response as JSON, or its lines for a person. */
export const show = <S extends Codec>(
  wanted: Json,
  schema: S,
  value: S["Type"],
  render: (layout: Layout) => ReadonlyArray<Text.Line>
) => (wanted ? json(schema, value, wanted) : Effect.flatMap(layout, (found) => report(render(found))))

/** A sentence as lines for {@link show}. */
export const sentence = (text: string): ReadonlyArray<Text.Line> => [Text.toLine(Printable.escape(text))]

/**
 * Writes a text to the terminal. The text may contain colours, and the control sequences that redraw a line. A closed
 * terminal is not a failure.
 */
export const draw = (text: string): Effect.Effect<void, never, Terminal.Terminal> =>
  Effect.flatMap(Terminal.Terminal, (terminal) => Effect.ignore(terminal.display(guard(text, Text.screen))))

/** How progress is written to the standard error of the process. */
export const standardError: Pick<Terminal.Terminal, "columns" | "display"> = {
  columns: Effect.sync(() => process.stderr.columns ?? 0),
  display: (text) => Effect.sync(() => void process.stderr.write(text))
}

const keepLines = (text: string): string => text.replace(/[^\n\t]+/g, Printable.escape)

/** Escapes every control sequence in the text except line breaks, tabs and the sequences that match `own`. */
const guard = (text: string, own: RegExp): string => {
  const orders = text.match(own) ?? []
  return text
    .split(own)
    .map((part, index) => keepLines(part) + (orders[index] ?? ""))
    .join("")
}

const guardAll = (values: ReadonlyArray<unknown>): string =>
  values.map((value) => guard(typeof value === "string" ? value : Formatter.format(value), Text.colours)).join(" ")

/** The methods of a console whose arguments {@link layer} escapes. `table`, `dir` and others are not among them. */
const writing = ["log", "error", "info", "warn", "debug", "trace", "group", "groupCollapsed"] as const

/**
 * Escapes what is written with the console, also by code that does not use this module, such as the loggers of Effect.
 * Colours and line breaks are kept.
 */
export const layer: Layer.Layer<never> = Layer.effect(Console.Console)(
  Effect.map(Console.Console, (console) =>
    Object.assign(
      Object.create(console) as Console.Console,
      Object.fromEntries(
        writing.map((method) => [method, (...values: ReadonlyArray<unknown>) => console[method](guardAll(values))])
      )
    )
  )
)

/** How lines for the standard output are made. `width` is undefined for a file or a pipe, where lines are not cut. */
export interface Layout {
  readonly width: number | undefined
  readonly style: Text.Style
  readonly now: DateTime.Utc
}

export const layout: Effect.Effect<Layout, never, Terminal.Terminal> = Effect.gen(function* () {
  const width = yield* (yield* Terminal.Terminal).columns
  return { width: width === 0 ? undefined : width, style: yield* Text.current, now: yield* DateTime.now }
})

/** Writes a line about a list below it. Another program reads the list without this line. */
export const below = (text: string) =>
  Effect.flatMap(layout, ({ width }) =>
    width === undefined ? hint(text) : lines<string>(["", ...Text.wrap(text, width)])
  )

/** Runs a program that shows progress, with the terminal of the standard error of the process. */
export const onStandardError = Effect.fnUntraced(function* <A, E, R>(program: Effect.Effect<A, E, R>) {
  const stdio = yield* Stdio.Stdio
  const terminal = Terminal.make({ ...(yield* Terminal.Terminal), ...standardError })
  const asError = Layer.succeed(Stdio.Stdio, Stdio.make({ ...stdio, stdoutIsTerminal: stdio.stderrIsTerminal }))
  return yield* program.pipe(
    Effect.provideService(Terminal.Terminal, terminal),
    Effect.provide(Layer.provide(TerminalCapabilities.layer, asError))
  )
})
