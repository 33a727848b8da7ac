/** Runs in workerd. The body of a request contains the config, and the body of its response contains the report. */
import * as FetchClient from "@assembly-effect/auth/FetchClient"
import * as Checks from "../checks.ts"

export default {
  fetch: async (request: Request) => Response.json(await Checks.run(await request.json(), FetchClient.layer))
}
