/**
 * Layer 1: what objects are, and everything that can be said about them without asking anybody.
 *
 * Pure functions on plain JSON: no I/O, no clock, no chance. Published as `evenkeel/api`.
 */

export {
  setCondition,
  findCondition,
  readConditions,
  isConditionTrue,
  validateConditions,
  type Condition,
  type ConditionStatus,
  type NewCondition,
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
  isInvalid,
  isMethodNotAllowed,
  isNotAcceptable,
  isNotFound,
  isRequestEntityTooLarge,
  isServiceUnavailable,
  isTooManyRequests,
  isUnauthorized,
  isUnsupportedMediaType,
  type Subject,
} from './errors/api-error.ts'
export {
  errorsOfEach,
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
  namespaceTerminating,
  methodNotAllowed,
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
export { isKnownReason, type Reason } from './errors/reasons.ts'
export { fromStatus, fromUnexpectedResponse, isFailureStatus, toStatus, type Status } from './errors/status.ts'

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
  pushAll,
  deepFreeze,
  exceedsDepth,
  getOwn,
  isJsonObject,
  jsonSize,
  setOwn,
  checkDns1035Label,
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
  parseQuantity,
  quantityAsInteger,
  quantityAsNumber,
  quantityOf,
  compareText,
  quote,
  utf8Length,
  endOfString,
  integerOf,
  parseJson,
  stringifyJson,
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
} from '@evenkeel/cel/primitives'

export { defaultCluster, formatKey, parseKey, type ObjectKey } from './key.ts'

export { declareKind, defineKind } from './kind/define-kind.ts'
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
  type ActionRequest,
  type ActionDefinition,
  type OperationPolicy,
} from './actions.ts'
export type {
  ActionReport,
  ChildCount,
  ChildReport,
  DependencyReport,
  ExternalReport,
  PartState,
} from './kind/status-schema.ts'
export {
  canonicalApiVersion,
  formatApiVersion,
  formatGroupName,
  parseApiVersion,
  type GroupVersion,
  type GroupVersionKind,
} from './group-version.ts'
export type { BuiltinType, Infer, SchemaSource, TypedSchema } from './kind/infer.ts'
export type { InputOf, Kind, ObjectOf, PrinterColumn, ScalePaths, Scope } from './kind/kind.ts'
export { jsonSchemaOf } from './kind/standard-schema.ts'

export { validateAnnotations, validateLabels } from './metadata.ts'

export { asJson, asKubeObject } from './object.ts'
export type {
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectList,
  ObjectMeta,
  OwnerReference,
  Stored,
  TypeMeta,
  UnstructuredObject,
} from './object.ts'

export {
  dedupeOwnerReferences,
  getControllerOf,
  isOwnedBy,
  setControllerReference,
  setOwnerReference,
  validateOwnerReferences,
  type Owner,
} from './owners.ts'

export { applyJsonPatch, isFailedTest, type JsonPatchOperation } from './patch/json-patch.ts'
export { applyMergePatch, createMergePatch } from './patch/merge-patch.ts'
export { formatPointer } from './patch/json-draft.ts'

export { compareResourceVersions, isResourceVersion, parseRequestedVersion } from './resource-version.ts'

export {
  exactFieldValue,
  formatFieldRequirements,
  matchesFields,
  parseFieldSelector,
  requireSelectable,
  type FieldRequirement,
} from './selector/field-selector.ts'
export { parseLabelSelector } from './selector/label-parser.ts'
export {
  formatLabelRequirements,
  matchesLabels,
  validateLabelRequirement,
  labelRequirementsOf,
  selectsLabels,
  validateLabelSelector,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorRequirement,
} from './selector/label-selector.ts'
export { JsonScanner } from './json-bytes.ts'
export { findByJsonPath, parseJsonPath, visitsMax, type JsonPath, type JsonPathBudget } from './json-path.ts'

export type { Definitions, Schema, SchemaNode } from './schema/schema.ts'
export {
  cannotBeHandledError,
  decodeObject,
  strictDecodingError,
  strictDecodingMessages,
  type StrictFindings,
} from './schema/decode.ts'
export { applyStrategicMergePatch } from './patch/strategic-merge-patch.ts'
export { defaultCustomObject } from './schema/default.ts'
export { pruneCustomObject } from './schema/prune.ts'
export { validateCustomObject, type ValidateCustomOptions } from './schema/validate.ts'
export {
  matchConditionsCostMax,
  loadAdmissionEngine,
  type AdmissionCompiler,
  type AdmissionEvaluation,
  type AdmissionExpression,
  type AdmissionInput,
  type AdmissionEngine,
  type AdmissionResult,
  type PolicyTypes,
  type TypeWarning,
} from './admission/expressions.ts'
export { overlay } from './admission/overlay.ts'
export { loadRuleEngine } from './rules/rules.ts'
export { applyConfiguration } from './apply/apply-configuration.ts'
export { managedFieldsError, validateFieldManager, validateManagedFields } from './apply/managed-fields.ts'

export {
  excludeFields,
  includeFields,
  sameManagers,
  type ConvertedObject,
  type FieldManagerRequest,
} from './apply/field-manager.ts'
export type { FieldFilter } from './apply/updater.ts'
export { restoreNulls, wouldApplyChange } from './apply/would-apply-change.ts'
export { fromScaleEntries, toScaleEntries, type ReplicasPaths } from './apply/scale.ts'

export { managedFieldsAfterUpdate } from './apply/track-update.ts'
export { approvalCondition, validateCrd, validateCrdStatus, type ValidateCrdOptions } from './crd/crd.ts'
export { toStructuralSchema } from './crd/structural.ts'
export { crdOf } from './crd/crd-of-kind.ts'
export { loadClaimsEngine, type ClaimsExpression } from './claims.ts'

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
export { matchesPattern, patternMatcher, patternChecker, loadPatternEngine } from './patterns.ts'
export { loadValidationRules, loadedRuleLanguage, lazyValidationRules } from './validation-rules.ts'
