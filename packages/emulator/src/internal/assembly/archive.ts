import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"

/**
 * Changes the id of an Assembly, so that a new Assembly can have the old id. Everything that refers to the Assembly,
 * such as its uploads, refers to the new id afterwards. An Assembly that is busy or belongs to another Workspace keeps
 * its id. The caller must run this function inside a transaction.
 *
 * The old Assembly is not deleted, because its replays and its assets need its uploads, and because statistics count
 * the Assembly. Notifications of the old Assembly that were not sent yet are deleted.
 */
export const rename = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { id, to, workspace }: { readonly id: string; readonly to: string; readonly workspace: string }
) {
  // SQLite checks foreign keys at the end of the transaction, because the rows that refer to the Assembly change later.
  yield* sql`PRAGMA defer_foreign_keys = ON`.raw
  const renamed = yield* sql`
    UPDATE assemblies SET id = ${to}, notify_url = NULL
    WHERE id = ${id} AND workspace = ${workspace} AND state NOT IN ('uploading', 'executing') RETURNING id`
  if (renamed.length === 0) return
  yield* sql`DELETE FROM notifications WHERE assembly_id = ${id} AND due_at IS NOT NULL`.raw
  yield* sql`
    UPDATE notifications SET status = 'error', error = 'The Assembly was replaced.'
    WHERE assembly_id = ${id} AND status = 'processing'`.raw
  for (const table of ["notifications", "uploads", "upload_counts", "searches"]) {
    yield* sql`UPDATE ${sql.literal(table)} SET assembly_id = ${to} WHERE assembly_id = ${id}`.raw
  }
  yield* sql`UPDATE assemblies SET parent_id = ${to} WHERE parent_id = ${id}`.raw
  yield* sql`UPDATE assemblies SET uploads_from = ${to} WHERE uploads_from = ${id}`.raw
  // `made_by` starts with the id of the Assembly that stored the version. The new Assembly gets the old id. If
  // `made_by` kept the old id, the new Assembly would treat the versions of the old Assembly as its own, and would
  // store nothing. `0` is the character after `/`, so the condition selects every text that starts with the old id and
  // `/`.
  yield* sql`
    UPDATE versions SET made_by = ${to} || substr(made_by, ${id.length + 1})
    WHERE made_by > ${`${id}/`} AND made_by < ${`${id}0`}`.raw
})
