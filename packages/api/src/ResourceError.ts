/**
 * The named errors that only operations beyond the specification have. `ApiError` also exports these errors.
 */
import * as Schema from "effect/Schema"
import { Details, refusing } from "./unstable/ErrorDetails.ts"

/**
 * AUTH_KEY_NOT_CREATED: the Auth Key could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotCreated extends refusing(
  Schema.TaggedError<AuthKeyNotCreated>()("AuthKeyNotCreated", Details)
) {}

/**
 * AUTH_KEY_NOT_UPDATED: the Auth Key could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotUpdated extends refusing(
  Schema.TaggedError<AuthKeyNotUpdated>()("AuthKeyNotUpdated", Details)
) {}

/**
 * AUTH_KEY_NOT_DELETED: the Auth Key could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthKeyNotDeleted extends refusing(
  Schema.TaggedError<AuthKeyNotDeleted>()("AuthKeyNotDeleted", Details)
) {}

/**
 * AUTH_SECRET_NOT_RETRIEVED: the secret of the Auth Key cannot be shown.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class AuthSecretNotRetrieved extends refusing(
  Schema.TaggedError<AuthSecretNotRetrieved>()("AuthSecretNotRetrieved", Details)
) {}

/**
 * TEMPLATE_LIST_ERROR: the service returned an error instead of a list.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateListFailed extends refusing(
  Schema.TaggedError<TemplateListFailed>()("TemplateListFailed", Details)
) {}

/**
 * TEMPLATE_NOT_FOUND: no Template has this id or name.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateNotFound extends refusing(Schema.TaggedError<TemplateNotFound>()("TemplateNotFound", Details)) {}

/**
 * TEMPLATE_VALIDATION_ERROR: a setting or the content of the Template is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateInvalid extends refusing(Schema.TaggedError<TemplateInvalid>()("TemplateInvalid", Details)) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_FOUND: the Template Credentials could not be listed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotFound extends refusing(
  Schema.TaggedError<TemplateCredentialsNotFound>()("TemplateCredentialsNotFound", Details)
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_READ: the Template Credentials could not be read.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotRead extends refusing(
  Schema.TaggedError<TemplateCredentialsNotRead>()("TemplateCredentialsNotRead", Details)
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_CREATED: the Template Credentials could not be created.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotCreated extends refusing(
  Schema.TaggedError<TemplateCredentialsNotCreated>()("TemplateCredentialsNotCreated", Details)
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_UPDATED: the Template Credentials could not be changed.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotUpdated extends refusing(
  Schema.TaggedError<TemplateCredentialsNotUpdated>()("TemplateCredentialsNotUpdated", Details)
) {}

/**
 * TEMPLATE_CREDENTIALS_NOT_DELETED: the Template Credentials could not be deleted.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class TemplateCredentialsNotDeleted extends refusing(
  Schema.TaggedError<TemplateCredentialsNotDeleted>()("TemplateCredentialsNotDeleted", Details)
) {}

/**
 * BILL_NOT_FOUND: there is no bill for the month. The service sends this error with status 200.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class BillNotFound extends refusing(Schema.TaggedError<BillNotFound>()("BillNotFound", Details)) {}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION: the aggregation is invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidAggregation extends refusing(
  Schema.TaggedError<JobSlotStatisticsInvalidAggregation>()("JobSlotStatisticsInvalidAggregation", Details)
) {}

/**
 * PRIORITY_JOB_SLOT_STATS_INVALID_TIME: `since` is missing or invalid.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsInvalidTime extends refusing(
  Schema.TaggedError<JobSlotStatisticsInvalidTime>()("JobSlotStatisticsInvalidTime", Details)
) {}

/**
 * PRIORITY_JOB_SLOT_STATS_MISSING_REGION: a region is required.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsMissingRegion extends refusing(
  Schema.TaggedError<JobSlotStatisticsMissingRegion>()("JobSlotStatisticsMissingRegion", Details)
) {}

/**
 * 500 PRIORITY_JOB_SLOT_STATS_ERROR: the statistics could not be loaded.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobSlotStatisticsUnavailable extends refusing(
  Schema.TaggedError<JobSlotStatisticsUnavailable>()("JobSlotStatisticsUnavailable", Details)
) {}
