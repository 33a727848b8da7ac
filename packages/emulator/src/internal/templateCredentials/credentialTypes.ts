import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import type * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import type * as Schema from "effect/Schema"

/** A field that is required when Template Credentials are created and when their content is changed. */
const required = { requiredOnCreate: true, requiredOnUpdate: true }

/** A secret field. If a change of the content omits the field and keeps the type, the stored value stays. */
const secret = { requiredOnCreate: true, requiredOnUpdate: false }

const optional = { requiredOnCreate: false, requiredOnUpdate: false }

/** The fields of a bucket behind an endpoint that speaks the protocol of S3. */
const bucket = { bucket: required, bucket_region: optional, host: optional, key: required, secret }

/**
 * The types of credentials and their fields. The names of the types, except `box`, and most names of fields are those
 * of the official client. The official client does not define which fields are required, so the emulator chooses the
 * required fields.
 */
export const types: Readonly<Record<string, TemplateCredential.Type>> = {
  ai: {
    fields: {
      openai_api_key: optional,
      anthropic_api_key: optional,
      deepseek_api_key: optional,
      google_generative_ai_api_key: optional
    }
  },
  azure: { fields: { account: required, container: required, key: secret } },
  backblaze: { fields: { bucket: required, app_key_id: required, app_key: secret } },
  box: { fields: { key_file_contents: secret } },
  cloudflare: { fields: { ...bucket, host: required } },
  companion: { fields: { key: required, secret }, providers: ["box", "dropbox", "drive", "facebook", "onedrive"] },
  digitalocean: { fields: { space: required, region: required, key: required, secret } },
  dropbox: { fields: { access_token: secret } },
  ftp: { fields: { host: required, user: required, password: secret } },
  google: { fields: { project_id: required, bucket: required, key_file_contents: secret } },
  http: { fields: { headers: secret } },
  mega: { fields: bucket },
  minio: { fields: { ...bucket, host: required } },
  rackspace: {
    fields: { account_type: required, data_center: required, container: required, user: required, key: secret }
  },
  s3: { fields: bucket },
  sftp: { fields: { host: required, user: required, public_key: optional } },
  supabase: { fields: { ...bucket, host: required } },
  swift: { fields: { ...bucket, host: required } },
  tigris: { fields: bucket },
  vimeo: { fields: { access_token: secret } },
  wasabi: { fields: bucket },
  youtube: { fields: { access_token: secret } }
}

/** The type with this name, or undefined. */
const typeOf = (name: string): TemplateCredential.Type | undefined =>
  Object.hasOwn(types, name) ? types[name] : undefined

const unknownType: Issue = { path: ["type"], message: `Expected one of ${Object.keys(types).join(", ")}` }

const problemOf = (value: Schema.Json | undefined, isRequired: boolean): string | undefined => {
  if (value === undefined) return isRequired ? "Missing key" : undefined
  if (typeof value !== "string") return "Expected a text"
  return value === "" && isRequired ? "Expected at least 1 character" : undefined
}

/**
 * The issues of a content that breaks rules of its type. An issue never contains a value, because the value may be a
 * secret. Fields that the type does not have are permitted.
 */
export const problems = (type: string, content: Schema.JsonObject): ReadonlyArray<Issue> => {
  const known = typeOf(type)
  if (known === undefined) return [unknownType]
  return Object.entries(known.fields).flatMap(([field, settings]): ReadonlyArray<Issue> => {
    const value = Object.hasOwn(content, field) ? content[field] : undefined
    const message = problemOf(value, settings.requiredOnCreate === true)
    return message === undefined ? [] : [{ path: ["content", field], message }]
  })
}

/**
 * The content after a change. A field that is required on creation, but not on a change, keeps its stored value if the
 * change omits the field. {@link problems} checks that the result has all fields that are required on creation.
 */
export const changed = (type: string, stored: Schema.JsonObject, next: Schema.JsonObject): Schema.JsonObject => {
  const { fields = {} } = typeOf(type) ?? {}
  const isKept = (field: string): boolean =>
    Object.hasOwn(fields, field) && fields[field]?.requiredOnCreate === true && fields[field].requiredOnUpdate !== true
  return Object.fromEntries([
    ...Object.entries(stored).filter(([field]) => isKept(field) && !Object.hasOwn(next, field)),
    ...Object.entries(next)
  ])
}
