/**
 * Addresses that an answer of the service names, such as `assembly_ssl_url`: nothing is sent to them unchecked.
 */
import * as SecureUrl from "@assembly-effect/schema/SecureUrl"
import type * as Brand from "effect/Brand"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/**
 * An address that passed the check: https (http only on loopback), no user info, no fragment. Whoever has it may read
 * or cancel the Assembly, so it is not shown. No credential travels to it.
 */
export type ServiceUrl = Redacted.Redacted<string & Brand.Brand<"ServiceUrl">>

const decode = Schema.decodeUnknownOption(SecureUrl.SecureUrl)

/** Checks an address; a query is allowed, since the update stream has one. */
export const make = (address: string | null | undefined): Option.Option<ServiceUrl> =>
  Option.fromNullishOr(address).pipe(
    // The rules for a path hold for a query as well.
    Option.filter((text) => Option.isSome(decode(text.replace("?", "/")))),
    Option.map((text) => Redacted.make(text as string & Brand.Brand<"ServiceUrl">, { label: "address of an Assembly" }))
  )
