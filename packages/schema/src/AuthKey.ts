/**
 * Auth Keys: the keys with which a program authenticates, with their scopes and secrets.
 *
 * These schemas are beyond the specification: spec.md names the operations, but defines neither their params nor their
 * responses.
 *
 * The index does not export this module: `import * as AuthKey from "@assembly-effect/schema/AuthKey"`.
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { Scope, SignatureAlgorithm } from "./unstable/Auth.ts"
import { lenient, NonEmptyString, orAbsent, secret, Switch } from "./unstable/Field.ts"
import { pathSegment } from "./internal/text.ts"
import { ServiceDate } from "./internal/date.ts"
import { named, renamed, type Structure, success } from "./unstable/Struct.ts"

/**
 * The id of an Auth Key, which is not the key itself (`auth_key`).
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AuthKeyId = pathSegment().pipe(Schema.brand("AuthKeyId"))
/**
 * @since 0.1.0
 * @category models
 */
export type AuthKeyId = typeof AuthKeyId.Type

/** Scopes in a response: a list, or a text with white space between the scopes. The list and the text may be empty. */
const Scopes = Schema.Union([Schema.Array(Scope), Schema.String]).pipe(
  Schema.decodeTo(Schema.Array(Scope), {
    decode: SchemaGetter.transform((scopes) =>
      typeof scopes === "string" ? scopes.split(/\s+/).filter((scope) => scope !== "") : scopes
    ),
    encode: SchemaGetter.passthrough({ strict: false })
  })
)

const Secret = secret(NonEmptyString, "auth_secret")

const text = lenient(Schema.String)
const flag = orAbsent(Switch)
const date = lenient(ServiceDate)

/**
 * An Auth Key. `auth_secret` is redacted, and the service promises this field only for a new Auth Key. Unknown fields
 * are not kept, because they might contain a secret. A value of the wrong type is an error in `id`, `auth_key` and
 * `auth_secret`; any other field whose value has the wrong type is left out.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const AuthKey = Schema.Struct({
  id: AuthKeyId,
  auth_key: NonEmptyString,
  auth_secret: Schema.optionalKey(Schema.NullOr(Secret)),
  description: text,
  scope: orAbsent(Scopes),
  signature_algo: text,
  is_active: flag,
  is_allowed_for_smartcdn: flag,
  can_show_auth_secret: flag,
  created: date,
  modified: date,
  last_used: date
}).pipe(named<AuthKey>())
/**
 * @since 0.1.0
 * @category models
 */
export interface AuthKey extends Structure<typeof AuthKey> {}

const settings = {
  description: Schema.optionalKey(Schema.String),
  canShowAuthSecret: Schema.optionalKey(Schema.Boolean),
  isAllowedForSmartCdn: Schema.optionalKey(Schema.Boolean),
  signatureAlgo: Schema.optionalKey(SignatureAlgorithm)
}

const keys = { isAllowedForSmartCdn: "is_allowed_for_smartcdn" } as const

/**
 * The params of a request to create an Auth Key.
 *
 * - `scope`: at least one scope. The client sends a list; the service does not document how to send several scopes.
 * - `authKey`: the key itself. By default the service chooses a key.
 * - `canShowAuthSecret`: whether the secret can be requested later.
 * - `signatureAlgo`: the only signature algorithm that the service accepts from this Auth Key.
 *
 * Beyond the specification.
 *
 * @example `{ scope: ["assemblies:read"], description: "dashboard" }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateRequest = named<CreateRequest>()(
  renamed({ scope: Schema.NonEmptyArray(Scope), authKey: Schema.optionalKey(NonEmptyString), ...settings }, keys)
)
/**
 * @since 0.1.0
 * @category models
 */
export interface CreateRequest extends Structure<typeof CreateRequest> {}

/**
 * The params of a request to change an Auth Key. A setting that is absent keeps its value.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const UpdateRequest = named<UpdateRequest>()(
  renamed({ scope: Schema.optionalKey(Schema.NonEmptyArray(Scope)), ...settings }, keys)
)
/**
 * @since 0.1.0
 * @category models
 */
export interface UpdateRequest extends Structure<typeof UpdateRequest> {}

/**
 * The Auth Keys of the Workspace.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Listing = named<Listing>()(success("AUTH_KEYS_FOUND", { auth_keys: Schema.Array(AuthKey) }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Listing extends Structure<typeof Listing> {}

/**
 * A new Auth Key with its secret, which is redacted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Created = named<Created>()(
  success("AUTH_KEY_CREATED", { auth_key: Schema.Struct({ ...AuthKey.fields, auth_secret: Secret }) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface Created extends Structure<typeof Created> {}

/**
 * The response to the change of an Auth Key. `auth_key` is the changed Auth Key, and may be absent.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Updated = named<Updated>()(success("AUTH_KEY_UPDATED", { auth_key: orAbsent(AuthKey) }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Updated extends Structure<typeof Updated> {}

/**
 * The response to the deletion of an Auth Key.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Deleted = named<Deleted>()(success("AUTH_KEY_DELETED", {}))
/**
 * @since 0.1.0
 * @category models
 */
export interface Deleted extends Structure<typeof Deleted> {}

/**
 * The scopes that an Auth Key may have.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const ScopeListing = named<ScopeListing>()(success("AUTH_KEY_SCOPES_FOUND", { scopes: Schema.Array(Scope) }))
/**
 * @since 0.1.0
 * @category models
 */
export interface ScopeListing extends Structure<typeof ScopeListing> {}

/**
 * The secret of an Auth Key, redacted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Shown = named<Shown>()(Schema.Struct({ ok: text, message: text, auth_secret: Secret }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Shown extends Structure<typeof Shown> {}
