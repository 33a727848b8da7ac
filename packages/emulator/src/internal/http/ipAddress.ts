import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/**
 * The kind of an IP address. `private` includes link-local, unique local, shared, reserved, multicast, unspecified and
 * translated addresses.
 */
export type Place = "public" | "loopback" | "private"

/**
 * The global unicast addresses of IPv6. `ipaddr.js` also reports `unicast` for addresses outside this range, which are
 * unassigned or deprecated.
 */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/**
 * Returns the kind of an IP address. An IPv4-mapped IPv6 address (`::ffff:127.0.0.1`) counts as its IPv4 address. An
 * invalid address counts as private.
 */
export const placeOf = (address: string): Place => {
  if (isIP(address) === 0) return "private"
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range === "loopback") return "loopback"
  if (range !== "unicast") return "private"
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast) ? "public" : "private"
}

/** The IP address in the host of a URL, without brackets. The result is undefined if the host is a name. */
export const ofHost = (hostname: string): string | undefined => {
  const address = hostname.replace(/^\[(.*)\]$/, "$1")
  return isIP(address) === 0 ? undefined : address
}
