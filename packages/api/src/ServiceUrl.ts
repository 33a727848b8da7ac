/**
 * Addresses that an answer of the service names, such as `assembly_ssl_url`: nothing is sent to them unchecked.
 */
import * as SecureUrl from "@assembly-effect/schema/SecureUrl"
import * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import type * as Brand from "effect/Brand"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/**
 * An address that passed the check: of an origin that belongs to the service, https (http only on loopback), no user
 * info, no fragment. Whoever has it may read or cancel the Assembly, so it is not shown. No credential travels to it.
 *
 * @since 0.1.0
 * @category models
 */
export type ServiceUrl = Redacted.Redacted<string & Brand.Brand<"ServiceUrl">>

const decode = Schema.decodeUnknownOption(SecureUrl.SecureUrl)

/**
 * Checks an address against the origins of the service; a query is allowed, since the update stream has one.
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
    // The rules for a path hold for a query as well.
    Option.filter((text) => Option.isSome(decode(text.replace("?", "/")))),
    Option.map((text) => Redacted.make(text as string & Brand.Brand<"ServiceUrl">, { label: "address of an Assembly" }))
  )
