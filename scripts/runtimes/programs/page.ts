/** Runs in a page. One URL returns the config, and another URL takes the report. */
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Checks from "../checks.ts"

const post = (body: unknown) => fetch("/runtimes/report", { method: "POST", body: JSON.stringify(body) })

const config = await (await fetch("/runtimes/config")).json()
await Checks.run(config, FetchHttpClient.layer).then(post, (error) => post({ statistics: String(error) }))
