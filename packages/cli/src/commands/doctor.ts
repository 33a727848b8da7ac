import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as ApiError from "@assembly-effect/api/ApiError"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Dam from "@assembly-effect/api/Dam"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Tus from "@assembly-effect/tus/Tus"
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
import * as Schema from "effect/Schema"
import * as DotEnv from "../DotEnv.ts"
import * as ErrorLine from "../ErrorLine.ts"
import * as Format from "../Format.ts"
import { jsonFlag } from "../internal/flags.ts"
import * as Health from "../internal/health.ts"
import * as Output from "../Output.ts"

/** At least one thing does not work. Each was printed. */
export class NotWell extends Schema.TaggedError<NotWell>()("NotWell", { problems: Schema.Int }) {
  override get message() {
    return this.problems === 1 ? "1 thing does not work" : `${this.problems} things do not work`
  }
}

const variables = ["ASSEMBLY_BASE_URL", "ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"] as const

/** Whether the variables are set, and whether each comes from the environment or from `.env`. */
const settings = Effect.gen(function* () {
  const loaded = yield* DotEnv.Loaded
  const missing = yield* Effect.filter(variables, (name) =>
    Effect.map(Effect.result(Config.schema(Schema.NonEmptyString, name)), Result.isFailure)
  )
  if (missing.length > 0) {
    return Health.bad(
      "settings",
      `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not set`,
      "export the variables, write them into .env, or try the service on this machine with assembly emulator"
    )
  }
  const sources = variables.map((name) => `${name} (${loaded.has(name) ? ".env" : "environment"})`)
  return Health.good("settings", sources.join(", "))
})

/** An id that no Assembly has, because ids are random. */
const nobody = Assembly.AssemblyId.make("0".repeat(32))

/** The errors that show that the service itself answered. */
const isOfService = ({ _tag }: { readonly _tag: string }): boolean =>
  _tag === "ServiceFailure" || _tag === "RateLimited"

const address = Effect.fnUntraced(function* (baseUrl: string) {
  const before = yield* Clock.currentTimeMillis
  const answer = yield* Effect.result(Assemblies.get(nobody))
  const elapsed = Format.duration((yield* Clock.currentTimeMillis) - before)
  if (Result.isSuccess(answer) || isOfService(answer.failure)) {
    return Health.good("address", `${baseUrl} answers as the service does, in ${elapsed}`)
  }
  const problem = ErrorLine.fromError(answer.failure)
  return answer.failure._tag === "UnexpectedResponse"
    ? Health.bad("address", `${baseUrl} answers, but not as the service does: ${problem}`, "check ASSEMBLY_BASE_URL")
    : Health.bad("address", problem, "check ASSEMBLY_BASE_URL, the network and the proxy (HTTPS_PROXY, NO_PROXY)")
})

/** A larger skew can break other programs, although this client corrects a skew of up to an hour. */
const tolerable = Duration.seconds(30)

/** Compares the clocks. The date of a response has whole seconds, so a small difference does not count. */
const clock = Effect.fnUntraced(function* (baseUrl: string) {
  // Tracing is off, because a span of the HTTP client would contain the URL.
  const request = Effect.withTracerEnabled(HttpClient.get(baseUrl), false)
  const response = yield* Effect.result(Effect.scoped(request))
  const now = yield* DateTime.now
  const date = Result.isSuccess(response) ? Option.fromNullishOr(response.success.headers["date"]) : Option.none()
  return Option.match(Option.flatMap(date, DateTime.make), {
    onNone: () => [],
    onSome: (theirs) => {
      const skew = DateTime.distance(theirs, now)
      const size = Duration.abs(skew)
      if (Duration.isLessThan(size, Duration.seconds(2))) return [Health.good("clock", "as the clock of the service")]
      const text = `${Format.duration(size)} ${Duration.isNegative(skew) ? "behind" : "ahead of"} the clock of the service`
      return [
        Duration.isLessThanOrEqualTo(size, tolerable)
          ? Health.good("clock", text)
          : Health.bad("clock", text, "set the clock of this machine, because signatures expire")
      ]
    }
  })
})

/** What a response shows about the credentials and a scope. */
type Access = "granted" | "missing" | ApiError.AuthenticationFailed | "unknown"

const accessOf = <A, E extends { readonly _tag: string }, R>(
  request: Effect.Effect<A, E | ApiError.AuthenticationFailed, R>
): Effect.Effect<Access, never, R> =>
  Effect.match(request, {
    onSuccess: (): Access => "granted",
    onFailure: (error): Access => {
      if (!("code" in error) || error._tag !== "AuthenticationFailed") return "unknown"
      return error.code === "INSUFFICIENT_AUTH_SCOPE" ? "missing" : error
    }
  })

/** One request for each scope that permits reading. None of these requests changes anything. */
const readings: Readonly<Record<string, Effect.Effect<Access, never, AssemblyClient>>> = {
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

const key = "check ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET; assembly keys list shows the keys of a Workspace"

/** Whether the service accepts the key, and what the key may read. */
const credentials = Effect.gen(function* () {
  const found = yield* Effect.forEach(
    Object.entries(readings),
    ([scope, access]) => Effect.map(access, (one) => ({ scope, access: one })),
    { concurrency: 3 }
  )
  const refused = found.find(({ access }) => typeof access !== "string")?.access
  if (refused !== undefined && typeof refused !== "string") {
    return [Health.bad("credentials", ErrorLine.fromError(refused), key)]
  }
  const scopes = (wanted: Access) => found.filter(({ access }) => access === wanted).map(({ scope }) => scope)
  const [granted, missing, unknown] = [scopes("granted"), scopes("missing"), scopes("unknown")]
  return [
    granted.length + missing.length === 0
      ? Health.bad("credentials", "no request could be made with the Auth Key", key)
      : Health.good("credentials", "the service accepts the Auth Key"),
    ...(granted.length === 0 ? [] : [Health.good("scopes", granted.join(", "))]),
    ...(missing.length === 0
      ? []
      : [
          Health.note(
            "scopes",
            `not granted: ${missing.join(", ")}`,
            "assembly keys update --scope … adds scopes, if needed"
          )
        ]),
    ...(unknown.length === 0
      ? []
      : [
          Health.note(
            "scopes",
            `not known: ${unknown.join(", ")}`,
            "the service refused the request for another reason"
          )
        ])
  ]
})

/** The extensions of tus that uploads of this program can use. */
const useful: Readonly<Record<string, string>> = {
  creation: "uploads cannot start",
  "creation-with-upload": "a small file takes one more request",
  "creation-defer-length": "a stream of unknown length must be buffered",
  concatenation: "a file cannot be uploaded in parallel parts",
  checksum: "damaged bytes are found at the end only",
  termination: "an unfinished upload cannot be deleted"
}

const abilities = Effect.fnUntraced(function* (created: Assembly.Status) {
  const { extensions, maxSize, versions } = yield* Effect.flatMap(UploadTarget.fromAssembly(created), Tus.discover)
  const missing = Object.keys(useful).filter((name) => !extensions.includes(name))
  const size = maxSize === undefined ? "" : `; up to ${Format.bytes(maxSize)} a file`
  const text = `tus ${versions.join(", ") || "of an unknown version"}: ${extensions.join(", ") || "no extensions"}${size}`
  return [
    versions.includes("1.0.0") && extensions.includes("creation")
      ? Health.good("uploads", text)
      : Health.bad("uploads", text, "uploads need tus 1.0.0 with the extension creation"),
    ...missing.map((name) => Health.note("uploads", `no ${name}`, useful[name] ?? ""))
  ]
})

/** Creates an Assembly that waits for a file, asks its tus server what it can do, and cancels the Assembly. */
const uploads = Effect.gen(function* () {
  const created = yield* Effect.result(Assemblies.create({ numExpectedUploadFiles: 1 }))
  if (Result.isFailure(created)) {
    const problem = ErrorLine.fromError(created.failure)
    return [
      created.failure._tag === "AuthenticationFailed"
        ? Health.note("uploads", `not known: ${problem}`, "a key with the scope assemblies:write can create Assemblies")
        : Health.bad("uploads", problem, "assembly doctor --no-upload skips this check")
    ]
  }
  const { assembly_id: id } = created.success
  return yield* abilities(created.success).pipe(
    Effect.catch((error) =>
      Effect.succeed([
        Health.bad("uploads", ErrorLine.fromError(error), "check that this network reaches the host of uploads")
      ])
    ),
    Effect.ensuring(Effect.ignore(Assemblies.cancel(id)))
  )
})

/** All checks of a service whose settings are complete. The later checks make no sense if the address is wrong. */
const examine = Effect.fnUntraced(function* (withUpload: boolean) {
  const baseUrl = (yield* Config.String("ASSEMBLY_BASE_URL")).replace(/\/+$/, "")
  const reached = yield* address(baseUrl)
  if (reached.verdict === "bad") return [reached]
  const found = [reached, ...(yield* clock(baseUrl)), ...(yield* credentials)]
  const isAccepted = found.some(({ about, verdict }) => about === "credentials" && verdict === "good")
  return withUpload && isAccepted ? [...found, ...(yield* uploads)] : found
})

/** `assembly doctor`: checks the settings, the service, the credentials and uploads. */
export const doctor = Command.make(
  "doctor",
  {
    upload: Flag.Boolean("upload").pipe(
      Flag.withDescription("Check uploads: creates an Assembly and cancels it (default: yes)"),
      Flag.withDefault(true)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function* ({ json, upload }) {
    const first = yield* settings
    const others =
      first.verdict === "bad"
        ? []
        : yield* examine(upload).pipe(
            Effect.provide(AssemblyNode.layerConfig()),
            Effect.catch((error) =>
              Effect.succeed([Health.bad("settings", ErrorLine.fromError(error), "check the three variables")])
            )
          )
    const findings = [first, ...others]
    yield* json
      ? Output.json(Schema.Array(Health.Finding))(findings)
      : Output.report(Health.render(findings, yield* Output.layout))
    const problems = findings.filter(({ verdict }) => verdict === "bad").length
    if (problems > 0) return yield* new NotWell({ problems })
  })
).pipe(
  Command.withDescription(
    "Check the settings, the service, the credentials and uploads, and say how to fix each problem"
  ),
  Command.withExamples([
    { command: "assembly doctor", description: "All checks; fails if something does not work" },
    { command: "assembly doctor --no-upload", description: "Send only requests that change nothing" }
  ])
)
