/**
 * The layer `builtins`: the built-in resources of Kubernetes with their strategies and table columns.
 */
export type {
  ObjectDraft,
  ObjectMetaDraft,
  Resource,
  Subresource,
  SubresourceRole,
  Verb,
  StoredObjectReader,
  WriteContext,
  AllocatedValues,
  Allocations,
  ResourceStrategy,
  ResourceStorage,
} from './resource.ts'
export { defaultRbacObjects, type DefaultRbacObject } from './rbac/default-roles.ts'
export { rulesOf, cachedRulesOf, toRuleObject, policyRule, type PolicyRule } from './rbac/policy-rule.ts'
export {
  columnsOf,
  nameColumn,
  type Cell,
  type ColumnDefinition,
  type TableColumns,
  type Column,
} from './columns/column.ts'
export { age } from './columns/age.ts'
export { makeCatalog } from './catalog.ts'
export { strategyFor } from './strategies.ts'
export { columnsFor } from './columns/registry.ts'
export { builtinSchemas, schemaName, publishedSchemaName } from './schemas.ts'
export { crdCleanupFinalizer } from './cluster/custom-resource-definition.ts'
export { converterFor } from './conversion.ts'
export { draftIn, draftsIn, ensureDraft } from './defaulting.ts'
export { quantityFrom } from './resource-quantities.ts'
export {
  crdApiService,
  groupPriorities,
  isCrdApiService,
  systemObjects,
  type SystemObject,
} from './cluster/system-objects.ts'
export { AddressRange } from './networking/address-range.ts'
export { defaultServiceRange } from './networking/service-addresses.ts'
