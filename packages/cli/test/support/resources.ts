/** Responses of the operations beyond the specification, as the service sends them. */

export const secret = "s3cr3t-of-a-resource"

export const assetId = "AAAAAAAAAAAAAAAAAAAAAA"
export const otherAssetId = "CCCCCCCCCCCCCCCCCCCCCA"
export const folderId = "BBBBBBBBBBBBBBBBBBBBBQ"

const id = "5a".repeat(16)
const modified = "2026/01/02 10:30:24 GMT"

export const content = { steps: { hashed: { robot: "/file/hash", use: ":original" } } }

const template = {
  id,
  name: "thumbnails",
  content,
  require_signature_auth: 1,
  assembly_status_expiry: null,
  transcoding_result_expiry: "1day"
}

export const templates = {
  "Templates.list": { count: 7, items: [{ ...template, created: modified, modified, last_used: null }] },
  "Templates.get": { ok: "TEMPLATE_FOUND", message: "Found.", ...template },
  "Templates.create": { ok: "TEMPLATE_CREATED", message: "Created.", ...template },
  "Templates.update": { ok: "TEMPLATE_UPDATED", message: "Updated.", ...template },
  "Templates.delete": { ok: "TEMPLATE_DELETED", message: "Deleted." }
}

const credential = {
  id: "c1",
  name: "photos",
  type: "s3",
  content: { key: "AKIA", secret },
  stringified: JSON.stringify({ key: "AKIA", secret }),
  account_id: "a1",
  created: modified,
  modified,
  deleted: null
}

export const credentials = {
  "TemplateCredentials.list": { ok: "TEMPLATE_CREDENTIALS_FOUND", message: "Found.", credentials: [credential] },
  "TemplateCredentials.get": { ok: "TEMPLATE_CREDENTIALS_READ", message: "Read.", credential },
  "TemplateCredentials.create": { ok: "TEMPLATE_CREDENTIALS_CREATED", message: "Created.", credential },
  "TemplateCredentials.update": { ok: "TEMPLATE_CREDENTIALS_UPDATED", message: "Updated.", credential },
  "TemplateCredentials.delete": { ok: "TEMPLATE_CREDENTIALS_DELETED", message: "Deleted." },
  "TemplateCredentials.types": {
    ok: "TEMPLATE_CREDENTIALS_TYPES_FOUND",
    message: "Found.",
    types: { s3: { fields: { key: { requiredOnCreate: true }, region: { requiredOnCreate: false } } } }
  }
}

const key = {
  id: "k1",
  auth_key: "ab".repeat(16),
  description: "dashboard",
  scope: ["assemblies:read", "read"],
  signature_algo: "sha384",
  is_active: 1,
  is_allowed_for_smartcdn: 0,
  can_show_auth_secret: 0,
  created: modified,
  modified,
  last_used: null
}

export const keys = {
  "AuthKeys.list": { ok: "AUTH_KEYS_FOUND", message: "Found.", auth_keys: [{ ...key, auth_secret: secret }] },
  "AuthKeys.create": { ok: "AUTH_KEY_CREATED", message: "Created.", auth_key: { ...key, auth_secret: secret } },
  "AuthKeys.update": { ok: "AUTH_KEY_UPDATED", message: "Updated.", auth_key: { ...key, auth_secret: secret } },
  "AuthKeys.delete": { ok: "AUTH_KEY_DELETED", message: "Deleted." },
  "AuthKeys.secret": { ok: "AUTH_SECRET_SHOWN", message: "Shown.", auth_secret: secret },
  "AuthKeys.scopes": { ok: "AUTH_KEY_SCOPES_FOUND", message: "Found.", scopes: ["assemblies:read", "read"] }
}

const asset = {
  asset_id: assetId,
  version_id: "BBBBBBBBBBBBBBBBBBBBBA",
  workspace: "demo",
  path: "reports/2026.pdf",
  mime: "application/pdf",
  size: 2048
}

const deleted_at = "2026-01-01T12:00:00.5Z"

export const assets = {
  "Dam.list": { ok: "DAM_ASSETS_LISTED", message: "Listed.", workspace: "demo", assets: [asset], next_cursor: "n2" },
  "Dam.get": { ok: "DAM_ASSET_FOUND", message: "Found.", asset },
  "Dam.delete": { ok: "DAM_ASSET_DELETED", message: "Deleted.", asset_id: assetId, deleted_at },
  "Dam.deleteMany": {
    ok: "DAM_ASSETS_DELETED",
    message: "Deleted.",
    assets: [
      { asset_id: assetId, deleted_at },
      { asset_id: otherAssetId, deleted_at }
    ]
  },
  "Dam.moveMany": {
    ok: "DAM_ASSETS_MOVED",
    message: "Moved.",
    assets: [
      {
        asset,
        asset_id: assetId,
        folder_id: folderId,
        filename: "2026.pdf",
        path: "reports/2026.pdf",
        deleted_at: null,
        updated_at: deleted_at
      }
    ]
  },
  "Dam.moveEntry": { ok: "DAM_ENTRY_MOVED", message: "Moved.", path: "reports/2026.pdf" }
}

export const others = {
  "Billing.get": {
    ok: "BILL_FOUND",
    message: "Found.",
    month: "2026-01",
    total: 12.5,
    sub_total: 10,
    credit: 0.000003,
    currency: "USD",
    account_id: 7,
    bytes_in: 3 * 1024 ** 2,
    bytes_out: 5 * 1024 ** 2,
    plan: { name: "large", price_per_gigabyte: 1, max_jobs: 20 },
    robots: {
      "/image/resize": { steps: 1234, bytes_in: 1024, bytes_out: 512, tiers: ["x"] },
      "/file/hash": { steps: 1, bytes_in: 2048 },
      "/video/adaptive": 3
    },
    invoice_id: "i-1"
  },
  "Notifications.list": {
    ok: "ASSEMBLY_NOTIFICATIONS_LISTED",
    notifications: [
      {
        id: "n1",
        assembly_id: id,
        duration: 0.2,
        error: null,
        response_code: 500,
        response_data: "no",
        start: modified,
        status: "error",
        url: "https://app.example.com/assembly"
      }
    ]
  },
  "Notifications.replay": { ok: "ASSEMBLY_NOTIFICATION_REPLAYED", success: true, notification_id: "n2" },
  "Queues.jobSlots": {
    ok: "PRIORITY_JOB_SLOTS_FOUND",
    message: "Found.",
    priority_job_slots: { count: 3, slots: { "eu-west-1": { "/video/encode": 2, "/file/hash": 1 } } }
  },
  "Queues.statistics": {
    ok: "PRIORITY_JOB_SLOT_STATS_FOUND",
    message: "Found.",
    aggregation: "avg",
    avgSlotCount: 1.25,
    maxSlotCount: 4,
    granularity: 3600,
    stats: [
      { data_from_ts: 1_767_258_000, avg_slot_count: 0, max_slot_count: 0, slot_count: 0 },
      { data_from_ts: 1_767_261_600, avg_slot_count: 1.25, max_slot_count: 4, slot_count: 3 }
    ]
  }
}
