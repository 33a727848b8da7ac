/** The programs of docs/operations.md. */
import { Assemblies, AssemblyClient, Dam, RetryPolicy } from "@assembly-effect/api"
import type { AssetId } from "@assembly-effect/schema/Identifier"
import { type DateTime, Duration, Effect, Layer, Schedule, Stream } from "effect"

// #region lists
export const failures = (fromDate: DateTime.Utc) =>
  Assemblies.listAll({ fromDate, type: "failed" }).pipe(
    Stream.map(({ error, id }) => `${id}: ${error}`),
    Stream.runCollect
  )
// #endregion

// #region retries
/** Fails with the first error. */
export const once = (fromDate: DateTime.Utc) => Assemblies.list({ fromDate }).pipe(RetryPolicy.none)

/** Three retries, one second apart. */
export const spaced = (fromDate: DateTime.Utc) =>
  Assemblies.list({ fromDate }).pipe(
    RetryPolicy.withPolicy(Schedule.spaced("1 second").pipe(Schedule.upTo({ times: 3 })))
  )

/** Eight retries for every operation of this client. */
export const patientClient = (baseUrl: string) =>
  AssemblyClient.layer({ baseUrl }).pipe(Layer.provide(RetryPolicy.layer({ retries: 8, maxWait: "5 minutes" })))
// #endregion

// #region limits
export const limited = (fromDate: DateTime.Utc) =>
  Assemblies.list({ fromDate }).pipe(
    AssemblyClient.withTimeout("5 seconds"),
    AssemblyClient.withDeadline("20 seconds"),
    AssemblyClient.withAttributes({ "app.tenant": "a" })
  )
// #endregion

// #region errors
export const rename = (assetId: AssetId, name: string) =>
  Dam.move(assetId, { filename: name }).pipe(
    Effect.as("renamed"),
    Effect.catchTags({
      DamResourceNotFound: () => Effect.succeed("no such asset"),
      DamMutationConflict: () => Effect.succeed("the name is taken"),
      RateLimited: ({ retryAfter }) => Effect.succeed(`busy, try again in ${Duration.format(retryAfter)}`),
      AuthenticationFailed: ({ message }) => Effect.succeed(`check the Auth Key: ${message}`)
    })
  )
// #endregion
