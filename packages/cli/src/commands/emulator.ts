/** `assembly emulator`: the emulator, its log, and programs that run with it. */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { RequestLog } from "@assembly-effect/emulator"
import { Argument, type Command, Flag } from "effect/cli"
import { Config, type DateTime, Duration, Effect, Option, Redacted, Schema, Terminal } from "../internal/effect.ts"
import * as Document from "../internal/document.ts"
import { Cli, Failure, Output, Text } from "../internal/index.ts"
import * as ChildProcess from "effect/process/ChildProcess"
import { constants } from "node:os"
import * as Printable from "@assembly-effect/schema/unstable/Printable"

/** The flag of the command for an option of the emulator that has another name. */
const flagOf: Readonly<Record<string, string>> = {
  publicUrl: "--public-url",
  allowedHosts: "--allowed-host",
  tls: "--tls-cert and --tls-key"
}

/** Names the flag, or the file of the Templates, instead of the option of the emulator. */
const refused = ({ issues: [issue] }: InvalidRequest, { templates }: Input): Failure.CommandError => {
  const { message, path } = issue ?? { message: "Expected other options", path: [] }
  const [option = "", ...below] = path
  return option === "templates" && Option.isSome(templates)
    ? Failure.invalidFile(templates.value, `${below.join(".")}: ${message}`)
    : Failure.usage(`${flagOf[option] ?? `--${option}`}: ${message}`)
}

/** Reads a list of Templates from a JSON file. */
const readTemplates = Effect.fnUntraced(function* (path: Option.Option<string>) {
  const { Template } = yield* Effect.promise(() => import("@assembly-effect/emulator/Template"))
  return yield* Document.readGiven(Schema.Array(Template), path)
})

const parameters = {
  port: Flag.withDefault(Cli.number("port", [0, 65_535]), 0),
  // `Flag.Directory` is not used, because it reads an empty text as the current folder.
  data: Cli.optional("data", "folder"),
  seed: Cli.optional("seed", "text"),
  // ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET may hold the credentials of the real service.
  key: Cli.text("key", "key").pipe(Flag.withFallbackConfig(Config.String("ASSEMBLY_EMULATOR_KEY")), Flag.optional),
  secret: Flag.Redacted("secret").pipe(
    Flag.withMetavar("secret"),
    Flag.withFallbackConfig(Config.Redacted("ASSEMBLY_EMULATOR_SECRET")),
    Flag.optional
  ),
  tls: Cli.flag("tls"),
  tlsCert: Cli.optional("tls-cert", "file"),
  tlsKey: Cli.optional("tls-key", "file"),
  publicUrl: Cli.optional("public-url", "url"),
  allowedHosts: Cli.repeated(Cli.text("allowed-host", "host")),
  allowPrivateNotifications: Cli.flag("allow-private-notifications"),
  templates: Cli.optional("templates", "file"),
  quotas: Flag.optional(Flag.Literals("quotas", ["service"])),
  log: Cli.choice("log"),
  command: Argument.variadic(Cli.argument("command"))
}

type Input = Command.Command.Config.Infer<typeof parameters>

/** Two texts that are given together, or not at all. Fails if only one of them is given, or if one is blank. */
const both = (first: Option.Option<string>, second: Option.Option<string>, rule: string) => {
  const given = [first, second].flatMap(Option.toArray)
  return given.length === 1 || given.some((text) => text.trim() === "")
    ? Effect.fail(Failure.usage(rule))
    : Effect.succeed(Option.getOrUndefined(Option.all([first, second])))
}

/** The given Auth Key and its secret. */
const credentialsOf = Effect.fnUntraced(function* ({ key, secret }: Input) {
  const rule = "give --key and --secret together, or ASSEMBLY_EMULATOR_KEY and ASSEMBLY_EMULATOR_SECRET"
  const given = yield* both(key, Option.map(secret, Redacted.value), rule)
  return given && { key: given[0], secret: Redacted.make(given[1]) }
})

/** The certificate for TLS; undefined for plain HTTP. */
const tlsOf = Effect.fnUntraced(function* ({ tls, tlsCert, tlsKey }: Input) {
  const rule = "give --tls-cert and --tls-key together, or --tls alone for a new certificate"
  const given = yield* both(tlsCert, tlsKey, rule)
  if (given === undefined) return tls ? ("self-signed" as const) : undefined
  return { cert: yield* Document.text(given[0]), key: Redacted.make(yield* Document.text(given[1])) }
})

/** The variables of the emulator for a shell, and what a user must know. */
const introduction = (variables: Readonly<Record<string, string>>, localUrl: string, isSelfSigned: boolean) => [
  ...Object.entries(variables).map(([name, value]) => Text.exportLine(name, value)),
  ...(localUrl === variables["ASSEMBLY_BASE_URL"] ? [] : [`# Listening on ${localUrl}.`]),
  ...(isSelfSigned ? [`# The certificate is self-signed: accept it once at ${localUrl} in the browser.`] : []),
  "# Running. Press Ctrl-C to stop."
]

/** `assembly emulator`: runs the emulator until it is interrupted, or until the given program has ended. */
export const emulator = Cli.local(
  "emulator",
  parameters,
  Effect.fnUntraced(function* (given) {
    const { allowPrivateNotifications, allowedHosts, command, data, log, port, publicUrl, quotas, seed } = given
    if (Option.isSome(data)) {
      yield* Document.checkFolder("--data", data.value, "name a folder, or leave --data out to keep nothing")
    }
    const tls = yield* tlsOf(given)
    const credentials = yield* credentialsOf(given)
    const templates = Option.getOrElse(yield* readTemplates(given.templates), () => [])
    // The emulator is loaded on demand, because the other commands need no server and no database.
    const { Emulator, layer } = yield* Effect.promise(() => import("@assembly-effect/emulator/Emulator"))
    const run = Effect.gen(function* () {
      const running = yield* Emulator
      const variables = {
        ASSEMBLY_BASE_URL: running.baseUrl,
        ASSEMBLY_AUTH_KEY: running.credentials.key,
        ASSEMBLY_AUTH_SECRET: Redacted.value(running.credentials.secret)
      }
      if (command.length > 0) return yield* runProgram(command, variables)
      yield* Output.lines<string>(introduction(variables, running.localUrl, tls === "self-signed"))
      // If these lines cannot be written, the command ends, because nobody would know the address and the key.
      if (yield* Output.isWritten) return yield* Effect.never
    })
    // Lines of the log go to the standard error, so that the standard output has only lines for a shell.
    const terminal = yield* Terminal.Terminal
    const write = (entry: RequestLog.Entry) =>
      Effect.flatMap(Output.layout, ({ now, style }) => Output.log(render(entry, now, style))).pipe(
        Effect.provideService(Terminal.Terminal, terminal)
      )
    const flags = { allowPrivateNotifications, allowedHosts, port, tls, credentials, templates }
    const options = {
      ...flags,
      ...Cli.given({ data, seed, publicUrl, quotas }),
      onRequest: Option.getOrElse(log, () => command.length === 0) ? write : undefined
    }
    const failed = (cause: unknown) => {
      const why = Failure.problemOfCause(cause, cause instanceof Error ? cause.message : "the server failed")
      return `cannot listen on port ${port}: ${why}; name another port with --port, or leave out --port for a free port`
    }
    yield* Effect.provide(run, layer(options)).pipe(
      Effect.catchTags({
        ServeError: ({ cause }) => Effect.fail(Failure.failed(failed(cause))),
        InvalidRequest: (error) => Effect.fail(refused(error, given))
      })
    )
  })
)

const notRun = (command: string, problem: string, exitCode: number) =>
  new Failure.CommandError({ message: `${command}: ${problem}`, exitCode })

/**
 * Runs a program with its arguments, with more variables in its environment, and with the input and output of this
 * process. Fails with the exit code of the program, if this code is not 0, or with the code that shells use.
 */
const runProgram = Effect.fnUntraced(function* (
  [command = "", ...args]: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
) {
  const io = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const
  // A detached program would not be in the foreground of its terminal, and would not receive Ctrl-C.
  const program = ChildProcess.make(command, args, { ...io, env, extendEnv: true, detached: false })
  const started = yield* Effect.mapError(program, ({ message, reason: { _tag } }) => {
    if (_tag === "NotFound") return notRun(command, "there is no such command", 127)
    return notRun(command, _tag === "PermissionDenied" ? "permission denied" : message, 126)
  })
  const exitCode = yield* Effect.mapError(started.exitCode, ({ reason }) => {
    // The error of the platform names the signal that has ended the program only in its cause.
    const [signal = "a signal"] = "cause" in reason ? (/SIG[A-Z0-9]+/.exec(String(reason.cause)) ?? []) : []
    const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0
    return notRun(command, `it was ended by ${signal}`, 128 + number)
  })
  // The program has reported its failure itself, so there is no message.
  if (exitCode !== 0) return yield* new Failure.CommandError({ message: "", exitCode })
}, Effect.scoped)

/**
 * The width of the column of operations, in cells. A line with a name that fits, a duration below a minute and the id
 * of an Assembly has 80 cells.
 */
const operationCells = 22

/** The maximum length of a path or a reason, in cells. A client may send a path of any length. */
const maxCells = 300

const paintStatus = (status: number, style: Text.Style): string => {
  const text = String(status)
  if (status >= 500) return style.red(text)
  return status >= 400 ? style.yellow(text) : style.green(text)
}

/**
 * Renders a request as one line: the time, the operation, the status, the duration, the id of the Assembly and the
 * reason of a refusal. The method and the path are shown only if the request matches no operation, because the paths of
 * uploads contain ids that grant access. The id of the Assembly is shown, because the user needs it for the next
 * command.
 */
export const render = (
  { assemblyId, duration, method, operation, path, reason, status }: RequestLog.Entry,
  now: DateTime.DateTime,
  style: Text.Style = Text.plain
): Text.Line => {
  const name = Text.truncate(Printable.escape(operation ?? `${method} ${path}`), maxCells)
  const parts = [
    style.dim(Text.date(now).slice(11)),
    Text.pad(name, operationCells, "left"),
    paintStatus(status, style),
    Text.pad(Text.latency(Duration.toMillis(duration)), 7, "right"),
    ...(assemblyId === undefined ? [] : [assemblyId]),
    ...(reason === undefined ? [] : [Text.truncate(Printable.escape(reason), maxCells)])
  ]
  return Text.toLine(parts.join("  "))
}
