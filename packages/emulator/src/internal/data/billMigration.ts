/** The month of the end of an Assembly in UTC, as `YYYY-MM`. */
const monthOf = (row: string) => `strftime('%Y-%m', ${row}ended_at / 1000, 'unixepoch')`

/** Adds the bills, and the indexes for the history of the job slots. */
export const billMigration: ReadonlyArray<string> = [
  // The work of each robot, as JSON: the numbers of its Steps and bytes, by the name of the robot.
  "ALTER TABLE assemblies ADD COLUMN usage TEXT NOT NULL DEFAULT '{}'",
  `CREATE TABLE bills (
     workspace TEXT NOT NULL,
     month TEXT NOT NULL,
     assemblies INTEGER NOT NULL,
     input_bytes INTEGER NOT NULL,
     output_bytes INTEGER NOT NULL,
     PRIMARY KEY (workspace, month)
   ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE billed_robots (
     workspace TEXT NOT NULL,
     month TEXT NOT NULL,
     robot TEXT NOT NULL,
     steps INTEGER NOT NULL,
     input_bytes INTEGER NOT NULL,
     output_bytes INTEGER NOT NULL,
     PRIMARY KEY (workspace, month, robot)
   ) STRICT, WITHOUT ROWID`,
  `INSERT INTO bills
   SELECT workspace, ${monthOf("")} AS month, count(*), sum(input_bytes), sum(output_bytes)
   FROM assemblies WHERE ended_at IS NOT NULL GROUP BY workspace, month`,
  `CREATE TRIGGER bills_of_assembly AFTER UPDATE OF ended_at ON assemblies
   WHEN old.ended_at IS NULL AND new.ended_at IS NOT NULL BEGIN
     INSERT INTO bills VALUES (new.workspace, ${monthOf("new.")}, 1, new.input_bytes, new.output_bytes)
     ON CONFLICT DO UPDATE SET assemblies = assemblies + 1, input_bytes = input_bytes + excluded.input_bytes,
       output_bytes = output_bytes + excluded.output_bytes;
     INSERT INTO billed_robots
     SELECT new.workspace, ${monthOf("new.")}, key, value ->> 'steps', value ->> 'input_bytes', value ->> 'output_bytes'
     FROM json_each(new.usage) WHERE true
     ON CONFLICT DO UPDATE SET steps = steps + excluded.steps, input_bytes = input_bytes + excluded.input_bytes,
       output_bytes = output_bytes + excluded.output_bytes;
   END`,
  // Indexes for the history of the job slots, which are in use from `uploaded_at` to `ended_at`.
  "CREATE INDEX assemblies_by_execution ON assemblies (workspace, uploaded_at, region)",
  "CREATE INDEX assemblies_by_end ON assemblies (workspace, ended_at, region, uploaded_at)",
  "CREATE INDEX assemblies_executing ON assemblies (workspace, region) WHERE state = 'executing'"
]
