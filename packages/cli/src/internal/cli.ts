/** How the commands are made, and the parameters that several commands have. */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { Argument, CliError, Command, Flag } from "effect/cli"
import type * as HttpClient from "effect/http/HttpClient"
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "./effect.ts"
import * as Settings from "./settings.ts"
import * as Address from "./address.ts"
import * as Failure from "./failure.ts"
import type * as Service from "./service.ts"
import type * as Text from "./text.ts"
import * as Output from "./output.ts"
import * as Help from "./help.ts"

/** The client with which the commands reach the service. Its modules are loaded when a command needs it. */
export const Client = Context.Reference<
  Layer.Layer<AssemblyClient | HttpClient.HttpClient, Layer.Error<typeof Service.layer>>
>("@assembly-effect/cli/Client", {
  defaultValue: () => Layer.unwrap(Effect.promise(async () => (await import("./service.ts")).layer))
})

type Config = Command.Command.Config
type Input<C extends Config> = Command.Command.Config.Infer<C>

/** What is wrong with parameters that do not fit together. It is checked before the client is made. */
type Check<C extends Config> = (input: Input<C>) => string | undefined

/** Adds the description and the examples that `manual.md` has for the path of a command. */
export const described =
  (path: string) =>
  <const Name extends string, I, C, E, R>(command: Command.Command<Name, I, C, E, R>) => {
    const { description, examples } = Help.page(path)
    return command.pipe(
      Command.withDescription(description),
      Command.withShortDescription(description.replace(/[.;:] .*$/, "")),
      Command.withExamples(examples)
    )
  }

const nameOf = (path: string): string => path.split(" ").at(-1) ?? ""

/** A command that needs no client. `path` is its name after the names of the commands above it. */
export const local = <const C extends Config, A, E, R>(
  path: string,
  parameters: C,
  run: (input: Input<C>) => Effect.Effect<A, E, R>,
  check?: Check<C>
) =>
  Command.make(nameOf(path), parameters, (input) => Effect.asVoid(run(input))).pipe(
    Command.validate((input: Input<C>) => {
      const message = check?.(input)
      return message === undefined ? Effect.void : Effect.fail(new CliError.ValidationError({ message }))
    }),
    described(path)
  )

/** Runs a command with the settings of the service from a profile, if they are in no variables. */
export const configured = <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.provide(Address.keeping(run), Settings.layer)

/** A command that asks the service. */
export const command = <const C extends Config, A, E, R>(
  path: string,
  parameters: C,
  run: (input: Input<C>) => Effect.Effect<A, E, R>,
  check?: Check<C>
) =>
  local(
    path,
    parameters,
    (input) => configured(Effect.flatMap(Client, (client) => Effect.provide(run(input), client))),
    check
  )

/** A command whose response is printed as JSON with `--json`, and else as the lines of `show`. */
export const query = <const C extends Config, S extends Output.Codec, E, R>(
  path: string,
  parameters: C,
  schema: S,
  run: (input: Input<C>) => Effect.Effect<S["Type"], E, R>,
  show: (found: S["Type"], layout: Output.Layout, input: Input<C>) => ReadonlyArray<Text.Line>,
  check?: Check<C>
) =>
  command(
    path,
    { given: parameters, json: json(schema) },
    ({ given, json: wanted }) => {
      // The types of nested parameters are the types of the parameters, which the compiler cannot see for any `C`.
      const input = given as Input<C>
      return Effect.flatMap(run(input), (found) =>
        Output.show(wanted, schema, found, (layout) => show(found, layout, input))
      )
    },
    (all) => check?.(all.given as Input<C>)
  )

/** A command that only has commands below it. */
export const group = <const Commands extends ReadonlyArray<Command.Command.SubcommandEntry>>(
  path: string,
  commands: Commands
) => Command.make(nameOf(path)).pipe(described(path), Command.withSubcommands(commands))

/** A flag with a text. `metavar` is the word for the text in the help. What the flag means is in `manual.md`. */
export const text = (name: string, metavar: string): Flag.Flag<string> => Flag.withMetavar(Flag.String(name), metavar)

/** A flag with a text that may be left out. */
export const optional = (name: string, metavar: string) => Flag.optional(text(name, metavar))

/**
 * A flag that may be given several times, or not at all. The default is needed: with `Flag.atLeast(0)` alone, the help
 * would say that the flag is required.
 */
export const repeated = <A>(flag: Flag.Flag<A>): Flag.Flag<ReadonlyArray<A>> =>
  Flag.withDefault(Flag.atLeast(flag, 0), [])

/**
 * A flag without a value. A value can only be attached, as in `--recursive=false`: in `-r 1 2`, the 1 is the name of a
 * folder and not the value of the flag.
 */
const boolean = (name: string): Flag.Flag<boolean> => Flag.withOptionalValue(Flag.Boolean(name), "true")

/** A flag without a value, which is off by default. */
export const flag = (name: string): Flag.Flag<boolean> => Flag.withDefault(boolean(name), false)

/** A flag without a value that can be turned on, turned off with `--no-`, or left out. */
export const choice = (name: string): Flag.Flag<Option.Option<boolean>> => Flag.optional(boolean(name))

/** The folder for results. An empty value is refused, because it often comes from an unset variable of a shell. */
export const output = Flag.withSchema(Flag.withAlias(text("output", "folder"), "o"), Schema.NonEmptyString)

/** The flag for a region. */
export const region = Flag.withDefault(text("region", "region"), "all")

/** The flag for machine-readable output, which may name fields of a response, as in `--json=id,created`. */
export const json = (schema: Output.Shape): Flag.Flag<Output.Json> => {
  const parse = (value: string): Option.Option<Output.Json> => {
    if (value === "false" || value === "true") return Option.some(value === "true" && [])
    const { names } = Output.fieldsOf(schema)
    return Option.liftPredicate(value.split(","), (fields) => fields.every((field) => names.includes(field)))
  }
  return Flag.String("json").pipe(
    Flag.withMetavar("fields"),
    Flag.withOptionalValue("true"),
    Flag.filterMap(parse, () => `fields of ${Output.fieldsOf(schema).names.join(", ")}`),
    Flag.withDefault<Output.Json>(false)
  )
}

/** The flag for output in lines of JSON, each about one event. */
export const jsonLines = flag("json")

/** A command with this flag prints a secret, as text or in JSON, only if the flag is given. */
export const showSecret = flag("show-secret")

/** Parses the value of a flag, or fails with what the flag expects. */
export const parsed = <A>(
  param: Flag.Flag<string>,
  expected: string,
  parse: (value: string) => Option.Option<A>
): Flag.Flag<A> => Flag.filterMap(param, parse, () => expected)

/** A flag for a whole number in decimal digits. By default, the maximum is `Number.MAX_SAFE_INTEGER`. */
export const number = (
  name: string,
  [minimum, maximum = Number.MAX_SAFE_INTEGER]: readonly [minimum: number, maximum?: number]
): Flag.Flag<number> => {
  const most = maximum === Number.MAX_SAFE_INTEGER ? "" : ` to ${maximum}`
  return parsed(text(name, "number"), `a whole number from ${minimum}${most}`, (value) => {
    const found = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
    return found >= minimum && found <= maximum ? Option.some(found) : Option.none()
  })
}

/** An argument with a text. */
export const argument = Argument.String

/** An argument for the id of an Assembly. */
export const assemblyId = Argument.withSchema(argument("assemblyId"), Assembly.AssemblyId)

/** An argument for the ids of one or more Assemblies. */
export const assemblyIds = argument("assemblyIds").pipe(
  Argument.withSchema(Assembly.AssemblyId),
  Argument.variadic({ min: 1 })
)

type Given<Options extends Readonly<Record<string, Option.Option<unknown>>>> = {
  readonly [Name in keyof Options]?: Options[Name] extends Option.Option<infer Value> ? Value : never
}

/** The values of the flags that were given. A flag that was not given has no key. */
export const given = <Options extends Readonly<Record<string, Option.Option<unknown>>>>(
  options: Options
): Given<Options> =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, option]) => (Option.isSome(option) ? [[name, option.value]] : []))
  ) as Given<Options>

/** The message of a change without a flag. */
export const noChange = (options: Readonly<Record<string, Option.Option<unknown>>>, flags: string) =>
  Object.values(options).some(Option.isSome) ? undefined : `give at least one of ${flags}`

/** The seconds of the units of an age. */
const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses an age such as `7d` or `24h`. */
const parseAge = (typed: string): Option.Option<Duration.Duration> => {
  const [, amount, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(typed) ?? []
  return Option.map(Option.fromUndefinedOr(units[unit]), (seconds) => Duration.seconds(Number(amount) * seconds))
}

/** Parses a date with an optional time and zone. The default zone is UTC. */
const parseDate = (typed: string): Option.Option<DateTime.Utc> => {
  const day = typed.slice(0, 10)
  const midnight = /^\d{4}-\d{2}-\d{2}([ T]|$)/.test(typed) ? DateTime.make(`${day}T00:00:00Z`) : Option.none()
  // JavaScript reads 30 February as a day in March.
  if (!Option.exists(midnight, (found) => DateTime.formatIsoDateUtc(found) === day)) return Option.none()
  return typed === day ? midnight : Option.map(DateTime.make(typed.replace(" ", "T")), DateTime.toUtc)
}

/** Parses a moment or an age into a moment in whole seconds. */
const parse = (typed: string, now: DateTime.Utc): Option.Option<DateTime.Utc> =>
  Option.map(
    Option.orElse(
      Option.map(parseAge(typed), (age) => DateTime.subtractDuration(now, age)),
      () => parseDate(typed)
    ),
    (at) => DateTime.makeUnsafe(Math.floor(at.epochMilliseconds / 1000) * 1000)
  )

const expected = "a date such as 2026-01-31 or 2026-01-31T10:00:00Z, or an age such as 24h or 7d"
const past = `${expected}, in the past`

const moment = (
  param: Flag.Flag<string>,
  name: string,
  rule: string,
  isValid: (at: DateTime.Utc, now: DateTime.Utc) => boolean
) =>
  Flag.mapEffect(param, (value) =>
    Effect.flatMap(DateTime.now, (now) =>
      Effect.mapError(
        Effect.fromOption(Option.filter(parse(value, now), (at) => isValid(at, now))),
        () => new CliError.InvalidValue({ option: name, value, expected: rule, kind: "flag" })
      )
    )
  )

/** A flag for the start of a time range, with a default. */
export const startFlag = (name: string, otherwise: string): Flag.Flag<DateTime.Utc> =>
  moment(Flag.withDefault(text(name, "when"), otherwise), name, past, DateTime.isLessThanOrEqualTo)

/** The service has refused the start of statistics. */
export const refusedStart = (since: DateTime.Utc) =>
  Failure.invalidFlag("--since", DateTime.formatIso(since), "an age such as 24h or 7d, or a date of the last 91 days")

/** A flag for the end of a time range. */
export const endFlag = (name: string): Flag.Flag<DateTime.Utc> => moment(text(name, "when"), name, expected, () => true)

const format = (at: DateTime.Utc): string => `${DateTime.formatIso(at).slice(0, 19)}Z`

/** What is wrong with a period that does not begin before its end. */
export const problemOf = (since: DateTime.Utc, until: DateTime.Utc): string | undefined =>
  DateTime.isGreaterThanOrEqualTo(since, until)
    ? `--since is ${format(since)} and --until is ${format(until)}: --since must be before --until`
    : undefined

/** A flag for a length of time, such as `10m`, with a default. */
export const durationFlag = (name: string, otherwise: string): Flag.Flag<Duration.Duration> =>
  parsed(Flag.withDefault(text(name, "duration"), otherwise), "a length of time such as 30s, 10m or 2h", (value) =>
    Option.filter(parseAge(value), Duration.isPositive)
  )
