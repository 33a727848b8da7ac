const auth = [
  // `modified_at` and `last_used_at` are null until a request changes or uses the Auth Key.
  `CREATE TABLE auth_keys (
     key TEXT PRIMARY KEY,
     secret TEXT NOT NULL,
     workspace TEXT NOT NULL,
     scopes TEXT NOT NULL,
     id TEXT NOT NULL,
     description TEXT,
     signature_algo TEXT,
     is_active INTEGER NOT NULL DEFAULT 1,
     is_allowed_for_smartcdn INTEGER NOT NULL DEFAULT 0,
     can_show_auth_secret INTEGER NOT NULL DEFAULT 0,
     created_at INTEGER NOT NULL,
     modified_at INTEGER,
     last_used_at INTEGER
   ) STRICT`,
  "CREATE UNIQUE INDEX auth_keys_by_id ON auth_keys (id)",
  "CREATE INDEX auth_keys_by_workspace ON auth_keys (workspace)",
  `CREATE TABLE used_signatures (
     signature TEXT PRIMARY KEY,
     expires_at INTEGER NOT NULL
   ) STRICT`,
  "CREATE INDEX used_signatures_by_expiry ON used_signatures (expires_at)",
  // The number of times that an emulator with a seed has started with this database. The ids that are generated after a
  // start depend on the seed and on this count, so a restart does not repeat ids.
  "CREATE TABLE starts (count INTEGER NOT NULL) STRICT",
  "INSERT INTO starts VALUES (0)"
]

const assemblies = [
  // `uploads_from` is the Assembly whose uploads are the input of a replay. `receiving`: whether the request that creates
  // the Assembly may still send files. `is_signed`: whether the params were signed, because a signed `notify_url` may
  // also be on loopback. `usage` is the work of each robot, as JSON: the numbers of its Steps and bytes, by its name.
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
     output_bytes INTEGER NOT NULL DEFAULT 0,
     auth_key TEXT,
     max_size INTEGER,
     parent_id TEXT,
     uploads_from TEXT,
     receiving INTEGER NOT NULL DEFAULT 0,
     emit_progress INTEGER NOT NULL DEFAULT 0,
     notification_payload TEXT NOT NULL DEFAULT '[]',
     is_signed INTEGER NOT NULL DEFAULT 0,
     usage TEXT NOT NULL DEFAULT '{}'
   ) STRICT`,
  "CREATE INDEX assemblies_by_creation ON assemblies (workspace, created_at)",
  // An index for the query that finds when a Template was last used.
  "CREATE INDEX assemblies_by_template ON assemblies (workspace, template_id, created_at)",
  // Indexes for the replacement of an Assembly, which changes the id of the Assembly in the rows of its replays.
  "CREATE INDEX assemblies_by_parent ON assemblies (parent_id) WHERE parent_id IS NOT NULL",
  "CREATE INDEX assemblies_by_uploads ON assemblies (uploads_from) WHERE uploads_from IS NOT NULL",
  // Indexes for the history of the job slots, which are in use from `uploaded_at` to `ended_at`, and for bills.
  "CREATE INDEX assemblies_by_execution ON assemblies (workspace, uploaded_at, region)",
  "CREATE INDEX assemblies_by_end ON assemblies (workspace, ended_at, region, uploaded_at)",
  "CREATE INDEX assemblies_executing ON assemblies (workspace, region) WHERE state = 'executing'",
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
     terminated_at INTEGER,
     kind TEXT NOT NULL DEFAULT 'ordinary',
     concat TEXT,
     md5hash TEXT,
     sha256 TEXT
   ) STRICT`,
  "CREATE INDEX uploads_by_assembly ON uploads (assembly_id)",
  // How many uploads an Assembly has, and how many ordinary and final uploads have finished. Triggers maintain the
  // counts, because counting all uploads after each upload would become slower with every upload. The counts have their
  // own table, because a row of `assemblies` may have megabytes.
  `CREATE TABLE upload_counts (
     assembly_id TEXT PRIMARY KEY,
     created INTEGER NOT NULL,
     arrived INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`,
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

const searches = [
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
   END`
]

const notifications = [
  // `due_at` is the time when an attempt is due, and null after the attempt has started. `is_signed` tells whether the
  // URL came from signed params. `attempt` counts from 1. `attempt` is 0 if a client has requested the attempt, because
  // an attempt that a client has requested is not repeated.
  `CREATE TABLE notifications (
     id TEXT PRIMARY KEY,
     assembly_id TEXT NOT NULL REFERENCES assemblies (id),
     url TEXT NOT NULL,
     status TEXT,
     response_code INTEGER,
     response_data TEXT,
     error TEXT,
     started_at INTEGER NOT NULL,
     duration INTEGER,
     due_at INTEGER,
     is_signed INTEGER NOT NULL DEFAULT 0,
     attempt INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  "CREATE INDEX notifications_by_assembly ON notifications (assembly_id)",
  "CREATE INDEX notifications_by_due ON notifications (due_at) WHERE due_at IS NOT NULL"
]

const dam = [
  `CREATE TABLE folders (
     id TEXT PRIMARY KEY,
     workspace TEXT NOT NULL,
     parent_id TEXT REFERENCES folders (id),
     name TEXT NOT NULL
   ) STRICT`,
  "CREATE UNIQUE INDEX folders_by_name ON folders (workspace, coalesce(parent_id, ''), name)",
  // Lists return assets in the order of `position`. Positions of different Workspaces are independent. The order of row
  // ids cannot be used, because `VACUUM` may change row ids.
  `CREATE TABLE assets (
     id TEXT PRIMARY KEY,
     workspace TEXT NOT NULL,
     folder_id TEXT REFERENCES folders (id),
     filename TEXT NOT NULL,
     version_id TEXT NOT NULL,
     updated_at INTEGER NOT NULL,
     deleted_at INTEGER,
     position INTEGER NOT NULL DEFAULT 0
   ) STRICT`,
  "CREATE UNIQUE INDEX assets_by_name ON assets (workspace, coalesce(folder_id, ''), filename) WHERE deleted_at IS NULL",
  "CREATE UNIQUE INDEX assets_by_position ON assets (workspace, position) WHERE deleted_at IS NULL",
  // `made_by` is the id of the work that made the version: the Assembly, the Step, and the index of the file. The unique
  // index prevents a second version if the Step runs again after a crash.
  `CREATE TABLE versions (
     id TEXT PRIMARY KEY,
     asset_id TEXT NOT NULL REFERENCES assets (id),
     blob TEXT NOT NULL,
     mime TEXT,
     size INTEGER NOT NULL,
     md5hash TEXT NOT NULL,
     sha256 TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     made_by TEXT
   ) STRICT`,
  "CREATE UNIQUE INDEX versions_by_maker ON versions (made_by)",
  // The secret that authenticates the cursors of lists.
  "CREATE TABLE dam_cursors (key TEXT NOT NULL) STRICT",
  "INSERT INTO dam_cursors VALUES (hex(randomblob(32)))",
  // The last position that an asset of each Workspace got. The position of a deleted asset is never used again. A walk
  // through the list ends at the position that was the last one when the walk started. If a new asset got an old
  // position, the walk would return the new asset.
  `CREATE TABLE dam_positions (
     workspace TEXT PRIMARY KEY,
     last INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID`
]

const templates = [
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
  "CREATE UNIQUE INDEX templates_by_name ON templates (workspace, name)",
  `CREATE TABLE template_credentials (
     id TEXT PRIMARY KEY,
     workspace TEXT NOT NULL,
     name TEXT NOT NULL,
     type TEXT NOT NULL,
     content TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     modified_at INTEGER NOT NULL
   ) STRICT`,
  "CREATE UNIQUE INDEX template_credentials_by_name ON template_credentials (workspace, name)"
]

/**
 * The statements of each migration. The key contains the number and the name of the migration. A migration of a
 * published version is never changed. Each text is one statement, because SQLite ignores everything after the first
 * statement of a text.
 */
export const migrations: Readonly<Record<string, ReadonlyArray<string>>> = {
  "1_first": [...auth, ...assemblies, ...searches, ...notifications, ...dam, ...templates]
}
