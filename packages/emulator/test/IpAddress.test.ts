import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { BlockList } from "node:net"
import * as IpAddress from "../src/internal/http/ipAddress.ts"

/**
 * The expected special-purpose addresses: those in the IANA registries (RFC 6890), those that are not global unicast,
 * and those of network services (AS112, AMT). Node's `BlockList` checks addresses against these lists, independently of
 * the library under test.
 */
const networks = {
  ipv4:
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 " +
    "192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 " +
    "203.0.113.0/24 224.0.0.0/4 240.0.0.0/4",
  ipv6:
    "::/3 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 4000::/2 " +
    "5f00::/16 8000::/1 fc00::/7 fe80::/10 fec0::/10 ff00::/8"
}

const families = ["ipv4", "ipv6"] as const
const all = families.flatMap((family) =>
  networks[family].split(" ").map((network) => {
    const [address = "", prefix] = network.split("/")
    return [address, Number(prefix), family] as const
  })
)

type Family = (typeof families)[number]

const special = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const [network, prefix, family] of all) special[family].addSubnet(network, prefix, family)
const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

const bits = { ipv4: 32, ipv6: 128 } as const

const wrap = (value: bigint, family: Family): bigint => BigInt.asUintN(bits[family], value)

const format = (value: bigint, family: Family): string =>
  family === "ipv4"
    ? [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join(".")
    : [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((value >> shift) & 0xffffn).toString(16)).join(":")

const parse = (address: string, family: Family): bigint => {
  if (family === "ipv4") return address.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n)
  const [before = "", after = ""] = address.split("::")
  const groups = (text: string) => text.split(":").filter((group) => group !== "")
  const zeros = Array.from({ length: 8 - groups(before).length - groups(after).length }, () => "0")
  return [...groups(before), ...zeros, ...groups(after)].reduce(
    (value, part) => (value << 16n) | BigInt(`0x${part}`),
    0n
  )
}

const mapped = 0xffffn << 32n

const expected = (value: bigint, family: Family): IpAddress.Place => {
  const address = format(value, family)
  if (loopback.check(address, family)) return "loopback"
  // An address in `::ffff:0:0/96` counts as its IPv4 address.
  if (family === "ipv6" && value >> 32n === 0xffffn) return expected(value & 0xffffffffn, "ipv4")
  return special[family].check(address, family) ? "private" : "public"
}

const agrees = (value: bigint, family: Family): void => {
  const address = format(value, family)
  assert.strictEqual(IpAddress.placeOf(address), expected(value, family), address)
}

const Value = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: (1n << 128n) - 1n }))

describe("The place of an address", () => {
  it.each(all)("is known at both ends of %s/%i", (network, prefix, family) => {
    const first = parse(network, family)
    const last = first + (1n << BigInt(bits[family] - prefix)) - 1n
    for (const edge of [first - 1n, first, first + 1n, last - 1n, last, last + 1n]) {
      agrees(wrap(edge, family), family)
      if (family === "ipv4") agrees(mapped | wrap(edge, family), "ipv6")
    }
  })

  it.effect.prop(
    "is that of the registries, for any address",
    { value: Value, shift: Schema.Literals([0, 3, 16, 64, 96]) },
    ({ shift, value }) =>
      Effect.sync(() => {
        agrees(wrap(value, "ipv4"), "ipv4")
        agrees(wrap(value, "ipv6"), "ipv6")
        // Random addresses are rarely small, IPv4-mapped or global unicast, so the test makes such addresses.
        agrees(value >> BigInt(shift), "ipv6")
        agrees(mapped | (value & 0xffffffffn), "ipv6")
        agrees((1n << 125n) | (value >> 3n), "ipv6")
      })
  )

  it("is private for what is no address", () => {
    for (const text of ["", "example.com", "1.2.3", "127.0.0.1/8", "fe80::1%eth0"]) {
      assert.strictEqual(IpAddress.placeOf(text), "private", text)
    }
  })

  it("is asked for the host of a URL as the URL writes it", () => {
    const hostOf = (url: string) => IpAddress.ofHost(new URL(url).hostname)
    assert.strictEqual(hostOf("http://0x7f.1/"), "127.0.0.1")
    assert.strictEqual(hostOf("http://0300.0250.1/"), "192.168.0.1")
    assert.strictEqual(hostOf("http://[::FFFF:127.0.0.1]/"), "::ffff:7f00:1")
    assert.isUndefined(hostOf("http://127.0.0.1.example.com/"))
    assert.isUndefined(hostOf("http://localhost/"))
  })
})
