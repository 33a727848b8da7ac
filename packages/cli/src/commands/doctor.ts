/** `assembly doctor`: checks the settings, the service, the credentials and uploads. */
import { ApiError, Assemblies, AssemblyClient, Dam } from "@assembly-effect/api"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import { AssemblyNode } from "@assembly-effect/node"
import { Assembly } from "@assembly-effect/schema"
import { Tus, TusError, UploadTarget } from "@assembly-effect/tus"
import { Config, DateTime, Duration, Effect, Option, Result, Schema } from "../internal/effect.ts"
import * as Advice from "../internal/advice.ts"
import { Address, Cli, Failure, Help, Output, Settings, Table, Text } from "../internal/index.ts"

/**
 * One finding. `verdict` is `good` for a thing that works, `note` for a thing that is missing or not known but may not
 * be needed, and `bad` for a thing that does not work. `advice` says what to do. If this finding is the first with the
 * verdict `bad`, the program ends with `exitCode`.
 */
const Finding = Schema.Struct({
  about: Schema.String,
  verdict: Schema.Literals(["good", "note", "bad"]),
  text: Schema.String,
  advice: Schema.optional(Schema.String),
  exitCode: Schema.optional(Schema.Int)
})
type Finding = typeof Finding.Type

const finding =
  (verdict: Finding["verdict"]) =>
  (about: string, text: string, advice?: string, exitCode?: number): Finding => ({
    about,
    verdict,
    text,
    advice,
    exitCode
  })
const [good, note, bad] = [finding("good"), finding("note"), finding("bad")]

const { failed, network, usage } = Failure.codes

/** The time limit of each operation of a check. */
const patience = Duration.seconds(10)

const limited = <A, E, R>(check: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  check.pipe(
    AssemblyClient.withTimeout(patience),
    AssemblyClient.withDeadline(patience),
    Effect.provideService(Tus.RequestTimeout, patience)
  )

/** The errors of requests that got no response in time. */
const isLate = Schema.is(Schema.Union([ApiError.TimedOut, TusError.Stalled]))

const problemOf = (error: unknown, host: string | undefined): string =>
  isLate(error)
    ? `${error.host ?? host ?? "the service"} did not answer within ${Text.duration(error.after)}`
    : Advice.line(error, host)

/** The finding about a check that failed. Its advice is that of a command that fails so, else `otherwise`. */
const broken = (about: string, error: unknown, way: Address.Address, otherwise: string): Finding =>
  bad(about, problemOf(error, way.baseUrl?.host), Advice.next(error, way) ?? otherwise, Failure.codeOf(error))

/** Whether the variables are set, and where each comes from. */
const settings = Effect.gen(function* () {
  const missing = yield* Effect.filter(Settings.variables, (name) => Effect.map(Settings.isSet(name), (set) => !set))
  if (missing.length > 0) {
    const text = `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not set`
    return bad("settings", text, Advice.missing(missing.length), usage)
  }
  const others = yield* Settings.Sources
  const sources = Settings.variables.map((name) => `${name} (${others.get(name) ?? "environment"})`)
  return good("settings", sources.join(", "))
})

/** A valid id that no Assembly has, because ids are random. */
const nobody = Assembly.AssemblyId.make("0".repeat(32))

/** Whether an error shows that the service itself answered. */
const isOfService = (error: Address.Failure, way: Address.Address): boolean =>
  error._tag === "RateLimited" ||
  (error._tag === "ServiceFailure" && !Address.isWrongPath(error, way) && Failure.codeOf(error) === failed)

const address = Effect.fnUntraced(function* (baseUrl: string, way: Address.Address) {
  const [elapsed, answer] = yield* Effect.timed(Effect.result(Assemblies.get(nobody)))
  return Result.isSuccess(answer) || isOfService(answer.failure, way)
    ? good("address", `${baseUrl} answers as the service does, in ${Text.latency(Duration.toMillis(elapsed))}`)
    : broken("address", answer.failure, way, "Check ASSEMBLY_BASE_URL.")
})

const isRefusal = Schema.is(ApiError.AuthenticationFailed)

const anHourAgo = Effect.map(DateTime.now, DateTime.subtract({ hours: 1 }))

/** For each of these scopes, a request that needs the scope. None of these requests changes anything. */
const readings = {
  "assemblies:read": Effect.flatMap(anHourAgo, (fromDate) => Assemblies.list({ fromDate, pageSize: 1 })),
  "templates:read": Templates.list({ pageSize: 1 }),
  "template_credentials:read": TemplateCredentials.list,
  "auth_keys:read": AuthKeys.scopes,
  "queues:read": Queues.jobSlots,
  "dam:read": Dam.list({ limit: 1 })
}

/** Whether the service accepts the key, and what the key may read. */
const credentials = Effect.fnUntraced(function* (way: Address.Address) {
  const found = yield* Effect.all(readings, { concurrency: 3, mode: "result" })
  const granted = Object.entries(found).flatMap(([scope, { _tag }]) => (_tag === "Success" ? [scope] : []))
  const refused = Object.entries(found).flatMap(([scope, access]) =>
    access._tag === "Failure" ? [{ scope, error: access.failure }] : []
  )
  const { missing = [], unknown = [] } = Object.groupBy(refused, ({ error }) =>
    isRefusal(error) && error.code === "INSUFFICIENT_AUTH_SCOPE" ? "missing" : "unknown"
  )
  const refusal = unknown.find(({ error }) => isRefusal(error))
  const again = `Run assembly doctor again later.`
  if (refusal !== undefined) {
    return [broken("credentials", refusal.error, way, "Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET.")]
  }
  if (granted.length + missing.length === 0) return [broken("credentials", unknown[0]?.error, way, again)]
  const namesOf = (some: typeof refused) => some.map(({ scope }) => scope).join(", ")
  const advice = `If a command needs one: assembly keys update --scope … replaces the scopes of a key.`
  return [
    good("credentials", "the service accepts the Auth Key"),
    ...(granted.length === 0 ? [] : [good("scopes", `${granted.join(", ")} (scopes to write are not checked)`)]),
    ...(missing.length === 0 ? [] : [note("scopes", `not granted: ${namesOf(missing)}`, advice)]),
    ...unknown.map(({ error, scope }) =>
      note("scopes", `not known: ${scope}`, `${problemOf(error, way.baseUrl?.host)}. ${again}`)
    )
  ]
})

/** The upload server of a new Assembly, which is canceled afterwards. */
const ofAssembly = Effect.acquireRelease(Assemblies.create({ numExpectedUploadFiles: 1 }), ({ assembly_id: id }) =>
  Effect.ignore(Assemblies.cancel(id))
).pipe(Effect.flatMap(UploadTarget.fromAssembly))

/**
 * Asks an upload server for its versions of tus, its extensions and its maximum size: the server of a new Assembly, or
 * else the server below `baseUrl`. The service may have its upload server at another address, which only the Status of
 * an Assembly names. So an error of the latter is a problem only if its exit code is of the network.
 */
const uploads = Effect.fnUntraced(function* (baseUrl: string, isWhole: boolean, way: Address.Address) {
  const here = { tusUrl: `${baseUrl}/resumable/files/`, assemblySslUrl: `${baseUrl}/assemblies/${nobody}` }
  const target = isWhole ? ofAssembly : UploadTarget.make(here)
  const found = yield* Effect.result(Effect.scoped(Effect.flatMap(target, Tus.discover)))
  if (Result.isSuccess(found)) {
    const { extensions, maxSize, versions } = found.success
    const size = maxSize === undefined ? "" : `; up to ${Text.bytes(maxSize)} a file`
    const text = `tus ${versions.join(", ") || "of an unknown version"}: ${extensions.join(", ") || "no extensions"}${size}`
    const made = isWhole ? "; an Assembly was created and canceled" : ""
    return versions.includes("1.0.0") && extensions.includes("creation")
      ? good("uploads", text + made)
      : bad("uploads", text, "Uploads need tus 1.0.0 with the extension creation.", failed)
  }
  const error = found.failure
  if (isWhole ? !isRefusal(error) : Failure.codeOf(error) === network) {
    return broken("uploads", error, way, `assembly doctor --no-upload skips this check.`)
  }
  const advice = isWhole
    ? "A key with the scope assemblies:write can create Assemblies."
    : `assembly doctor --upload creates an Assembly, asks the server of its uploads, and cancels it.`
  return note("uploads", `not known: ${problemOf(error, way.baseUrl?.host)}`, advice)
})

/** Takes the findings of a check as soon as they are known. */
type Tell = (found: ReadonlyArray<Finding>) => Effect.Effect<void>

/**
 * Runs the checks that need complete settings. If the check of the address finds a problem, all later checks are
 * skipped. If the service does not accept the credentials, the check of uploads is skipped.
 */
const examine = Effect.fnUntraced(function* (upload: Option.Option<boolean>, tell: Tell) {
  const baseUrl = (yield* Config.String("ASSEMBLY_BASE_URL")).replace(/\/+$/, "")
  const way = yield* Address.current
  const reached = yield* address(baseUrl, way)
  yield* tell([reached])
  if (reached.verdict === "bad") return
  const found = yield* credentials(way)
  yield* tell(found)
  const isAccepted = found.some(({ about, verdict }) => about === "credentials" && verdict === "good")
  if (!isAccepted || Option.contains(upload, false)) return
  yield* tell([yield* uploads(baseUrl, Option.isSome(upload), way)])
})

const marks = { good: "✓", note: "–", bad: "✗" } as const
const colours = { good: "green", note: "yellow", bad: "red" } as const

/** Renders each finding with its advice. All texts start in the same column. */
const render = (findings: ReadonlyArray<Finding>, layout: Table.Options, program: string): ReadonlyArray<Text.Line> => {
  const { style = Text.plain } = layout
  const facts = findings.flatMap(({ about, advice, text, verdict }): ReadonlyArray<Table.Fact> => [
    [`${style[colours[verdict]](marks[verdict])} ${about.padEnd(12)}`, text],
    ["", advice && `→ ${Help.inProgram(advice, program)}`, Help.commandsOf(program)]
  ])
  return Table.facts(facts, layout)
}

/** `assembly doctor`: checks the settings, the service, the credentials and uploads. */
export const doctor = Cli.local(
  "doctor",
  { upload: Cli.choice("upload"), json: Cli.json(Schema.Array(Finding)) },
  Effect.fnUntraced(function* ({ json, upload }) {
    const layout = yield* Output.layout
    const program = yield* Help.Program
    const findings: Array<Finding> = []
    const tell: Tell = (found) => {
      findings.push(...found)
      return json || found.length === 0 ? Effect.void : Output.report(render(found, layout, program))
    }
    const unused = yield* Settings.Unused
    yield* tell(unused === undefined ? [] : [note(".env", unused)])
    const found = yield* settings
    // If a variable is set but invalid, the layer of the client fails before `found` is printed, and its error is
    // printed instead.
    yield* found.verdict === "bad"
      ? tell([found])
      : tell([found]).pipe(
          Effect.andThen(limited(examine(upload, tell))),
          Effect.provide(AssemblyNode.layerConfig()),
          Effect.catch((error) =>
            tell([broken("settings", error, {}, "Correct the variable; assembly help environment shows an example.")])
          )
        )
    if (json) yield* Output.json(Schema.Array(Finding), findings, json)
    const [first, ...others] = findings.filter(({ verdict }) => verdict === "bad")
    if (first === undefined) return
    const message = others.length === 0 ? "1 thing does not work" : `${others.length + 1} things do not work`
    return yield* new Failure.CommandError({ message, exitCode: first.exitCode ?? failed })
  }, Cli.configured)
)
