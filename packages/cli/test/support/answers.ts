const start = Date.UTC(2026, 0, 1, 11) / 1000

const bucket = {
  data_from_ts: start,
  avg_execution_duration: 1.5,
  avg_input_file_sizes: 699_050,
  avg_live_queue_duration: 0,
  avg_output_file_sizes: 0,
  avg_processing_speed: 0,
  avg_upload_duration: 1,
  avg_upload_speed: 5,
  num_assemblies: 3,
  num_bytes: 2_097_152,
  num_cancelled_assemblies: 0,
  num_erroneous_assemblies: 1,
  num_files: 3,
  num_request_aborted_assemblies: 0,
  num_successful_assemblies: 2,
  total_bytes_usage: 2_097_152,
  total_execution_duration: 4.5,
  total_live_queue_duration: 0,
  total_num_output_files: 0,
  total_num_uploaded_bytes: 2_097_152,
  total_output_file_sizes: 0,
  total_upload_duration: 3
}

/** Statistics of three Assemblies in one hour, as the service sends them. */
export const statistics = {
  ok: "ASSEMBLY_STATS_FOUND",
  granularity: 3600,
  stats: [bucket],
  errorStatsGranularity: 3600,
  errorStats: [{ data_from_ts: start, error: "NO_COUNTRY", num_erroneous_assemblies: 1 }],
  errorStatsTotals: [{ error: "NO_COUNTRY", num_erroneous_assemblies: 1 }],
  totalAssemblies: 3,
  totalBytesProcessed: 2_097_152,
  totalBytesUploaded: 2_097_152,
  totalExecutionDuration: 4.5,
  totalFilesProcessed: 3,
  totalLiveQueueDuration: 0,
  totalOutputBytesProcessed: 0,
  totalOutputFilesProcessed: 0,
  totalUploadDuration: 3,
  totalUsage: 2_097_152
}

/** The response to a move to the root, as the service sends it. */
export const moved = {
  ok: "DAM_ASSET_MOVED",
  message: "The asset was moved.",
  asset: {
    asset_id: "AAAAAAAAAAAAAAAAAAAAAA",
    version_id: "BBBBBBBBBBBBBBBBBBBBBA",
    workspace: "demo",
    path: "b.txt",
    mime: "text/plain",
    size: 3
  },
  asset_id: "AAAAAAAAAAAAAAAAAAAAAA",
  folder_id: null,
  filename: "b.txt",
  path: "b.txt",
  deleted_at: null,
  updated_at: "2026-01-01T12:00:00.5Z"
}
