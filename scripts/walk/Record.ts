/**
 * Records all output of a program: each span that ends, each log line of any level, each console line, and each error
 * of an effect. It does not change the output.
 *
 * Effect has no hook that records all output whatever services a test provides, so this module wraps Effect's own
 * objects. If a version of Effect has other objects, this module fails, instead of silently recording nothing.
 */
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import { inspect } from "node:util"

export type Surface = "span" | "log" | "console" | "error" | "secret"

/** Receives a text that leaves the program, or a value that was marked as secret. */
export type Hear = (surface: Surface, text: string) => void

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)

const jsonOf = (value: unknown): string => {
  try {
    return JSON.stringify(value, plain) ?? ""
  } catch {
    return ""
  }
}

const shown = (value: unknown): string =>
  typeof value === "string" ? value : `${inspect(value, { depth: 6, breakLength: Infinity })}\n${jsonOf(value)}`

/** Replaces a method of an object that all fibers share. */
const wrap = (owner: object, name: string, make: (original: Function) => Function): void => {
  const original: unknown = Reflect.get(owner, name)
  if (typeof original !== "function") throw new Error(`scripts/walk does not fit this version of Effect: no ${name}`)
  Object.defineProperty(owner, name, { value: make(original), configurable: true, enumerable: true, writable: true })
}

const prototypeOf = (value: object): object => Object.getPrototypeOf(value)

const recordSpans = (hear: Hear) =>
  wrap(
    Tracer.NativeSpan.prototype,
    "end",
    (end) =>
      function (this: Tracer.NativeSpan, time: bigint, exit: Exit.Exit<unknown, unknown>) {
        end.call(this, time, exit)
        const links = this.links.map(({ attributes }) => attributes)
        const name = `${this.kind} ${this.name}`
        hear("span", `${name} ${shown([[...this.attributes], this.events, links])}`)
        // An exporter also writes the cause with stack traces.
        if (Exit.isFailure(exit)) hear("span", `${name} ${Cause.pretty(exit.cause)}`)
      }
  )

/**
 * Whether an error belongs to the public errors of the packages, which are Schema classes. Other errors are internal,
 * and are recorded only if they end a span or a test.
 */
const isPublic = (error: unknown): error is Error => error instanceof Error && Schema.isSchema(error.constructor)

const recordErrors = (hear: Hear) => {
  const seen = new WeakSet<object>()
  wrap(
    prototypeOf(Exit.fail("")),
    "~effect/Effect/evaluate",
    (evaluate) =>
      function (this: Exit.Failure<never, unknown>, fiber: unknown) {
        for (const reason of this.cause.reasons) {
          const error = Cause.isFailReason(reason)
            ? reason.error
            : Cause.isDieReason(reason)
              ? reason.defect
              : undefined
          if (!isPublic(error) || seen.has(error)) continue
          seen.add(error)
          hear("error", `${String(error)}\n${error.stack ?? ""}\n${shown(error)}`)
        }
        return evaluate.call(this, fiber)
      }
  )
}

const lineNames = ["log", "error", "info", "warn", "debug", "trace", "dir", "table", "group"]

const recordingConsole = (hear: Hear) => {
  const made = new WeakMap<Console.Console, Console.Console>()
  const ours = new WeakSet<Console.Console>()
  return (console: Console.Console): Console.Console => {
    if (ours.has(console)) return console
    const before = made.get(console)
    if (before !== undefined) return before
    const recording: Console.Console = Object.create(console)
    for (const name of lineNames) {
      wrap(recording, name, (method) => (...parts: ReadonlyArray<unknown>) => {
        hear("console", parts.map(shown).join(" "))
        return method.apply(console, parts)
      })
    }
    made.set(console, recording)
    ours.add(recording)
    return recording
  }
}

/** The default level during the recording. It is the lowest level, so that the recorder gets every line. */
const everything: LogLevel.LogLevel = "Trace"
const quiet: ReadonlySet<string> = new Set(["Debug", "Trace"])

/** Lines below the usual level `Info` reach only the recorder, unless the program itself asks for them. */
const usual = (logger: Logger.Logger<unknown, unknown>): Logger.Logger<unknown, unknown> =>
  Logger.make((options) =>
    quiet.has(options.logLevel) && options.fiber.getRef(References.MinimumLogLevel) === everything
      ? undefined
      : logger.log(options)
  )

const recordingLoggers = (hear: Hear) => {
  type Loggers = ReadonlySet<Logger.Logger<unknown, unknown>>
  const made = new WeakMap<Loggers, Loggers>()
  const recorder = Logger.make<unknown, void>(({ cause, fiber, message }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    hear("log", `${shown(message)} ${shown(annotations)} ${cause.reasons.length > 0 ? Cause.pretty(cause) : ""}`)
  })
  return (loggers: Loggers): Loggers => {
    if (loggers.has(recorder)) return loggers
    const before = made.get(loggers)
    if (before !== undefined) return before
    const recording = new Set([recorder, ...Array.from(loggers, usual)])
    made.set(loggers, recording)
    return recording
  }
}

/** Records the lines of a fiber's loggers and consoles, whatever services were provided. */
const recordLines = (hear: Hear) => {
  const consoleOf = recordingConsole(hear)
  const loggersOf = recordingLoggers(hear)
  Object.assign(globalThis.console, consoleOf({ ...globalThis.console }))
  Reflect.set(References.MinimumLogLevel, "~effect/Context/defaultValue", everything)
  wrap(
    prototypeOf(Effect.runFork(Effect.void)),
    "getRef",
    (getRef) =>
      function (this: unknown, ref: unknown) {
        const value = getRef.call(this, ref)
        if (ref === Console.Console) return consoleOf(value)
        return ref === Logger.CurrentLoggers ? loggersOf(value) : value
      }
  )
}

/** Records the values of `Redacted`, because a program has marked them as secret. */
const recordSecrets = async (hear: Hear) => {
  const { redactedRegistry } = await import(
    new URL("internal/redacted.js", import.meta.resolve("effect/Redacted")).href
  )
  wrap(
    redactedRegistry,
    "set",
    (set) =>
      function (this: unknown, key: object, value: unknown) {
        if (typeof value === "string") hear("secret", value)
        return set.call(this, key, value)
      }
  )
}

let heard: Hear | undefined

/** Starts the recording, or continues it with another receiver: test files of one worker share their modules. */
export const start = async (hear: Hear): Promise<void> => {
  const isStarted = heard !== undefined
  heard = hear
  if (isStarted) return
  const toCurrent: Hear = (surface, text) => heard?.(surface, text)
  await recordSecrets(toCurrent)
  recordSpans(toCurrent)
  recordErrors(toCurrent)
  recordLines(toCurrent)
}
