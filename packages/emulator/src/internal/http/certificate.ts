import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import * as EmulatorError from "../../EmulatorError.ts"

/** A certificate chain and its private key, in PEM. */
export interface Files {
  readonly cert: string
  readonly key: Redacted.Redacted
}

/** The certificate of the emulator. `files` is undefined for plain HTTP. */
export class Certificate extends Context.Service<Certificate, { readonly files: Files | undefined }>()(
  "@assembly-effect/emulator/Certificate"
) {}

/** The X.509 extensions of a certificate that is valid only for loopback names. */
const extensions = [
  { name: "basicConstraints" as const, cA: false, critical: true },
  { name: "keyUsage" as const, digitalSignature: true, critical: true },
  { name: "extKeyUsage" as const, serverAuth: true },
  {
    name: "subjectAltName" as const,
    altNames: [
      { type: 2 as const, value: "localhost" },
      { type: 2 as const, value: "*.localhost" },
      { type: 7 as const, ip: "127.0.0.1" },
      { type: 7 as const, ip: "::1" }
    ]
  }
]

/** A new certificate for loopback names. `selfsigned` is loaded on demand, because most emulators use plain HTTP. */
const selfSigned: Effect.Effect<Files> = Effect.promise(async () => {
  const { generate } = await import("selfsigned")
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions
  })
  return { cert: made.cert, key: Redacted.make(made.private) }
})

/** Checks a certificate and its key. The error omits the message of OpenSSL, which may repeat a part of the file. */
const check = (files: Files): Effect.Effect<Files, EmulatorError.InvalidOption> =>
  Effect.try({
    try: () => {
      const key = Redacted.value(files.key)
      // `createSecureContext` accepts an empty text, and a key of another type than that of the certificate, but every
      // handshake would fail.
      if (!new X509Certificate(files.cert).checkPrivateKey(createPrivateKey(key))) throw new Error("another key")
      createSecureContext({ cert: files.cert, key })
      return files
    },
    catch: () =>
      new EmulatorError.InvalidOption({
        option: "tls",
        value: subjectOf(files.cert),
        rule: "a certificate and its private key, without a passphrase, both in PEM"
      })
  })

const subjectOf = (cert: string): string => {
  try {
    return new X509Certificate(cert).subject
  } catch {
    return "no certificate"
  }
}

export const layer = (
  tls: Files | "self-signed" | undefined
): Layer.Layer<Certificate, EmulatorError.InvalidOption> => {
  const files = tls === "self-signed" ? selfSigned : tls === undefined ? Effect.undefined : check(tls)
  return Layer.effect(
    Certificate,
    Effect.map(files, (found) => ({ files: found }))
  )
}
