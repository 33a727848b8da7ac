/**
 * Template Credentials: secrets for other services, such as a storage bucket. A Step names
 * Template Credentials instead of containing their secrets.
 *
 * These schemas are beyond the specification: spec.md names the operations, but defines neither their params nor their
 * responses.
 *
 * The index does not export this module: `import * as TemplateCredential from
 * "@assembly-effect/schema/TemplateCredential"`.
 */
import * as Schema from "effect/Schema"
import { generateFew, lenient, NonEmptyString, orAbsent, secret } from "./unstable/Field.ts"
import { pathSegment } from "./internal/text.ts"
import { ServiceDate } from "./internal/date.ts"
import { named, type Structure, success } from "./unstable/Struct.ts"

/**
 * The id of Template Credentials.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CredentialId = pathSegment().pipe(Schema.brand("CredentialId"))
/**
 * @since 0.1.0
 * @category models
 */
export type CredentialId = typeof CredentialId.Type

/**
 * The secrets, redacted: an object whose keys depend on the type of the credentials, or a text.
 *
 * Beyond the specification.
 *
 * @example `Redacted.make({ key: "…", secret: "…", bucket: "photos" })`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Content = secret(
  Schema.Union([Schema.Record(Schema.String, Schema.Json).check(generateFew(3)), NonEmptyString]),
  "content of credentials"
)
/**
 * @since 0.1.0
 * @category models
 */
export type Content = typeof Content.Type

const text = lenient(Schema.String)
const date = lenient(ServiceDate)

/**
 * Template Credentials. `content`, and `stringified` (the content as text), are redacted. Unknown fields are not kept,
 * because they might contain a secret. A value of the wrong type is an error in `id`, `name` and `type`; any other
 * field whose value has the wrong type is left out.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Credential = Schema.Struct({
  id: CredentialId,
  name: Schema.String,
  type: Schema.String,
  content: lenient(Content),
  stringified: lenient(secret(Schema.String, "content of credentials")),
  account_id: text,
  created: date,
  modified: date,
  deleted: date
}).pipe(named<Credential>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Credential extends Structure<typeof Credential> {}

/**
 * The params of a request to create Template Credentials. `type` is a name in {@link TypeListing}.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const CreateRequest = named<CreateRequest>()(
  Schema.Struct({ name: NonEmptyString, type: NonEmptyString, content: Content })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface CreateRequest extends Structure<typeof CreateRequest> {}

/**
 * The params of a request to change Template Credentials. An absent `content` keeps the secrets.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const UpdateRequest = named<UpdateRequest>()(
  Schema.Struct({ name: NonEmptyString, type: NonEmptyString, content: Schema.optionalKey(Content) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface UpdateRequest extends Structure<typeof UpdateRequest> {}

/**
 * All Template Credentials of the Workspace.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Listing = named<Listing>()(
  success("TEMPLATE_CREDENTIALS_FOUND", { credentials: Schema.Array(Credential) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface Listing extends Structure<typeof Listing> {}

/**
 * Template Credentials with their secrets.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Found = named<Found>()(success("TEMPLATE_CREDENTIALS_READ", { credential: Credential }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Found extends Structure<typeof Found> {}

/**
 * The response to the creation of Template Credentials. `credential` may be absent.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Created = named<Created>()(success("TEMPLATE_CREDENTIALS_CREATED", { credential: orAbsent(Credential) }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Created extends Structure<typeof Created> {}

/**
 * The response to the change of Template Credentials. `credential` may be absent.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Updated = named<Updated>()(success("TEMPLATE_CREDENTIALS_UPDATED", { credential: orAbsent(Credential) }))
/**
 * @since 0.1.0
 * @category models
 */
export interface Updated extends Structure<typeof Updated> {}

/**
 * The response to the deletion of Template Credentials.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Deleted = named<Deleted>()(success("TEMPLATE_CREDENTIALS_DELETED", {}))
/**
 * @since 0.1.0
 * @category models
 */
export interface Deleted extends Structure<typeof Deleted> {}

/**
 * One type of credentials: its fields by name, and whether each field is required. `providers` is kept as the service
 * sends it.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Type = Schema.Struct({
  fields: Schema.Record(
    Schema.String,
    Schema.Struct({ requiredOnCreate: lenient(Schema.Boolean), requiredOnUpdate: lenient(Schema.Boolean) })
  ).check(generateFew(3)),
  providers: Schema.optionalKey(Schema.Json)
}).pipe(named<Type>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Type extends Structure<typeof Type> {}

/**
 * The types of credentials by name.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const TypeListing = named<TypeListing>()(
  success("TEMPLATE_CREDENTIALS_TYPES_FOUND", { types: Schema.Record(Schema.String, Type).check(generateFew(3)) })
)
/**
 * @since 0.1.0
 * @category models
 */
export interface TypeListing extends Structure<typeof TypeListing> {}
