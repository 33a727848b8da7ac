/** The mutations of `pnpm mutate`, by package. */
import type { Mutant } from "./Mutant.ts"
import { api } from "./mutants/api.ts"
import { auth } from "./mutants/auth.ts"
import { browser } from "./mutants/browser.ts"
import { cli } from "./mutants/cli.ts"
import { cliCommands } from "./mutants/cliCommands.ts"
import { cliRead } from "./mutants/cliRead.ts"
import { emulator } from "./mutants/emulator.ts"
import { http } from "./mutants/http.ts"
import { httpRoutes } from "./mutants/httpRoutes.ts"
import { emulatorBilling } from "./mutants/emulatorBilling.ts"
import { emulatorTemplates } from "./mutants/emulatorTemplates.ts"
import { node } from "./mutants/node.ts"
import { results } from "./mutants/results.ts"
import { schema } from "./mutants/schema.ts"
import { sqlite } from "./mutants/sqlite.ts"
import { tus } from "./mutants/tus.ts"
import { tusSources } from "./mutants/tusSources.ts"
import { workflow } from "./mutants/workflow.ts"

export const mutants: ReadonlyArray<Mutant> = [
  ...schema,
  ...auth,
  ...api,
  ...results,
  ...tus,
  ...tusSources,
  ...node,
  ...browser,
  ...sqlite,
  ...http,
  ...httpRoutes,
  ...workflow,
  ...emulator,
  ...emulatorBilling,
  ...emulatorTemplates,
  ...cli,
  ...cliRead,
  ...cliCommands
]
