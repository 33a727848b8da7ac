import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"

/**
 * Whether TLS can use a certificate and its key. `createSecureContext` accepts an empty text, and a key of another type
 * than that of the certificate, but every handshake would fail.
 */
const isUsable = ({ cert, key }: { readonly cert: string; readonly key: Redacted.Redacted }): boolean => {
  try {
    createSecureContext({ cert, key: Redacted.value(key) })
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(Redacted.value(key)))
  } catch {
    return false
  }
}

/** A certificate chain and its private key, in PEM. */
export const Files = Schema.Struct({ cert: Schema.String, key: Schema.Redacted(Schema.String) }).check(
  Schema.makeFilter(isUsable, { expected: "a certificate and its private key, without a passphrase, both in PEM" })
)
export type Files = typeof Files.Type

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

export const layer = (tls: Files | "self-signed" | undefined) =>
  Layer.effect(
    Certificate,
    Effect.map(tls === "self-signed" ? selfSigned : Effect.succeed(tls), (files) => ({ files }))
  )
