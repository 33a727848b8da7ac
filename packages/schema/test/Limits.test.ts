/** What each part of a request or response may be on the wire: the values beside each limit, written by hand. */
import {
  Assembly,
  AssemblyList,
  AssemblyReplay,
  AssemblyStatistics,
  DamAsset,
  DamEntries
} from "@assembly-effect/schema"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Bill from "@assembly-effect/schema/Bill"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Queue from "@assembly-effect/schema/Queue"
import * as Template from "@assembly-effect/schema/Template"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Testing from "@assembly-effect/schema/testing"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import { assert, it } from "@effect/vitest"
import type { Schema } from "effect"
import { accepted, wireIssues, without } from "./support.ts"

type Values = ReadonlyArray<unknown>
const of = (yes: Values, no: Values) => [yes, no] as const
type Codec = Schema.ConstraintCodec<unknown, unknown>

const id = "AAAAAAAAAAAAAAAAAAAAAA"
const ids = [id, "0123456789_-abcdefABCA"]
const noIds = ["", id.slice(1), `${id}A`, `${id.slice(1)}B`, `${id}\n`, `+${id.slice(1)}`, 5]
const filled = of(["a", " "], ["", 5, null])
const flags = of([true, false], [0, 1, "true", null])
const long = "a".repeat(255)
const face = "\u{1f600}"
const sizes = of([0, 1, 2 ** 53 - 1], [-1, 0.5, 2 ** 53, "1", null])
const dates = of(
  ["0000-01-01 00:00:00", "2024-02-29 10:00:00", "9999-12-31 23:59:59"],
  ["2026-02-29 10:00:00", "2026-13-01 10:00:00", "2026-01-01 24:00:00", "2026-01-01T10:00:00Z", "2026-01-01", "", 5]
)
const segment = of(
  ["a", "a b", "%2F", "?", "é", "...", long],
  ["", ".", "..", `${long}a`, "a\\b", "a\u0000", "\u007f", "a\ud800", 5]
)
const noPaths = ["", "/", "a//b", "a/", "../a", "a/ /b", "a\\b", `${long}a/b`, `${face.repeat(255)}/aaaa`]
const path = of(
  ["a/b", "/a", `${long}/${"b".repeat(254)}/c`, `${face.repeat(255)}/aaa`],
  [...noPaths, `${long}/${"b".repeat(254)}/cc`]
)
const lengths = of(
  ["0", "9223372036854775807"],
  ["9223372036854775808", "05", "-1", "+1", "1n", "1 ", "1.0", "1e3", "0x1", "", 5]
)
const hex = (digits: number): readonly [Values, Values] =>
  of(["0f".repeat(digits / 2)], ["0F".repeat(digits / 2), "0g".repeat(digits / 2), "0f".repeat(digits), "", 5])
const measures = of([0, 0.5, 1e21], [-0.1, Infinity, "1", null])
const counts = of([0, 1e21], [-1, 0.5, Infinity, "1", null])

const metadata = "assembly_url YQ==,filename YQ==,fieldname YQ=="
const entries = (...all: ReadonlyArray<string>) => all.map((entry) => `${metadata},${entry}`)
const headers = { "tus-resumable": "1.0.0", "upload-metadata": metadata }
const list = { fromdate: "2026-01-01 10:00:00" }
const statistics = { region: "all", since: "yesterday" }
const asset = { asset_id: id, version_id: id, workspace: "w", path: "/a", mime: null, size: 1 }
const bucket = Object.fromEntries(Object.keys(AssemblyStatistics.StatsBucket.fields).map((key) => [key, 0]))
const part = "/resumable/files/a"
const concat = (length: number) => `final;${part}`.padEnd(length, "a")

const empty = {}
const named = { filename: "a" }
const bulk = { asset_ids: [id] }
const moving = { source: "a", destination: "b" }
const scoped = { scope: ["read"] }
const template = { name: "a", template: {} }
const credential = { name: "n", type: "t", content: "c" }
const signed = { key: "k" }
const grant = { grant_type: "client_credentials", aud: "api2" }
const fixed = { ...headers, "upload-length": "5" }
const final = { ...headers, "upload-concat": `final;${part}` }

/** A schema, its smallest value, and what each key of it accepts and refuses. */
const row = (
  title: string,
  schema: Codec,
  smallest: object,
  keys: Readonly<Record<string, readonly [yes: Values, no: Values]>>
) => [title, schema, smallest, keys] as const

const table = [
  row("AssemblyList.Query (spec O-11, O-12, O-13, O-18)", AssemblyList.Query, list, {
    fromdate: dates,
    todate: dates,
    page: of([-5, 0, 1], [1.5, "1", null]),
    pagesize: of([1, 5000], [0, 5001, 1.5, "1"]),
    type: of(["all", "request_aborted"], ["ALL", "done", "", 5]),
    keywords: of([[], ["a", ""]], ["a", [5], {}])
  }),
  row("AssemblyStatistics.Query (spec O-5)", AssemblyStatistics.Query, statistics, {
    region: filled,
    since: filled,
    template_id: of(["t", "all", "", "no_template", null], [5]),
    other: of([], [1])
  }),
  row(
    "AssemblyStatistics.StatsBucket (spec R-1)",
    AssemblyStatistics.StatsBucket,
    bucket,
    Object.fromEntries(Object.keys(bucket).map((key) => [key, /duration|speed/.test(key) ? measures : counts]))
  ),
  row("DamAsset.MoveRequest (spec O-21, O-25, O-26, O-27, O-29)", DamAsset.MoveRequest, named, {
    filename: of(
      ["a", " a ", "...", long, "é".repeat(255), face.repeat(255), "e\u0301".repeat(255)],
      ["", " ", "\u00a0", ".", "..", "a/b", "a\\b", "a\u0000", "a\u009f", "a\ud800", `${long}a`, face.repeat(256), 5]
    ),
    destination_folder_id: of([...ids, null], noIds),
    other: of([], [1])
  }),
  row("DamAsset.Asset (spec R-13, R-14, R-18, R-19, R-20)", DamAsset.Asset, asset, {
    asset_id: of(ids, noIds),
    workspace: filled,
    path: filled,
    mime: of(["a", "", null], [5]),
    size: sizes,
    width: of([1, 2 ** 53 - 1], [0, -1, 1.5, 2 ** 53]),
    has_alpha: flags,
    md5hash: hex(32),
    sha256: hex(64),
    thumbhash: of(["", "YQ==", "YWI=", "YWJj", "+/+/"], ["YQ", "YQ=", "-_-_", "Y Q=", "=YQ=", "YQ==\n", 5])
  }),
  row("DamEntries.ListQuery", DamEntries.ListQuery, empty, {
    limit: of([1, 500], [0, 501, 1.5]),
    cursor: filled,
    prefix: of(["", "a"], [5, null])
  }),
  row("DamEntries.DeleteManyRequest", DamEntries.DeleteManyRequest, bulk, {
    asset_ids: of([[id], Array(500).fill(id)], [[], Array(501).fill(id), [""], id])
  }),
  row("DamEntries.MoveEntryRequest", DamEntries.MoveEntryRequest, moving, { source: path, destination: path }),
  row("Assembly.CreateParams", Assembly.CreateParams, empty, {
    steps: of(
      [{}, { a: { robot: "/x", any: [1] } }],
      [[], 5, { a: 5 }, { a: {} }, { a: { robot: "" } }, { a: { robot: 5 } }]
    ),
    template_id: filled,
    notify_url: filled,
    redirect_url: filled,
    quiet: flags,
    emit_execution_progress: flags,
    fields: of([{}, { a: [null] }], [[], "a", null]),
    notification_payload: of([[], ["without_uploads"]], [["WITHOUT_UPLOADS"], "a"]),
    auth: of([{}, { max_size: 0, referer: "a.*" }], [{ max_size: -1 }, { referer: "(" }, { referer: 5 }, 5])
  }),
  row("Assembly.CreateForm (spec O-34, O-35)", Assembly.CreateForm, empty, { num_expected_upload_files: sizes }),
  row("AssemblyReplay.ReplayRequest", AssemblyReplay.ReplayRequest, empty, {
    reparse_template: of([0, 1, true, false], [2, "1", null]),
    notify_url: filled,
    template_id: filled,
    steps: of([{ a: {} }], [{ a: 5 }, []])
  }),
  row("Notification.ReplayRequest", Notification.ReplayRequest, empty, { notify_url: filled, wait: flags }),
  row("AuthKey.CreateRequest", AuthKey.CreateRequest, scoped, {
    scope: of([["read", "a:b"]], [[], [""], ["a b"], "read"]),
    auth_key: filled,
    description: of([""], [5]),
    can_show_auth_secret: flags,
    is_allowed_for_smartcdn: flags,
    signature_algo: of(["sha1", "sha256", "sha384"], ["SHA1", "md5"])
  }),
  row("Template.CreateRequest", Template.CreateRequest, template, {
    name: of([...segment[0], "a/b"], segment[1]),
    require_signature_auth: of([0, 1, true, false], [2, "1", null]),
    assembly_status_expiry: of(["1day", "NoSave"], ["1DAY", "2days"]),
    template: of(
      [
        { notify_url: null, any: 1 },
        { auth: { max_size: 1 }, fields: {}, allow_steps_override: true }
      ],
      [{ notify_url: "" }, { auth: { max_size: -1 } }, { fields: [] }, { allow_steps_override: 1 }, 5, []]
    )
  }),
  row("Template.Query", Template.Query, empty, {
    page: of([1], [0, 1.5]),
    pagesize: of([1, 5000], [0, 5001]),
    sort: of(["created", "name"], ["NAME"]),
    order: of(["asc", "desc"], ["up"]),
    include_builtin: of(["all", "none"], ["any"]),
    fromdate: dates
  }),
  row("TemplateCredential.CreateRequest", TemplateCredential.CreateRequest, credential, {
    name: filled,
    type: filled,
    content: of(["c", { key: 1 }], ["", 5, null])
  }),
  row("Queue.StatisticsQuery", Queue.StatisticsQuery, statistics, {
    region: filled,
    since: filled,
    aggregation: of(["avg", "max", null], ["AVG", ""])
  }),
  row("Auth.AuthParams (spec A-2)", Auth.AuthParams, signed, {
    key: filled,
    expires: of(
      ["2030-01-01T10:00Z", "2030-01-01T10:00:00.5+02:00"],
      [
        "",
        "2030-01-01",
        "2030-01-01T10:00:00",
        "2030-02-30T10:00:00Z",
        "2030-01-01T24:00:00Z",
        "2030-01-01T10:00:00+25:00"
      ]
    ),
    nonce: of(["", "a", 5], [1.5, null, true]),
    max_size: sizes,
    referer: of(["a.*"], ["*", "(", "[z-a]", 5])
  }),
  row("Auth.TokenRequest", Auth.TokenRequest, grant, {
    grant_type: of([], ["password"]),
    aud: of([], ["api1"]),
    scope: of(["read", "a b:c"], ["", " a", "a  b", ["a"]])
  }),
  row("TusUpload.FixedHeaders (spec O-36, O-45, O-46)", TusUpload.FixedHeaders, fixed, {
    "tus-resumable": of(["1.0.0"], ["1.0", "1.0.1", "0.2.2", ""]),
    "upload-length": lengths,
    "upload-defer-length": of([], ["1"]),
    "upload-concat": of(["partial"], ["Partial", "final", ""]),
    "content-type": of(["application/offset+octet-stream"], ["application/octet-stream", ""]),
    "upload-metadata": of(
      [metadata, ...entries("k YQ==", "k", "k ", "k YR==")],
      [
        ...entries("k YQ", "k YQ=", "k -_-_", "k /w==", "k YQ ==", "\u00e9 YQ==", "filename YQ==", "", " k YQ=="),
        ...["assembly_url", "filename", "fieldname"].map((key) => metadata.replace(`${key} YQ==`, key)),
        ...["assembly_url", "filename", "fieldname"].map((key) =>
          metadata.replace(new RegExp(`,?${key} YQ==`), "").replace(/^,/, "")
        )
      ]
    )
  }),
  row("TusUpload.FinalHeaders (spec O-38)", TusUpload.FinalHeaders, final, {
    "upload-concat": of(
      [`final;${part} https://[::1]:1/resumable/files/b/c.d~e_f-g+h`, concat(8192)],
      [
        concat(8193),
        "final;",
        `Final;${part}`,
        `final; ${part}`,
        `final;${part}  ${part}`,
        `final;${part},${part}`,
        "final;/files/a",
        "final;//example/resumable/files/a",
        "final;/resumable/files/../a",
        "final;/resumable/files/%2e",
        "final;/resumable/files/a?b=c",
        `final;https://a@b${part}`
      ]
    ),
    "upload-length": of([], ["5"]),
    "upload-defer-length": of([], ["1"]),
    "content-type": of([], ["application/offset+octet-stream"])
  })
]

const rows = table.flatMap(([name, schema, valid, keys]) =>
  Object.entries(keys).map(([key, [yes, no]]) => [name, key, schema, valid, yes, no] as const)
)

it.each(rows)("%s accepts and refuses these values of %s", (_, key, schema, valid, yes, no) => {
  const values = [...yes, ...no].map((value) => Object.assign({}, valid, { [key]: value }))
  assert.deepStrictEqual(accepted(schema, values), values.slice(0, yes.length))
})

it.each(rows)("Testing.of finds the rules of %s that refuse these values of %s", (_, key, schema, valid, _yes, no) => {
  const names = Testing.of(schema).rules.wire.map(({ name }) => name.replace(/^[^:]*: /, ""))
  // JSON has no Infinity.
  for (const value of no.filter((one) => one !== Infinity)) {
    const [issue, ...others] = wireIssues(schema, Object.assign({}, valid, { [key]: value }))
    if (others.length === 0) assert.include(names, issue?.message)
  }
})

it.each(table)("%s needs each key of its smallest value", (_, schema, valid) => {
  const shorter = Object.keys(valid).map((key) => without(valid, key))
  assert.deepStrictEqual(accepted(schema, [valid, ...shorter]), [valid])
})

const texts: ReadonlyArray<readonly [string, Codec, Values, Values]> = [
  [
    "an AssemblyId",
    Assembly.AssemblyId,
    ["0f".repeat(16)],
    ["", "A".repeat(32), "g".repeat(32), "a".repeat(31), "a".repeat(33)]
  ],
  ["an AuthKeyId", AuthKey.AuthKeyId, segment[0], [...segment[1], "a/b"]],
  ["a CredentialId", TemplateCredential.CredentialId, segment[0], [...segment[1], "a/b"]],
  [
    "an UploadPath (spec R-28)",
    TusUpload.UploadPath,
    [part, `${part}/b`, `${part}.b+c`],
    [
      "/resumable/files",
      "/resumable/files/",
      `${part}/`,
      `${part}/..`,
      "/resumable/files/.",
      "/resumable/files/%61",
      "/a"
    ]
  ],
  ["a Month", Bill.Month, ["2026-01", "2026-12"], ["2026-00", "2026-13", "2026-1", "26-01", "2026-01-01", ""]]
]

it.each(texts)("%s is one of these texts", (_, schema, yes, no) => {
  assert.deepStrictEqual(accepted(schema, [...yes, ...no]), yes)
})
