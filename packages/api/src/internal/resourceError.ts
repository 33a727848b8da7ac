/**
 * The named errors that only operations beyond the specification have. `ApiError` exports them.
 */
import { refusal } from "../unstable/ErrorDetails.ts"

/**
 * AUTH_KEY_NOT_CREATED: the Auth Key could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotCreated extends refusal<AuthKeyNotCreated>()("AuthKeyNotCreated") {}

/**
 * AUTH_KEY_NOT_UPDATED: the Auth Key could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotUpdated extends refusal<AuthKeyNotUpdated>()("AuthKeyNotUpdated") {}

/**
 * AUTH_KEY_NOT_DELETED: the Auth Key could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotDeleted extends refusal<AuthKeyNotDeleted>()("AuthKeyNotDeleted") {}

/**
 * AUTH_SECRET_NOT_RETRIEVED: the secret of the Auth Key cannot be shown.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthSecretNotRetrieved extends refusal<AuthSecretNotRetrieved>()("AuthSecretNotRetrieved") {}

/**
 * TEMPLATE_LIST_ERROR: the service returned an error instead of a list.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateListFailed extends refusal<TemplateListFailed>()("TemplateListFailed") {}

/**
 * TEMPLATE_NOT_FOUND: no Template has this id or name.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateNotFound extends refusal<TemplateNotFound>()("TemplateNotFound") {}

/**
 * TEMPLATE_VALIDATION_ERROR: a setting or the content of the Template is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateInvalid extends refusal<TemplateInvalid>()("TemplateInvalid") {}

/**
 * TEMPLATE_CREDENTIALS_NOT_FOUND: the Template Credentials could not be listed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotFound extends refusal<TemplateCredentialsNotFound>()(
  "TemplateCredentialsNotFound"
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_READ: the Template Credentials could not be read.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotRead extends refusal<TemplateCredentialsNotRead>()("TemplateCredentialsNotRead") {}

/**
 * TEMPLATE_CREDENTIALS_NOT_CREATED: the Template Credentials could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotCreated extends refusal<TemplateCredentialsNotCreated>()(
  "TemplateCredentialsNotCreated"
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_UPDATED: the Template Credentials could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotUpdated extends refusal<TemplateCredentialsNotUpdated>()(
  "TemplateCredentialsNotUpdated"
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_DELETED: the Template Credentials could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotDeleted extends refusal<TemplateCredentialsNotDeleted>()(
  "TemplateCredentialsNotDeleted"
) {}

/**
 * BILL_NOT_FOUND: there is no bill for the month. The service sends this error with status 200.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class BillNotFound extends refusal<BillNotFound>()("BillNotFound") {}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION: the aggregation is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidAggregation extends refusal<JobSlotStatisticsInvalidAggregation>()(
  "JobSlotStatisticsInvalidAggregation"
) {}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_TIME: `since` is missing or invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidTime extends refusal<JobSlotStatisticsInvalidTime>()(
  "JobSlotStatisticsInvalidTime"
) {}

/**
 * PRIORITY_JOB_SLOT_STATS_MISSING_REGION: a region is required.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsMissingRegion extends refusal<JobSlotStatisticsMissingRegion>()(
  "JobSlotStatisticsMissingRegion"
) {}

/**
 * 500 PRIORITY_JOB_SLOT_STATS_ERROR: the statistics could not be loaded.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsUnavailable extends refusal<JobSlotStatisticsUnavailable>()(
  "JobSlotStatisticsUnavailable"
) {}
