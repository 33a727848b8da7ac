/**
 * The process that runs one Postgres in a new folder, for its parent process. When the parent ends or is killed, the
 * IPC channel closes. Then this process stops Postgres and removes the folder.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Binaries from "./Binaries.ts"
import * as Signal from "./Signal.ts"

const run = promisify(execFile)

/** The message to the parent when Postgres accepts connections. */
export interface Ready {
  readonly port: number
  readonly pid: number
  readonly password: string
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("no port is free")
  return address.port
}

const isReady = /database system is ready to accept connections/

/** Resolves when Postgres accepts connections. Rejects with the output of Postgres if Postgres ends first. */
const started = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = ""
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said = `${said}${text}`.slice(-4000)
      if (isReady.test(said)) resolve()
    })
    server.on("error", reject)
    server.on("exit", () => reject(new Error(`Postgres ended: ${said}`)))
  })

const start = async (user: Binaries.User | undefined) => {
  const found = await Binaries.find()
  const folder = await mkdtemp(join(tmpdir(), "postgres-"))
  const clean = () => rm(folder, { recursive: true, force: true })
  try {
    const password = randomBytes(16).toString("hex")
    const passwordFile = join(folder, "password")
    await writeFile(passwordFile, password, { mode: 0o600 })
    if (user !== undefined) {
      await chown(folder, user.uid, user.gid)
      await chown(passwordFile, user.uid, user.gid)
    }
    const data = join(folder, "data")
    const binaries = await Binaries.reachable(found, user, folder)
    // The folder is the working directory, because `user` may not read the working directory of root.
    const how = { ...user, cwd: folder, env: { ...process.env, LC_ALL: "C" } }
    const flags = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`, "--encoding=UTF8"]
    await run(binaries.initdb, [`--pgdata=${data}`, ...flags, "--no-sync", "--no-instructions"], how)
    for (let left = 3; ; left--) {
      const port = await freePort()
      const settings = {
        port,
        listen_addresses: "127.0.0.1",
        unix_socket_directories: "",
        // No data has to survive a power failure, and the server is faster without `fsync`.
        fsync: "off",
        max_connections: 100
      }
      const given = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`])
      const server = spawn(binaries.postgres, ["-D", data, ...given], { ...how, stdio: ["ignore", "ignore", "pipe"] })
      try {
        await started(server)
        return { server, clean, ready: { port, pid: server.pid ?? 0, password } satisfies Ready }
      } catch (cause) {
        // Another process may have taken the port.
        if (left === 0) throw cause
      }
    }
  } catch (cause) {
    await clean()
    throw cause
  }
}

const main = async () => {
  const { clean, ready, server } = await start(Binaries.userFor())
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) {
      // Frozen processes do not end.
      Signal.family("SIGCONT", ready.pid)
      server.kill("SIGQUIT")
      const late = setTimeout(() => server.kill("SIGKILL"), 5000)
      await once(server, "exit")
      clearTimeout(late)
    }
    await clean()
    process.exit(0)
  }
  process.on("disconnect", stop)
  // A terminal sends these signals to all processes. Only the parent reacts to them.
  process.on("SIGINT", () => {})
  process.on("SIGTERM", () => {})
  if (process.connected) process.send?.({ ready })
  else await stop()
}

main().catch((cause: unknown) => {
  process.send?.({ description: cause instanceof Error ? cause.message : String(cause) }, () => process.exit(1))
})
