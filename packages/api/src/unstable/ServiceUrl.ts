/**
 * Checks URLs in responses of the service, such as `assembly_ssl_url`, before a request is sent to such a URL.
 */
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import type * as Brand from "effect/Brand"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/**
 * A checked URL: its origin belongs to the service, it uses https (http only on loopback), and it has neither user info
 * nor a fragment. The URL is redacted, because anybody who knows it can read the Status or cancel the Assembly. No
 * credential is sent to this URL.
 *
 * @since 0.1.0
 * @category models
 */
export type ServiceUrl = Redacted.Redacted<string & Brand.Brand<"ServiceUrl">>

const decode = Schema.decodeUnknownOption(SecureUrl.SecureUrl)

/**
 * Checks a URL against the origins of the service. A query is permitted, because the URL of an update stream has a
 * query.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  address: string | null | undefined,
  origins: ServiceOrigins.ServiceOrigins
): Option.Option<ServiceUrl> =>
  Option.fromNullishOr(address).pipe(
    Option.filter((text) => ServiceOrigins.includes(origins, text)),
    // `SecureUrl` refuses a query. With a slash instead of the `?`, the rules of `SecureUrl` for a path apply to the
    // query too.
    Option.filter((text) => Option.isSome(decode(text.replace("?", "/")))),
    Option.map((text) => Redacted.make(text as string & Brand.Brand<"ServiceUrl">, { label: "address of an Assembly" }))
  )
