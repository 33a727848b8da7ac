/**
 * One side of P16: runs jobs with one file of 16 KiB, from the creation of the Assembly to ASSEMBLY_COMPLETED.
 * Arguments: the side, the URL of the service, the path of the file, the number of jobs for each measurement, and the
 * number at once.
 */
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import Undici from "@effect/platform-node/Undici"
import { Transloadit } from "@transloadit/node"
import * as Redacted from "effect/Redacted"
import { createHmac, randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import Process from "node:process"
import * as TusClient from "tus-js-client"
import * as Side from "../side.ts"
import * as Uploads from "../uploads.ts"

const [, , side = "", baseUrl = "", path = "", count, concurrency] = Process.argv
const steps = { ":original": { robot: "/upload/handle" } } as const
const access = { key: "bench", secret: "secret" }

/** Our job, with the Layer that a program on Node uses by default. */
const ours = (transport: "form" | "tus") =>
  Side.effects(
    AssemblyNode.layer({ baseUrl, key: access.key, secret: Redacted.make(access.secret) }),
    AssemblyUpload.run({
      params: { steps },
      files: [{ source: UploadSource.fromPath(path), filename: "a.bin" }],
      transport
    }),
    Number(count),
    Number(concurrency)
  )

const calls = (job: () => Promise<unknown>) => Side.calls(Number(count), Number(concurrency), job)

/** The official client, whose documentation creates an Assembly with a file in this way. */
const official = () => {
  const client = new Transloadit({ authKey: access.key, authSecret: access.secret, endpoint: baseUrl })
  return calls(() => client.createAssembly({ params: { steps }, files: { file: path }, waitForCompletion: true }))
}

/** The signed fields of a creation, by hand. */
const signed = () => {
  const expires = new Date(Date.now() + 300_000).toISOString()
  const params = JSON.stringify({ steps, auth: { key: access.key, expires }, nonce: randomUUID() })
  return { params, signature: `sha384:${createHmac("sha384", access.secret).update(params).digest("hex")}` }
}

const boundary = "by-hand"

const field = (name: string, value: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

const post = async (body: string | Buffer) => {
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` }
  const id = randomUUID().replaceAll("-", "")
  const response = await Undici.request(`${baseUrl}/assemblies/${id}`, { method: "POST", headers, body })
  return JSON.parse(await response.body.text())
}

const isCompleted = ({ ok }: { readonly ok: string }) => {
  if (ok !== "ASSEMBLY_COMPLETED") throw new Error(ok)
}

/** The form by hand: the same calls of the file system and the same request, without the checks of the response. */
const raw = () =>
  calls(async () => {
    const { params, signature } = signed()
    const file = await Uploads.readSmall(path, 16 * 1024)
    const head = `${field("params", params)}${field("signature", signature)}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`
    isCompleted(await post(Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)])))
  })

/** The creation and the Status by hand, the file with tus-js-client and the data in its creation. */
const tusJs = () =>
  calls(async () => {
    const { params, signature } = signed()
    const fields = field("params", params) + field("signature", signature) + field("num_expected_upload_files", "1")
    const created = await post(`${fields}--${boundary}--\r\n`)
    await new Promise<void>((resolve, reject) => {
      new TusClient.Upload(createReadStream(path), {
        endpoint: created.tus_url,
        metadata: { ...Uploads.metadata, assembly_url: created.assembly_ssl_url },
        uploadSize: 16 * 1024,
        uploadDataDuringCreation: true,
        onSuccess: () => resolve(),
        onError: reject
      }).start()
    })
    isCompleted(JSON.parse(await (await Undici.request(created.assembly_ssl_url)).body.text()))
  })

const sides: Readonly<Record<string, Side.Side>> = {
  form: () => ours("form"),
  tus: () => ours("tus"),
  official,
  raw,
  tusJs
}

Side.answer(sides, side)
