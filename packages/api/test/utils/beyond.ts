/**
 * The operations beyond the specification, with a response of each.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Billing from "@assembly-effect/api/Billing"
import * as Dam from "@assembly-effect/api/Dam"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import { AuthKeyId } from "@assembly-effect/schema/AuthKey"
import * as Bill from "@assembly-effect/schema/Bill"
import { CredentialId } from "@assembly-effect/schema/TemplateCredential"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { assemblyId, assetId, type Case, signed, unsigned } from "./case.ts"

/** Every response that may hold a secret holds this one. */
export const secret = "Zq7-very-secret-Kx2"

let names = 0
/** A name that no run before had: a service refuses a name that is taken. */
const newName = () => `name-${names++}`

const authKeyId = AuthKeyId.make("key-1")
const credentialId = CredentialId.make("credential-1")

const authKey = {
  id: authKeyId,
  auth_key: "0a1b2c",
  description: "dashboard",
  scope: ["assemblies:read"],
  signature_algo: null,
  is_active: 1,
  is_allowed_for_smartcdn: false,
  can_show_auth_secret: 0,
  created: "2026/01/01 10:00:00 GMT",
  modified: null,
  last_used: null
}

const credential = {
  id: credentialId,
  name: "photos",
  type: "s3",
  content: { key: "k", secret },
  stringified: JSON.stringify({ key: "k", secret }),
  account_id: "a",
  created: "2026/01/01 10:00:00 GMT",
  modified: null,
  deleted: null
}

const template = {
  message: "words",
  id: "t1",
  name: "thumbnails",
  content: JSON.stringify({ steps: { stored: { robot: "/transloadit/store", use: ":original" } } }),
  require_signature_auth: 1,
  assembly_status_expiry: null,
  transcoding_result_expiry: null
}

const asset = {
  asset_id: assetId,
  version_id: "abcdefghijklmnopqrstuQ",
  workspace: "main",
  path: "/report.pdf",
  mime: "application/pdf",
  size: 12
}

const gone = { asset_id: assetId, deleted_at: "2026-01-01T10:00:00Z" }

const content = Redacted.make({ key: "k", secret })

const writing: Case["named"] = [
  ["DAM_INVALID_REQUEST", "DamInvalidRequest"],
  ["DAM_RESOURCE_NOT_FOUND", "DamResourceNotFound"],
  ["DAM_MUTATION_CONFLICT", "DamMutationConflict"],
  ["DAM_MUTATION_FAILED", "DamMutationFailed"]
]
const reading = writing.slice(0, 2)
const notFound = ["TEMPLATE_NOT_FOUND", "TemplateNotFound"] as const
const invalid = ["TEMPLATE_VALIDATION_ERROR", "TemplateInvalid"] as const

export const beyond: ReadonlyArray<Case> = [
  signed("Assemblies.replay", Assemblies.replay(assemblyId), `POST /assemblies/${assemblyId}/replay`, {
    ok: "ASSEMBLY_REPLAYING",
    success: true,
    assembly_id: assemblyId.replaceAll("0", "f"),
    notify_url: null
  }),
  unsigned("Notifications.list", Notifications.list(assemblyId), `GET /assembly_notifications/${assemblyId}`, {
    ok: "ASSEMBLY_NOTIFICATIONS_LISTED",
    notifications: [{ status: "successful", start: "2026/01/01 10:00:00 GMT" }]
  }),
  signed(
    "Notifications.replay",
    Notifications.replay(assemblyId),
    `POST /assembly_notifications/${assemblyId}/replay`,
    {
      ok: "ASSEMBLY_NOTIFICATION_REPLAYED",
      notification_id: "n"
    }
  ),
  signed("AuthKeys.list", AuthKeys.list, "GET /auth_keys", {
    ok: "AUTH_KEYS_FOUND",
    auth_keys: [{ ...authKey, auth_secret: secret }]
  }),
  signed("AuthKeys.scopes", AuthKeys.scopes, "GET /auth_keys/scopes", {
    ok: "AUTH_KEY_SCOPES_FOUND",
    scopes: ["dam:read", "new:scope"]
  }),
  signed(
    "AuthKeys.create",
    AuthKeys.create({ scope: ["assemblies:read"] }),
    "POST /auth_keys",
    { ok: "AUTH_KEY_CREATED", auth_key: { ...authKey, auth_secret: secret } },
    [["AUTH_KEY_NOT_CREATED", "AuthKeyNotCreated"]]
  ),
  signed(
    "AuthKeys.update",
    AuthKeys.update(authKeyId, { canShowAuthSecret: true }),
    `PUT /auth_keys/${authKeyId}`,
    { ok: "AUTH_KEY_UPDATED", auth_key: { ...authKey, auth_secret: secret } },
    [["AUTH_KEY_NOT_UPDATED", "AuthKeyNotUpdated"]]
  ),
  signed("AuthKeys.delete", AuthKeys.delete(authKeyId), `DELETE /auth_keys/${authKeyId}`, { ok: "AUTH_KEY_DELETED" }, [
    ["AUTH_KEY_NOT_DELETED", "AuthKeyNotDeleted"]
  ]),
  signed(
    "AuthKeys.secret",
    AuthKeys.secret(authKeyId),
    `POST /auth_keys/show_secret/${authKeyId}`,
    { auth_secret: secret },
    [["AUTH_SECRET_NOT_RETRIEVED", "AuthSecretNotRetrieved"]]
  ),
  signed("Templates.list", Templates.list(), "GET /templates", { count: 1, items: [template] }, [
    ["TEMPLATE_LIST_ERROR", "TemplateListFailed"]
  ]),
  signed(
    "Templates.get",
    Templates.get("a name/ä"),
    "GET /templates/a%20name%2F%C3%A4",
    { ...template, ok: "TEMPLATE_FOUND" },
    [notFound]
  ),
  signed(
    "Templates.create",
    Effect.suspend(() =>
      Templates.create({ name: newName(), template: { steps: { a: { robot: "/upload/handle" } } } })
    ),
    "POST /templates",
    { ...template, ok: "TEMPLATE_CREATED" },
    [invalid]
  ),
  signed(
    "Templates.update",
    Templates.update("t1", { requireSignatureAuth: false }),
    "PUT /templates/t1",
    { ...template, ok: "TEMPLATE_UPDATED" },
    [notFound, invalid]
  ),
  signed("Templates.delete", Templates.delete("t1"), "DELETE /templates/t1", { ok: "TEMPLATE_DELETED" }, [notFound]),
  signed(
    "TemplateCredentials.list",
    TemplateCredentials.list,
    "GET /template_credentials",
    { ok: "TEMPLATE_CREDENTIALS_FOUND", credentials: [credential] },
    [["TEMPLATE_CREDENTIALS_NOT_FOUND", "TemplateCredentialsNotFound"]]
  ),
  signed("TemplateCredentials.types", TemplateCredentials.types, "GET /template_credentials/types", {
    ok: "TEMPLATE_CREDENTIALS_TYPES_FOUND",
    types: { s3: { fields: { key: { requiredOnCreate: true } }, providers: ["aws"] } }
  }),
  signed(
    "TemplateCredentials.get",
    TemplateCredentials.get(credentialId),
    `GET /template_credentials/${credentialId}`,
    { ok: "TEMPLATE_CREDENTIALS_READ", credential },
    [["TEMPLATE_CREDENTIALS_NOT_READ", "TemplateCredentialsNotRead"]]
  ),
  signed(
    "TemplateCredentials.create",
    Effect.suspend(() => TemplateCredentials.create({ name: newName(), type: "s3", content })),
    "POST /template_credentials",
    { ok: "TEMPLATE_CREDENTIALS_CREATED", credential },
    [["TEMPLATE_CREDENTIALS_NOT_CREATED", "TemplateCredentialsNotCreated"]]
  ),
  signed(
    "TemplateCredentials.update",
    TemplateCredentials.update(credentialId, { name: "photos", type: "s3", content }),
    `PUT /template_credentials/${credentialId}`,
    { ok: "TEMPLATE_CREDENTIALS_UPDATED", credential },
    [["TEMPLATE_CREDENTIALS_NOT_UPDATED", "TemplateCredentialsNotUpdated"]]
  ),
  signed(
    "TemplateCredentials.delete",
    TemplateCredentials.delete(credentialId),
    `DELETE /template_credentials/${credentialId}`,
    { ok: "TEMPLATE_CREDENTIALS_DELETED" },
    [["TEMPLATE_CREDENTIALS_NOT_DELETED", "TemplateCredentialsNotDeleted"]]
  ),
  signed(
    "Billing.get",
    Billing.get(Bill.Month.make("2026-01")),
    "GET /bill/2026-01",
    { ok: "BILL_FOUND", month: "2026-01", total: "12.50", currency: "USD", plan: { name: "large" } },
    [["BILL_NOT_FOUND", "BillNotFound"]]
  ),
  signed("Queues.jobSlots", Queues.jobSlots, "GET /queues/job_slots", {
    ok: "PRIORITY_JOB_SLOTS_FOUND",
    priority_job_slots: { count: 3, slots: { "eu-west-1": { encode: 3 } } }
  }),
  signed(
    "Queues.statistics",
    Queues.statistics({ region: "eu-west-1", since: "yesterday", aggregation: null }),
    "GET /priority_job_slot_stats",
    {
      ok: "PRIORITY_JOB_SLOT_STATS_FOUND",
      aggregation: "avg",
      granularity: 60,
      stats: [{ data_from_ts: 1, avg_slot_count: 2 }]
    },
    [
      ["PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION", "JobSlotStatisticsInvalidAggregation"],
      ["PRIORITY_JOB_SLOT_STATS_INVALID_TIME", "JobSlotStatisticsInvalidTime"],
      ["PRIORITY_JOB_SLOT_STATS_MISSING_REGION", "JobSlotStatisticsMissingRegion"],
      ["PRIORITY_JOB_SLOT_STATS_ERROR", "JobSlotStatisticsUnavailable"]
    ]
  ),
  signed("Dam.get", Dam.get(assetId), `GET /dam/assets/${assetId}`, { ok: "DAM_ASSET_FOUND", asset }, reading),
  signed(
    "Dam.list",
    Dam.list({ prefix: "/", limit: 1 }),
    "GET /dam/assets",
    { ok: "DAM_ASSETS_LISTED", workspace: "main", assets: [asset], next_cursor: null },
    reading
  ),
  signed(
    "Dam.delete",
    Dam.delete(assetId),
    `DELETE /dam/assets/${assetId}`,
    { ok: "DAM_ASSET_DELETED", ...gone },
    writing
  ),
  signed(
    "Dam.moveMany",
    Dam.moveMany({ assetIds: [assetId], destinationFolderId: null }),
    "POST /dam/assets/bulk/move",
    {
      ok: "DAM_ASSETS_MOVED",
      assets: [
        {
          asset,
          asset_id: assetId,
          folder_id: null,
          filename: "report.pdf",
          path: "/report.pdf",
          deleted_at: null,
          updated_at: "2026-01-01T10:00:00Z"
        }
      ]
    },
    writing
  ),
  signed(
    "Dam.deleteMany",
    Dam.deleteMany({ assetIds: [assetId] }),
    "POST /dam/assets/bulk/delete",
    { ok: "DAM_ASSETS_DELETED", assets: [gone] },
    writing
  ),
  signed(
    "Dam.moveEntry",
    Dam.moveEntry({ source: "/a.pdf", destination: "/b/a.pdf" }),
    "POST /dam/entries/move",
    { ok: "DAM_ENTRY_MOVED", path: "/b/a.pdf" },
    writing
  )
]
