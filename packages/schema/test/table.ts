// Every schema that travels, for the property tests and for scripts/fuzz-schema.ts.
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyReplay from "@assembly-effect/schema/AssemblyReplay"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Auth from "@assembly-effect/schema/Auth"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import * as Bill from "@assembly-effect/schema/Bill"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Queue from "@assembly-effect/schema/Queue"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as NamedError from "@assembly-effect/schema/NamedError"
import * as TusErrorBody from "@assembly-effect/schema/TusErrorBody"
import * as Template from "@assembly-effect/schema/Template"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Testing from "@assembly-effect/schema/testing"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import type * as Schema from "effect/Schema"

type Codec = Schema.ConstraintCodec<unknown, unknown>

/** The requests, with the generators of invalid ones. */
export const requests: ReadonlyArray<readonly [name: string, schema: Codec, invalid: Testing.Invalids]> = [
  ["statistics", AssemblyStatistics.Query, Testing.statistics],
  ["list", AssemblyList.Query, Testing.list],
  ["move", DamAsset.MoveRequest, Testing.move],
  ["creation", TusUpload.Creation, Testing.creation],
  ["metadata", TusUpload.Metadata, Testing.metadata],
  ["concat", TusUpload.Concat, Testing.concat],
  ["signedAuthParams", Auth.SignedAuthParams, Testing.signedAuthParams],
  ["tokenRequest", Auth.TokenRequest, Testing.tokenRequest],
  ["createAssembly", Assembly.CreateParams, Testing.createAssembly],
  ["replayAssembly", AssemblyReplay.ReplayRequest, Testing.replayAssembly],
  ["replayNotification", Notification.ReplayRequest, Testing.replayNotification],
  ["createAuthKey", AuthKey.CreateRequest, Testing.createAuthKey],
  ["updateAuthKey", AuthKey.UpdateRequest, Testing.updateAuthKey],
  ["authKeyId", AuthKey.AuthKeyId, Testing.authKeyId],
  ["listTemplates", Template.Query, Testing.listTemplates],
  ["createTemplate", Template.CreateRequest, Testing.createTemplate],
  ["updateTemplate", Template.UpdateRequest, Testing.updateTemplate],
  ["templateIdOrName", Template.IdOrName, Testing.templateIdOrName],
  ["createCredential", TemplateCredential.CreateRequest, Testing.createCredential],
  ["updateCredential", TemplateCredential.UpdateRequest, Testing.updateCredential],
  ["credentialId", TemplateCredential.CredentialId, Testing.credentialId],
  ["month", Bill.Month, Testing.month],
  ["jobSlotStatistics", Queue.StatisticsQuery, Testing.jobSlotStatistics],
  ["getAsset", DamEntries.GetQuery, Testing.getAsset],
  ["listAssets", DamEntries.ListQuery, Testing.listAssets],
  ["moveAssets", DamEntries.MoveManyRequest, Testing.moveAssets],
  ["deleteAssets", DamEntries.DeleteManyRequest, Testing.deleteAssets],
  ["moveEntry", DamEntries.MoveEntryRequest, Testing.moveEntry]
]

const responses: ReadonlyArray<readonly [name: string, schema: Codec]> = [
  ["Statistics", AssemblyStatistics.Statistics],
  ["StatisticsStrict", AssemblyStatistics.StatisticsStrict],
  ["Listing", AssemblyList.Listing],
  ["Moved", DamAsset.Moved],
  ["MovedStrict", DamAsset.MovedStrict],
  ["Status", Assembly.Status],
  ["Assembly replayed", AssemblyReplay.Replayed],
  ["notifications", Notification.Listing],
  ["notification replayed", Notification.Replayed],
  ["Auth Keys", AuthKey.Listing],
  ["Auth Key created", AuthKey.Created],
  ["Auth Key updated", AuthKey.Updated],
  ["Auth Key deleted", AuthKey.Deleted],
  ["scopes", AuthKey.ScopeListing],
  ["secret", AuthKey.Shown],
  ["Templates", Template.Page],
  ["Template", Template.Found],
  ["Template created", Template.Created],
  ["Template updated", Template.Updated],
  ["Template deleted", Template.Deleted],
  ["credentials", TemplateCredential.Listing],
  ["credential", TemplateCredential.Found],
  ["credential created", TemplateCredential.Created],
  ["credential updated", TemplateCredential.Updated],
  ["credential deleted", TemplateCredential.Deleted],
  ["credential types", TemplateCredential.TypeListing],
  ["bill", Bill.Bill],
  ["job slots", Queue.JobSlots],
  ["job slot statistics", Queue.Statistics],
  ["asset", DamEntries.Found],
  ["assets", DamEntries.Page],
  ["asset deleted", DamEntries.Deleted],
  ["assets moved", DamEntries.MovedMany],
  ["assets deleted", DamEntries.DeletedMany],
  ["entry moved", DamEntries.EntryMoved],
  ["Created", TusUpload.Created],
  ["OffsetHeaders", TusUpload.OffsetHeaders],
  ["OpenTokenRequest", Auth.OpenTokenRequest],
  ["TokenResponse", Auth.TokenResponse],
  ["ErrorObject", ServiceError.ErrorObject],
  ["StatisticsError", NamedError.StatisticsError],
  ["ListError", NamedError.ListError],
  ["MoveError", NamedError.MoveError],
  ["TusErrorBody", TusErrorBody.TusErrorBody]
]

/** What else a program passes in. */
export const more: ReadonlyArray<readonly [name: string, schema: Codec]> = [
  ["CreateForm", Assembly.CreateForm],
  ["AppendHeaders", TusUpload.AppendHeaders],
  ["CreationHeaders", TusUpload.CreationHeaders],
  ["signed statistics", Auth.withSignedAuth(AssemblyStatistics.Query)],
  ["move with a bearer token", Auth.withBearerAuth(DamAsset.MoveRequest)],
  ["Filename", DamAsset.Filename],
  ["DestinationPath", DamAsset.DestinationPath],
  ["EntryPath", DamEntries.EntryPath],
  ["Scope", Auth.Scope]
]

/** Everything that round-trips. */
export const schemas = [...requests.map(([name, schema]) => [name, schema] as const), ...more, ...responses]
