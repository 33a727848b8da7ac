/**
 * The targets of uploads, and the checks of upload URLs. Every upload URL passes the checks of this module before it is
 * used (spec.md, "Create a tus upload").
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import { AssemblyClient } from "@assembly-effect/api/unstable/Operation"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Input from "@assembly-effect/schema/unstable/Input"
import type * as Brand from "effect/Brand"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { foreign } from "./internal/host.ts"

/**
 * An upload URL that passed the checks of this module. No other module can make an `UploadUrl`. The URL is redacted
 * because it is a capability that grants write access to the upload.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadUrl = Redacted.Redacted<string & Brand.Brand<"UploadUrl">>

/**
 * The URL of the creation request and the origin of this URL, the Assembly URL that authorizes this request, and the
 * permitted origins of upload URLs.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadTarget {
  readonly [TypeId]: typeof TypeId
  readonly tusUrl: UploadUrl
  readonly origin: string
  readonly assemblySslUrl: Redacted.Redacted
  readonly origins: ServiceOrigins.ServiceOrigins
}

const TypeId = "~@assembly-effect/tus/UploadTarget"

/**
 * A field of the target breaks a rule. Nothing was sent to the target. If the error names a host that belongs to the
 * service, add the origin of this host to the option `origins`.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidTarget extends Expected.TaggedError<InvalidTarget>()(
  "InvalidTarget",
  { field: Schema.Literals(["tus_url", "assembly_ssl_url", "origins"]), rule: Schema.String },
  (error) => `${error.field}: ${error.rule}`
) {}

/**
 * An upload URL from the service or the journal breaks a rule. Nothing was sent to this URL. The error contains at most
 * the host of the URL, because the path of the URL may be a capability. If the host belongs to the service, add its
 * origin to the option `origins`.
 *
 * @since 0.1.0
 * @category errors
 */
export class UnsafeLocation extends Expected.TaggedError<UnsafeLocation>()(
  "UnsafeLocation",
  { rule: Schema.String },
  (error) => `the upload URL is refused: ${error.rule}`
) {}

/**
 * Marks the URLs that passed the checks, because a brand exists only at compile time. The mark is a text, so that a
 * second copy of this package recognises the URL.
 */
const UrlTypeId = "~@assembly-effect/tus/UploadUrl"

const checked = (text: string): UploadUrl => {
  const url = Redacted.make(text as string & Brand.Brand<"UploadUrl">, { label: "upload URL" })
  return Object.defineProperty(url, UrlTypeId, { value: UrlTypeId })
}

const decodeUrl = SchemaParser.decodeUnknownResult(SecureUrl.SecureUrl)

/**
 * Decodes a `SecureUrl`. The failure describes the broken rule. The failure does not contain the text itself, because
 * the text may contain a secret or come from an attacker.
 */
const secureUrl = (text: string): Result.Result<string, string> =>
  Result.mapError(decodeUrl(text), (issue) => Input.fromSchemaIssue(issue)[0]?.message ?? "")

const decodePath = SchemaParser.decodeUnknownResult(TusUpload.UploadPath)

const refused = (field: InvalidTarget["field"], rule: string) => new InvalidTarget({ field, rule })

const check = (field: InvalidTarget["field"], url: string) =>
  Effect.mapError(Effect.fromResult(secureUrl(url)), (rule) => refused(field, rule))

/**
 * Makes a target from its URLs, for a program without an `AssemblyClient`, such as a web page.
 *
 * - `baseUrl`: the URL of the service; by default the part of `tusUrl` before `/resumable/files/`. The paths of upload
 *   URLs may begin with the path of `baseUrl`.
 * - `origins`: further permitted origins of upload URLs, or patterns of such origins; see `AssemblyClient.Options`. Set
 *   `origins` from your configuration, never from a response of the service.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: {
  readonly tusUrl: string
  readonly assemblySslUrl: string
  readonly baseUrl?: string | undefined
  readonly origins?: ReadonlyArray<string> | undefined
}): Effect.Effect<UploadTarget, InvalidTarget> =>
  Effect.gen(function* () {
    const tusUrl = yield* check("tus_url", options.tusUrl)
    const assemblySslUrl = yield* check("assembly_ssl_url", options.assemblySslUrl)
    const baseUrl = options.baseUrl ?? tusUrl.replace(/\/resumable\/files\/?$/, "")
    const origins = yield* Effect.mapError(
      Effect.fromResult(ServiceOrigins.make(baseUrl, options.origins)),
      ([issue]) => refused(issue?.path[0] === "origins" ? "origins" : "tus_url", issue?.message ?? "")
    )
    return yield* within(tusUrl, assemblySslUrl, origins)
  })

const within = (tusUrl: string, assemblySslUrl: string, origins: ServiceOrigins.ServiceOrigins) =>
  ServiceOrigins.includes(origins, tusUrl)
    ? Effect.succeed<UploadTarget>({
        [TypeId]: TypeId,
        tusUrl: checked(tusUrl),
        origin: new URL(tusUrl).origin,
        assemblySslUrl: Redacted.make(assemblySslUrl, { label: "assembly_ssl_url" }),
        origins
      })
    : Effect.fail(refused("tus_url", foreign(tusUrl)))

/** The Status leaves out a field that is not a string. */
const absent = "missing from the Assembly status, or not a string"

/**
 * Makes the target from the Status of an Assembly. The URLs in the Status must belong to the service of the
 * `AssemblyClient`. A Status without `tus_url` or `assembly_ssl_url` is refused; no other host is tried.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromAssembly = (status: Assembly.Status): Effect.Effect<UploadTarget, InvalidTarget, AssemblyClient> =>
  Effect.gen(function* () {
    const { origins } = yield* AssemblyClient
    const { assembly_ssl_url: assemblySslUrl, tus_url: tusUrl } = status
    if (typeof tusUrl !== "string") return yield* refused("tus_url", absent)
    if (typeof assemblySslUrl !== "string") return yield* refused("assembly_ssl_url", absent)
    // The Assembly URL authorizes the uploads, so a wrong Assembly URL would send the files into another Assembly.
    if (ServiceOrigins.assemblyIdAt(assemblySslUrl) !== status.assembly_id) {
      return yield* refused("assembly_ssl_url", "names another Assembly than assembly_id")
    }
    if (!ServiceOrigins.includes(origins, assemblySslUrl)) {
      return yield* refused("assembly_ssl_url", foreign(assemblySslUrl))
    }
    return yield* within(yield* check("tus_url", tusUrl), yield* check("assembly_ssl_url", assemblySslUrl), origins)
  })

/**
 * The part of an absolute URL before its path. The text is checked unchanged, because a URL parser could repair an
 * invalid text.
 */
const originPart = /^https?:\/\/[^/]*/i

/** A path at the origin of `tus_url` that breaks no rule, whatever the other rules are. */
const usualPath = /^\/resumable\/files\/[A-Za-z0-9_-]+$/

/**
 * Checks an upload URL, such as the `location` in the response to a creation. `location` must be a path, or a URL whose
 * origin `target` permits; the scheme of this URL may be missing (`//host/path`). The path must be
 * `/resumable/files/<id>[/…]`, and may begin with the path of the base URL. A path alone is resolved against the origin
 * of `tus_url`. The result has no default port and no upper-case letters in its scheme and host.
 *
 * @since 0.1.0
 * @category constructors
 */
export const resolve = (target: UploadTarget, location: string): Result.Result<UploadUrl, UnsafeLocation> => {
  const { origin, origins } = target
  const own = location.startsWith(`${origin}/`) ? location.slice(origin.length) : location
  if (origins.prefix === "" && usualPath.test(own)) return Result.succeed(checked(origin + own))
  const refuse = (rule: string) => Result.fail(new UnsafeLocation({ rule }))
  const whole = location.startsWith("//") ? new URL(origin).protocol + location : location
  const path = whole.replace(originPart, "")
  if (Result.isFailure(decodePath(ServiceOrigins.withoutPrefix(origins, path)))) {
    return refuse(`its path is not ${origins.prefix}/resumable/files/<id>[/…]`)
  }
  const url = secureUrl(path === whole ? origin + path : whole)
  if (Result.isFailure(url)) return refuse(url.failure)
  if (ServiceOrigins.originOf(url.success) === undefined) return refuse("its host is not in its canonical form")
  if (!ServiceOrigins.includes(origins, url.success)) return refuse(foreign(url.success))
  return Result.succeed(checked(new URL(url.success).href))
}

const isUploadTarget = (u: unknown): u is UploadTarget => typeof u === "object" && u !== null && TypeId in u

const invalid = ({ message }: InvalidTarget | UnsafeLocation) =>
  Effect.fail(new SchemaIssue.InvalidValue({ expected: message }, ""))

/**
 * The stored form of a target, as plain JSON. The JSON contains capabilities, so store it as a secret. Decoding repeats
 * every check of {@link make}.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AtRest = Schema.Struct({
  tusUrl: Schema.String,
  assemblySslUrl: Schema.String,
  origins: Schema.Array(Schema.String)
}).pipe(
  Schema.decodeTo(Schema.declare<UploadTarget>(isUploadTarget, { expected: "an UploadTarget" }), {
    decode: SchemaGetter.transformEffect(({ origins: [baseUrl, ...origins], ...urls }) =>
      Effect.catchTag(make({ ...urls, baseUrl, origins }), "InvalidTarget", invalid)
    ),
    encode: SchemaGetter.transform((target) => ({
      tusUrl: Redacted.value(target.tusUrl) as string,
      assemblySslUrl: Redacted.value(target.assemblySslUrl),
      origins: [target.origins.entries[0] + target.origins.prefix, ...target.origins.entries.slice(1)]
    }))
  })
)

/** Whether this module has checked the upload URL. */
const isUploadUrl = (u: unknown): u is UploadUrl => Redacted.isRedacted(u) && UrlTypeId in u

/**
 * The stored form of an upload URL, as plain text. The text is a capability, so store it as a secret. Decoding checks
 * the URL against the target again.
 *
 * @since 0.1.0
 * @category schemas
 */
export const urlAtRest = (target: UploadTarget): Schema.Codec<UploadUrl, string> =>
  Schema.String.pipe(
    Schema.decodeTo(Schema.declare<UploadUrl>(isUploadUrl, { expected: "an upload URL" }), {
      decode: SchemaGetter.transformEffect((text) =>
        Effect.fromResult(resolve(target, text)).pipe(Effect.catch(invalid))
      ),
      encode: SchemaGetter.transform((url) => Redacted.value(url))
    })
  )
