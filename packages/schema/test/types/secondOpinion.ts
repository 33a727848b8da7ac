/**
 * Each field that the public types of the service name is one that ours take: `@transloadit/types`. Compiled, not run.
 */
import type { Assembly, AssemblyList, AssemblyReplay } from "@assembly-effect/schema"
import type * as Notification from "@assembly-effect/schema/Notification"
import type * as Template from "@assembly-effect/schema/Template"
import type * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import type { Transloadit } from "@transloadit/node"
import type {
  AssemblyIndexItem,
  AssemblyStatus,
  AssemblyStatusResult,
  AssemblyStatusTusUpload,
  AssemblyStatusUpload
} from "@transloadit/types"

/** What any member of a union says of a key. */
type Of<Theirs, Key extends PropertyKey> = Theirs extends unknown
  ? Key extends keyof Theirs
    ? Theirs[Key]
    : never
  : never

/** The keys that both name and where theirs may hold what ours does not take. */
type Stricter<Theirs, Fields extends Readonly<Record<string, { readonly Encoded: unknown }>>> = {
  [Key in keyof Fields & string]: unknown extends Of<Theirs, Key>
    ? never
    : Exclude<Of<Theirs, Key>, undefined> extends Fields[Key]["Encoded"]
      ? never
      : Key
}[keyof Fields & string]

type Equals<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

// Ours is stricter in the values of unknown fields only, which lie in these: JSON, where theirs may be anything.
export const status: Equals<
  Stricter<AssemblyStatus, typeof Assembly.Status.schema.fields>,
  "fields" | "results" | "tus_uploads" | "uploads"
> = true
export const receipt: Equals<
  Stricter<AssemblyStatusTusUpload, typeof Assembly.TusReceipt.schema.fields>,
  "user_meta"
> = true
export const entry: Equals<Stricter<AssemblyIndexItem, typeof AssemblyList.Entry.schema.fields>, never> = true
// The same holds for the values in `meta`.
export const uploaded: Equals<Stricter<AssemblyStatusUpload, typeof Assembly.File.schema.fields>, "meta"> = true
export const result: Equals<Stricter<AssemblyStatusResult, typeof Assembly.File.schema.fields>, "meta"> = true

/** What a method of the service's own client returns. */
type Answer<Method extends keyof Transloadit> = Transloadit[Method] extends (...args: never) => Promise<infer Result>
  ? Result
  : never

// Their content has the types of all robots; ours takes any Step. Their flag is any number; ours leaves out another one
// than 0 and 1.
export const template: Equals<
  Stricter<Answer<"listTemplates">["items"][number], typeof Template.Item.schema.fields>,
  "content" | "require_signature_auth"
> = true
export const found: Equals<
  Stricter<Omit<Answer<"getTemplate">, "ok">, typeof Template.Found.schema.fields>,
  "content" | "require_signature_auth"
> = true
export const credential: Equals<
  Stricter<Answer<"getTemplateCredential">["credential"], typeof TemplateCredential.Credential.fields>,
  never
> = true
export const replayed: Equals<
  Stricter<Omit<Answer<"replayAssembly">, "ok">, typeof AssemblyReplay.Replayed.schema.fields>,
  never
> = true
export const notified: Equals<
  Stricter<Omit<Answer<"replayAssemblyNotification">, "ok">, typeof Notification.Replayed.fields>,
  never
> = true
