/**
 * The Assemblies of an upload id. Every process computes the same ids from the id of the upload, so a form that is sent
 * again finds the Assembly of its earlier request, whichever process received that request.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { AssemblyUploadError } from "@assembly-effect/tus/AssemblyUpload"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** How many Assemblies of one upload id may have ended without the file. */
export const most = 32

/**
 * Computes the id of the Assembly of an upload. `attempt` counts the Assemblies of this upload that ended without its
 * file, because the service takes an id once. Whoever knows the id of an Assembly can read and cancel it, so the id
 * depends on the Auth Secret.
 */
export const assemblyIds = Effect.gen(function* () {
  const { secret } = yield* Credentials.Credentials
  const signer = yield* Effect.orDie(Signer.make({ secret, algorithm: "sha256" }))
  return (uploadId: string, attempt: number): Effect.Effect<Assembly.AssemblyId> =>
    Effect.map(signer.sign(`PassThrough\n${uploadId}\n${attempt}`), (signature) =>
      Assembly.AssemblyId.make(Redacted.value(signature).slice("sha256:".length, "sha256:".length + 32))
    )
})

/**
 * What an earlier request has left in an Assembly.
 *
 * - `Stored`: the file.
 * - `Nothing`: the Assembly has ended without the file, or its results failed.
 * - `Arriving`: the file has not arrived.
 */
export type Earlier =
  | { readonly _tag: "Stored"; readonly status: Assembly.Status }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Arriving" }

const earlierIn = (status: Assembly.Status): Earlier => {
  const state = Assembly.state(status)
  if (state === "Unknown" || status.ok === "ASSEMBLY_UPLOADING") return { _tag: "Arriving" }
  return state === "Busy" || state === "Completed" ? { _tag: "Stored", status } : { _tag: "Nothing" }
}

/** Reads what an earlier request has left. */
export const read = (assemblyId: Assembly.AssemblyId): Effect.Effect<Earlier, AssemblyUploadError, AssemblyClient> =>
  Effect.map(Assemblies.get(assemblyId), earlierIn)

/**
 * Like {@link read}, but an Assembly whose file has not arrived is canceled: its process may have been killed, and the
 * request that is here has the whole file.
 */
export const replace = (assemblyId: Assembly.AssemblyId): Effect.Effect<Earlier, AssemblyUploadError, AssemblyClient> =>
  Effect.flatMap(read(assemblyId), (found) =>
    found._tag === "Arriving" ? Effect.map(Assemblies.cancel(assemblyId), earlierIn) : Effect.succeed(found)
  )

/** The size of the file of an Assembly in bytes, and its MD5 if the Status has it. */
export const fileOf = ({ bytes_received, uploads }: Assembly.Status) => {
  const file = uploads?.[0] ?? {}
  return { bytes: file.size ?? bytes_received ?? 0, md5: Md5.ofFile(file) }
}
