import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Process from "node:process"
import type * as Address from "./address.ts"
import * as Invocation from "./invocation.ts"
import * as Proxy from "./proxy.ts"

const toAddress = (text: string): Address.Address => {
  const baseUrl = URL.canParse(text) ? new URL(text) : undefined
  const protocol = baseUrl?.protocol ?? "https:"
  return {
    baseUrl: baseUrl?.host === "" ? undefined : baseUrl,
    proxyOf: (host) => {
      const url = `${protocol}//${host}`
      return URL.canParse(url) ? Proxy.routeOf(new URL(url), Process.env) : undefined
    }
  }
}

/**
 * How requests reach the service, from ASSEMBLY_BASE_URL and the variables that name a proxy, and how the user runs
 * this program.
 */
export const currentAddress: Effect.Effect<Address.Address> = Effect.gen(function* () {
  const text = yield* Effect.orElseSucceed(Config.String("ASSEMBLY_BASE_URL"), () => "")
  return { ...toAddress(text), program: yield* Invocation.Program }
})
