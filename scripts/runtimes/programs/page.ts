/** Runs in a page. One URL returns the config, and another URL takes the report. */
import * as FetchClient from "@assembly-effect/auth/FetchClient"
import * as Checks from "../checks.ts"

const post = (body: unknown) => fetch("/runtimes/report", { method: "POST", body: JSON.stringify(body) })

const config = await (await fetch("/runtimes/config")).json()
await Checks.run(config, FetchClient.layer).then(post, (error) => post({ statistics: String(error) }))
