/**
 * Starts everything that the example page needs: its bundle, the server of the application, and the service behind a
 * slow link.
 */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import * as path from "node:path"
import * as TcpProxy from "@assembly-effect/testkit/hostile/TcpProxy"
import * as Command from "../Command.ts"

const example = path.join(import.meta.dirname, "../../docs/examples/browser")

/** Bundles the page of the example into its `public` folder, as docs/browser.md says. */
export const bundle = (): Promise<unknown> =>
  build({
    entryPoints: [path.join(example, "Page.ts")],
    outfile: path.join(example, "public/page.js"),
    bundle: true,
    format: "esm",
    minify: true,
    logLevel: "warning"
  })

export type Application = Awaited<ReturnType<typeof start>>

/**
 * Starts everything.
 *
 * - `rate`: the maximum number of bytes per second that clients can send to the service.
 * - `http1`: whether the service uses HTTP/1.1 without TLS, instead of HTTP/2 with TLS.
 */
export const start = async ({ http1, rate }: { readonly rate: number; readonly http1: boolean }) => {
  const folder = await mkdtemp(path.join(tmpdir(), "assembly-browser-"))
  const scope = Scope.makeUnsafe()
  const proxy = await Effect.runPromise(Scope.provide(TcpProxy.make(rate), scope))
  const publicUrl = `${http1 ? "http" : "https"}://127.0.0.1:${proxy.port}`
  const data = path.join(folder, "service")
  const { certificate, credentials, localUrl } = await Effect.runPromise(
    Layer.build(Emulator.layer({ tls: http1 ? undefined : "self-signed", publicUrl, data })).pipe(
      Scope.provide(scope),
      Effect.map(Context.get(Emulator.Emulator))
    )
  )
  proxy.to(localUrl)

  const trusted = path.join(folder, "certificate.pem")
  await writeFile(trusted, certificate ?? "")
  const server = spawn(process.execPath, [path.join(example, "Server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      NODE_EXTRA_CA_CERTS: trusted,
      PORT: "0",
      ASSEMBLY_BASE_URL: publicUrl,
      ASSEMBLY_AUTH_KEY: credentials.key,
      ASSEMBLY_AUTH_SECRET: Redacted.value(credentials.secret)
    }
  })
  const [, url = ""] = /^Open (.*)$/m.exec(await Command.said(server, /^Open .*$/m)) ?? []

  return {
    /** The URL of the page. */
    url,
    proxy,
    /** A folder for files and profiles. */
    folder,
    /** The paths of the files that the service has stored. */
    stored: async () => {
      const names = await readdir(path.join(data, "files"), { recursive: true, withFileTypes: true })
      return names.filter((name) => name.isFile()).map((name) => path.join(name.parentPath, name.name))
    },
    close: async () => {
      server.kill()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      await rm(folder, { recursive: true, force: true })
    }
  }
}
