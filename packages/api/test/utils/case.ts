/**
 * One operation with a valid input, its response and its named errors.
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { AssetId } from "@assembly-effect/schema/Identifier"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Testing from "@assembly-effect/api/testing"
import { Effect, Schema } from "effect"

export const assemblyId = AssemblyId.make("0123456789abcdef0123456789abcdef")
export const assetId = AssetId.make("abcdefghijklmnopqrstuA")

/** An error of an operation, as data. */
export interface AnyError {
  readonly _tag: string
  readonly message: string
  readonly code?: string
  readonly status?: number
  readonly description?: string
  readonly reason?: Schema.Json
  readonly assemblyId?: string
}

export interface Case {
  readonly name: string
  readonly run: Effect.Effect<unknown, AnyError, AssemblyClient>
  readonly method: string
  readonly path: string
  readonly signed: boolean
  readonly success: unknown
  readonly named: ReadonlyArray<readonly [code: string, tag: string]>
}

/** An operation that is sent to a route such as `"GET /assemblies"`. By default, the response has the required fields. */
export const at = (
  operation: Operation.Any,
  run: Case["run"],
  route: string,
  named: Case["named"] = [],
  success: unknown = Schema.encodeUnknownSync(operation.success)(Effect.runSync(Testing.sample(operation)))
): Case => {
  const [method = "", path = ""] = route.split(" ")
  return { name: operation.name, run, method, path, signed: operation.auth === "signed", success, named }
}

export const status = {
  ok: "ASSEMBLY_EXECUTING",
  assembly_id: assemblyId,
  assembly_ssl_url: `https://api2.example.com/assemblies/${assemblyId}`
}
