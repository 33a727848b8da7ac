// Every schema that travels, by name, for the property tests.
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Bill from "@assembly-effect/schema/Bill"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as NamedError from "@assembly-effect/schema/unstable/NamedError"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Queue from "@assembly-effect/schema/Queue"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Template from "@assembly-effect/schema/Template"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Testing from "@assembly-effect/schema/testing"
import * as TusErrorBody from "@assembly-effect/schema/unstable/TusErrorBody"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Schema from "effect/Schema"

type Codec = Schema.ConstraintCodec<unknown, unknown>

const isCodec = (value: unknown): value is Codec => Schema.isSchema(value)

const modules = {
  Assembly,
  AssemblyList,
  AssemblyReplay,
  AssemblyStatistics,
  Auth,
  AuthKey,
  Bill,
  DamAsset,
  DamEntries,
  Identifier,
  NamedError,
  Notification,
  Queue,
  ServiceError,
  Template,
  TemplateCredential,
  TusErrorBody,
  TusUpload
}

/** Everything that round-trips. */
export const schemas: ReadonlyArray<readonly [name: string, schema: Codec]> = Object.entries(modules).flatMap(
  ([module, exported]) =>
    Object.entries(exported).flatMap(([name, value]: [string, unknown]) =>
      isCodec(value) ? [[`${module}.${name}`, value] as const] : []
    )
)

/** The requests, which have rules. */
export const requests = schemas.filter(([, schema]) => Testing.schemas.includes(schema))
