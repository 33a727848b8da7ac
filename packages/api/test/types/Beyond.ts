/** The result and the error channel of every operation beyond the specification, pinned. Compiled, never run. */
import type * as ApiError from "@assembly-effect/api/ApiError"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as AuthKeys from "@assembly-effect/api/AuthKeys"
import type * as Billing from "@assembly-effect/api/Billing"
import type * as Dam from "@assembly-effect/api/Dam"
import type * as Notifications from "@assembly-effect/api/Notifications"
import type * as Queues from "@assembly-effect/api/Queues"
import type * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import type * as Templates from "@assembly-effect/api/Templates"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import type * as AuthKey from "@assembly-effect/schema/AuthKey"
import type * as Bill from "@assembly-effect/schema/Bill"
import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import type * as DamEntries from "@assembly-effect/schema/DamEntries"
import type * as Notification from "@assembly-effect/schema/Notification"
import type * as Queue from "@assembly-effect/schema/Queue"
import type * as Template from "@assembly-effect/schema/Template"
import type * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import type { Equals, Signature, Signed } from "./signature.ts"

export const assembliesReplay: Equals<
  Signature<(typeof Assemblies)["replay"]>,
  readonly [AssemblyReplay.Replayed, Signed, AssemblyClient]
> = true
export const notificationsList: Equals<
  Signature<(typeof Notifications)["list"]>,
  readonly [Notification.Listing, ApiError.Common, AssemblyClient]
> = true
export const notificationsReplay: Equals<
  Signature<(typeof Notifications)["replay"]>,
  readonly [Notification.Replayed, Signed, AssemblyClient]
> = true
export const authKeysList: Equals<
  Signature<(typeof AuthKeys)["list"]>,
  readonly [AuthKey.Listing, Signed, AssemblyClient]
> = true
export const authKeysScopes: Equals<
  Signature<(typeof AuthKeys)["scopes"]>,
  readonly [AuthKey.ScopeListing, Signed, AssemblyClient]
> = true
export const authKeysCreate: Equals<
  Signature<(typeof AuthKeys)["create"]>,
  readonly [AuthKey.Created, ApiError.AuthKeyNotCreated | Signed, AssemblyClient]
> = true
export const authKeysUpdate: Equals<
  Signature<(typeof AuthKeys)["update"]>,
  readonly [AuthKey.Updated, ApiError.AuthKeyNotUpdated | Signed, AssemblyClient]
> = true
export const authKeysDelete: Equals<
  Signature<(typeof AuthKeys)["delete"]>,
  readonly [AuthKey.Deleted, ApiError.AuthKeyNotDeleted | Signed, AssemblyClient]
> = true
export const authKeysSecret: Equals<
  Signature<(typeof AuthKeys)["secret"]>,
  readonly [AuthKey.Shown, ApiError.AuthSecretNotRetrieved | Signed, AssemblyClient]
> = true
export const templatesGet: Equals<
  Signature<(typeof Templates)["get"]>,
  readonly [Template.Found, ApiError.TemplateNotFound | Signed, AssemblyClient]
> = true
export const templatesCreate: Equals<
  Signature<(typeof Templates)["create"]>,
  readonly [Template.Created, ApiError.TemplateInvalid | Signed, AssemblyClient]
> = true
export const templatesUpdate: Equals<
  Signature<(typeof Templates)["update"]>,
  readonly [Template.Updated, ApiError.TemplateNotFound | ApiError.TemplateInvalid | Signed, AssemblyClient]
> = true
export const templatesDelete: Equals<
  Signature<(typeof Templates)["delete"]>,
  readonly [Template.Deleted, ApiError.TemplateNotFound | Signed, AssemblyClient]
> = true
export const templateCredentialsList: Equals<
  Signature<(typeof TemplateCredentials)["list"]>,
  readonly [TemplateCredential.Listing, ApiError.TemplateCredentialsNotFound | Signed, AssemblyClient]
> = true
export const templateCredentialsTypes: Equals<
  Signature<(typeof TemplateCredentials)["types"]>,
  readonly [TemplateCredential.TypeListing, Signed, AssemblyClient]
> = true
export const templateCredentialsGet: Equals<
  Signature<(typeof TemplateCredentials)["get"]>,
  readonly [TemplateCredential.Found, ApiError.TemplateCredentialsNotRead | Signed, AssemblyClient]
> = true
export const templateCredentialsCreate: Equals<
  Signature<(typeof TemplateCredentials)["create"]>,
  readonly [TemplateCredential.Created, ApiError.TemplateCredentialsNotCreated | Signed, AssemblyClient]
> = true
export const templateCredentialsUpdate: Equals<
  Signature<(typeof TemplateCredentials)["update"]>,
  readonly [TemplateCredential.Updated, ApiError.TemplateCredentialsNotUpdated | Signed, AssemblyClient]
> = true
export const templateCredentialsDelete: Equals<
  Signature<(typeof TemplateCredentials)["delete"]>,
  readonly [TemplateCredential.Deleted, ApiError.TemplateCredentialsNotDeleted | Signed, AssemblyClient]
> = true
export const billingGet: Equals<
  Signature<(typeof Billing)["get"]>,
  readonly [Bill.Bill, ApiError.BillNotFound | Signed, AssemblyClient]
> = true
export const queuesJobSlots: Equals<
  Signature<(typeof Queues)["jobSlots"]>,
  readonly [Queue.JobSlots, Signed, AssemblyClient]
> = true
export const queuesStatistics: Equals<
  Signature<(typeof Queues)["statistics"]>,
  readonly [
    Queue.Statistics,
    (
      | ApiError.JobSlotStatisticsInvalidAggregation
      | ApiError.JobSlotStatisticsInvalidTime
      | ApiError.JobSlotStatisticsMissingRegion
      | ApiError.JobSlotStatisticsUnavailable
      | Signed
    ),
    AssemblyClient
  ]
> = true
export const damGet: Equals<
  Signature<(typeof Dam)["get"]>,
  readonly [DamEntries.Found, ApiError.DamInvalidRequest | ApiError.DamResourceNotFound | Signed, AssemblyClient]
> = true
export const damDelete: Equals<
  Signature<(typeof Dam)["delete"]>,
  readonly [
    DamEntries.Deleted,
    (
      | ApiError.DamInvalidRequest
      | ApiError.DamResourceNotFound
      | ApiError.DamMutationConflict
      | ApiError.DamMutationFailed
      | Signed
    ),
    AssemblyClient
  ]
> = true
export const damMoveMany: Equals<
  Signature<(typeof Dam)["moveMany"]>,
  readonly [
    DamEntries.MovedMany,
    (
      | ApiError.DamInvalidRequest
      | ApiError.DamResourceNotFound
      | ApiError.DamMutationConflict
      | ApiError.DamMutationFailed
      | Signed
    ),
    AssemblyClient
  ]
> = true
export const damDeleteMany: Equals<
  Signature<(typeof Dam)["deleteMany"]>,
  readonly [
    DamEntries.DeletedMany,
    (
      | ApiError.DamInvalidRequest
      | ApiError.DamResourceNotFound
      | ApiError.DamMutationConflict
      | ApiError.DamMutationFailed
      | Signed
    ),
    AssemblyClient
  ]
> = true
export const damMoveEntry: Equals<
  Signature<(typeof Dam)["moveEntry"]>,
  readonly [
    DamEntries.EntryMoved,
    (
      | ApiError.DamInvalidRequest
      | ApiError.DamResourceNotFound
      | ApiError.DamMutationConflict
      | ApiError.DamMutationFailed
      | Signed
    ),
    AssemblyClient
  ]
> = true
export const assembliesReplace: Equals<
  Signature<(typeof Assemblies)["replace"]>,
  readonly [Assembly.Status, Signed, AssemblyClient]
> = true
export const templatesList: Equals<
  Signature<(typeof Templates)["list"]>,
  readonly [Template.Page, ApiError.TemplateListFailed | Signed, AssemblyClient]
> = true
export const templatesListPages: Equals<
  Signature<(typeof Templates)["listPages"]>,
  readonly [Template.Page, ApiError.TemplateListFailed | Signed, AssemblyClient]
> = true
export const templatesListAll: Equals<
  Signature<(typeof Templates)["listAll"]>,
  readonly [Template.Item, ApiError.TemplateListFailed | Signed, AssemblyClient]
> = true
export const damList: Equals<
  Signature<(typeof Dam)["list"]>,
  readonly [DamEntries.Page, ApiError.DamInvalidRequest | ApiError.DamResourceNotFound | Signed, AssemblyClient]
> = true
export const damListPages: Equals<
  Signature<(typeof Dam)["listPages"]>,
  readonly [DamEntries.Page, ApiError.DamInvalidRequest | ApiError.DamResourceNotFound | Signed, AssemblyClient]
> = true
export const damListAll: Equals<
  Signature<(typeof Dam)["listAll"]>,
  readonly [DamAsset.Asset, ApiError.DamInvalidRequest | ApiError.DamResourceNotFound | Signed, AssemblyClient]
> = true
