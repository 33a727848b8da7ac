import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/**
 * Where an IP address is: for everybody to reach, on this machine, or anywhere between (private, link-local, unique
 * local, shared, reserved, multicast, unspecified, translated).
 */
export type Place = "public" | "loopback" | "private"

/** All global unicast addresses of IPv6; the ranges beside it are not assigned, or mean other addresses. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3")

/** An IPv4 address that is written as IPv6 (`::ffff:127.0.0.1`) is where the IPv4 address is. What is no address is private. */
export const placeOf = (address: string): Place => {
  if (isIP(address) === 0) return "private"
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range === "loopback") return "loopback"
  if (range !== "unicast") return "private"
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast) ? "public" : "private"
}

/** The address that a host of a URL is, without brackets; undefined for a name. */
export const ofHost = (hostname: string): string | undefined => {
  const address = hostname.replace(/^\[(.*)\]$/, "$1")
  return isIP(address) === 0 ? undefined : address
}
