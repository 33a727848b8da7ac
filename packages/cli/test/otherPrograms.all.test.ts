/**
 * Commands at addresses where another program listens: each error says what answered, and what to check.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import { createServer as createHttp } from "node:http"
import { createServer as createHttps } from "node:https"
import { createServer as createTcp, type Server } from "node:net"
import { generate } from "selfsigned"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { assembly, folderWith } from "./support/processes.ts"

const page = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Server =>
  createHttp((request, response) => {
    request.resume()
    response.writeHead(status, headers)
    response.end(body)
  })

const secure = async (): Promise<Server> => {
  const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }])
  return createHttps({ cert, key }, (_, response) => response.end("x"))
}

/** A program that greets, as a server of SSH does. */
const greeter = (): Server => createTcp((socket) => void socket.end("SSH-2.0-OpenSSH_9.2\r\n"))

interface Program {
  readonly what: string
  readonly make: () => Server | Promise<Server>
  readonly scheme?: "https"
  readonly code: number
  /** What the error of `assembly token` says about the response. */
  readonly says: string
  readonly advice: (host: string) => string
}

const notTheService = (host: string): string =>
  `Check ASSEMBLY_BASE_URL: ${host} does not answer as the Assembly Processing Service does. Another program may listen there.`

const mayBeOther = (host: string, scheme: string): string =>
  `Check the network and ASSEMBLY_BASE_URL: another program may listen at ${host}, or the URL must begin with ${scheme}://.`

const gone = (host: string): string =>
  `Run the command again later, or check ASSEMBLY_BASE_URL: the service does not answer at ${host}.`

const programs: ReadonlyArray<Program> = [
  { what: "a page", make: () => page(200, "<html>"), code: 1, says: "status 200", advice: notTheService },
  {
    what: "a page that is missing",
    make: () => page(404, "<html>"),
    code: 1,
    says: "status 404",
    advice: notTheService
  },
  { what: "other JSON", make: () => page(200, '{"hello":1}'), code: 1, says: "status 200", advice: notTheService },
  {
    what: "a redirect",
    make: () => page(301, "", { location: "https://example.com/" }),
    code: 1,
    says: "status 301",
    advice: notTheService
  },
  { what: "a gateway", make: () => page(502, "<html>"), code: 4, says: "status 502", advice: gone },
  { what: "a busy gateway", make: () => page(503, ""), code: 4, says: "status 503", advice: gone },
  { what: "a slow gateway", make: () => page(504, "<html>"), code: 4, says: "status 504", advice: gone },
  {
    what: "a proxy",
    make: () => page(407, "<html>"),
    code: 4,
    says: "status 407",
    advice: (host) => `Check ASSEMBLY_BASE_URL: a proxy answers at ${host}, and asks for a name and a password.`
  },
  {
    what: "a program that does not speak HTTP",
    make: greeter,
    code: 4,
    says: "the response is not HTTP",
    advice: (host) => mayBeOther(host, "https")
  },
  {
    what: "a server that needs https",
    make: secure,
    code: 4,
    says: "the server closed the connection",
    advice: (host) => mayBeOther(host, "https")
  },
  {
    what: "a server without TLS",
    make: () => page(200, "{}"),
    scheme: "https",
    code: 4,
    says: "the TLS handshake failed",
    advice: (host) => mayBeOther(host, "http")
  },
  {
    what: "a server whose certificate is not trusted",
    make: secure,
    scheme: "https",
    code: 4,
    says: "the certificate of the server is not trusted",
    advice: () => "Check ASSEMBLY_BASE_URL; NODE_EXTRA_CA_CERTS names a file with more certificates to trust."
  }
]

layer(NodeServices.layer)("an error names the address of", (it) => {
  for (const { advice, code, make, says, scheme = "http", what } of programs) {
    it.effect(what, function* () {
      const host = `127.0.0.1:${yield* Loopback.listen(yield* Effect.promise(async () => make()))}`
      const cwd = yield* folderWith({})
      const env = {
        ASSEMBLY_AUTH_KEY: "k",
        ASSEMBLY_AUTH_SECRET: "s",
        ASSEMBLY_BASE_URL: `${scheme}://${host}`
      }
      const ran = yield* assembly(cwd, env, "token")
      expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: "" })
      const [problem = "", next, ...rest] = ran.stderr.split("\n")
      expect(problem).toContain(says)
      expect(problem).toContain(host)
      expect({ next, rest }).toEqual({ next: advice(host), rest: [""] })
    })
  }
})
