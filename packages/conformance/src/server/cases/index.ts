/**
 * Every rule of the API, as cases.
 */
import type { ServerCase } from '../target.ts'
import { classCases } from './admission/classes.ts'
import { limitRangeCases } from './admission/limit-ranges.ts'
import { podSecurityCases } from './admission/pod-security.ts'
import { serviceAccountCases } from './admission/service-accounts.ts'
import { builtInApplyCases } from './apply/built-in.ts'
import { applyRequestCases } from './apply/requests.ts'
import { sequenceCases } from './apply/sequences.ts'
import { managedCases } from './apply/tracking.ts'
import { integerCases } from './custom/integers.ts'
import { customObjectCases } from './custom/objects.ts'
import { customPartCases } from './custom/parts.ts'
import { customShapeCases } from './custom/shape.ts'
import { customValueCases } from './custom/values.ts'
import { customViewCases } from './custom/views.ts'
import { conversionCases } from './definitions/conversion.ts'
import { definitionMistakeCases } from './definitions/invalid.ts'
import { definitionLifeCases } from './definitions/lifecycle.ts'
import { definitionPublishCases } from './definitions/publish.ts'
import { crdDefaultCases } from './definitions/defaults.ts'
import { schemaMistakeCases } from './definitions/schema-mistakes.ts'
import { definitionVersionCases } from './definitions/versions.ts'
import { deleteCollectionCases } from './delete/collection.ts'
import { deleteCases } from './delete/delete.ts'
import { garbageCases } from './delete/garbage.ts'
import { gracefulCases } from './delete/graceful.ts'
import { impersonationCases } from './identity/impersonation.ts'
import { tokenCases } from './identity/tokens.ts'
import { componentStatusCases } from './kinds/component-statuses.ts'
import { defaultCases } from './kinds/defaults.ts'
import { namespaceEndCases } from './kinds/namespace-end.ts'
import { namespaceCases } from './kinds/namespaces.ts'
import { podConnectCases } from './kinds/pod-connect.ts'
import { serviceAddressCases } from './kinds/service-addresses.ts'
import { systemObjectCases } from './kinds/system-objects.ts'
import { contentCases } from './kinds/validation.ts'
import { permissionCases } from './permission/calls.ts'
import { escalationCases } from './permission/escalation.ts'
import { reviewCases } from './permission/reviews.ts'
import { policyMatchCases } from './policies/matching.ts'
import { mutatingPolicyCases } from './policies/mutating.ts'
import { policyParamCases } from './policies/params.ts'
import { quotaCases } from './policies/quotas.ts'
import { validatingPolicyCases } from './policies/validating.ts'
import { formCases } from './read/forms.ts'
import { listCases } from './read/list.ts'
import { pagingCases } from './read/paging.ts'
import { tableCases } from './read/tables.ts'
import { versionCases } from './read/versions.ts'
import { ruleLibraryCases } from './rules/libraries.ts'
import { ruleMistakeCases } from './rules/mistakes.ts'
import { ruleCases } from './rules/rules.ts'
import { transitionCases } from './rules/transitions.ts'
import { availabilityCases } from './aggregation/availability.ts'
import { proxyCases } from './aggregation/proxy.ts'
import { cborCases } from './shell/cbor.ts'
import { contentTypeCases } from './shell/content.ts'
import { discoveryCases } from './shell/discovery.ts'
import { inputCases } from './shell/input.ts'
import { operationCases } from './shell/operations.ts'
import { routeCases } from './shell/routes.ts'
import { watchEdgeCases } from './watch/edges.ts'
import { webSocketCases } from './watch/websocket.ts'
import { watchCases } from './watch/stream.ts'
import { webhookAnswerCases } from './webhooks/answers.ts'
import { webhookManagerCases } from './webhooks/managed-fields.ts'
import { webhookRequestCases } from './webhooks/requests.ts'
import { createOnlyCases } from './write/bindings.ts'
import { createCases } from './write/create.ts'
import { dryRunCases } from './write/dry-run.ts'
import { fieldValidationCases } from './write/field-validation.ts'
import { nameCases } from './write/names.ts'
import { patchCases } from './write/patch.ts'
import { moreStrategicCases } from './write/strategic-more.ts'
import { strategicCases } from './write/strategic.ts'
import { subresourceCases } from './write/subresources.ts'
import { updateCases } from './write/update.ts'

export const serverSuite: readonly ServerCase[] = [
  ...createCases,
  ...nameCases,
  ...fieldValidationCases,
  ...dryRunCases,
  ...updateCases,
  ...patchCases,
  ...strategicCases,
  ...moreStrategicCases,
  ...subresourceCases,
  ...createOnlyCases,
  ...deleteCases,
  ...deleteCollectionCases,
  ...gracefulCases,
  ...garbageCases,
  ...listCases,
  ...versionCases,
  ...pagingCases,
  ...formCases,
  ...tableCases,
  ...watchCases,
  ...watchEdgeCases,
  ...webSocketCases,
  ...defaultCases,
  ...podConnectCases,
  ...contentCases,
  ...namespaceCases,
  ...namespaceEndCases,
  ...availabilityCases,
  ...proxyCases,
  ...cborCases,
  ...systemObjectCases,
  ...componentStatusCases,
  ...serviceAddressCases,
  ...contentTypeCases,
  ...inputCases,
  ...routeCases,
  ...discoveryCases,
  ...operationCases,
  ...definitionMistakeCases,
  ...schemaMistakeCases,
  ...crdDefaultCases,
  ...definitionLifeCases,
  ...definitionVersionCases,
  ...conversionCases,
  ...customValueCases,
  ...customShapeCases,
  ...integerCases,
  ...customObjectCases,
  ...customPartCases,
  ...ruleCases,
  ...transitionCases,
  ...ruleLibraryCases,
  ...ruleMistakeCases,
  ...sequenceCases,
  ...applyRequestCases,
  ...managedCases,
  ...builtInApplyCases,
  ...customViewCases,
  ...definitionPublishCases,
  ...tokenCases,
  ...impersonationCases,
  ...permissionCases,
  ...escalationCases,
  ...reviewCases,
  ...webhookRequestCases,
  ...webhookAnswerCases,
  ...webhookManagerCases,
  ...validatingPolicyCases,
  ...policyMatchCases,
  ...policyParamCases,
  ...mutatingPolicyCases,
  ...quotaCases,
  ...limitRangeCases,
  ...classCases,
  ...serviceAccountCases,
  ...podSecurityCases,
]
