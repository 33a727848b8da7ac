import { billMigration } from "./billMigration.ts"

const first = [
  `CREATE TABLE auth_keys (
     key TEXT PRIMARY KEY,
     secret TEXT NOT NULL,
     workspace TEXT NOT NULL,
     scopes TEXT NOT NULL
   ) STRICT`,
  `CREATE TABLE used_signatures (
     signature TEXT PRIMARY KEY,
     expires_at INTEGER NOT NULL
   ) STRICT`,
  `CREATE TABLE assemblies (
     id TEXT PRIMARY KEY,
     workspace TEXT NOT NULL,
     region TEXT NOT NULL,
     state TEXT NOT NULL,
     steps TEXT NOT NULL,
     template_id TEXT,
     fields TEXT NOT NULL,
     notify_url TEXT,
     redirect_url TEXT,
     expected_uploads INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     uploaded_at INTEGER,
     ended_at INTEGER,
     error TEXT,
     message TEXT,
     uploads TEXT NOT NULL DEFAULT '[]',
     results TEXT NOT NULL DEFAULT '{}',
     input_files INTEGER NOT NULL DEFAULT 0,
     input_bytes INTEGER NOT NULL DEFAULT 0,
     output_files INTEGER NOT NULL DEFAULT 0,
     output_bytes INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  "CREATE INDEX assemblies_by_creation ON assemblies (workspace, created_at)",
  // `length` is TEXT, because its maximum, 2^63 - 1, is more than a JavaScript number can represent exactly.
  `CREATE TABLE uploads (
     id TEXT PRIMARY KEY,
     assembly_id TEXT NOT NULL REFERENCES assemblies (id),
     metadata TEXT NOT NULL,
     filename TEXT NOT NULL,
     fieldname TEXT NOT NULL,
     user_meta TEXT NOT NULL,
     length TEXT,
     created_at INTEGER NOT NULL,
     finished_at INTEGER,
     terminated_at INTEGER
   ) STRICT`,
  "CREATE INDEX uploads_by_assembly ON uploads (assembly_id)",
  `CREATE TABLE folders (
     id TEXT PRIMARY KEY,
     workspace TEXT NOT NULL,
     parent_id TEXT REFERENCES folders (id),
     name TEXT NOT NULL
   ) STRICT`,
  "CREATE UNIQUE INDEX folders_by_name ON folders (workspace, coalesce(parent_id, ''), name)",
  `CREATE TABLE assets (
     id TEXT PRIMARY KEY,
     workspace TEXT NOT NULL,
     folder_id TEXT REFERENCES folders (id),
     filename TEXT NOT NULL,
     version_id TEXT NOT NULL,
     updated_at INTEGER NOT NULL,
     deleted_at INTEGER
   ) STRICT`,
  "CREATE UNIQUE INDEX assets_by_name ON assets (workspace, coalesce(folder_id, ''), filename) WHERE deleted_at IS NULL",
  `CREATE TABLE versions (
     id TEXT PRIMARY KEY,
     asset_id TEXT NOT NULL REFERENCES assets (id),
     blob TEXT NOT NULL,
     mime TEXT,
     size INTEGER NOT NULL,
     md5hash TEXT NOT NULL,
     sha256 TEXT NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT`
]

const second = [
  "ALTER TABLE assemblies ADD COLUMN auth_key TEXT",
  "ALTER TABLE assemblies ADD COLUMN max_size INTEGER",
  "ALTER TABLE assemblies ADD COLUMN parent_id TEXT",
  // The id of the Assembly whose uploads are the input of a replay.
  "ALTER TABLE assemblies ADD COLUMN uploads_from TEXT",
  // Whether the request that creates the Assembly may still send files.
  "ALTER TABLE assemblies ADD COLUMN receiving INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE assemblies ADD COLUMN emit_progress INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE uploads ADD COLUMN kind TEXT NOT NULL DEFAULT 'ordinary'",
  "ALTER TABLE uploads ADD COLUMN concat TEXT",
  "ALTER TABLE uploads ADD COLUMN md5hash TEXT",
  "ALTER TABLE uploads ADD COLUMN sha256 TEXT",
  `CREATE TABLE notifications (
     id TEXT PRIMARY KEY,
     assembly_id TEXT NOT NULL REFERENCES assemblies (id),
     url TEXT NOT NULL,
     status TEXT,
     response_code INTEGER,
     response_data TEXT,
     error TEXT,
     started_at INTEGER NOT NULL,
     duration INTEGER
   ) STRICT`,
  "CREATE INDEX notifications_by_assembly ON notifications (assembly_id)"
]

const third = [
  // The id of the work that made the version: the Assembly, the Step, and the index of the file. The unique index
  // prevents a second version if the Step runs again after a crash.
  "ALTER TABLE versions ADD COLUMN made_by TEXT",
  "CREATE UNIQUE INDEX versions_by_maker ON versions (made_by)"
]

const fourth = [
  "ALTER TABLE assemblies ADD COLUMN notification_payload TEXT NOT NULL DEFAULT '[]'",
  `CREATE TABLE templates (
     workspace TEXT NOT NULL,
     id TEXT NOT NULL,
     name TEXT NOT NULL,
     content TEXT NOT NULL,
     require_signature_auth INTEGER NOT NULL,
     assembly_status_expiry TEXT,
     transcoding_result_expiry TEXT,
     created_at INTEGER NOT NULL,
     modified_at INTEGER NOT NULL,
     PRIMARY KEY (workspace, id)
   ) STRICT`,
  "CREATE UNIQUE INDEX templates_by_name ON templates (workspace, name)"
]

const fifth = [
  // The number of times that an emulator with a seed has started with this database. The ids that are generated after a
  // start depend on the seed and on this count, so a restart does not repeat ids. Older emulators used the number of
  // rows in the tables below instead, so the initial count is that number.
  "CREATE TABLE starts (count INTEGER NOT NULL) STRICT",
  `INSERT INTO starts
   SELECT (SELECT count(*) FROM assemblies) + (SELECT count(*) FROM uploads) + (SELECT count(*) FROM versions)
     + (SELECT count(*) FROM folders) + (SELECT count(*) FROM notifications) + (SELECT count(*) FROM templates)
     + (SELECT count(*) FROM auth_keys)`
]

const sixth = [
  // Whether the params were signed. A signed `notify_url` may also be on loopback. Older rows count as unsigned.
  "ALTER TABLE assemblies ADD COLUMN is_signed INTEGER NOT NULL DEFAULT 0"
]

const seventh = [
  "CREATE INDEX used_signatures_by_expiry ON used_signatures (expires_at)",
  // An index for the query that finds when a Template was last used.
  "CREATE INDEX assemblies_by_template ON assemblies (workspace, template_id, created_at)"
]

const eighth = [
  // The lower-case text in which a list request searches for keywords. Each part of the text has a maximum length,
  // because a search reads the text of every Assembly, and the fields of one Assembly may have a megabyte.
  `CREATE TABLE searches (
     assembly_id TEXT PRIMARY KEY REFERENCES assemblies (id),
     created TEXT NOT NULL,
     files TEXT NOT NULL DEFAULT '',
     outcome TEXT NOT NULL DEFAULT ''
   ) STRICT`,
  `CREATE TRIGGER searches_of_assembly AFTER INSERT ON assemblies BEGIN
     INSERT INTO searches (assembly_id, created) VALUES (new.id, lower(concat_ws(
       char(10), new.id, substr(new.redirect_url, 1, 2048), substr(new.notify_url, 1, 2048), substr(new.fields, 1, 8192)
     )));
   END`,
  `CREATE TRIGGER searches_of_outcome AFTER UPDATE OF error, message ON assemblies BEGIN
     UPDATE searches SET outcome = lower(concat_ws(char(10), substr(new.error, 1, 256), substr(new.message, 1, 1024)))
     WHERE assembly_id = new.id;
   END`,
  `CREATE TRIGGER searches_of_file AFTER INSERT ON uploads BEGIN
     UPDATE searches SET files = substr(files || lower(new.filename) || char(10), 1, 8192)
     WHERE assembly_id = new.assembly_id AND length(files) < 8192;
   END`,
  `INSERT INTO searches (assembly_id, created, outcome, files)
   SELECT id,
     lower(concat_ws(
       char(10), id, substr(redirect_url, 1, 2048), substr(notify_url, 1, 2048), substr(fields, 1, 8192)
     )),
     lower(concat_ws(char(10), substr(error, 1, 256), substr(message, 1, 1024))),
     coalesce(lower(substr(
       (SELECT group_concat(filename, char(10)) FROM uploads WHERE uploads.assembly_id = assemblies.id), 1, 8192
     )), '')
   FROM assemblies`
]

const ninth = [
  // `due_at` is the time when an attempt is due, and null after the attempt has started. `is_signed` tells whether the
  // URL came from signed params. `attempt` counts from 1. `attempt` is 0 if a client has requested the attempt, because
  // an attempt that a client has requested is not repeated.
  "ALTER TABLE notifications ADD COLUMN due_at INTEGER",
  "ALTER TABLE notifications ADD COLUMN is_signed INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE notifications ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0",
  "CREATE INDEX notifications_by_due ON notifications (due_at) WHERE due_at IS NOT NULL"
]

const tenth = [
  // How many uploads an Assembly has, and how many ordinary and final uploads have finished. Triggers maintain the
  // counts, because counting all uploads after each upload would become slower with every upload. The counts have their
  // own table, because a row of `assemblies` may have megabytes.
  `CREATE TABLE upload_counts (
     assembly_id TEXT PRIMARY KEY,
     created INTEGER NOT NULL,
     arrived INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  `INSERT INTO upload_counts (assembly_id, created, arrived)
   SELECT assembly_id, count(*), sum(finished_at IS NOT NULL AND kind IN ('ordinary', 'final'))
   FROM uploads GROUP BY assembly_id`,
  `CREATE TRIGGER upload_counts_created AFTER INSERT ON uploads BEGIN
     INSERT INTO upload_counts (assembly_id, created, arrived)
     VALUES (new.assembly_id, 1, new.finished_at IS NOT NULL AND new.kind IN ('ordinary', 'final'))
     ON CONFLICT DO UPDATE SET created = created + 1, arrived = arrived + excluded.arrived;
   END`,
  `CREATE TRIGGER upload_counts_arrived AFTER UPDATE OF finished_at ON uploads
   WHEN old.finished_at IS NULL AND new.finished_at IS NOT NULL AND new.kind IN ('ordinary', 'final') BEGIN
     UPDATE upload_counts SET arrived = arrived + 1 WHERE assembly_id = new.assembly_id;
   END`
]

const eleventh = [
  `CREATE TABLE template_credentials (
     id TEXT PRIMARY KEY,
     workspace TEXT NOT NULL,
     name TEXT NOT NULL,
     type TEXT NOT NULL,
     content TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     modified_at INTEGER NOT NULL
   ) STRICT`,
  "CREATE UNIQUE INDEX template_credentials_by_name ON template_credentials (workspace, name)",
  // Indexes for the replacement of an Assembly, which changes the id of the Assembly in the rows of its replays.
  "CREATE INDEX assemblies_by_parent ON assemblies (parent_id) WHERE parent_id IS NOT NULL",
  "CREATE INDEX assemblies_by_uploads ON assemblies (uploads_from) WHERE uploads_from IS NOT NULL"
]

const twelfth = [
  // The settings of each Auth Key. `created_at` is null if it is not known. `modified_at` and `last_used_at` are null
  // until a request changes or uses the Auth Key.
  "ALTER TABLE auth_keys ADD COLUMN id TEXT NOT NULL DEFAULT ''",
  "ALTER TABLE auth_keys ADD COLUMN description TEXT",
  "ALTER TABLE auth_keys ADD COLUMN signature_algo TEXT",
  "ALTER TABLE auth_keys ADD COLUMN is_active INTEGER NOT NULL DEFAULT 1",
  "ALTER TABLE auth_keys ADD COLUMN is_allowed_for_smartcdn INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE auth_keys ADD COLUMN can_show_auth_secret INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE auth_keys ADD COLUMN created_at INTEGER",
  "ALTER TABLE auth_keys ADD COLUMN modified_at INTEGER",
  "ALTER TABLE auth_keys ADD COLUMN last_used_at INTEGER",
  "UPDATE auth_keys SET id = lower(hex(randomblob(16)))",
  "CREATE UNIQUE INDEX auth_keys_by_id ON auth_keys (id)",
  "CREATE INDEX auth_keys_by_workspace ON auth_keys (workspace)"
]

const thirteenth = [
  // Lists return assets in the order of `position`. Positions of different Workspaces are independent. The order of row
  // ids cannot be used, because `VACUUM` may change row ids.
  "ALTER TABLE assets ADD COLUMN position INTEGER NOT NULL DEFAULT 0",
  "UPDATE assets SET position = rowid",
  "CREATE UNIQUE INDEX assets_by_position ON assets (workspace, position) WHERE deleted_at IS NULL",
  // The secret that authenticates the cursors of lists.
  "CREATE TABLE dam_cursors (key TEXT NOT NULL) STRICT",
  "INSERT INTO dam_cursors VALUES (hex(randomblob(32)))"
]

const fifteenth = [
  // The last position that an asset of each Workspace got. The position of a deleted asset is never used again. A walk
  // through the list ends at the position that was the last one when the walk started. If a new asset got an old
  // position, the walk would return the new asset.
  `CREATE TABLE dam_positions (
     workspace TEXT PRIMARY KEY,
     last INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
  "INSERT INTO dam_positions SELECT workspace, max(position) FROM assets GROUP BY workspace"
]

/**
 * The statements of each migration. The key contains the number and the name of the migration. A migration that has run
 * on any database is never changed. Each text is one statement, because SQLite ignores everything after the first
 * statement of a text.
 */
export const migrations: Readonly<Record<string, ReadonlyArray<string>>> = {
  "1_assemblies_and_assets": first,
  "2_replays_and_notifications": second,
  "3_makers_of_versions": third,
  "4_templates": fourth,
  "5_starts": fifth,
  "6_signed_assemblies": sixth,
  "7_indexes": seventh,
  "8_searches": eighth,
  "9_due_notifications": ninth,
  "10_counts_of_uploads": tenth,
  "11_template_credentials": eleventh,
  "12_auth_key_records": twelfth,
  "13_dam_listing": thirteenth,
  "14_bills_and_job_slots": billMigration,
  "15_positions_of_assets": fifteenth
}
