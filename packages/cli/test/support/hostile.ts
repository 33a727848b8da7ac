/**
 * A service that puts control sequences of terminals into every text of its responses.
 */
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import type { IncomingMessage } from "node:http"
import { moved, statistics } from "./answers.ts"
import * as Resources from "./resources.ts"

/**
 * Sequences that set a colour that no command uses, clear the screen, write the clipboard and make a link, other
 * control characters, and characters that change the direction of the text.
 */
export const evil =
  "EVIL\u001b[35m\u001b[2J\u001b]52;c;cm0gLXJm\u0007\u001b]8;;http://evil.example\u001b\\link\u001b]8;;\u001b\\" +
  "\u009b2J\u009d52;c;x\u009c\u007f\b\r\n\v\f\u0000\u0085\u2028\u2029\u202e\u2066\u200f\u061c\ud800END"

export interface Answer {
  readonly status: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

/** A short form of the request: the method, and the path without ids. */
const nameOf = ({ method, url = "" }: IncomingMessage): string =>
  `${method} ${url
    .replace(/\?.*/s, "")
    .replace(/[0-9a-f]{32}/, ":id")
    .replace(/\/dam\/assets\/.*/, "/dam")}`

const receive = async (request: IncomingMessage): Promise<void> => {
  for await (const _ of request) continue
}

/** JSON that is nested too deeply for a recursive function. */
const deepJson = `${"[".repeat(20_000)}1${"]".repeat(20_000)}`

const entry = {
  id: "0".repeat(32),
  created: evil,
  ok: evil,
  error: evil,
  region: evil,
  bytes_received: 1,
  [evil]: evil
}

/** The fields whose texts the service chooses freely. */
const free: ReadonlySet<string> = new Set(
  (
    "name description message path mime url error status type plan currency invoice_id auth_key month next_cursor " +
    "workspace response_data notification_id robot signature_algo assembly_status_expiry transcoding_result_expiry use"
  ).split(" ")
)

/** The response with a hostile text in each free field, and one more field with a hostile name. */
const infected = (answer: object, ...further: ReadonlyArray<string>): Answer => ({
  status: 200,
  body: {
    ...JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
      (free.has(key) || further.includes(key)) && typeof value === "string" ? evil : value
    ),
    [evil]: evil
  }
})

const { assets, credentials, keys, others, templates } = Resources

/** The responses of the resources beyond the specification. */
const resources: Readonly<Record<string, Answer>> = {
  "GET /templates": infected(templates["Templates.list"], "id"),
  "GET /templates/t": infected(templates["Templates.get"], "id"),
  "PUT /templates/t": infected(templates["Templates.update"], "id"),
  "DELETE /templates/t": infected(templates["Templates.delete"]),
  "GET /template_credentials": infected(credentials["TemplateCredentials.list"]),
  "GET /template_credentials/c": infected(credentials["TemplateCredentials.get"]),
  "GET /template_credentials/types": infected({
    ...credentials["TemplateCredentials.types"],
    types: { [evil]: { fields: { [evil]: {} } } }
  }),
  "GET /auth_keys": infected(keys["AuthKeys.list"]),
  "PUT /auth_keys/k": infected(keys["AuthKeys.update"]),
  "GET /auth_keys/scopes": infected(keys["AuthKeys.scopes"]),
  "GET /dam/assets": infected(assets["Dam.list"]),
  "POST /dam/entries/move": infected(assets["Dam.moveEntry"]),
  "GET /bill/2026-01": infected({ ...others["Billing.get"], robots: { [evil]: { [evil]: evil } } }),
  "GET /assembly_notifications/:id": infected(others["Notifications.list"], "id"),
  "POST /assembly_notifications/:id/replay": infected(others["Notifications.replay"]),
  "GET /queues/job_slots": infected({
    ...others["Queues.jobSlots"],
    priority_job_slots: { count: 1, slots: { [evil]: { [evil]: 1 } } }
  }),
  "GET /priority_job_slot_stats": infected(others["Queues.statistics"])
}

/** Responses of the correct form with hostile texts. */
const wellFormed = (origin: string, id: string): Readonly<Record<string, Answer>> => {
  const file = { id: evil, name: evil, path: evil, asset_id: evil, sha256: evil, size: 1, [evil]: evil }
  const status = {
    ok: "ASSEMBLY_COMPLETED",
    message: evil,
    assembly_id: id,
    assembly_ssl_url: `${origin}/assemblies/${id}`,
    tus_url: `${origin}/resumable/files/`,
    uploads: [file],
    results: { [evil]: [file] },
    [evil]: evil
  }
  return {
    ...resources,
    "GET /assemblies": { status: 200, body: { items: [entry], count: 5 } },
    "GET /assembly_stats": {
      status: 200,
      body: {
        ...statistics,
        errorStats: [{ data_from_ts: 0, error: evil, num_erroneous_assemblies: 1 }],
        errorStatsTotals: [{ error: evil, num_erroneous_assemblies: 1 }]
      }
    },
    "PATCH /dam": {
      status: 200,
      body: { ...moved, message: evil, filename: evil, path: evil, asset: { ...moved.asset, path: evil, [evil]: evil } }
    },
    "POST /token": { status: 200, body: { access_token: evil, token_type: "Bearer" } },
    "POST /assemblies/:id": { status: 200, body: { ...status, ok: "ASSEMBLY_UPLOADING" } },
    "GET /assemblies/:id": { status: 200, body: status },
    "POST /assemblies/:id/replay": {
      status: 200,
      body: { ok: "ASSEMBLY_REPLAYING", message: evil, assembly_id: id, notify_url: evil, [evil]: evil }
    },
    "DELETE /assemblies/:id": { status: 200, body: { ...status, ok: "ASSEMBLY_CANCELED" } },
    "POST /resumable/files/": {
      status: 201,
      headers: { location: "/resumable/files/1", "upload-offset": "4", "tus-resumable": "1.0.0" },
      body: ""
    }
  }
}

const failure: Answer = {
  status: 400,
  body: { error: evil, message: evil, reason: evil, http_code: 400, assembly_id: evil }
}

/** The response with one number in place of all numbers. */
const withNumber = (answer: Answer, number: number): Answer => ({
  ...answer,
  body: JSON.parse(JSON.stringify(answer.body), (_, value: unknown) => (typeof value === "number" ? number : value))
})

/** The kinds of responses of a hostile service to every request. */
export const kinds: Readonly<Record<string, (origin: string, id: string, name: string) => Answer>> = {
  "answers of the right form": (origin, id, name) => wellFormed(origin, id)[name] ?? failure,
  "the largest numbers": (origin, id, name) => withNumber(wellFormed(origin, id)[name] ?? failure, 1.7e308),
  "the largest whole numbers": (origin, id, name) => withNumber(wellFormed(origin, id)[name] ?? failure, 2 ** 53 - 1),
  "negative numbers": (origin, id, name) => withNumber(wellFormed(origin, id)[name] ?? failure, -1),
  "the smallest numbers": (origin, id, name) => withNumber(wellFormed(origin, id)[name] ?? failure, 5e-324),
  errors: () => failure,
  "a known error": () => ({
    status: 404,
    body: { error: "DAM_RESOURCE_NOT_FOUND", code: "DAM_RESOURCE_NOT_FOUND", message: evil, http_code: 404 }
  }),
  "a refused upload": (origin, id, name) =>
    name === "POST /resumable/files/"
      ? { status: 403, type: "text/plain", headers: { "tus-resumable": "1.0.0" }, body: evil }
      : (wellFormed(origin, id)[name] ?? failure),
  "plain text": () => ({ status: 200, type: "text/plain", body: evil }),
  "a page": () => ({ status: 404, type: "text/html", body: `<html>${evil}</html>` }),
  "an entry without an end": (origin, id, name) => {
    const answer = wellFormed(origin, id)[name] ?? failure
    if (name.startsWith("POST /resumable")) return answer
    const text = JSON.stringify(
      name === "GET /assemblies" ? { items: [{ ...entry, deep: 0 }] } : { ...Object(answer.body), deep: 0 }
    )
    return { status: 200, type: "application/json", body: text.replace(`"deep":0`, `"deep":${deepJson}`) }
  }
}

/** Serves one kind of responses until the scope ends. Returns its origin. */
export const serve = (kind: string) => {
  const answerOf = kinds[kind]!
  return Loopback.serve(async (request, response) => {
    await receive(request)
    const id = /[0-9a-f]{32}/.exec(request.url ?? "")?.[0] ?? "0".repeat(32)
    const origin = `http://${request.headers.host}`
    const { body, headers, status, type = "application/json" } = answerOf(origin, id, nameOf(request))
    response.writeHead(status, { "content-type": type, ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  })
}
