/** In workerd: the config is the body of a request, the report that of its answer. */
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Checks from "../checks.ts"

export default {
  fetch: async (request: Request) => Response.json(await Checks.run(await request.json(), FetchHttpClient.layer))
}
