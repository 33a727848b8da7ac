/** The names that the examples of the doc comments leave to the reader. */
import type * as Effects from "effect/Effect"
import type * as HttpServerRequestModule from "effect/http/HttpServerRequest"
import type * as Streams from "effect/Stream"
import type * as AuthKeys from "../packages/api/src/AuthKeys.ts"
import type * as TemplateCredentials from "../packages/api/src/TemplateCredentials.ts"
import type { Assemblies, Dam } from "../packages/api/src/index.ts"
import type { Webhook } from "../packages/auth/src/index.ts"
import type { PassThrough, Signatures, Webhooks } from "../packages/http/src/index.ts"
import type { Assembly, AssemblyList } from "../packages/schema/src/index.ts"
import type { AssemblyUpload, UploadSource, UploadTarget } from "../packages/tus/src/index.ts"
import type { DurableJob } from "../packages/workflow/src/index.ts"

declare global {
  const assemblyId: Assembly.AssemblyId
  const assetId: Parameters<typeof Dam.get>[0]
  const first: typeof assetId
  const second: typeof assetId
  const authKeyId: Parameters<typeof AuthKeys.secret>[0]
  const credentialsId: Parameters<typeof TemplateCredentials.get>[0]
  const query: AssemblyList.Query
  const file: Assembly.File
  const assembly: Assembly.Status
  const notification: Webhook.Notification
  const params: Omit<Assemblies.CreateOptions, "assemblyId" | "numExpectedUploadFiles">
  const files: ReadonlyArray<{ readonly source: UploadSource.UploadSource; readonly filename: string }>
  const jobs: Streams.Stream<AssemblyUpload.Job>
  const job: DurableJob.Job
  const toJob: (path: string) => DurableJob.Job
  const signedAddressOf: (bucket: string, key: string) => Effects.Effect<string>
  const policy: () => Effects.Effect<PassThrough.Grant & Signatures.Grant>
  const target: UploadTarget.UploadTarget
  const url: UploadTarget.UploadUrl
  const stored: string
  const source: UploadSource.Replayable
  const options: { readonly metadata: { readonly filename: string; readonly fieldname: string } }
  const show: (event: unknown) => Effects.Effect<void>
  const bytes: Uint8Array<ArrayBuffer>
  const body: Streams.Stream<Uint8Array>
  const baseUrl: string
  const folder: string
  const key: string
  const paths: ReadonlyArray<string>
  const metadata: { readonly filename: string; readonly fieldname: string }
  const picked: File
  const request: HttpServerRequestModule.HttpServerRequest
  const handle: Webhooks.Options<never, never>["handle"]
  const publish: (path: string) => Effects.Effect<Assembly.Status, unknown, AssemblyUpload.AssemblyUpload>
  const program: Effects.Effect<void>
}
