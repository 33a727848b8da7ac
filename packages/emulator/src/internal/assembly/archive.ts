import * as Effect from "effect/Effect"
import type * as SqlClient from "effect/sql/SqlClient"

/**
 * Gives an Assembly of a Workspace another id, with its uploads and everything else that refers to it, so that a new
 * Assembly can have its id. An Assembly that is busy, or of another Workspace, keeps its id. Runs inside a transaction.
 *
 * The Assembly is kept, because replays work on its uploads, assets on its files, and statistics count it. Its
 * notifications that were not sent are forgotten.
 */
export const rename = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { id, to, workspace }: { readonly id: string; readonly to: string; readonly workspace: string }
) {
  // The rows that refer to the Assembly follow after its own row.
  yield* sql`PRAGMA defer_foreign_keys = ON`.raw
  const renamed = yield* sql`
    UPDATE assemblies SET id = ${to}, notify_url = NULL
    WHERE id = ${id} AND workspace = ${workspace} AND state NOT IN ('uploading', 'executing')
      AND NOT (state = 'canceled' AND receiving = 1) RETURNING id`
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
  // Otherwise the new Assembly would seem to have stored its assets before. The text between `/` and `0` has the prefix.
  yield* sql`
    UPDATE versions SET made_by = ${to} || substr(made_by, ${id.length + 1})
    WHERE made_by > ${`${id}/`} AND made_by < ${`${id}0`}`.raw
})
