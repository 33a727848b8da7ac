/**
 * Commands at addresses where another program listens: each error says what answered, and what to check.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
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

const notTheService =
  "Check ASSEMBLY_BASE_URL: <host> does not answer as the Assembly Processing Service does. Another program may listen there."
const orHttps =
  "Check the network and ASSEMBLY_BASE_URL: another program may listen at <host>, or the URL must begin with https://."
const gone = "Run the command again later, or check ASSEMBLY_BASE_URL: the service does not answer at <host>."
const proxy = "Check ASSEMBLY_BASE_URL: a proxy answers at <host>, and asks for a name and a password."
const untrusted = "Check ASSEMBLY_BASE_URL; NODE_EXTRA_CA_CERTS names a file with more certificates to trust."

type Make = () => Server | Promise<Server>

/** A program, the scheme of the URL, the exit code, what the error says about the response, and the advice. */
const programs: ReadonlyArray<
  readonly [what: string, make: Make, scheme: "http" | "https", code: number, says: string, advice: string]
> = [
  ["a page", () => page(200, "<html>"), "http", 1, "status 200", notTheService],
  ["a page that is missing", () => page(404, "<html>"), "http", 1, "status 404", notTheService],
  ["other JSON", () => page(200, '{"hello":1}'), "http", 1, "status 200", notTheService],
  ["a redirect", () => page(301, "", { location: "https://example.com/" }), "http", 1, "status 301", notTheService],
  ["a gateway", () => page(502, "<html>"), "http", 4, "status 502", gone],
  ["a busy gateway", () => page(503, ""), "http", 4, "status 503", gone],
  ["a slow gateway", () => page(504, "<html>"), "http", 4, "status 504", gone],
  ["a proxy", () => page(407, "<html>"), "http", 4, "status 407", proxy],
  ["a program that does not speak HTTP", greeter, "http", 4, "the response is not HTTP", orHttps],
  ["a server that needs https", secure, "http", 4, "the server closed the connection", orHttps],
  [
    "TLS where there is none",
    () => page(200, "{}"),
    "https",
    4,
    "the TLS handshake failed",
    orHttps.replace("https:", "http:")
  ],
  ["a certificate without trust", secure, "https", 4, "the certificate of the server is not trusted", untrusted]
]

layer(NodeServices.layer)("an error names the address of", (it) => {
  it.effect.each(programs)("%s", function* ([, make, scheme, code, says, advice]) {
    const host = `127.0.0.1:${yield* Loopback.listen(yield* Effect.promise(async () => make()))}`
    const env = { ASSEMBLY_AUTH_KEY: "k", ASSEMBLY_AUTH_SECRET: "s", ASSEMBLY_BASE_URL: `${scheme}://${host}` }
    const ran = yield* assembly(yield* folderWith({}), env, "token")
    const [problem = "", next, ...rest] = ran.stderr.split("\n")
    expect(problem).toContain(says)
    expect(problem).toContain(host)
    expect({ code: ran.code, stdout: ran.stdout, next, rest }).toEqual({
      code,
      stdout: "",
      next: advice.replace("<host>", host),
      rest: [""]
    })
  })
})
