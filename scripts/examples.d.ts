/** The names that the examples of the doc comments leave to the reader. */
import type * as Effects from "effect/Effect"
import type * as HttpServerRequestModule from "effect/http/HttpServerRequest"
import type * as Streams from "effect/Stream"
import type * as AssembliesModule from "../packages/api/src/Assemblies.ts"
import type * as AuthKeysModule from "../packages/api/src/AuthKeys.ts"
import type * as CredentialsModule from "../packages/api/src/TemplateCredentials.ts"
import type * as DamModule from "../packages/api/src/Dam.ts"
import type * as WebhookModule from "../packages/auth/src/Webhook.ts"
import type * as PassThroughModule from "../packages/http/src/PassThrough.ts"
import type * as SignaturesModule from "../packages/http/src/Signatures.ts"
import type * as WebhooksModule from "../packages/http/src/Webhooks.ts"
import type * as AssemblyModule from "../packages/schema/src/Assembly.ts"
import type * as ListModule from "../packages/schema/src/AssemblyList.ts"
import type * as JobsModule from "../packages/tus/src/AssemblyUpload.ts"
import type * as UploadSourceModule from "../packages/tus/src/UploadSource.ts"
import type * as UploadTargetModule from "../packages/tus/src/UploadTarget.ts"
import type * as DurableJobModule from "../packages/workflow/src/DurableJob.ts"

declare global {
  const assemblyId: AssemblyModule.AssemblyId
  const assetId: Parameters<typeof DamModule.get>[0]
  const first: typeof assetId
  const second: typeof assetId
  const authKeyId: Parameters<typeof AuthKeysModule.secret>[0]
  const credentialsId: Parameters<typeof CredentialsModule.get>[0]
  const query: ListModule.Query
  const file: AssemblyModule.File
  const assembly: AssemblyModule.Status
  const notification: WebhookModule.Notification
  const params: Omit<AssembliesModule.CreateOptions, "assemblyId" | "numExpectedUploadFiles">
  const files: ReadonlyArray<{ readonly source: UploadSourceModule.UploadSource; readonly filename: string }>
  const jobs: Streams.Stream<JobsModule.Job>
  const job: DurableJobModule.Job
  const toJob: (path: string) => DurableJobModule.Job
  const signedAddressOf: (bucket: string, key: string) => Effects.Effect<string>
  const policy: () => Effects.Effect<PassThroughModule.Grant & SignaturesModule.Grant>
  const target: UploadTargetModule.UploadTarget
  const url: UploadTargetModule.UploadUrl
  const stored: string
  const source: UploadSourceModule.Replayable
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
  const handle: WebhooksModule.Options<never, never>["handle"]
  const publish: (path: string) => Effects.Effect<AssemblyModule.Status, unknown, JobsModule.AssemblyUpload>
  const program: Effects.Effect<void>
}
