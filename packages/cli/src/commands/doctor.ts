import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as ApiError from "@assembly-effect/api/ApiError"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Dam from "@assembly-effect/api/Dam"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Tus from "@assembly-effect/tus/Tus"
import * as TusError from "@assembly-effect/tus/TusError"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as DotEnv from "../DotEnv.ts"
import * as ErrorLine from "../ErrorLine.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Format from "../Format.ts"
import * as Address from "../internal/address.ts"
import { currentAddress } from "../internal/currentAddress.ts"
import * as Health from "../internal/health.ts"
import * as Invocation from "../internal/invocation.ts"
import * as NextStep from "../NextStep.ts"
import * as Output from "../Output.ts"
import { switchFlag } from "../internal/flags.ts"

/**
 * At least one check of `assembly doctor` has failed. Each failed check was printed as a finding. `exitCode` is the
 * exit code of the first failed check.
 */
export class NotWell extends Schema.TaggedError<NotWell>()("NotWell", {
  problems: Schema.Int,
  exitCode: Schema.Int
}) {
  override readonly [Runtime.errorExitCode]: number = this.exitCode
  override get message() {
    return this.problems === 1 ? "1 thing does not work" : `${this.problems} things do not work`
  }
}

const variables = ["ASSEMBLY_BASE_URL", "ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"] as const

const { failed, network, usage } = ExitCode.codes

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
    ? `${error.host ?? host ?? "the service"} did not answer within ${Format.duration(error.after)}`
    : ErrorLine.fromError(error, host)

/**
 * The finding about a check that failed with `error`. The advice and the exit code of the finding are those of a
 * command that fails with `error`. If such a command gives no advice, the advice is `otherwise`.
 */
const broken = (about: string, error: unknown, address: Address.Address, otherwise: string): Health.Finding =>
  Health.bad(
    about,
    problemOf(error, address.baseUrl?.host),
    NextStep.fromError(error, address) ?? otherwise,
    ExitCode.fromError(error)
  )

/**
 * The findings about the file `.env`: which variables are read from the file, why the file is not used, and the
 * problems of the file and of its lines.
 */
const dotEnv = Effect.map(DotEnv.Current, (report) => {
  if (report === undefined) return []
  const { has, ignored, loaded, path, problems } = report
  const others = [...has].filter((name) => !loaded.has(name))
  const also = others.length === 0 ? "" : `; the environment has ${others.join(", ")}, and its value counts`
  return [
    ...(loaded.size === 0 ? [] : [Health.good(".env", `${path} is read: ${[...loaded].join(", ")}${also}`)]),
    ...(ignored === undefined ? [] : [Health.note(".env", `${path} is not used: ${ignored}`, DotEnv.ignoredAdvice)]),
    ...(has.size > 0 && loaded.size === 0 && ignored === undefined
      ? [
          Health.note(
            ".env",
            `${path} is not used: the environment has ${[...has].join(", ")}`,
            "The value of the environment counts."
          )
        ]
      : []),
    ...problems.map((problem) => Health.note(".env", problem, "Correct the file, or remove the line."))
  ]
})

/** Whether the variables are set, and whether each comes from the environment or from `.env`. */
const settings = Effect.gen(function* () {
  const loaded = (yield* DotEnv.Current)?.loaded
  const missing = yield* Effect.filter(variables, (name) =>
    Effect.map(Effect.result(Config.schema(Schema.NonEmptyString, name)), Result.isFailure)
  )
  if (missing.length > 0) {
    return Health.bad(
      "settings",
      `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not set`,
      NextStep.missing(missing.length, yield* Invocation.Program),
      usage
    )
  }
  const sources = variables.map((name) => `${name} (${loaded?.has(name) === true ? ".env" : "environment"})`)
  return Health.good("settings", sources.join(", "))
})

/** A valid id that no Assembly has, because ids are random. */
const nobody = Assembly.AssemblyId.make("0".repeat(32))

/** Whether an error shows that the service itself answered. */
const isOfService = (error: Address.Failure, way: Address.Address): boolean =>
  error._tag === "RateLimited" ||
  (error._tag === "ServiceFailure" && !Address.isWrongPath(error, way) && ExitCode.fromError(error) === failed)

const address = Effect.fnUntraced(function* (baseUrl: string, way: Address.Address) {
  const before = yield* Clock.currentTimeMillis
  const answer = yield* Effect.result(Assemblies.get(nobody))
  const elapsed = Format.latency((yield* Clock.currentTimeMillis) - before)
  if (Result.isSuccess(answer) || isOfService(answer.failure, way)) {
    return Health.good("address", `${baseUrl} answers as the service does, in ${elapsed}`)
  }
  return broken("address", answer.failure, way, "Check ASSEMBLY_BASE_URL.")
})

/**
 * The maximum skew of the clock that `assembly doctor` accepts. A larger skew can break other programs, although this
 * client corrects a skew of up to an hour.
 */
const tolerable = Duration.seconds(30)

/**
 * Compares the clock of this machine with the clock of the service. The date of a response has whole seconds, so a
 * difference below two seconds does not count.
 */
const clock = Effect.fnUntraced(function* (baseUrl: string) {
  // Tracing is off, because a span of the HTTP client would contain the URL.
  const request = Effect.withTracerEnabled(HttpClient.get(baseUrl), false)
  const response = yield* Effect.result(Effect.timeout(Effect.scoped(request), patience))
  const now = yield* DateTime.now
  const date = Result.isSuccess(response) ? Option.fromNullishOr(response.success.headers["date"]) : Option.none()
  return Option.match(Option.flatMap(date, DateTime.make), {
    onNone: () => [],
    onSome: (theirs) => {
      const skew = DateTime.distance(theirs, now)
      const size = Duration.abs(skew)
      if (Duration.isLessThan(size, Duration.seconds(2)))
        return [Health.good("clock", "agrees with the clock of the service")]
      const text = `${Format.duration(size)} ${Duration.isNegative(skew) ? "behind" : "ahead of"} the clock of the service`
      return [
        Duration.isLessThanOrEqualTo(size, tolerable)
          ? Health.good("clock", text)
          : Health.bad("clock", text, "Set the clock of this machine, because signatures expire.", failed)
      ]
    }
  })
})

/**
 * What the response to a request shows about a scope, or the error of the request, if this error shows nothing about
 * the scope.
 */
type Access = "granted" | "missing" | { readonly _tag: string }

const accessOf = <A, E extends { readonly _tag: string }, R>(
  request: Effect.Effect<A, E, R>
): Effect.Effect<Access, never, R> =>
  Effect.match(request, {
    onSuccess: (): Access => "granted",
    onFailure: (error): Access => (isRefusal(error) && error.code === "INSUFFICIENT_AUTH_SCOPE" ? "missing" : error)
  })

const isRefusal = Schema.is(ApiError.AuthenticationFailed)

/** For each of these scopes, a request that needs the scope. None of these requests changes anything. */
const readings: Readonly<Record<string, Effect.Effect<Access, never, AssemblyClient.AssemblyClient>>> = {
  "assemblies:read": accessOf(
    Effect.flatMap(DateTime.now, (now) =>
      Assemblies.list({ fromDate: DateTime.subtract(now, { hours: 1 }), pageSize: 1 })
    )
  ),
  "templates:read": accessOf(Templates.list({ pageSize: 1 })),
  "template_credentials:read": accessOf(TemplateCredentials.list),
  "auth_keys:read": accessOf(AuthKeys.scopes),
  "queues:read": accessOf(Queues.jobSlots),
  "dam:read": accessOf(Dam.list({ limit: 1 }))
}

interface Reading {
  readonly scope: string
  readonly access: Access
}

/** Returns one finding for each problem, with all scopes whose requests failed with this problem. */
const unknownScopes = (found: ReadonlyArray<Reading>, way: Address.Address): ReadonlyArray<Health.Finding> => {
  const problems = found.flatMap(({ access, scope }) =>
    typeof access === "string" ? [] : [{ scope, description: problemOf(access, way.baseUrl?.host) }]
  )
  return [...Map.groupBy(problems, ({ description }) => description)].map(([problem, scopes]) =>
    Health.note(
      "scopes",
      `not known: ${scopes.map(({ scope }) => scope).join(", ")}`,
      `${problem}. Run ${Address.command(way, "doctor")} again later.`
    )
  )
}

/** Whether the service accepts the key, and what the key may read. */
const credentials = Effect.fnUntraced(function* (way: Address.Address) {
  const found: ReadonlyArray<Reading> = yield* Effect.forEach(
    Object.entries(readings),
    ([scope, access]) => Effect.map(access, (one) => ({ scope, access: one })),
    { concurrency: 3 }
  )
  const refused = found.find(({ access }) => isRefusal(access))?.access
  if (refused !== undefined)
    return [broken("credentials", refused, way, "Check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET.")]
  const scopes = (wanted: Access) => found.filter(({ access }) => access === wanted).map(({ scope }) => scope)
  const [granted, missing] = [scopes("granted"), scopes("missing")]
  const [first] = found
  if (granted.length + missing.length === 0) {
    return [broken("credentials", first?.access, way, `Run ${Address.command(way, "doctor")} again later.`)]
  }
  return [
    Health.good("credentials", "the service accepts the Auth Key"),
    ...(granted.length === 0 ? [] : [Health.good("scopes", granted.join(", "))]),
    ...(missing.length === 0
      ? []
      : [
          Health.note(
            "scopes",
            `not granted: ${missing.join(", ")}`,
            `If a command needs one: ${Address.command(way, "keys update --scope …")} replaces the scopes of a key.`
          )
        ]),
    ...unknownScopes(found, way)
  ]
})

/** The extensions of tus that `@assembly-effect/tus` can use, each with what is worse without the extension. */
const useful: Readonly<Record<string, string>> = {
  creation: "uploads cannot start",
  "creation-with-upload": "a small file takes one more request",
  "creation-defer-length": "a stream of unknown length must be buffered",
  concatenation: "a file cannot be uploaded in parallel parts",
  checksum: "damaged bytes are found at the end only",
  termination: "an unfinished upload cannot be deleted"
}

/** Asks an upload server for its versions of tus, its extensions and its maximum size, and returns the findings. */
const abilities = Effect.fnUntraced(function* (target: UploadTarget.UploadTarget) {
  const { extensions, maxSize, versions } = yield* Tus.discover(target)
  const missing = Object.keys(useful).filter((name) => !extensions.includes(name))
  const size = maxSize === undefined ? "" : `; up to ${Format.bytes(maxSize)} a file`
  const text = `tus ${versions.join(", ") || "of an unknown version"}: ${extensions.join(", ") || "no extensions"}${size}`
  return [
    versions.includes("1.0.0") && extensions.includes("creation")
      ? Health.good("uploads", text)
      : Health.bad("uploads", text, "Uploads need tus 1.0.0 with the extension creation.", failed),
    ...missing.map((name) => Health.note("uploads", `no ${name}`, useful[name] ?? ""))
  ]
})

/**
 * Asks the upload server below ASSEMBLY_BASE_URL what it can do. The service may have its upload server at another
 * address, which only the Status of an Assembly names. Therefore an error is a problem only if its exit code is that of
 * the network.
 */
const uploadsHere = Effect.fnUntraced(function* (baseUrl: string, way: Address.Address) {
  const target = UploadTarget.make({
    tusUrl: `${baseUrl}/resumable/files/`,
    assemblySslUrl: `${baseUrl}/assemblies/${nobody}`,
    baseUrl
  })
  return yield* Effect.flatMap(target, abilities).pipe(
    Effect.catch((error) =>
      Effect.succeed([
        ExitCode.fromError(error) === network
          ? broken("uploads", error, way, `${Address.command(way, "doctor --no-upload")} skips this check.`)
          : Health.note(
              "uploads",
              `not known: ${problemOf(error, way.baseUrl?.host)}`,
              `${Address.command(way, "doctor --upload")} creates an Assembly, asks the server of its uploads, and cancels it.`
            )
      ])
    )
  )
})

/**
 * Creates an Assembly that waits for a file, asks the upload server of this Assembly what it can do, and cancels the
 * Assembly.
 */
const uploadsOfAssembly = Effect.fnUntraced(function* (way: Address.Address) {
  const created = yield* Effect.result(Assemblies.create({ numExpectedUploadFiles: 1 }))
  if (Result.isFailure(created)) {
    const { failure } = created
    if (failure._tag !== "AuthenticationFailed") {
      return [broken("uploads", failure, way, `${Address.command(way, "doctor --no-upload")} skips this check.`)]
    }
    const problem = ErrorLine.fromError(failure, way.baseUrl?.host)
    return [
      Health.note("uploads", `not known: ${problem}`, "A key with the scope assemblies:write can create Assemblies.")
    ]
  }
  const { assembly_id: id } = created.success
  return yield* Effect.flatMap(UploadTarget.fromAssembly(created.success), abilities).pipe(
    Effect.catch((error) =>
      Effect.succeed([broken("uploads", error, way, "Check that this network reaches the host of uploads.")])
    ),
    Effect.ensuring(Effect.ignore(Assemblies.cancel(id)))
  )
})

/** Takes the findings of a check as soon as they are known. */
type Tell = (found: ReadonlyArray<Health.Finding>) => Effect.Effect<void>

/**
 * Runs the checks that need complete settings. If the check of the address finds a problem, all later checks are
 * skipped. If the service does not accept the credentials, the check of uploads is skipped.
 */
const examine = Effect.fnUntraced(function* (upload: Option.Option<boolean>, tell: Tell) {
  const baseUrl = (yield* Config.String("ASSEMBLY_BASE_URL")).replace(/\/+$/, "")
  const way = yield* currentAddress
  const reached = yield* address(baseUrl, way)
  yield* tell([reached])
  if (reached.verdict === "bad") return
  yield* tell(yield* clock(baseUrl))
  const found = yield* credentials(way)
  yield* tell(found)
  const isAccepted = found.some(({ about, verdict }) => about === "credentials" && verdict === "good")
  if (!isAccepted || Option.contains(upload, false)) return
  yield* tell(yield* Option.isSome(upload) ? uploadsOfAssembly(way) : uploadsHere(baseUrl, way))
})

/** `assembly doctor`: checks the settings, the service, the credentials and uploads. */
export const doctor = Command.make(
  "doctor",
  {
    upload: switchFlag("upload").pipe(
      Flag.withDescription(
        "Check uploads with a new Assembly, which is then canceled; --no-upload skips this check (default: ask the upload server, without an Assembly)"
      ),
      Flag.optional
    ),
    json: switchFlag("json").pipe(Flag.withDescription("Print the findings as JSON"), Flag.withDefault(false))
  },
  Effect.fnUntraced(function* ({ json, upload }) {
    const layout = yield* Output.layout
    const findings: Array<Health.Finding> = []
    const tell: Tell = (found) => {
      findings.push(...found)
      return json || found.length === 0 ? Effect.void : Output.report(Health.render(found, layout))
    }
    yield* tell(yield* dotEnv)
    const first = yield* settings
    // If a variable is set but invalid, the layer of the client fails before `first` is printed. Then the error of this
    // layer is printed instead of `first`.
    yield* first.verdict === "bad"
      ? tell([first])
      : tell([first]).pipe(
          Effect.andThen(limited(examine(upload, tell))),
          Effect.provide(AssemblyNode.layerConfig()),
          Effect.catch((error) =>
            Effect.flatMap(Invocation.Program, (program) => {
              const otherwise = `Correct the variable; ${Address.command({ program }, "doctor --help")} shows an example.`
              return tell([broken("settings", error, { program }, otherwise)])
            })
          )
        )
    if (json) yield* Output.json(Schema.Array(Health.Finding))(findings)
    const bad = findings.filter(({ verdict }) => verdict === "bad")
    const [problem] = bad
    if (problem !== undefined) {
      return yield* new NotWell({ problems: bad.length, exitCode: problem.exitCode ?? failed })
    }
  })
).pipe(
  Command.withDescription(
    "Check the settings, the service, the credentials and uploads, and say how to fix each problem"
  ),
  Command.withExamples([
    { command: "assembly doctor", description: "All checks that change nothing; fails if something does not work" },
    { command: "assembly doctor --upload", description: "Also create an Assembly, and cancel it" }
  ])
)
