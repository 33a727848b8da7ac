/**
 * Responds to every request with the same list of Assemblies from memory: 50, or the number in the first argument. The
 * requests must have no body.
 */
import { createServer } from "node:net"
import * as Link from "./link.ts"

const items = Array.from({ length: Number(process.argv[2] ?? 50) }, (_, index) => ({
  id: index.toString(16).padStart(32, "0"),
  account_id: "a".repeat(32),
  template_id: "b".repeat(32),
  instance: "node-3.example.com",
  notify_url: null,
  redirect_url: null,
  files: `photo-${index}.jpg`,
  warning_count: 0,
  execution_duration: 1.234 + index,
  execution_start: "2026/01/01 10:00:00 GMT",
  ok: "ASSEMBLY_COMPLETED",
  error: null,
  created: "2026/01/01 10:00:00 GMT",
  created_ts: 1_767_261_600 + index,
  template_name: "resize",
  bytes_usage: 1_000_000 + index,
  bytes_received: 500_000 + index
}))

const body = Buffer.from(JSON.stringify({ items, count: items.length }))
const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\n\r\n`
const answer = Buffer.concat([Buffer.from(head), body])
const end = Buffer.from("\r\n\r\n")

// Plain sockets: a framework would add the same time to every side and make the ratios less clear.
const server = createServer({ noDelay: true }, (socket) => {
  let last: Buffer = Buffer.alloc(0)
  socket.on("error", () => socket.destroy())
  socket.on("data", (piece: Buffer) => {
    const read = last.length === 0 ? piece : Buffer.concat([last, piece])
    const complete = read.includes(end)
    last = complete ? Buffer.alloc(0) : read
    if (complete) socket.write(answer)
  })
})
Link.listen(server)
