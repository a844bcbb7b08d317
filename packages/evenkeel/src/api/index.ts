/**
 * Layer 1: what objects are, and everything that can be said about them without asking anybody.
 *
 * Pure functions on plain JSON: no I/O, no clock, no chance. Published as `evenkeel/api`.
 */
export {
  setCondition,
  findCondition,
  isConditionTrue,
  isConditionFalse,
  removeCondition,
  validateConditions,
} from './conditions.ts'
export type { Condition, ConditionStatus, NewCondition, SetConditionOptions } from './conditions.ts'

export { ApiError, isApiError, formatSubject } from './error/api-error.ts'
export type { ApiErrorOptions, Subject } from './error/api-error.ts'
export { fieldError, formatFieldError, formatFieldErrors, invalid } from './error/field-error.ts'
export type { FieldError } from './error/field-error.ts'
export { FieldPath } from './error/field-path.ts'
export {
  alreadyExists,
  applyConflict,
  badRequest,
  conflict,
  expired,
  forbidden,
  generateNameConflict,
  gone,
  internalError,
  methodNotAllowed,
  namespaceTerminating,
  notAcceptable,
  notFound,
  requestEntityTooLarge,
  resourceVersionTooLarge,
  serverTimeout,
  serviceUnavailable,
  staleVersion,
  timeout,
  tooManyRequests,
  unauthorized,
  unsupportedMediaType,
} from './error/makers.ts'
export type { NamedSubject } from './error/makers.ts'
export {
  findCause,
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isExpired,
  isForbidden,
  isGone,
  isInternalError,
  isInvalid,
  isMethodNotAllowed,
  isNotAcceptable,
  isNotFound,
  isReason,
  isRequestEntityTooLarge,
  isServerTimeout,
  isServiceUnavailable,
  isStorageReadError,
  isTimeout,
  isTooManyRequests,
  isUnauthorized,
  isUnsupportedMediaType,
} from './error/predicates.ts'
export { fieldCauses, isKnownReason, otherCauses, reasons } from './error/reasons.ts'
export type { CauseType, FieldCauseType, Reason, StatusCause } from './error/reasons.ts'
export { errorReference } from './error/reference.ts'
export { fromStatus, fromUnexpectedResponse, isFailureStatus, toStatus } from './error/status.ts'
export type { Status, StatusDetails, UnexpectedResponse } from './error/status.ts'

export {
  addFinalizer,
  finalizerWarnings,
  foregroundFinalizer,
  hasFinalizer,
  orphanFinalizer,
  removeFinalizer,
  validateFinalizers,
  validateNoNewFinalizers,
} from './finalizers.ts'

export { deepCopy, deepEqual, deepFreeze, exceedsDepth, getOwn, isJsonObject, jsonSize, setOwn } from './json.ts'
export type { JsonArray, JsonObject, JsonObjectDraft, JsonPrimitive, JsonValue } from './json.ts'

export { defaultCluster, equalKeys, formatKey, keyOf, parseKey } from './key.ts'
export type { ObjectKey } from './key.ts'

export { declareKind, defineKind } from './kind/define-kind.ts'
export type { DefinedInput, DefinedObject, KindDeclaration, KindDefinition, KindNames } from './kind/define-kind.ts'
export { isOperationOver, Operation, operationTargetLabel } from './actions/operation.ts'
export type { OperationObject, OperationPhase, OperationTarget } from './actions/operation.ts'
export { formatActionRequest, readActionRequest, requestAnnotation } from './actions/request.ts'
export type { ActionRequest } from './actions/request.ts'
export { actionsAnnotation, checkActionDefinition, readActionDefinitions } from './actions/sheet.ts'
export type { ActionForm, ActionDefinition, OperationPolicy } from './actions/sheet.ts'
export type { StandardStatus } from './kind/standard-status.ts'
export type {
  ActionReport,
  ChildCount,
  ChildReport,
  DependencyReport,
  ExternalReport,
  PartState,
  VerbReport,
  VerbStatus,
} from './kind/verb-status.ts'
export { formatApiVersion, formatGroupName, parseApiVersion } from './kind/group-version.ts'
export type { GroupVersion, GroupVersionKind, GroupVersionResource } from './kind/group-version.ts'
export type { Direction, FromJsonSchema, Infer, JsonSchemaLike, SchemaSource } from './kind/infer.ts'
export type { InputOf, Kind, ObjectOf, PrinterColumn, ScalePaths, Scope, Subresources } from './kind/kind.ts'
export { jsonSchemaOf } from './kind/standard-schema.ts'
export type { StandardSchema } from './kind/standard-schema.ts'

export { annotationBytesMax, validateAnnotations, validateLabels } from './metadata.ts'

export {
  checkDns1035Label,
  checkDns1035LabelName,
  checkDnsLabel,
  checkDnsLabelName,
  checkDnsSubdomain,
  checkDnsSubdomainName,
  checkLabelValue,
  checkPathSegmentName,
  checkQualifiedName,
  generateName,
} from './names.ts'
export type { NameRule } from './names.ts'

export type {
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectList,
  ObjectMeta,
  OwnerReference,
  Stored,
  StoredMeta,
  TypeMeta,
  UnstructuredObject,
} from './object.ts'

export {
  AlreadyOwnedError,
  dedupeOwnerReferences,
  getControllerOf,
  isAlreadyOwned,
  isControlledBy,
  isOwnedBy,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
  validateOwnerReferences,
} from './owners.ts'
export type { DedupedReferences, Owner, OwnerReferenceOptions } from './owners.ts'

export { applyJsonPatch, isFailedTest } from './patch/json-patch.ts'
export type { JsonPatchOperation, JsonPatchOptions } from './patch/json-patch.ts'
export { applyMergePatch, createMergePatch } from './patch/merge-patch.ts'
export { formatPointer, parsePointer } from './patch/pointer.ts'

export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityAsInteger,
  quantityAsNumber,
  quantityOf,
  subtractQuantities,
} from './quantity.ts'
export type { Quantity, QuantityFormat } from './quantity.ts'

export {
  compareResourceVersions,
  formatResourceVersion,
  isResourceVersion,
  parseRequestedVersion,
} from './resource-version.ts'
export type { RequestedVersion } from './resource-version.ts'

export {
  escapeFieldValue,
  exactFieldValue,
  formatFieldRequirements,
  matchesFields,
  parseFieldSelector,
  requireSelectable,
  transformFields,
} from './selector/field-selector.ts'
export type { FieldRequirement, FieldTransform, SelectableFields } from './selector/field-selector.ts'
export { parseLabelSelector } from './selector/label-parser.ts'
export {
  exactLabelValue,
  formatLabelRequirements,
  matchesLabels,
  validateLabelRequirement,
} from './selector/label-requirement.ts'
export type { LabelOperator, LabelRequirement, Labels } from './selector/label-requirement.ts'
export {
  labelRequirementsOf,
  selectsLabels,
  toLabelSelector,
  validateLabelSelector,
} from './selector/label-selector.ts'
export type { LabelSelector, LabelSelectorRequirement } from './selector/label-selector.ts'
export { skipString, skipValue } from './skip-json.ts'

export { compareText, quote, utf8Length } from './text.ts'

export { formatDuration, formatMicroTime, formatTime, parseDuration, parseTime, parseTimestamp } from './time.ts'
export type { ParsedTimestamp } from './time.ts'

export type { Definitions, ListType, Schema, SchemaNode } from './schema/schema.ts'
export { cannotBeHandledError, decodeObject } from './schema/conform.ts'
export type { DecodedObject } from './schema/conform.ts'
export { strictDecodingError, strictDecodingMessages } from './schema/strict.ts'
export { applyStrategicMergePatch } from './patch/strategic/strategic-merge-patch.ts'
export { defaultCustomObject } from './custom/default.ts'
export { pruneCustomObject } from './custom/shape.ts'
export { validateCustomObject } from './custom/validate.ts'
export type { ValidateCustomOptions } from './custom/validate.ts'
export { matchConditionsCostMax, loadAdmissionEngine } from './admission/load.ts'
export { overlay } from './admission/overlay.ts'
export type {
  AuthorizerCheck,
  AdmissionCompiler,
  AdmissionEvaluation,
  AdmissionExpression,
  AdmissionInput,
  AdmissionEngine,
  AdmissionResult,
  AdmissionScope,
  AuthorizeFunction,
  JsonResult,
  PolicyTypes,
  TypeWarning,
} from './admission/load.ts'
export { loadRuleEngine } from './rules/load.ts'
export type { RuleEvaluator, RuleEvaluatorOptions, RuleEngine } from './rules/load.ts'
export { applyConfiguration } from './apply/managed/apply-configuration.ts'
export type { ApplyRequest } from './apply/managed/apply-configuration.ts'
export { managedFieldsError } from './apply/managed/entries.ts'
export { extractOwned } from './apply/managed/extract-owned.ts'
export type { ExtractOptions } from './apply/managed/extract-owned.ts'
export { excludeFields, includeFields } from './apply/managed/filters.ts'
export type { FieldFilter } from './apply/merge/managers.ts'
export { restoreNulls } from './apply/oracle/restore-nulls.ts'
export { wouldApplyChange } from './apply/oracle/would-apply-change.ts'
export type { WouldApplyChangeOptions } from './apply/oracle/would-apply-change.ts'
export { fromScaleEntries, toScaleEntries } from './apply/managed/scale-entries.ts'
export type { ReplicasPaths, ScaleResult } from './apply/managed/scale-entries.ts'
export { sameManagers } from './apply/managed/timestamps.ts'
export { upgradeManagers } from './apply/managed/upgrade-managers.ts'
export type { UpgradeOptions } from './apply/managed/upgrade-managers.ts'
export { validateFieldManager, validateManagedFields } from './apply/managed/validate-entries.ts'
export type { ConvertedObject, FieldManagerRequest } from './apply/managed/request.ts'
export { managedFieldsAfterUpdate, trackUpdate } from './apply/managed/track-update.ts'
export type { UpdateRequest } from './apply/managed/track-update.ts'
export { approvalCondition } from './structural/approval.ts'
export { validateCrd, validateCrdUpdate, validateCrdStatus } from './structural/definition.ts'
export type { ValidateCrdOptions } from './structural/definition.ts'
export { toStructuralSchema } from './structural/to-structural.ts'
export { crdOf } from './structural/source/definition-of.ts'
export { loadClaimsEngine } from './claims/load.ts'
export type { ClaimsExpression } from './claims/load.ts'
