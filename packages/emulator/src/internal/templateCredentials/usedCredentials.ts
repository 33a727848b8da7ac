import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Refusal from "../http/refusal.ts"
import * as CredentialStore from "./credentialStore.ts"

type Steps = Readonly<Record<string, Assembly.Step>>

/** A value of `credentials` in a Step, and its path. */
interface Named {
  readonly value: unknown
  readonly path: ReadonlyArray<string | number>
}

/** All credentials that Steps name. A Step names one credential; a Step of an AI robot may name a list. */
const named = (steps: Steps): ReadonlyArray<Named> =>
  Object.entries(steps).flatMap(([name, { credentials }]): ReadonlyArray<Named> => {
    const path = ["steps", name, "credentials"]
    if (credentials === undefined || credentials === null) return []
    return Array.isArray(credentials)
      ? credentials.map((value: unknown, index) => ({ value, path: [...path, index] }))
      : [{ value: credentials, path }]
  })

/** A name with a variable, such as `${fields.account}`, is known only when the service runs the Step. */
const hasVariable = (text: string): boolean => /\$\{[^{}]+\}/.test(text)

const problemOf = ({ path, value }: Named, existing: ReadonlySet<string>): ReadonlyArray<Issue> => {
  if (typeof value !== "string") return [{ path, message: "Expected the name of Template Credentials" }]
  if (existing.has(value) || hasVariable(value)) return []
  return [{ path, message: "There are no Template Credentials with this name in this Workspace." }]
}

/**
 * Refuses Steps that name Template Credentials which the Workspace does not have. A name with a variable is not
 * checked.
 *
 * The error code is from the official client. The service does not document when it sends this code; the emulator sends
 * the code before it creates the Assembly.
 */
export const check: (
  workspace: string,
  steps: Steps
) => Effect.Effect<void, Refusal.Refusal | StorageFailed, CredentialStore.CredentialStore> = Effect.fnUntraced(
  function* (workspace, steps) {
    const all = named(steps)
    if (all.length === 0) return
    const names = all.flatMap(({ value }) => (typeof value === "string" ? [value] : []))
    const existing = yield* CredentialStore.CredentialStore.use((store) => store.existing(workspace, names))
    const issues = all.flatMap((one) => problemOf(one, existing))
    if (issues.length === 0) return
    return yield* new Refusal.Refusal({
      code: "TEMPLATE_CREDENTIALS_INJECTION_ERROR",
      status: 400,
      message: Refusal.explain(issues)
    })
  }
)
