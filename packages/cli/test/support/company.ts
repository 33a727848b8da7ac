/**
 * The network of a company: a service behind TLS that requires a client certificate of a private certificate authority,
 * and a proxy with a password.
 */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as Http from "node:http"
import * as Net from "node:net"
import * as Tls from "node:tls"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

/** Makes the certificates in a folder: `ca.pem`, `server.pem`, `client.pem` and their keys. */
const makeCertificates = (folder: string) => {
  const make = (name: string, subject: string, ...options: ReadonlyArray<string>) => {
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", `${name}-key.pem`]
    const common = ["req", "-x509", "-days", "2", "-subj", `/CN=${subject}`, "-out", `${name}.pem`]
    execFileSync("openssl", [...common, ...key, ...options], { cwd: folder, stdio: "pipe" })
  }
  const signed = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-addext", "basicConstraints=critical,CA:FALSE"]
  make("ca", "Company")
  make("server", "localhost", ...signed, "-addext", "subjectAltName=DNS:localhost")
  make("client", "Program", ...signed)
}

const join = (a: Net.Socket, b: Net.Socket) => {
  a.on("error", () => b.destroy())
  b.on("error", () => a.destroy())
  a.pipe(b).pipe(a)
}

/**
 * Makes the certificates in `folder`, the service and the proxy. `forwardTo` sets the port behind the service.
 * `clients` has the name in the certificate of each client, and `tunnels` each host that the proxy connected to.
 */
export const make = Effect.fnUntraced(function* (folder: string) {
  makeCertificates(folder)
  const read = (name: string) => readFileSync(`${folder}/${name}`)
  const clients: Array<string> = []
  const tunnels: Array<string> = []
  let behind = 0

  const server = Tls.createServer(
    { ca: read("ca.pem"), cert: read("server.pem"), key: read("server-key.pem"), requestCert: true },
    (socket) => {
      clients.push(String(socket.getPeerCertificate().subject.CN))
      join(socket, Net.connect(behind, "127.0.0.1"))
    }
  )
  const port = yield* Loopback.listen(server)

  const password = `Basic ${Buffer.from("user:s3cret").toString("base64")}`
  const proxy = Http.createServer().on("connect", (request, socket: Net.Socket) => {
    if (request.headers["proxy-authorization"] !== password) {
      return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
    }
    tunnels.push(request.url ?? "")
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
    join(socket, Net.connect(port, "127.0.0.1"))
  })
  const proxyPort = yield* Loopback.listen(proxy)

  return {
    serviceUrl: `https://localhost:${port}`,
    host: `localhost:${port}`,
    proxyUrl: `http://user:s3cret@127.0.0.1:${proxyPort}`,
    clients,
    tunnels,
    forwardTo: (url: string) => {
      behind = Number(new URL(url).port)
    }
  }
})
