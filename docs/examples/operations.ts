/** The programs of docs/operations.md. */
import { Assemblies, AssemblyClient, Dam, RetryPolicy } from "@assembly-effect/api"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import { Authenticator, Credentials, FetchClient, SmartCdn } from "@assembly-effect/auth"
import type { AssetId } from "@assembly-effect/schema/Identifier"
import * as Instructions from "@assembly-effect/schema/Instructions"
import { AssemblyNode } from "@assembly-effect/node"
import { DateTime, Duration, Effect, Layer, type Redacted, Result, Schedule, Stream } from "effect"

// #region lists
export const failures = (fromDate: DateTime.Utc) =>
  Assemblies.listAll({ fromDate, type: "failed" }).pipe(
    Stream.map(({ error, id }) => `${id}: ${error}`),
    Stream.runCollect
  )
// #endregion

// #region retries
/** Is not retried. */
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

// #region steps
/** What is wrong with these Steps: `hashed.use: Expected the name of a Step`. */
export const mistakes = Result.match(Instructions.make({ hashed: { robot: "/file/hash", use: ":orignal" } }), {
  onFailure: (problems) => problems.map(({ message, path }) => `${path.join(".")}: ${message}`),
  onSuccess: () => []
})
// #endregion

// #region authKeys
/** Runs `program` with a new Auth Key that can only read Assemblies. The Auth Key is deleted at the end. */
export const withReader = <A, E>(baseUrl: string, program: Effect.Effect<A, E, AssemblyClient.AssemblyClient>) =>
  Effect.acquireUseRelease(
    AuthKeys.create({ scope: ["assemblies:read"], description: "reader" }),
    ({ auth_key: { auth_key: key, auth_secret: secret } }) => {
      const reader = AssemblyClient.layer({ baseUrl }).pipe(
        Layer.provide([Authenticator.layerSigned(), FetchClient.layer]),
        Layer.provide(Credentials.layer({ key, secret }))
      )
      return Effect.provide(program, reader)
    },
    ({ auth_key: { id } }) => AuthKeys.delete(id)
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

// #region smartCdn
/** A thumbnail of a photo. The URL is the same all day, so that browsers can cache the image. */
export const thumbnail = (photo: string) =>
  Effect.flatMap(DateTime.now, (now) =>
    SmartCdn.signedUrl({
      workspace: "my-workspace",
      template: "thumbnails",
      input: photo,
      urlParams: { w: 320 },
      expiresAt: DateTime.endOf(DateTime.add(now, { days: 1 }), "day")
    })
  )
// #endregion

// #region node
/** The Layer for a program on Node, with the given credentials. */
export const onNode = (options: {
  readonly baseUrl: string
  readonly key: string
  readonly secret: Redacted.Redacted
}) => AssemblyNode.layer({ ...options, requestTimeout: "10 seconds" })
// #endregion
