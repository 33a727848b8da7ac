/**
 * The operations beyond the specification, with a response of each.
 */
import { Assemblies, Dam } from "@assembly-effect/api"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Billing from "@assembly-effect/api/Billing"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import { AuthKeyId } from "@assembly-effect/schema/AuthKey"
import * as Bill from "@assembly-effect/schema/Bill"
import { CredentialId } from "@assembly-effect/schema/TemplateCredential"
import { Effect, Redacted } from "effect"
import { assemblyId, assetId, at, type Case } from "./case.ts"

/** Every response that may hold a secret holds this one. */
export const secret = "Zq7-very-secret-Kx2"

let names = 0
/** A name that no run before had: a service refuses a name that is taken. */
const newName = () => `name-${names++}`

const authKeyId = AuthKeyId.make("key-1")
const credentialId = CredentialId.make("credential-1")

const authKey = { id: authKeyId, auth_key: "0a1b2c", created: "2026/01/01 10:00:00 GMT", auth_secret: secret }

const credential = {
  id: credentialId,
  name: "photos",
  type: "s3",
  content: { key: "k", secret },
  stringified: JSON.stringify({ key: "k", secret })
}

const content = Redacted.make({ key: "k", secret })

export const writing: Case["named"] = [
  ["DAM_INVALID_REQUEST", "DamInvalidRequest"],
  ["DAM_RESOURCE_NOT_FOUND", "DamResourceNotFound"],
  ["DAM_MUTATION_CONFLICT", "DamMutationConflict"],
  ["DAM_MUTATION_FAILED", "DamMutationFailed"]
]
const reading = writing.slice(0, 2)
const notFound = ["TEMPLATE_NOT_FOUND", "TemplateNotFound"] as const
const invalid = ["TEMPLATE_VALIDATION_ERROR", "TemplateInvalid"] as const

const invalidOrNone = [notFound, invalid]

const template = { steps: { a: { robot: "/upload/handle" } } } as const
const createTemplate = Effect.suspend(() => Templates.create({ name: newName(), template }))
const moveMany = Dam.moveMany({ assetIds: [assetId], destinationFolderId: null })
const noAssets = { ok: "DAM_ASSETS_LISTED", workspace: "main", assets: [], next_cursor: null }

export const beyond: ReadonlyArray<Case> = [
  at(Assemblies.Replay, Assemblies.replay(assemblyId), `POST /assemblies/${assemblyId}/replay`),
  at(Notifications.List, Notifications.list(assemblyId), `GET /assembly_notifications/${assemblyId}`),
  at(Notifications.Replay, Notifications.replay(assemblyId), `POST /assembly_notifications/${assemblyId}/replay`),
  at(AuthKeys.List, AuthKeys.list, "GET /auth_keys", [], { ok: "AUTH_KEYS_FOUND", auth_keys: [authKey] }),
  at(AuthKeys.Scopes, AuthKeys.scopes, "GET /auth_keys/scopes"),
  at(
    AuthKeys.Create,
    AuthKeys.create({ scope: ["assemblies:read"] }),
    "POST /auth_keys",
    [["AUTH_KEY_NOT_CREATED", "AuthKeyNotCreated"]],
    { ok: "AUTH_KEY_CREATED", auth_key: authKey }
  ),
  at(
    AuthKeys.Update,
    AuthKeys.update(authKeyId, { canShowAuthSecret: true }),
    `PUT /auth_keys/${authKeyId}`,
    [["AUTH_KEY_NOT_UPDATED", "AuthKeyNotUpdated"]],
    { ok: "AUTH_KEY_UPDATED", auth_key: authKey }
  ),
  at(AuthKeys.Delete, AuthKeys.delete(authKeyId), `DELETE /auth_keys/${authKeyId}`, [
    ["AUTH_KEY_NOT_DELETED", "AuthKeyNotDeleted"]
  ]),
  at(
    AuthKeys.Secret,
    AuthKeys.secret(authKeyId),
    `POST /auth_keys/show_secret/${authKeyId}`,
    [["AUTH_SECRET_NOT_RETRIEVED", "AuthSecretNotRetrieved"]],
    { auth_secret: secret }
  ),
  at(Templates.List, Templates.list(), "GET /templates", [["TEMPLATE_LIST_ERROR", "TemplateListFailed"]]),
  at(Templates.Get, Templates.get("a name/ä"), "GET /templates/a%20name%2F%C3%A4", [notFound]),
  at(Templates.Create, createTemplate, "POST /templates", [invalid]),
  at(Templates.Update, Templates.update("t1", { requireSignatureAuth: false }), "PUT /templates/t1", invalidOrNone),
  at(Templates.Delete, Templates.delete("t1"), "DELETE /templates/t1", [notFound]),
  at(
    TemplateCredentials.List,
    TemplateCredentials.list,
    "GET /template_credentials",
    [["TEMPLATE_CREDENTIALS_NOT_FOUND", "TemplateCredentialsNotFound"]],
    { ok: "TEMPLATE_CREDENTIALS_FOUND", credentials: [credential] }
  ),
  at(TemplateCredentials.Types, TemplateCredentials.types, "GET /template_credentials/types"),
  at(
    TemplateCredentials.Get,
    TemplateCredentials.get(credentialId),
    `GET /template_credentials/${credentialId}`,
    [["TEMPLATE_CREDENTIALS_NOT_READ", "TemplateCredentialsNotRead"]],
    { ok: "TEMPLATE_CREDENTIALS_READ", credential }
  ),
  at(
    TemplateCredentials.Create,
    Effect.suspend(() => TemplateCredentials.create({ name: newName(), type: "s3", content })),
    "POST /template_credentials",
    [["TEMPLATE_CREDENTIALS_NOT_CREATED", "TemplateCredentialsNotCreated"]],
    { ok: "TEMPLATE_CREDENTIALS_CREATED", credential }
  ),
  at(
    TemplateCredentials.Update,
    TemplateCredentials.update(credentialId, { name: "photos", type: "s3", content }),
    `PUT /template_credentials/${credentialId}`,
    [["TEMPLATE_CREDENTIALS_NOT_UPDATED", "TemplateCredentialsNotUpdated"]],
    { ok: "TEMPLATE_CREDENTIALS_UPDATED", credential }
  ),
  at(
    TemplateCredentials.Delete,
    TemplateCredentials.delete(credentialId),
    `DELETE /template_credentials/${credentialId}`,
    [["TEMPLATE_CREDENTIALS_NOT_DELETED", "TemplateCredentialsNotDeleted"]]
  ),
  at(Billing.Get, Billing.get(Bill.Month.make("2026-01")), "GET /bill/2026-01", [["BILL_NOT_FOUND", "BillNotFound"]]),
  at(Queues.JobSlots, Queues.jobSlots, "GET /queues/job_slots"),
  at(
    Queues.Statistics,
    Queues.statistics({ region: "eu-west-1", since: "yesterday", aggregation: null }),
    "GET /priority_job_slot_stats",
    [
      ["PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION", "JobSlotStatisticsInvalidAggregation"],
      ["PRIORITY_JOB_SLOT_STATS_INVALID_TIME", "JobSlotStatisticsInvalidTime"],
      ["PRIORITY_JOB_SLOT_STATS_MISSING_REGION", "JobSlotStatisticsMissingRegion"],
      ["PRIORITY_JOB_SLOT_STATS_ERROR", "JobSlotStatisticsUnavailable"]
    ]
  ),
  at(Dam.Get, Dam.get(assetId), `GET /dam/assets/${assetId}`, reading),
  at(Dam.List, Dam.list({ prefix: "/", limit: 1 }), "GET /dam/assets", reading, noAssets),
  at(Dam.Delete, Dam.delete(assetId), `DELETE /dam/assets/${assetId}`, writing),
  at(Dam.MoveMany, moveMany, "POST /dam/assets/bulk/move", writing),
  at(Dam.DeleteMany, Dam.deleteMany({ assetIds: [assetId] }), "POST /dam/assets/bulk/delete", writing),
  at(Dam.MoveEntry, Dam.moveEntry({ source: "/a.pdf", destination: "/b/a.pdf" }), "POST /dam/entries/move", writing)
]
