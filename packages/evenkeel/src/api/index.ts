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
  type Condition,
  type ConditionStatus,
  type NewCondition,
  type SetConditionOptions,
} from './conditions.ts'

export {
  ApiError,
  isApiError,
  formatSubject,
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
  type ApiErrorOptions,
  type Subject,
} from './errors/api-error.ts'
export {
  fieldError,
  formatFieldError,
  formatFieldErrors,
  invalid,
  FieldPath,
  type FieldError,
} from './errors/field-error.ts'
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
  type NamedSubject,
} from './errors/constructors.ts'
export {
  fieldCauses,
  isKnownReason,
  otherCauses,
  reasons,
  errorReference,
  type CauseType,
  type FieldCauseType,
  type Reason,
  type StatusCause,
} from './errors/reasons.ts'
export {
  fromStatus,
  fromUnexpectedResponse,
  isFailureStatus,
  toStatus,
  type Status,
  type StatusDetails,
  type UnexpectedResponse,
} from './errors/status.ts'

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

export {
  deepCopy,
  deepEqual,
  deepFreeze,
  exceedsDepth,
  getOwn,
  isJsonObject,
  jsonSize,
  setOwn,
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
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityAsInteger,
  quantityAsNumber,
  quantityOf,
  subtractQuantities,
  compareText,
  quote,
  utf8Length,
  formatDuration,
  formatMicroTime,
  formatTime,
  parseDuration,
  parseTime,
  parseTimestamp,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonPrimitive,
  type JsonValue,
  type NameRule,
  type Quantity,
  type QuantityFormat,
  type ParsedTimestamp,
} from '@evenkeel/cel/primitives'

export { defaultCluster, equalKeys, formatKey, keyOf, parseKey, type ObjectKey } from './key.ts'

export {
  declareKind,
  defineKind,
  type DefinedInput,
  type DefinedObject,
  type KindDeclaration,
  type KindDefinition,
  type KindNames,
} from './kind/define-kind.ts'
export {
  isOperationOver,
  Operation,
  operationTargetLabel,
  formatActionRequest,
  readActionRequest,
  requestAnnotation,
  actionsAnnotation,
  checkActionDefinition,
  readActionDefinitions,
  type OperationObject,
  type OperationPhase,
  type OperationTarget,
  type ActionRequest,
  type ActionForm,
  type ActionDefinition,
  type OperationPolicy,
} from './actions.ts'
export type {
  StandardStatus,
  ActionReport,
  ChildCount,
  ChildReport,
  DependencyReport,
  ExternalReport,
  PartState,
  VerbReport,
  VerbStatus,
} from './kind/status-schema.ts'
export {
  formatApiVersion,
  formatGroupName,
  parseApiVersion,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
} from './group-version.ts'
export type { Direction, FromJsonSchema, Infer, JsonSchemaLike, SchemaSource } from './kind/infer.ts'
export type { InputOf, Kind, ObjectOf, PrinterColumn, ScalePaths, Scope, Subresources } from './kind/kind.ts'
export { jsonSchemaOf, type StandardSchema } from './kind/standard-schema.ts'

export { annotationBytesMax, validateAnnotations, validateLabels } from './metadata.ts'

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
  type DedupedReferences,
  type Owner,
  type OwnerReferenceOptions,
} from './owners.ts'

export { applyJsonPatch, isFailedTest, type JsonPatchOperation, type JsonPatchOptions } from './patch/json-patch.ts'
export { applyMergePatch, createMergePatch } from './patch/merge-patch.ts'
export { formatPointer, parsePointer } from './patch/json-draft.ts'

export {
  compareResourceVersions,
  formatResourceVersion,
  isResourceVersion,
  parseRequestedVersion,
  type RequestedVersion,
} from './resource-version.ts'

export {
  escapeFieldValue,
  exactFieldValue,
  formatFieldRequirements,
  matchesFields,
  parseFieldSelector,
  requireSelectable,
  transformFields,
  type FieldRequirement,
  type FieldTransform,
  type SelectableFields,
} from './selector/field-selector.ts'
export { parseLabelSelector } from './selector/label-parser.ts'
export {
  exactLabelValue,
  formatLabelRequirements,
  matchesLabels,
  validateLabelRequirement,
  labelRequirementsOf,
  selectsLabels,
  toLabelSelector,
  validateLabelSelector,
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  type LabelSelector,
  type LabelSelectorRequirement,
} from './selector/label-selector.ts'
export { JsonScanner } from './json-bytes.ts'

export type { Definitions, ListType, Schema, SchemaNode } from './schema/schema.ts'
export {
  cannotBeHandledError,
  decodeObject,
  strictDecodingError,
  strictDecodingMessages,
  type DecodedObject,
} from './schema/decode.ts'
export { applyStrategicMergePatch } from './patch/strategic-merge-patch.ts'
export { defaultCustomObject } from './schema/default.ts'
export { pruneCustomObject } from './schema/prune.ts'
export { validateCustomObject, type ValidateCustomOptions } from './schema/validate.ts'
export {
  matchConditionsCostMax,
  loadAdmissionEngine,
  type AuthorizerCheck,
  type AdmissionCompiler,
  type AdmissionEvaluation,
  type AdmissionExpression,
  type AdmissionInput,
  type AdmissionEngine,
  type AdmissionResult,
  type AdmissionScope,
  type AuthorizeFunction,
  type JsonResult,
  type PolicyTypes,
  type TypeWarning,
} from './admission/expressions.ts'
export { overlay } from './admission/overlay.ts'
export {
  loadRuleEngine,
  crdEstimateMax,
  ruleEstimateMax,
  objectCostMax,
  type RuleEvaluator,
  type RuleEvaluatorOptions,
  type RuleEngine,
} from './rules/rules.ts'
export { applyConfiguration, type ApplyRequest } from './apply/apply-configuration.ts'
export { managedFieldsError, validateFieldManager, validateManagedFields } from './apply/managed-fields.ts'
export { extractOwned, type ExtractOptions } from './apply/extract.ts'
export {
  excludeFields,
  includeFields,
  sameManagers,
  type ConvertedObject,
  type FieldManagerRequest,
} from './apply/field-manager.ts'
export type { FieldFilter } from './apply/updater.ts'
export { restoreNulls, wouldApplyChange, type WouldApplyChangeOptions } from './apply/would-apply-change.ts'
export { fromScaleEntries, toScaleEntries, type ReplicasPaths, type ScaleResult } from './apply/scale.ts'
export { upgradeManagers, type UpgradeOptions } from './apply/client-side-apply.ts'
export { managedFieldsAfterUpdate, trackUpdate, type UpdateRequest } from './apply/track-update.ts'
export {
  approvalCondition,
  validateCrd,
  validateCrdUpdate,
  validateCrdStatus,
  type ValidateCrdOptions,
} from './crd/crd.ts'
export { toStructuralSchema } from './crd/structural.ts'
export { crdOf } from './crd/crd-of-kind.ts'
export { loadClaimsEngine, type ClaimsExpression } from './claims.ts'
export { schemaDeclType, type DeclTypeOptions } from './schema/cel-types.ts'
export {
  objectsIn,
  optionalObjectIn,
  textIn,
  textMapIn,
  textsIn,
  isSet,
  numberIn,
  objectIn,
  valueIn,
  type Fields,
} from './fields.ts'
export { matchesPattern, patternError, loadPatternEngine } from './patterns.ts'
export { loadValidationRules, loadedRuleLanguage, lazyValidationRules } from './validation-rules.ts'
