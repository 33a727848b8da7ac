// Every schema that travels, for the property tests and for scripts/fuzz-schema.ts.
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Auth from "@assembly-effect/schema/Auth"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
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
  ["createAssembly", Assembly.CreateParams, Testing.createAssembly]
]

const responses: ReadonlyArray<readonly [name: string, schema: Codec]> = [
  ["Statistics", AssemblyStatistics.Statistics],
  ["StatisticsStrict", AssemblyStatistics.StatisticsStrict],
  ["Listing", AssemblyList.Listing],
  ["Moved", DamAsset.Moved],
  ["MovedStrict", DamAsset.MovedStrict],
  ["Status", Assembly.Status],
  ["Created", TusUpload.Created],
  ["OffsetHeaders", TusUpload.OffsetHeaders],
  ["TokenResponse", Auth.TokenResponse],
  ["ErrorObject", ServiceError.ErrorObject],
  ["StatisticsError", ServiceError.StatisticsError],
  ["ListError", ServiceError.ListError],
  ["MoveError", ServiceError.MoveError],
  ["TusErrorBody", ServiceError.TusErrorBody]
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
  ["Scope", Auth.Scope]
]

/** Everything that round-trips. */
export const schemas = [...requests.map(([name, schema]) => [name, schema] as const), ...more, ...responses]
