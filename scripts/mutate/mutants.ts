/** The changes that `pnpm mutate` makes, by package. */
import type { Mutant } from "./Mutant.ts"

export const mutants: ReadonlyArray<Mutant> = [
  {
    name: "any name is a signature algorithm",
    file: "packages/auth/src/Signer.ts",
    find: "name is Algorithm => Object.hasOwn(Hmac.algorithms, name)",
    replace: "name is Algorithm => name in Hmac.algorithms",
    tests: ["Signer", "Webhook"]
  }
]
