import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type * as RequestLog from "@assembly-effect/emulator/RequestLog"
import * as Argument from "effect/cli/Argument"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as CommandError from "../CommandError.ts"
import * as ExitCode from "../ExitCode.ts"
import * as HelpText from "../HelpText.ts"
import * as Document from "../internal/document.ts"
import { repeated, switchFlag } from "../internal/flags.ts"
import * as RequestLine from "../internal/requestLine.ts"
import * as RunProgram from "../RunProgram.ts"
import * as Shell from "../internal/shell.ts"
import * as SystemProblem from "../internal/systemProblem.ts"
import * as TextFile from "../internal/textFile.ts"
import * as WholeNumber from "../internal/wholeNumber.ts"
import * as Output from "../Output.ts"
import * as Style from "../Style.ts"

/** The emulator cannot listen on its port. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  port: Schema.Int,
  description: Schema.String
}) {
  override get message() {
    return `cannot listen on port ${this.port}: ${this.description}; name another port with --port, or leave out --port for a free port`
  }
}

/** The flag of the command for an option of the emulator that has another name. */
const flagOf: Readonly<Record<string, string>> = {
  publicUrl: "--public-url",
  allowedHosts: "--allowed-host",
  tls: "--tls-cert and --tls-key"
}

/** Names the flag, or the file of the Templates, instead of the option. */
const refused = (
  { issues: [issue] }: InvalidRequest,
  values: Readonly<Record<string, unknown>>,
  templates: string
): CommandError.InvalidDocument | CommandError.InvalidFlag => {
  const { message, path } = issue ?? { message: "Expected other options", path: [] }
  const [option = "", ...below] = path
  if (option === "templates") {
    return new CommandError.InvalidDocument({ path: templates, description: `${below.join(".")}: ${message}` })
  }
  const given = values[option]
  const [rule = message, code] = message.replace(/^Expected /, "").split(/ \((E[A-Z]+)\)$/)
  return new CommandError.InvalidFlag({
    flag: flagOf[option] ?? `--${option}`,
    value: String(Array.isArray(given) ? given[Number(below[0])] : given),
    rule,
    // For ENOENT, the message has the code, because "no such file" would confuse a user whose folder cannot be created.
    ...(code === undefined ? {} : { code: code === "ENOENT" ? code : SystemProblem.ofCode(code) })
  })
}

/** Only one part of an Auth Key was given (the key or the secret), or one part is empty. */
export class IncompleteKey extends Schema.TaggedError<IncompleteKey>()("IncompleteKey", {}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    return "give --key and --secret together, or ASSEMBLY_EMULATOR_KEY and ASSEMBLY_EMULATOR_SECRET"
  }
}

/** A certificate was given without its key, or a key without its certificate. */
export class IncompleteCertificate extends Schema.TaggedError<IncompleteCertificate>()("IncompleteCertificate", {}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    return "give --tls-cert and --tls-key together, or --tls alone for a new certificate"
  }
}

/** The file of the certificate or of its key cannot be read. */
export class CannotReadCertificate extends Schema.TaggedError<CannotReadCertificate>()("CannotReadCertificate", {
  path: Schema.String,
  description: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    return `${this.path || "the certificate"}: ${this.description}`
  }
}

/** The emulator is loaded on demand, because the other commands need no server and no database. */
const load = Effect.promise(() => import("@assembly-effect/emulator/Emulator"))

/** Reads a list of Templates from a JSON file. */
const readTemplates = Effect.fnUntraced(function* (path: string) {
  const { Template } = yield* Effect.promise(() => import("@assembly-effect/emulator/Template"))
  return yield* Document.read(Schema.Array(Template), path)
})

/**
 * The flags for the Auth Key of the emulator. `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET` do not set these flags,
 * because they may hold the credentials of the real service.
 */
const credentialFlags = {
  key: Flag.String("key").pipe(
    Flag.withMetavar("key"),
    Flag.withDescription(
      "The Auth Key, with --secret; also ASSEMBLY_EMULATOR_KEY (default: the key in --data, or random)"
    ),
    Flag.withFallbackConfig(Config.String("ASSEMBLY_EMULATOR_KEY")),
    Flag.optional
  ),
  secret: Flag.Redacted("secret").pipe(
    Flag.withMetavar("secret"),
    Flag.withDescription("The secret of --key; ASSEMBLY_EMULATOR_SECRET hides it from the process list"),
    Flag.withFallbackConfig(Config.Redacted("ASSEMBLY_EMULATOR_SECRET")),
    Flag.optional
  )
}

/** The given Auth Key and its secret. The result is undefined if neither the key nor the secret was given. */
const credentialsOf = (key: Option.Option<string>, secret: Option.Option<Redacted.Redacted>) => {
  if (Option.isNone(key) && Option.isNone(secret)) return Effect.undefined
  return Option.isSome(key) &&
    Option.isSome(secret) &&
    key.value.trim() !== "" &&
    Redacted.value(secret.value).trim() !== ""
    ? Effect.succeed({ key: key.value, secret: secret.value })
    : Effect.fail(new IncompleteKey())
}

const readCertificate = (path: string) =>
  Effect.mapError(TextFile.read(path), (problem) => new CannotReadCertificate({ path, description: problem }))

/** The certificate for TLS; undefined for plain HTTP. */
const tlsOf = Effect.fnUntraced(function* (
  isSelfSigned: boolean,
  cert: Option.Option<string>,
  key: Option.Option<string>
) {
  if (Option.isNone(cert) && Option.isNone(key)) return isSelfSigned ? ("self-signed" as const) : undefined
  if (Option.isNone(cert) || Option.isNone(key)) return yield* new IncompleteCertificate()
  return { cert: yield* readCertificate(cert.value), key: Redacted.make(yield* readCertificate(key.value)) }
})

/**
 * The value of `--data` is empty, or is the path of a file that is not a folder. An empty value is refused, because it
 * often comes from an unset variable of a shell.
 */
export class NotAFolder extends Schema.TaggedError<NotAFolder>()("NotAFolder", { path: Schema.String }) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    return this.path.trim() === ""
      ? "--data is empty: name a folder, or leave --data out to keep nothing"
      : `--data ${this.path} is a file, not a folder`
  }
}

const checkFolder = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = path.trim() === "" ? Option.none() : yield* Effect.option(fs.stat(path))
  if (path.trim() === "" || Option.exists(info, ({ type }) => type !== "Directory")) {
    return yield* new NotAFolder({ path })
  }
})

/** Writes a line of the log to the standard error, so that the standard output has only lines for a shell. */
const writeRequest = Effect.fnUntraced(function* (entry: RequestLog.Entry) {
  const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
  yield* Output.log(RequestLine.render(entry, yield* DateTime.now, canColor ? Style.ansi : Style.plain))
})

/** `assembly emulator`: runs the emulator until it is interrupted, or until the given program has ended. */
export const emulator = Command.make(
  "emulator",
  {
    port: WholeNumber.flag("port", { minimum: 0, maximum: 65_535 }).pipe(
      Flag.withDescription("The port to listen on (default: a free port)"),
      Flag.withDefault(0)
    ),
    // `Flag.Directory` is not used, because it reads an empty text as the current folder.
    data: Flag.String("data").pipe(
      Flag.withMetavar("folder"),
      Flag.withDescription("The folder for Assemblies and files; without it they are deleted at the end"),
      Flag.optional
    ),
    seed: Flag.String("seed").pipe(
      Flag.withMetavar("text"),
      Flag.withDescription("Generate the same ids in every run with this seed; Auth Keys and secrets stay random"),
      Flag.optional
    ),
    ...credentialFlags,
    tls: switchFlag("tls").pipe(
      Flag.withDescription("Serve HTTPS with HTTP/2 and a new self-signed certificate"),
      Flag.withDefault(false)
    ),
    tlsCert: Flag.File("tls-cert").pipe(
      Flag.withDescription("The TLS certificate in PEM; requires --tls-key"),
      Flag.optional
    ),
    tlsKey: Flag.File("tls-key").pipe(Flag.withDescription("The private key of --tls-cert in PEM"), Flag.optional),
    publicUrl: Flag.String("public-url").pipe(
      Flag.withMetavar("url"),
      Flag.withDescription("The origin of a proxy in front of the emulator; URLs in responses have this origin"),
      Flag.optional
    ),
    allowedHosts: repeated(
      Flag.String("allowed-host").pipe(
        Flag.withMetavar("host"),
        Flag.withDescription("A host name to accept besides loopback and --public-url; may be repeated")
      )
    ),
    allowPrivateNotifications: switchFlag("allow-private-notifications").pipe(
      Flag.withDescription("Allow private hosts in a notify_url, besides public hosts and this machine"),
      Flag.withDefault(false)
    ),
    templates: Flag.File("templates").pipe(
      Flag.withDescription("A JSON file: a list of Templates with id, name and content"),
      Flag.optional
    ),
    log: switchFlag("log").pipe(
      Flag.withDescription("Print a line for each request (default: yes, unless a command is given)"),
      Flag.optional
    ),
    command: Argument.String("command").pipe(
      Argument.withDescription(
        "A program to run with the variables of the emulator; the emulator ends with the program"
      ),
      Argument.variadic()
    )
  },
  Effect.fnUntraced(function* ({ command, key, log, secret, tlsCert, tlsKey, ...flags }) {
    if (Option.isSome(flags.data)) yield* checkFolder(flags.data.value)
    const tls = yield* tlsOf(flags.tls, tlsCert, tlsKey)
    const given = yield* credentialsOf(key, secret)
    const templates = Option.isSome(flags.templates) ? yield* readTemplates(flags.templates.value) : []
    const { Emulator, layer } = yield* load
    const run = Effect.gen(function* () {
      const { baseUrl, credentials, localUrl } = yield* Emulator
      if (command.length > 0) {
        return yield* RunProgram.run(command, {
          ASSEMBLY_BASE_URL: baseUrl,
          ASSEMBLY_AUTH_KEY: credentials.key,
          ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
        })
      }
      yield* Output.lines([
        Shell.exportLine("ASSEMBLY_BASE_URL", baseUrl),
        Shell.exportLine("ASSEMBLY_AUTH_KEY", credentials.key),
        Shell.exportLine("ASSEMBLY_AUTH_SECRET", Redacted.value(credentials.secret)),
        ...(localUrl === baseUrl ? [] : [`# Listening on ${localUrl}.`]),
        ...(tls === "self-signed"
          ? [`# The certificate is self-signed: accept it once at ${localUrl} in the browser.`]
          : []),
        "# Running. Press Ctrl-C to stop."
      ])
      // If these lines cannot be written, the command ends, because nobody would know the address and the key of the
      // emulator.
      return (yield* Output.isWritten) ? yield* Effect.never : undefined
    })
    const capabilities = yield* TerminalCapabilities.TerminalCapabilities
    const onRequest = (entry: RequestLog.Entry) =>
      Effect.provideService(writeRequest(entry), TerminalCapabilities.TerminalCapabilities, capabilities)
    const options = {
      ...flags,
      tls,
      data: Option.getOrUndefined(flags.data),
      seed: Option.getOrUndefined(flags.seed),
      publicUrl: Option.getOrUndefined(flags.publicUrl),
      credentials: given,
      templates,
      onRequest: Option.getOrElse(log, () => command.length === 0) ? onRequest : undefined
    }
    yield* Effect.provide(run, layer(options)).pipe(
      Effect.catchTags({
        ServeError: ({ cause }) =>
          Effect.fail(
            new CannotListen({
              port: flags.port,
              description:
                SystemProblem.ofCause(cause) ?? (cause instanceof Error ? cause.message : "the server failed")
            })
          ),
        InvalidRequest: (error) =>
          Effect.fail(
            refused(
              error,
              { ...options, tls: Option.getOrUndefined(tlsCert) },
              Option.getOrElse(flags.templates, () => "")
            )
          )
      })
    )
  })
).pipe(
  Command.withDescription(
    "Run the emulator: the service on this machine, for development and tests, alone or while a program runs"
  ),
  Command.annotate(HelpText.Environment, [
    ["ASSEMBLY_EMULATOR_KEY", "The Auth Key, as --key"],
    ["ASSEMBLY_EMULATOR_SECRET", "Its secret, as --secret; hidden from the list of processes"]
  ]),
  Command.withExamples([
    { command: "assembly emulator --port 4000 --data .assembly", description: "A fixed port, and data that is kept" },
    {
      command: "assembly emulator -- npm test",
      description: "Run tests against the emulator, and exit with their code"
    }
  ])
)
