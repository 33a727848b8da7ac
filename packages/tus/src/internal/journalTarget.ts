/**
 * Checks the target of a journal entry against the origins of the caller.
 */
import { AssemblyClient } from "@assembly-effect/api/unstable/ClientService"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { InvalidTarget, type UploadTarget } from "../UploadTarget.ts"
import { foreign } from "./host.ts"

/**
 * Replaces the origins of a target with `origins`, and checks the `tus_url` of the target against `origins`.
 */
export const within = (
  target: UploadTarget,
  origins: ServiceOrigins.ServiceOrigins
): Result.Result<UploadTarget, InvalidTarget> =>
  ServiceOrigins.includes(origins, Redacted.value(target.tusUrl))
    ? Result.succeed({ ...target, origins })
    : Result.fail(new InvalidTarget({ field: "tus_url", rule: foreign(Redacted.value(target.tusUrl)) }))

/**
 * The permitted origins for a target: the origins of the `AssemblyClient`, or the origin of the Assembly URL if no
 * `AssemblyClient` is provided. The `additional` origins are permitted too. The Assembly URL must belong to one of
 * these origins.
 */
export const deployment = (
  target: UploadTarget,
  additional: ReadonlyArray<string> = []
): Effect.Effect<ServiceOrigins.ServiceOrigins, InvalidTarget> =>
  Effect.gen(function* () {
    const assembly = Redacted.value(target.assemblySslUrl)
    const client = yield* Effect.serviceOption(AssemblyClient)
    const origins = yield* Effect.mapError(
      Effect.fromResult(
        Option.match(client, {
          onNone: () => ServiceOrigins.make(assembly.replace(/\/assemblies\/[^/]*$/, ""), additional),
          onSome: (known) => ServiceOrigins.extend(known.origins, additional)
        })
      ),
      ([issue]) =>
        new InvalidTarget({
          field: issue?.path[0] === "origins" ? "origins" : "assembly_ssl_url",
          rule: issue?.message ?? ""
        })
    )
    return ServiceOrigins.includes(origins, assembly)
      ? origins
      : yield* new InvalidTarget({ field: "assembly_ssl_url", rule: foreign(assembly) })
  })
