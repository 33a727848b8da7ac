/** Runs in workerd. The body of a request contains the config, and the body of its response contains the report. */
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Checks from "../checks.ts"

export default {
  fetch: async (request: Request) => Response.json(await Checks.run(await request.json(), FetchHttpClient.layer))
}
