/**
 * The rules of the headers of tus.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Record from "effect/Record"
import * as TusUpload from "../../unstable/TusUpload.ts"
import * as Part from "./parts.ts"
import { changed, integers, oneOf, type Path, type Rules, setter, text, values } from "./rule.ts"

const partUrl = "/resumable/files/"
const maxConcat = 8192

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
const concatOf = (length: number) => `final;${partUrl}${"a".repeat(length - "final;".length - partUrl.length)}`

const concat = Part.all(
  Part.is("is final; and upload URLs with single spaces", badConcat, {
    edge: values("final;http://127.0.0.1:1080/resumable/files/a https://[::1]:1/resumable/files/b/c.d~e_f-g+h")
  }),
  Part.is(
    `is at most ${maxConcat} characters`,
    oneOf<unknown>(values(concatOf(maxConcat + 1)), Arbitrary.map(integers(maxConcat + 1, 9000), concatOf)),
    { edge: values(concatOf(maxConcat)) }
  ),
  Part.is("is text", values(null, 5))
)

/** The rules of a part in one form. */
const onlyIn =
  (form: keyof Rules, part: Part.Part): Part.Part =>
  (at) =>
    part(at).map((rules) => ({ decoded: [], wire: [], [form]: rules[form] }))

/** The rules of headers that must not be there. */
const absentIn = (what: string, headers: Readonly<Record<string, string>>) =>
  Part.parts(Record.map(headers, (value) => Part.is(`is not in a ${what} creation`, values(value))))

const minimal = "assembly_url YQ==,filename YQ==,fieldname YQ=="
const mandatory = ["assembly_url", "filename", "fieldname"]

const entries = (name: string, bad: Arbitrary.Arbitrary<unknown>, below: Path = []) => Part.wire(name, bad, { below })

/** The rules of the metadata as a header. */
const metadataHeader = Part.all(
  entries(
    "has values in padded Base64 of UTF-8",
    Arbitrary.map(
      text("^k (?:[A-Za-z0-9]{1,3}|[A-Za-z0-9]{5}=|[A-Za-z0-9]{3}[-_]|====|YQ ==| YQ==|/w==|gICA|7aCA)$"),
      (entry) => `${minimal},${entry}`
    ),
    ["k"]
  ),
  entries("has keys of printable ASCII", values(`${minimal},\u00e9 YQ==`), ["\u00e9"]),
  entries("has each key once", values(`${minimal},filename YQ==`, `filename YQ==,${minimal}`), ["filename"]),
  entries(
    "has a filename with a value",
    values(minimal.replace("filename YQ==", "filename"), minimal.replace("filename YQ==", "filename ")),
    ["filename"]
  ),
  ...mandatory.map((key) =>
    entries(`has ${key}`, values(minimal.replace(new RegExp(`,?${key} YQ==`), "").replace(/^,/, "")), [key])
  ),
  entries(
    "is entries separated by single commas",
    values("", ",", `${minimal},`, `,${minimal}`, `${minimal},,a YQ==`, `${minimal}, a YQ==`)
  )
)

const metadataValue = Part.all(
  onlyIn("decoded", Part.required()),
  Part.decoded("is text of at least 1 character", values("", null, 5)),
  Part.decoded("is valid Unicode", values("\ud800"))
)

/** The rules of decoded metadata. */
const metadata = Part.parts(Object.fromEntries(mandatory.map((key) => [key, metadataValue])))

const printableKeys: Part.Part = () => [
  changed([], "has keys of printable ASCII without comma and space", () =>
    Arbitrary.map(text("^[a-z]{0,4}(?:[ ,]|\\u00e9|\\u0009)[a-z]{1,4}$"), (key) => ({
      path: [key],
      apply: setter([key], "a")
    }))
  )
]

const length = Part.all(
  Part.is("is an unsigned integer in canonical form", {
    wire: oneOf<unknown>(
      text("^0\\d{1,3}$"),
      text("^[+-]\\d{1,3}$"),
      text("^\\d{1,3}[n ]$"),
      text("^(?: \\d|\\d\\.0|\\de\\d)$"),
      values("", "0x10", "Infinity")
    ),
    decoded: values(5, "5", null)
  }),
  Part.is(
    "is 0 to 9223372036854775807",
    {
      decoded: oneOf<unknown>(Arbitrary.map(integers(-1000, -1), BigInt), values(9_223_372_036_854_775_808n)),
      wire: values("9223372036854775808", "99999999999999999999")
    },
    { edge: { decoded: values(0n, 9_223_372_036_854_775_807n), wire: values("0", "9223372036854775807") } }
  )
)

const version = Part.required(Part.is("is 1.0.0", text("^(?:0\\.[0-9]|1\\.0|1\\.0\\.[1-9]|2\\.0\\.0)$")))

const octetStream = Part.is(
  `is ${TusUpload.offsetOctetStream}`,
  values("application/octet-stream", "", `${TusUpload.offsetOctetStream}; charset=utf-8`)
)

/** The rules that the three kinds of creations share. */
const creation = Part.parts({
  "tus-resumable": version,
  "upload-metadata": Part.required(metadataHeader, metadata)
})

/** The rules of creations of one file or of a part. */
const ordinary = Part.all(
  creation,
  Part.parts({ "content-type": octetStream, "upload-concat": Part.is("is partial", values("", "Partial", "final", 5)) })
)

export const tus: Part.Table = [
  [
    TusUpload.Metadata,
    Part.all(
      metadataHeader,
      metadata,
      Part.parts({
        k: Part.all(
          Part.decoded("is text or null", values(5, true, [])),
          Part.decoded("is valid Unicode", values("\udc00"))
        )
      }),
      onlyIn("decoded", printableKeys)
    )
  ],
  [TusUpload.Concat, concat],
  [
    TusUpload.FixedHeaders,
    Part.all(
      ordinary,
      Part.parts({ "upload-length": Part.required(length) }),
      absentIn("fixed", { "upload-defer-length": "1" })
    )
  ],
  [
    TusUpload.DeferredHeaders,
    Part.all(
      ordinary,
      Part.parts({ "upload-defer-length": Part.required(Part.is("is 1", values("0", "true", "", "01"))) }),
      absentIn("deferred", { "upload-length": "5" })
    )
  ],
  [
    TusUpload.FinalHeaders,
    Part.all(
      creation,
      Part.parts({ "upload-concat": Part.required(concat) }),
      absentIn("final", {
        "upload-length": "5",
        "upload-defer-length": "1",
        "content-type": TusUpload.offsetOctetStream
      })
    )
  ],
  [
    TusUpload.AppendHeaders,
    Part.parts({
      "tus-resumable": version,
      "upload-offset": Part.required(length),
      "content-type": Part.required(octetStream),
      "upload-length": length
    })
  ]
]
