/** Makes almost valid requests to each route. */
import { createHmac } from "node:crypto"
import type { SeededRandom } from "./SeededRandom.ts"
import { oddly, type Request, toText } from "./Request.ts"

/** The address and the credentials of the emulator, and the ids and tokens that earlier requests have created. */
export interface World {
  readonly host: string
  readonly key: string
  readonly secret: string
  readonly assemblies: Array<string>
  readonly uploads: Array<string>
  readonly templates: Array<string>
  readonly credentials: Array<string>
  readonly assets: Array<string>
  readonly tokens: Array<string>
  readonly authKeys: Array<string>
}

const none = "0".repeat(32)

const known = (all: ReadonlyArray<string>, chance: SeededRandom): string =>
  all.length === 0 || chance.once(10) ? none : chance.one(all)

let nonce = 0

/**
 * Signs params after a random change, so that authentication accepts invalid params and the route has to check them.
 */
const signed = (world: World, params: object, chance: SeededRandom): ReadonlyArray<readonly [string, string]> => {
  const auth = {
    key: world.key,
    expires: "2999-01-01T00:00:00Z",
    nonce: `${nonce++}`,
    ...(chance.once(8) ? { referer: chance.one(["^https://", "^(a+)+$", "(x{900}){2}", "\\", "(a)\\1", "."]) } : {}),
    ...(chance.once(8) ? { max_size: chance.one([0, 1, 100, 1e15]) } : {})
  }
  const whole = { auth, ...params }
  const text = toText(
    chance.once(2) ? whole : chance.once(6) ? oddly(whole, chance) : Object.assign({ auth }, oddly(params, chance))
  )
  const signature = `sha384:${createHmac("sha384", world.secret).update(text).digest("hex")}`
  return [
    ["params", text],
    ["signature", signature]
  ]
}

const encode = (fields: ReadonlyArray<readonly [string, string]>): string =>
  new URLSearchParams(fields.map(([name, value]) => [name, value])).toString()

const base = (world: World): Request["headers"] => [
  ["host", world.host],
  ["accept", "*/*"]
]

const request = (world: World, method: string, path: string, headers: Request["headers"] = [], body = ""): Request => ({
  method,
  path,
  headers: [...base(world), ...headers],
  body: Buffer.from(body)
})

const query = (world: World, path: string, params: object, chance: SeededRandom): Request =>
  request(world, "GET", `${path}?${encode(signed(world, params, chance))}`)

const form = (
  world: World,
  method: string,
  path: string,
  params: object,
  chance: SeededRandom,
  others: ReadonlyArray<readonly [string, string]> = []
): Request => {
  const fields = [...signed(world, params, chance), ...others]
  return request(
    world,
    method,
    path,
    [["content-type", "application/x-www-form-urlencoded"]],
    encode(chance.once(10) ? [...fields, ...fields] : fields)
  )
}

const multipart = (
  world: World,
  path: string,
  params: object,
  chance: SeededRandom,
  files: ReadonlyArray<string>
): Request => {
  const part = (name: string, value: string, rest = "") =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n${value}\r\n`
  const fields = signed(world, params, chance).map(([name, value]) => part(name, value))
  const parts = files.map((name) => part("file", "bytes of a file", `; filename="${name}"`))
  return request(
    world,
    "POST",
    path,
    [["content-type", "multipart/form-data; boundary=x"]],
    `${[...fields, part(chance.one(["field", "__proto__", "constructor", "params"]), "value"), ...parts].join("")}--x--\r\n`
  )
}

const steps = (chance: SeededRandom) => {
  const robot = () =>
    chance.one(["/upload/handle", "/transloadit/store", "/file/hash", "/emulator/fail", "/emulator/wait", "/no/robot"])
  const step = () => ({
    robot: robot(),
    seconds: 0.01,
    path: chance.one(["${file.name}", "${file.id}", "a/${fields.__proto__}/${constructor}", "/"]),
    ...(chance.once(10) ? { credentials: chance.one<unknown>(["c1", ["c1", "c2"], 5]) } : {}),
    use: chance.one<unknown>([":original", ["a", "a"], ["b", "b"], { steps: ["a"] }, "none", ["a", { name: "b" }]])
  })
  return { a: { robot: chance.one(["/upload/handle", robot()]) }, b: step(), c: step() }
}

const creation = (world: World, chance: SeededRandom) => ({
  ...(chance.once(4) ? { template_id: known(world.templates, chance) } : {}),
  ...(chance.once(3) ? {} : { steps: steps(chance) }),
  ...(chance.once(2) ? { fields: { constructor: null, a: 1, list: [1, { b: 2 }] } } : {}),
  ...(chance.once(20) ? { quiet: true } : {})
})

const credentials = (chance: SeededRandom) => {
  const content = { key: "k", secret: "s", bucket: "b", more: { list: [1] } }
  return {
    name: `c${chance.int(200)}`,
    type: chance.one(["s3", "wasabi", "none"]),
    content: chance.once(2) ? content : toText(oddly(content, chance))
  }
}

const expected = (chance: SeededRandom) => [["num_expected_upload_files", chance.one(["0", "1", "1000"])]] as const

const tus = [["tus-resumable", "1.0.0"]] as const

const base64 = (text: string) => Buffer.from(text).toString("base64")

const metadata = (world: World, chance: SeededRandom): readonly [string, string] => [
  "upload-metadata",
  [
    `assembly_url ${base64(`http://${world.host}/assemblies/${known(world.assemblies, chance)}`)}`,
    `filename ${base64(chance.one(["a.txt", "../a", "", "\u0000"]))}`,
    `fieldname ${base64("file")}`
  ].join(",")
]

const offsetOctets = ["content-type", "application/offset+octet-stream"] as const
const upload = (world: World, chance: SeededRandom) => `/resumable/files/${known(world.uploads, chance)}`
const assembly = (world: World, chance: SeededRandom) => `/assemblies/${known(world.assemblies, chance)}`

type Make = (world: World, chance: SeededRandom) => Request

const listing = (chance: SeededRandom) => ({
  fromdate: "2020-01-01 00:00:00",
  page: chance.one([1, 2, 1e15]),
  pagesize: chance.one([1, 50, 5000]),
  keywords: chance.one([[], ["a"], ["%", "_"], Array.from({ length: 30 }, () => "a")])
})

/** Every route of the emulator. */
export const routes: Readonly<Record<string, Make>> = {
  "create, form": (w, c) => form(w, "POST", "/assemblies", creation(w, c), c, expected(c)),
  "create, with an id": (w, c) =>
    form(
      w,
      "POST",
      `/assemblies/${c
        .int(2 ** 31)
        .toString(16)
        .padStart(32, "0")}`,
      creation(w, c),
      c,
      expected(c)
    ),
  replace: (w, c) => form(w, "PUT", assembly(w, c), creation(w, c), c, expected(c)),
  "create, multipart": (w, c) =>
    multipart(w, "/assemblies", creation(w, c), c, c.one([[], ["a.txt"], ["a", "../b", "__proto__"]])),
  "create, JSON": (w, c) =>
    request(w, "POST", "/assemblies", [["content-type", "application/json"]], toText(oddly(creation(w, c), c))),
  get: (w, c) => request(w, "GET", assembly(w, c)),
  updates: (w, c) => request(w, "GET", `${assembly(w, c)}/updates`),
  cancel: (w, c) => request(w, "DELETE", c.once(3) ? assembly(w, c) : `/assemblies/${none}`),
  replay: (w, c) =>
    form(w, "POST", `${assembly(w, c)}/replay`, c.once(2) ? {} : { ...creation(w, c), reparse_template: 1 }, c),
  list: (w, c) => query(w, "/assemblies", { ...listing(c), type: c.one(["all", "failed"]) }, c),
  statistics: (w, c) =>
    query(
      w,
      "/assembly_stats",
      {
        region: c.one(["all", "us-east-1"]),
        since: new Date().toISOString().slice(0, 13) + ":00:00Z",
        template_id: "all"
      },
      c
    ),
  bill: (w, c) =>
    query(
      w,
      `/bill/${c.once(2) ? new Date().toISOString().slice(0, 7) : c.one(["2020-01", "9999-12", "2026-13"])}`,
      {},
      c
    ),
  "job slots": (w, c) => query(w, "/queues/job_slots", {}, c),
  "job slot statistics": (w, c) =>
    query(
      w,
      "/priority_job_slot_stats",
      {
        region: c.one(["all", "eu-west-1"]),
        since: new Date(Date.now() - c.one([0, 1, 80, 100]) * 86_400_000).toISOString(),
        aggregation: c.one(["avg", "max", null])
      },
      c
    ),
  "dam move": (w, c) =>
    form(
      w,
      "PATCH",
      `/dam/assets/${c.once(5) ? "A".repeat(22) : known(w.assets, c)}`,
      { filename: `f${c.int(50)}`, destination_folder_id: null },
      c
    ),
  "dam get": (w, c) =>
    query(w, `/dam/assets/${known(w.assets, c)}`, c.once(3) ? { version_id: "A".repeat(22) } : {}, c),
  "dam list": (w, c) =>
    query(
      w,
      "/dam/assets",
      {
        prefix: c.one(["", "a", "a/", "f1"]),
        limit: c.one([1, 5, 500]),
        ...(c.once(5) ? { cursor: "A".repeat(43) } : {})
      },
      c
    ),
  "dam delete": (w, c) => form(w, "DELETE", `/dam/assets/${c.once(2) ? none : known(w.assets, c)}`, {}, c),
  "dam bulk move": (w, c) =>
    form(
      w,
      "POST",
      "/dam/assets/bulk/move",
      { asset_ids: Array.from({ length: 1 + c.int(3) }, () => known(w.assets, c)), destination_folder_id: null },
      c
    ),
  "dam bulk delete": (w, c) =>
    form(w, "POST", "/dam/assets/bulk/delete", { asset_ids: ["A".repeat(22), known(w.assets, c)] }, c),
  "dam move entry": (w, c) =>
    form(
      w,
      "POST",
      "/dam/entries/move",
      {
        source: c.one([`f${c.int(50)}`, "a", "/a/b"]),
        destination: c.one(["a", `a/f${c.int(50)}`, "a/b/c", "__proto__"])
      },
      c
    ),
  token: (w, c) =>
    request(
      w,
      "POST",
      "/token",
      [
        ["content-type", "application/x-www-form-urlencoded"],
        ["authorization", `Basic ${base64(`${w.key}:${c.once(5) ? "wrong" : w.secret}`)}`]
      ],
      encode([
        ["grant_type", "client_credentials"],
        ["aud", "api2"],
        ["scope", c.one(["assemblies:read", "", "toString"])],
        ...(c.once(2) ? [[c.one(["constructor", "__proto__", "x"]), "y"] as const] : [])
      ])
    ),
  "bearer list": (w, c) =>
    request(w, "GET", `/assemblies?${encode([["params", toText(c.once(2) ? listing(c) : oddly(listing(c), c))]])}`, [
      ["authorization", `Bearer ${known(w.tokens, c)}`]
    ]),
  "template create": (w, c) =>
    form(
      w,
      "POST",
      "/templates",
      { name: `t${c.int(200)}`, template: c.once(2) ? { steps: steps(c) } : toText(oddly({ steps: steps(c) }, c)) },
      c
    ),
  "template get": (w, c) => query(w, `/templates/${known(w.templates, c)}`, {}, c),
  "template update": (w, c) =>
    form(w, "PUT", `/templates/${known(w.templates, c)}`, { template: { steps: steps(c), fields: {} } }, c),
  "template delete": (w, c) => form(w, "DELETE", `/templates/${known(w.templates, c)}`, {}, c),
  "template list": (w, c) =>
    query(w, "/templates", { ...listing(c), sort: c.one(["name", "last_used", "constructor"]) }, c),
  "credentials create": (w, c) => form(w, "POST", "/template_credentials", credentials(c), c),
  "credentials get": (w, c) => query(w, `/template_credentials/${known(w.credentials, c)}`, {}, c),
  "credentials update": (w, c) => form(w, "PUT", `/template_credentials/${known(w.credentials, c)}`, credentials(c), c),
  "credentials delete": (w, c) => form(w, "DELETE", `/template_credentials/${known(w.credentials, c)}`, {}, c),
  "credentials list": (w, c) =>
    query(w, "/template_credentials", { page: c.one([1, 2, 1e15]), sort: c.one(["name", "constructor"]) }, c),
  "credentials types": (w, c) => query(w, "/template_credentials/types", {}, c),
  "auth key create": (w, c) =>
    form(
      w,
      "POST",
      "/auth_keys",
      {
        scope: c.one([["read"], ["dam:write", "read"], ["x"]]),
        ...(c.once(2) ? { auth_key: `k${c.int(50)}`, description: c.one(["", "a"]) } : {}),
        ...(c.once(2) ? { can_show_auth_secret: c.one([true, 1, false]), signature_algo: "sha256" } : {})
      },
      c
    ),
  "auth key update": (w, c) =>
    form(w, "PUT", `/auth_keys/${known(w.authKeys, c)}`, { scope: ["write"], description: "b" }, c),
  "auth key delete": (w, c) => form(w, "DELETE", `/auth_keys/${known(w.authKeys, c)}`, {}, c),
  "auth key secret": (w, c) => form(w, "POST", `/auth_keys/show_secret/${known(w.authKeys, c)}`, {}, c),
  "auth key list": (w, c) => query(w, "/auth_keys", {}, c),
  "auth key scopes": (w, c) => query(w, "/auth_keys/scopes", {}, c),
  notifications: (w, c) => request(w, "GET", `/assembly_notifications/${known(w.assemblies, c)}`),
  "notification replay": (w, c) =>
    form(
      w,
      "POST",
      `/assembly_notifications/${known(w.assemblies, c)}/replay`,
      c.once(9) ? { notify_url: "http://127.0.0.1:9/" } : {},
      c
    ),
  "tus create": (w, c) =>
    request(w, "POST", "/resumable/files/", [...tus, metadata(w, c), ["upload-length", c.one(["0", "5", "100"])]]),
  "tus create with bytes": (w, c) =>
    request(w, "POST", "/resumable/files/", [...tus, metadata(w, c), ["upload-length", "5"], offsetOctets], "12345"),
  "tus create part": (w, c) =>
    request(w, "POST", "/resumable/files/", [
      ...tus,
      metadata(w, c),
      ["upload-defer-length", "1"],
      ["upload-concat", "partial"]
    ]),
  "tus create final": (w, c) =>
    request(w, "POST", "/resumable/files/", [
      ...tus,
      metadata(w, c),
      ["upload-concat", `final;${upload(w, c)} ${upload(w, c)}`]
    ]),
  "tus head": (w, c) => request(w, "HEAD", upload(w, c), tus),
  "tus patch": (w, c) =>
    request(
      w,
      "PATCH",
      upload(w, c),
      [...tus, ["upload-offset", c.one(["0", "2", "5"])], offsetOctets],
      c.one(["", "12", "12345"])
    ),
  "tus get": (w, c) => request(w, "GET", upload(w, c)),
  "tus delete": (w, c) => request(w, "DELETE", c.once(4) ? upload(w, c) : `/resumable/files/${none}`, tus),
  "tus options": (w) => request(w, "OPTIONS", "/resumable/files/"),
  preflight: (w, c) =>
    request(w, "OPTIONS", c.one(["/assemblies", "/resumable/files/", "/templates", "/token"]), [
      ["origin", "https://example.com"],
      ["access-control-request-method", c.one(["POST", "PATCH", "DELETE"])],
      ["access-control-request-headers", "x, authorization"]
    ]),
  nowhere: (w, c) => request(w, "GET", c.one(["/", "/__proto__", "/constructor/x", "/assemblies/x/y/z"]))
}
