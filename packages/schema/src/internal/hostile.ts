/** Values at which the schemas of requests differ: beside each rule of a schema lie a value that breaks it, and its limit. */
import * as DateTime from "effect/DateTime"
import * as Redacted from "effect/Redacted"

const a255 = "a".repeat(255)
const face = "\u{1f600}"
const assetId = "A".repeat(22)

const names = ["", "1", "a", ".", "..", "...", " ", "\u00a0 ", " a ", "a b", "a  b", "a/b", "a\\b", "a\u0000b"]
  .concat(["a\u007f", "a\ud800", "\u00e9", "a,b", "//a", "a//b", "a/", "../a", "a/ /b"])
  .concat(["A", "*", "(", "01", "1.5", "1e3"])
  .concat([a255, `${a255}a`, face.repeat(255), face.repeat(256), "e\u0301".repeat(255), `${a255}a/b`])
  .concat(["c", "cc"].map((last) => `${a255}/${"b".repeat(254)}/${last}`))
  .concat(["aaa", "aaaa"].map((last) => `${face.repeat(255)}/${last}`))

const ids = [assetId, `${assetId}A`, assetId.slice(1), `${assetId.slice(1)}B`, `${assetId}\n`]
  .concat(["A", "g"].map((digit) => digit.repeat(32)))
  .concat([31, 33].map((length) => "c".repeat(length)))
  .concat(["YQ", "YQ==", "YWI="])

// In the future, because the service refuses times that are long ago.
const dates = ["-01-01", "-02-30", "-01-01 10:00", "-01-01 10:00:00", "-02-30 10:00:00", "-01-01 24:00:00"]
  .concat(["-01", "-13", "-01-01T10:00:00", "-01-01T10:00:00Z", "-02-29T23:59:59+01:00", "-02-30T10:00:00Z"])
  .concat(["-01-01T24:00:00Z"])
  .map((rest) => `2400${rest}`)

const lengths = ["-1", "05", "0", "9007199254740992", "9223372036854775807", "9223372036854775808"]

const part = "/resumable/files/a"
const concat = ["final;", "Final;", "final; "]
  .map((begin) => begin + part)
  .concat([`${part}  ${part}`, "//example/resumable/files/a", "/files/a", "/resumable/files/%2e", `https://a@b${part}`])
  .concat([`http://[::1]:1080${part} ${part}/b.c~d`, part.padEnd(8186, "a"), part.padEnd(8187, "a")])
  .map((urls) => (/^final/i.test(urls) ? urls : `final;${urls}`))

const mandatory = ["assembly_url YQ==", "filename YQ==", "fieldname YQ=="]
const metadata = ["k YQ", "k /w==", "k -_-_", "\u00e9 YQ==", "filename YQ==", "", "k YQ==", "k", "k "]
  .map((entry) => [...mandatory, entry].join())
  .concat(mandatory.map((entry) => mandatory.filter((other) => other !== entry).join()))
  .concat([mandatory.join(), mandatory.join().replace("filename YQ==", "filename ")])

const robot = "/image/resize"
const steps = [
  { ":original": { robot } },
  ...["a", "b", 5, [":original", "b"], { steps: "b" }, { steps: 5 }].map((use) => ({ a: { robot, use } })),
  { a: { robot: "/transloadit/store", path: "" } },
  { a: { robot: "/file/hash", algorithm: "MD5" } },
  { a: { robot: "/emulator/fail", error: "" } },
  { a: { robot: "/emulator/wait" } },
  { a: { robot: "/emulator/wait", seconds: -1 } }
]

const numbers = [-1, 0, 1, 1.5, 2, 500, 501, 5000, 5001, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e300]

/** Values that JSON has. */
export const json: ReadonlyArray<unknown> = [
  null,
  true,
  [],
  {},
  ...[numbers, names, ids, dates, lengths, ["partial", "1.0", "2.0.0", "true"], concat, metadata, steps].flat()
]

const notJson = [undefined, NaN, Infinity, -1n, 0n, 2n ** 63n - 1n, 2n ** 63n]
const moments = ["9999-12-31T23:59:59Z", "+010000-01-01T00:00:00Z"].map((iso) => DateTime.makeUnsafe(iso))
const secrets = ["", 5, null].map((content) => Redacted.make(content))

/** Values that only a program has. */
export const others: ReadonlyArray<unknown> = [...notJson, ...moments, ...secrets]
