/**
 * The rules of the headers of tus.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as TusUpload from "../../unstable/TusUpload.ts"
import { boolean, empty, field, required } from "./fields.ts"
import {
  changed,
  integers,
  kind,
  type Key,
  missing,
  oneOf,
  type Path,
  rule,
  type Rules,
  setter,
  text,
  values
} from "./rule.ts"
import type { Table } from "./table.ts"

const part = "/resumable/files/"
const maxConcat = 8192

const badPart = oneOf<unknown>(
  empty,
  text("^/files/[a-z]{4}$"),
  text("^/resumable/files/(?:\\.\\.?|%2e)$"),
  text("^/resumable/files/a b$")
)

const badConcat = oneOf(
  text("^final;$"),
  text("^[Ff]inal:?/resumable/files/[a-z]{4}$"),
  text("^final; /resumable/files/[a-z]{4}$"),
  text("^final;/resumable/files/[a-z]{4}(?:  |,)/resumable/files/[a-z]{4}$"),
  text("^final;(?://example)?/resumable/files/(?:\\.\\./[a-z]|%2e%2e|[a-z]\\?b=c|)$"),
  text("^final;/files/[a-z]{4}$"),
  text("^final;https://[a-z]{1,8}@example/resumable/files/[a-z]{4}$")
)

/** A list of one part, with which the header has this length. */
const concatOf = (length: number) => `final;${part}${"a".repeat(length - "final;".length - part.length)}`

const concat = (at: ReadonlyArray<Key>): ReadonlyArray<Rules> => [
  rule({
    at,
    name: "is final; and upload URLs with single spaces",
    bad: badConcat,
    edge: values("final;http://127.0.0.1:1080/resumable/files/a https://[::1]:1/resumable/files/b/c.d~e_f-g+h")
  }),
  rule({
    at,
    name: `is at most ${maxConcat} characters`,
    bad: oneOf<unknown>(values(concatOf(maxConcat + 1)), Arbitrary.map(integers(maxConcat + 1, 9000), concatOf)),
    edge: values(concatOf(maxConcat))
  }),
  rule({ at, name: "is text", bad: values(null, 5) })
]

/** A rule that only headers can break. */
const header = (key: string, name: string, wire: Arbitrary.Arbitrary<unknown>, edge?: Arbitrary.Arbitrary<unknown>) =>
  field(key, name, { wire }, { edge: edge && { wire: edge } })

const wireOnly = ({ wire }: Rules): Rules => ({ decoded: [], wire })
const decodedOnly = ({ decoded }: Rules): Rules => ({ decoded, wire: [] })

const minimal = "assembly_url YQ==,filename YQ==,fieldname YQ=="

const printableKeys = changed([], "has keys of printable ASCII without comma and space", () =>
  Arbitrary.map(text("^[a-z]{0,4}(?:[ ,]|\\u00e9|\\u0009)[a-z]{1,4}$"), (key) => ({
    path: [key],
    apply: setter([key], "a")
  }))
)

/** The rules of the metadata as a header. */
const metadataHeader = (at: ReadonlyArray<Key>): ReadonlyArray<Rules> => {
  const bad = (name: string, wire: Arbitrary.Arbitrary<unknown>, below: Path = []) =>
    rule({ at, name, bad: { wire }, below })
  return [
    bad(
      "has values in padded Base64 of UTF-8",
      Arbitrary.map(
        text("^k (?:[A-Za-z0-9]{1,3}|[A-Za-z0-9]{5}=|[A-Za-z0-9]{3}[-_]|====|YQ ==| YQ==|/w==|gICA|7aCA)$"),
        (entry) => `${minimal},${entry}`
      ),
      ["k"]
    ),
    bad("has keys of printable ASCII", values(`${minimal},\u00e9 YQ==`), ["\u00e9"]),
    bad("has each key once", values(`${minimal},filename YQ==`, `filename YQ==,${minimal}`), ["filename"]),
    bad(
      "has a filename with a value",
      values(minimal.replace("filename YQ==", "filename"), minimal.replace("filename YQ==", "filename ")),
      ["filename"]
    ),
    ...["assembly_url", "filename", "fieldname"].map((key) =>
      bad(
        `has ${key}`,
        values(
          minimal
            .split(",")
            .filter((entry) => !entry.startsWith(key))
            .join(",")
        ),
        [key]
      )
    ),
    bad(
      "is entries separated by single commas",
      values("", ",", `${minimal},`, `,${minimal}`, `${minimal},,a YQ==`, `${minimal}, a YQ==`)
    )
  ]
}

/** The rules of decoded metadata below a path. */
const metadata = (below: ReadonlyArray<Key>): ReadonlyArray<Rules> =>
  ["assembly_url", "filename", "fieldname"].flatMap((key) => [
    decodedOnly(missing([...below, key])),
    rule({ at: [...below, key], name: "is text of at least 1 character", bad: { decoded: values("", null, 5) } }),
    rule({ at: [...below, key], name: "is valid Unicode", bad: { decoded: values("\ud800") } })
  ])

const length = (
  key: Key,
  { isRequired }: { readonly isRequired: boolean } = { isRequired: true }
): ReadonlyArray<Rules> => [
  ...(isRequired ? [required(key)] : []),
  field(key, "is an unsigned integer in canonical form", {
    wire: oneOf<unknown>(
      text("^0\\d{1,3}$"),
      text("^[+-]\\d{1,3}$"),
      text("^\\d{1,3}[n ]$"),
      text("^\\d\\.0$"),
      text("^\\de\\d$"),
      text("^ \\d$"),
      values("", "0x10", "Infinity")
    ),
    decoded: values(5, "5", null)
  }),
  field(
    key,
    "is 0 to 9223372036854775807",
    {
      decoded: oneOf<unknown>(Arbitrary.map(integers(-1000, -1), BigInt), values(9_223_372_036_854_775_808n)),
      wire: values("9223372036854775808", "99999999999999999999")
    },
    { edge: { decoded: values(0n, 9_223_372_036_854_775_807n), wire: values("0", "9223372036854775807") } }
  )
]

const version = [
  wireOnly(required("tus-resumable")),
  header("tus-resumable", "is 1.0.0", text("^(?:0\\.[0-9]|1\\.0|1\\.0\\.[1-9]|2\\.0\\.0)$"))
]

const octetStream = header(
  "content-type",
  `is ${TusUpload.offsetOctetStream}`,
  values("application/octet-stream", "", `${TusUpload.offsetOctetStream}; charset=utf-8`)
)

/** The rules that the three kinds of creations share. */
const creation = [
  ...version,
  required(["metadata", "upload-metadata"]),
  ...metadataHeader(["upload-metadata"]),
  ...metadata(["metadata"])
]

/** The rules of creations of one file or of a part. */
const ordinary = [...creation, octetStream, decodedOnly(boolean("partial")), decodedOnly(boolean("withBody"))]

const fixed = [
  ...ordinary,
  ...length(["length", "upload-length"]),
  wireOnly(
    changed(["upload-length"], "is not beside upload-defer-length", (path) =>
      Arbitrary.Constant({ path, apply: setter(["upload-defer-length"], "1") })
    )
  )
]

const deferred = [
  ...ordinary,
  header("upload-defer-length", "is 1", values("0", "true", "", "01")),
  header("upload-length", "is not in a deferred creation", values("5"))
]

const final = [
  ...creation,
  field("parts", "has a part", { decoded: values([]) }, { below: [0] }),
  field("parts", "holds upload URLs", { decoded: Arbitrary.map(badPart, (bad) => [bad]) }, { below: [0] }),
  field(
    "parts",
    `is at most ${maxConcat} characters`,
    { decoded: Arbitrary.map(integers(500, 600), (count) => Array.from({ length: count }, () => `${part}a`)) },
    { edge: { decoded: values([concatOf(maxConcat).slice("final;".length)]) } }
  ),
  ...concat(["upload-concat"]).map(wireOnly),
  header("upload-length", "is not in a final creation", values("5")),
  header("upload-defer-length", "is not in a final creation", values("1")),
  header("content-type", "is not in a final creation", values(TusUpload.offsetOctetStream))
]

const { Deferred, Final, Fixed } = TusUpload.Creation.to.cases

export const tus: Table = [
  [
    TusUpload.Metadata,
    [
      ...metadataHeader([]),
      ...metadata([]),
      field("k", "is text or null", { decoded: values(5, true, []) }),
      field("k", "is valid Unicode", { decoded: values("\udc00") }),
      decodedOnly(printableKeys)
    ]
  ],
  [TusUpload.Concat, concat([])],
  [TusUpload.Creation, kind("fixed", fixed), Fixed],
  [TusUpload.Creation, kind("deferred", deferred), Deferred],
  [TusUpload.Creation, kind("final", final), Final],
  [
    TusUpload.AppendHeaders,
    [
      ...version,
      decodedOnly(required("tus-resumable")),
      ...length("upload-offset"),
      wireOnly(required("content-type")),
      octetStream,
      ...length("upload-length", { isRequired: false })
    ]
  ]
]
