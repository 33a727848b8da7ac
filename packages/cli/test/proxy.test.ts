/** What an error says if requests go through a proxy. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import { createServer } from "node:http"
import { folderWith, spawned } from "./support/processes.ts"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

/** A proxy that refuses every request and every tunnel. */
const refusing = Effect.suspend(() => {
  const server = createServer((_, response) => {
    response.writeHead(407)
    response.end("Who are you?")
  })
  server.on("connect", (_, socket) => socket.end("HTTP/1.1 407 Who are you?\r\ncontent-length: 0\r\n\r\n"))
  return Effect.map(Loopback.listen(server), (port) => `127.0.0.1:${port}`)
})

it.live("an error names the proxy and its variable, and never its password", NodeServices.layer, function* () {
  const host = yield* refusing
  const cwd = yield* folderWith({})
  const credentials = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s" }
  const said = (env: Readonly<Record<string, string>>) =>
    Effect.map(spawned(cwd, { ...credentials, ...env }, "token"), ({ code, stderr }) => {
      expect(stderr).not.toMatch(/user|geheim/)
      return { code, said: stderr.split("\n").slice(0, -1) }
    })
  const secure = "https://service.invalid"
  expect(yield* said({ ASSEMBLY_BASE_URL: secure, HTTPS_PROXY: `http://user:geheim@${host}` })).toEqual({
    code: 4,
    said: [
      "assembly: No token: the proxy responded with status 407 (service.invalid)",
      "Check the network, and run the command again. The request may have gone through the proxy of HTTPS_PROXY."
    ]
  })
  expect(yield* said({ ASSEMBLY_BASE_URL: secure, HTTPS_PROXY: "user:geheim@proxy.invalid" })).toEqual({
    code: 2,
    said: ["assembly: HTTPS_PROXY: Expected a URL such as http://proxy.example.com:8080"]
  })
})
