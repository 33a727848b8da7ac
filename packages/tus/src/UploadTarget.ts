/**
 * Where bytes may go: the only way to a URL that an upload is sent to (spec.md, "Create a tus upload").
 */
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Transport from "@assembly-effect/api/Transport"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import type * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { secureUrl } from "./internal/secureUrl.ts"

/**
 * A URL that passed the checks. It is a capability, whoever has it may write, so it is not shown. Only this module
 * makes one.
 */
export type UploadUrl = Redacted.Redacted<string & Brand.Brand<"UploadUrl">>

/**
 * The address of the creation request, what authorizes it, and the origins that upload URLs may have.
 */
export interface UploadTarget {
  readonly [TypeId]: typeof TypeId
  readonly tusUrl: UploadUrl
  readonly assemblySslUrl: Redacted.Redacted
  readonly origins: ServiceOrigins.ServiceOrigins
}

const TypeId = "~@assembly-effect/tus/UploadTarget"

/**
 * What a target was to be made of breaks a rule. Nothing was sent.
 */
export class InvalidTarget extends Schema.TaggedError<InvalidTarget>()("InvalidTarget", {
  field: Schema.Literals(["tus_url", "assembly_ssl_url", "origins"]),
  rule: Schema.String
}) {
  override get message() {
    return `${this.field}: ${this.rule}`
  }
}

/**
 * The service, or the journal, named an upload URL that nothing may be sent to; nothing was. No more of the URL than its
 * host is told: the rest may be a secret.
 */
export class UnsafeLocation extends Schema.TaggedError<UnsafeLocation>()("UnsafeLocation", {
  rule: Schema.String
}) {
  override get message() {
    return `the URL of the upload is refused: ${this.rule}`
  }
}

/** The URLs that passed the checks, and nothing else: a brand holds at compile time, this at run time. */
const made = new WeakSet<Redacted.Redacted<unknown>>()

const checked = (text: string): UploadUrl => {
  const url = Redacted.make(text as string & Brand.Brand<"UploadUrl">, { label: "upload URL" })
  made.add(url)
  return url
}

const decodePath = SchemaParser.decodeUnknownResult(TusUpload.UploadPath)

const refused = (field: InvalidTarget["field"], rule: string) => new InvalidTarget({ field, rule })

/** No name of a host is longer. */
const maxHost = 253

/** Why a URL is refused whose origin does not belong to the service; the host is what a person looks for. */
const foreign = (url: string): string =>
  URL.canParse(url)
    ? `the host ${Transport.Redaction.text(new URL(url).host, { max: maxHost })} is none of the service's: if it is, add its origin to the option origins`
    : "not an absolute URL"

/**
 * A target from its parts, for a program that has no `AssemblyClient`, such as a page.
 *
 * - `baseUrl`: the address of the service. Without it the service is where `tusUrl` is.
 * - `origins`: further origins that upload URLs may have, or patterns of them; see `AssemblyClient.Options`. The
 *   deployment decides about them, never an answer of the service.
 */
export const make = (options: {
  readonly tusUrl: string
  readonly assemblySslUrl: string
  readonly baseUrl?: string | undefined
  readonly origins?: ReadonlyArray<string> | undefined
}): Effect.Effect<UploadTarget, InvalidTarget> =>
  Effect.gen(function* () {
    const check = (field: InvalidTarget["field"], url: string) =>
      Effect.mapError(Effect.fromResult(secureUrl(url)), (rule) => refused(field, rule))

    const tusUrl = yield* check("tus_url", options.tusUrl)
    const assemblySslUrl = yield* check("assembly_ssl_url", options.assemblySslUrl)
    const origins = yield* Effect.mapError(
      Effect.fromResult(ServiceOrigins.make(options.baseUrl ?? tusUrl, options.origins)),
      ([problem]) => refused(problem?.index === undefined ? "tus_url" : "origins", problem?.rule ?? "")
    )
    if (!ServiceOrigins.includes(origins, tusUrl)) return yield* refused("tus_url", foreign(tusUrl))
    return {
      [TypeId]: TypeId,
      tusUrl: checked(tusUrl),
      assemblySslUrl: Redacted.make(assemblySslUrl, { label: "assembly_ssl_url" }),
      origins
    }
  })

/**
 * The target that the answer to an Assembly creation names, of an origin that belongs to the service of the
 * `AssemblyClient`. An Assembly without `tus_url` takes no uploads; another host is never tried instead.
 */
export const fromAssembly = (status: Assembly.Status): Effect.Effect<UploadTarget, InvalidTarget, AssemblyClient> =>
  Effect.gen(function* () {
    const { origins } = yield* AssemblyClient
    const { assembly_ssl_url: assemblySslUrl, tus_url: tusUrl } = status
    if (typeof tusUrl !== "string") return yield* refused("tus_url", "missing from the Assembly status")
    if (typeof assemblySslUrl !== "string") {
      return yield* refused("assembly_ssl_url", "missing from the Assembly status")
    }
    // It authorizes the uploads: they would go into that Assembly.
    if (ServiceOrigins.assemblyIdAt(assemblySslUrl) !== status.assembly_id) {
      return yield* refused("assembly_ssl_url", "names another Assembly than assembly_id")
    }
    if (!ServiceOrigins.includes(origins, assemblySslUrl)) {
      return yield* refused("assembly_ssl_url", foreign(assemblySslUrl))
    }
    const [baseUrl, ...additional] = origins.entries
    return yield* make({ tusUrl, assemblySslUrl, baseUrl, origins: additional })
  })

/**
 * The same target in a deployment that somebody else than the target says: its own list of origins counts no more.
 */
export const within = (
  target: UploadTarget,
  origins: ServiceOrigins.ServiceOrigins
): Result.Result<UploadTarget, InvalidTarget> =>
  ServiceOrigins.includes(origins, Redacted.value(target.tusUrl))
    ? Result.succeed({ ...target, origins })
    : Result.fail(refused("tus_url", foreign(Redacted.value(target.tusUrl))))

/**
 * The origins of the deployment whose Assembly a target is for: those of the `AssemblyClient` where there is one, else
 * the origin of the Assembly, and `additional` ones.
 */
export const deployment = (
  target: UploadTarget,
  additional: ReadonlyArray<string> = []
): Effect.Effect<ServiceOrigins.ServiceOrigins, InvalidTarget> =>
  Effect.gen(function* () {
    const assembly = Redacted.value(target.assemblySslUrl)
    const client = yield* Effect.serviceOption(AssemblyClient)
    const [baseUrl, ...known]: readonly [string, ...ReadonlyArray<string>] = Option.match(client, {
      onNone: () => [assembly],
      onSome: ({ origins }) => origins.entries
    })
    const origins = yield* Effect.mapError(
      Effect.fromResult(ServiceOrigins.make(baseUrl, [...known, ...additional])),
      ([problem]) => refused(problem?.index === undefined ? "assembly_ssl_url" : "origins", problem?.rule ?? "")
    )
    return ServiceOrigins.includes(origins, assembly) ? origins : yield* refused("assembly_ssl_url", foreign(assembly))
  })

/** What precedes the path of an absolute URL; the text is checked as it is, before a URL parser could repair it. */
const originPart = /^https?:\/\/[^/]*/i

/**
 * Checks the `location` of a creation: an absolute URL of an origin that belongs to the service, or a path, that ends in
 * `/resumable/files/<id>[/…]`. Relative ones resolve against `tus_url`.
 */
export const resolve = (target: UploadTarget, location: string): Result.Result<UploadUrl, UnsafeLocation> =>
  Result.gen(function* () {
    const own = new URL(Redacted.value(target.tusUrl))
    const whole = location.startsWith("//") ? own.protocol + location : location
    const path = whole.replace(originPart, "")
    yield* Result.mapError(decodePath(path), () => "not a path /resumable/files/<id>[/…]")
    const url = yield* secureUrl(path === whole ? own.origin + path : whole)
    if (ServiceOrigins.originOf(url) === undefined) return yield* Result.fail("a host that is not written plainly")
    if (!ServiceOrigins.includes(target.origins, url)) return yield* Result.fail(foreign(url))
    return checked(url)
  }).pipe(Result.mapError((rule) => new UnsafeLocation({ rule })))

const isUploadTarget = (u: unknown): u is UploadTarget => typeof u === "object" && u !== null && TypeId in u

const invalid = (expected: string, actual: unknown) => Effect.fail(new SchemaIssue.InvalidValue({ expected }, actual))

const fromRest = ({
  origins: [baseUrl, ...origins],
  ...urls
}: {
  readonly tusUrl: string
  readonly assemblySslUrl: string
  readonly origins: ReadonlyArray<string>
}) => make({ ...urls, baseUrl, origins })

/**
 * A target at rest, as plain JSON. It holds capabilities: store it as a secret. Decoding runs every check of
 * {@link make} again.
 */
export const AtRest = Schema.Struct({
  tusUrl: Schema.String,
  assemblySslUrl: Schema.String,
  origins: Schema.Array(Schema.String)
}).pipe(
  Schema.decodeTo(Schema.declare<UploadTarget>(isUploadTarget, { expected: "an UploadTarget" }), {
    decode: SchemaGetter.transformEffect((parts) =>
      Effect.catchTag(fromRest(parts), "InvalidTarget", (error) => invalid(error.message, ""))
    ),
    encode: SchemaGetter.transform((target) => ({
      tusUrl: Redacted.value(target.tusUrl) as string,
      assemblySslUrl: Redacted.value(target.assemblySslUrl),
      origins: target.origins.entries
    }))
  })
)

/** Whether a value is an upload URL that this module made. */
export const isUploadUrl = (u: unknown): u is UploadUrl => Redacted.isRedacted(u) && made.has(u)

/**
 * An upload URL at rest, as plain text. It is a capability: store it as a secret. Decoding checks it against the
 * target again.
 */
export const urlAtRest = (target: UploadTarget): Schema.Codec<UploadUrl, string> =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.declare<UploadUrl>(isUploadUrl, { expected: "an upload URL" }), {
      decode: SchemaGetter.transformEffect((text) =>
        Result.match(resolve(target, text), {
          onSuccess: Effect.succeed,
          onFailure: (error) => invalid(error.message, "")
        })
      ),
      encode: SchemaGetter.transform((url) => Redacted.value(url))
    })
  )
