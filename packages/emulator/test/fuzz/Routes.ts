/** Makes almost valid requests to each route: every operation with its likely params, and the routes beside them. */
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Testing from "@assembly-effect/api/testing"
import * as Input from "@assembly-effect/schema/unstable/Input"
import type { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import { Arbitrary, Effect } from "effect"
import { createHmac } from "node:crypto"
import { operations } from "../../../api/test/utils/operations.ts"
import { oddly, type Request } from "./Request.ts"

/** The address and the credentials of the emulator, and the ids and tokens of earlier responses by their names. */
export interface World {
  readonly host: string
  readonly key: string
  readonly secret: string
  readonly known: Map<string, ReadonlyArray<string>>
}

const none = "0".repeat(32)
const noAsset = "A".repeat(22)

const known = (world: World, name: string, draw: Draw): string => {
  const all = world.known.get(name) ?? []
  return all.length > 0 && draw.chance(0.9) ? draw.of(all) : name === "assetId" ? noAsset : none
}

type Make = (world: World, draw: Draw) => Request
type Fields = ReadonlyArray<readonly [name: string, value: string]>

let nonce = 0

/** Signs params after a random change, so that authentication accepts invalid params and the route has to check them. */
const signed = (world: World, params: object, draw: Draw): Fields => {
  const auth = {
    key: world.key,
    expires: "2999-01-01T00:00:00Z",
    nonce: `${nonce++}`,
    ...(draw.chance(0.12) ? { referer: draw.of(["^https://", "^(a+)+$", "(x{900}){2}", "\\", "(a)\\1", "."]) } : {}),
    ...(draw.chance(0.12) ? { max_size: draw.of([0, 1, 100, 1e15]) } : {})
  }
  const whole = { ...params, auth }
  const changed = `{"auth":${JSON.stringify(auth)},${oddly({ a: 1, ...params }, draw).slice(1)}`
  const text = draw.chance(0.5) ? JSON.stringify(whole) : draw.chance(0.15) ? oddly(whole, draw) : changed
  const signature = createHmac("sha384", world.secret).update(text).digest("hex")
  return [
    ["params", text],
    ["signature", `sha384:${signature}`]
  ]
}

const encode = (fields: Fields): string =>
  new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString()

const request = (world: World, method: string, path: string, headers: Fields = [], body = ""): Request => ({
  method,
  path,
  headers: [["host", world.host], ["accept", "*/*"], ...headers],
  body: Buffer.from(body)
})

const urlEncoded = ["content-type", "application/x-www-form-urlencoded"] as const

const multipart = (world: World, params: object, draw: Draw, files: ReadonlyArray<string>): Request => {
  const part = (name: string, value: string, rest = "") =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n${value}\r\n`
  const body = [
    ...signed(world, params, draw).map(([name, value]) => part(name, value)),
    part(draw.of(["field", "__proto__", "constructor", "params"]), "value"),
    ...files.map((name) => part("file", "bytes of a file", `; filename="${name}"`))
  ]
  const headers = [["content-type", "multipart/form-data; boundary=x"]] as const
  return request(world, "POST", "/assemblies", headers, `${body.join("")}--x--\r\n`)
}

const steps = (draw: Draw) => {
  const robot = () =>
    draw.of(["/upload/handle", "/transloadit/store", "/file/hash", "/emulator/fail", "/emulator/wait", "/no/robot"])
  const step = () => ({
    robot: robot(),
    seconds: 0.01,
    path: draw.of(["${file.name}", "${file.id}", "a/${fields.__proto__}/${constructor}", "/"]),
    ...(draw.chance(0.1) ? { credentials: draw.of<unknown>(["c1", ["c1", "c2"], 5]) } : {}),
    use: draw.of<unknown>([":original", ["a", "a"], ["b", "b"], { steps: ["a"] }, "none", ["a", { name: "b" }]])
  })
  return { a: { robot: draw.of(["/upload/handle", robot()]) }, b: step(), c: step() }
}

type Params = (world: World, draw: Draw) => object

const creation: Params = (world, draw) => ({
  ...(draw.chance(0.25) ? { template_id: known(world, "templateIdOrName", draw) } : {}),
  ...(draw.chance(0.3) ? {} : { steps: steps(draw) }),
  ...(draw.chance(0.5) ? { fields: { constructor: null, a: 1, list: [1, { b: 2 }] } } : {}),
  ...(draw.chance(0.05) ? { quiet: true } : {})
})

const expected = (draw: Draw) => ["num_expected_upload_files", draw.of(["0", "1", "1000", "01"])] as const

const listing: Params = (_, draw) => ({
  fromdate: "2020-01-01 00:00:00",
  page: draw.of([1, 2, 1e15]),
  pagesize: draw.of([1, 50, 5000]),
  keywords: draw.of([[], ["a"], ["%", "_"], Array.from({ length: 30 }, () => "a")])
})

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

/** Params with which an operation often succeeds. An operation without them has the params of its rules. */
const likely: Readonly<Record<string, Params>> = {
  "Assemblies.create": creation,
  "Assemblies.replace": creation,
  "Assemblies.replay": (w, d) => (d.chance(0.5) ? {} : { ...creation(w, d), reparse_template: 1 }),
  "Assemblies.list": listing,
  "Assemblies.statistics": (_, d) => ({ region: "all", since: daysAgo(d.of([0, 1, 80, 100])), template_id: "all" }),
  "Queues.statistics": (_, d) => ({ region: "all", since: daysAgo(d.of([0, 1, 80, 100])), aggregation: "max" }),
  "Dam.move": (_, d) => ({ filename: `f${d.below(50)}`, destination_folder_id: null }),
  "Dam.moveMany": (w, d) => ({
    asset_ids: Array.from({ length: 1 + d.below(3) }, () => known(w, "assetId", d)),
    destination_folder_id: null
  }),
  "Dam.deleteMany": (w, d) => ({ asset_ids: [noAsset, known(w, "assetId", d)] }),
  "Dam.moveEntry": (_, d) => ({ source: d.of([`f${d.below(50)}`, "a"]), destination: d.of(["a", "a/b/c"]) }),
  "Templates.create": (_, d) => ({ name: `t${d.below(200)}`, template: oddly({ steps: steps(d) }, d) }),
  "TemplateCredentials.create": (_, d) => ({
    name: `c${d.below(200)}`,
    type: d.of(["s3", "wasabi"]),
    content: { key: "k", secret: "s", bucket: "b", more: { list: [1] } }
  }),
  "AuthKeys.create": (_, d) => ({ scope: d.of([["read"], ["dam:write", "read"]]), can_show_auth_secret: true }),
  "AuthKeys.update": () => ({ scope: ["write"], description: "b" }),
  "Notifications.replay": (_, d) => (d.chance(0.1) ? { notify_url: "http://127.0.0.1:9/" } : {})
}

/** The emulator must not notify a generated URL, which could belong to somebody. */
const withoutUrls = (params: unknown): object =>
  JSON.parse(JSON.stringify(params), (key, value) => (key === "notify_url" ? undefined : value))

const ofOperation = (operation: Operation.Any): Make => {
  const { method, name, path } = operation
  const valid = Effect.runSync(Arbitrary.sampleEffect(Testing.of(operation).valid.wire, { count: 200, seed: name }))
  const ofName = likely[name]
  const isRead = operation.carrier === "query"
  return (world, draw) => {
    const sample = draw.of(valid)
    const segment = (variable: string) =>
      // A new Assembly has a new id. Most of what exists is not removed.
      draw.chance(name === "Assemblies.create" ? 1 : method === "DELETE" ? 0.6 : 0.1)
        ? encodeURIComponent(sample.path[variable] ?? "")
        : known(world, variable, draw)
    const to = path.replaceAll(/:(\w+)/g, (_, variable: string) => segment(variable))
    if (operation.auth === "none") return request(world, method, to)
    const params = ofName === undefined || draw.chance(0.1) ? withoutUrls(sample.params) : ofName(world, draw)
    const fields = [...signed(world, params, draw), ...(operation.fields === Input.nothing ? [] : [expected(draw)])]
    if (isRead) return request(world, method, `${to}?${encode(fields)}`)
    return request(world, method, to, [urlEncoded], encode(draw.chance(0.1) ? [...fields, ...fields] : fields))
  }
}

const tus = ["tus-resumable", "1.0.0"] as const
const offsetOctets = ["content-type", "application/offset+octet-stream"] as const
const uploads = "/resumable/files/"

const base64 = (text: string) => Buffer.from(text).toString("base64")

const upload = (world: World, draw: Draw) => uploads + known(world, "upload", draw)

/** A request that creates an upload. */
const tusCreate =
  (headers: (world: World, draw: Draw) => Fields, body = ""): Make =>
  (world, draw) => {
    const metadata = [
      `assembly_url ${base64(`http://${world.host}/assemblies/${known(world, "assemblyId", draw)}`)}`,
      `filename ${base64(draw.of(["a.txt", "../a", "", "\u0000"]))}`,
      `fieldname ${base64("file")}`
    ].join(",")
    return request(world, "POST", uploads, [tus, ["upload-metadata", metadata], ...headers(world, draw)], body)
  }

/** The routes beside the operations. */
const others: Readonly<Record<string, Make>> = {
  "create, without an id": (w, d) =>
    request(w, "POST", "/assemblies", [urlEncoded], encode([...signed(w, creation(w, d), d), expected(d)])),
  "create, multipart": (w, d) => multipart(w, creation(w, d), d, d.of([[], ["a.txt"], ["a", "../b", "__proto__"]])),
  "create, JSON": (w, d) =>
    request(w, "POST", "/assemblies", [["content-type", "application/json"]], oddly(creation(w, d), d)),
  updates: (w, d) => request(w, "GET", `/assemblies/${known(w, "assemblyId", d)}/updates`),
  token: (w, d) =>
    request(
      w,
      "POST",
      "/token",
      [urlEncoded, ["authorization", `Basic ${base64(`${w.key}:${d.chance(0.2) ? "wrong" : w.secret}`)}`]],
      encode([
        ["grant_type", "client_credentials"],
        ["aud", "api2"],
        ["scope", d.of(["assemblies:read", "", "toString"])],
        ...(d.chance(0.5) ? [[d.of(["constructor", "__proto__", "x"]), "y"] as const] : [])
      ])
    ),
  "bearer list": (w, d) => {
    const params = d.chance(0.5) ? JSON.stringify(listing(w, d)) : oddly(listing(w, d), d)
    return request(w, "GET", `/assemblies?${encode([["params", params]])}`, [
      ["authorization", `Bearer ${known(w, "token", d)}`]
    ])
  },
  "tus create": tusCreate((_, d) => [["upload-length", d.of(["0", "5", "100"])]]),
  "tus create with bytes": tusCreate(() => [["upload-length", "5"], offsetOctets], "12345"),
  "tus create part": tusCreate(() => [
    ["upload-defer-length", "1"],
    ["upload-concat", "partial"]
  ]),
  "tus create final": tusCreate((w, d) => [["upload-concat", `final;${upload(w, d)} ${upload(w, d)}`]]),
  "tus head": (w, d) => request(w, "HEAD", upload(w, d), [tus]),
  "tus patch": (w, d) =>
    request(
      w,
      "PATCH",
      upload(w, d),
      [tus, ["upload-offset", d.of(["0", "2", "5"])], offsetOctets],
      d.of(["", "12", "12345"])
    ),
  "tus get": (w, d) => request(w, "GET", upload(w, d)),
  "tus delete": (w, d) => request(w, "DELETE", d.chance(0.25) ? upload(w, d) : uploads + none, [tus]),
  "tus options": (w) => request(w, "OPTIONS", uploads),
  preflight: (w, d) =>
    request(w, "OPTIONS", d.of(["/assemblies", uploads, "/templates", "/token"]), [
      ["origin", "https://example.com"],
      ["access-control-request-method", d.of(["POST", "PATCH", "DELETE"])],
      ["access-control-request-headers", "x, authorization"]
    ]),
  nowhere: (w, d) => request(w, "GET", d.of(["/", "/__proto__", "/constructor/x", "/assemblies/x/y/z"]))
}

/** Every route of the emulator. */
export const routes: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(operations.map((operation) => [operation.name, ofOperation(operation)])),
  ...others
}
