/**
 * Every promise of the API, as cases.
 */
import type { ServerCase } from '../target.ts'
import { builtInApplyCases } from './apply/built-in.ts'
import { applyRequestCases } from './apply/requests.ts'
import { sequenceCases } from './apply/sequences.ts'
import { managedCases } from './apply/tracking.ts'
import { customObjectCases } from './custom/objects.ts'
import { customPartCases } from './custom/parts.ts'
import { customShapeCases } from './custom/shape.ts'
import { customValueCases } from './custom/values.ts'
import { customViewCases } from './custom/views.ts'
import { conversionCases } from './definitions/conversion.ts'
import { definitionMistakeCases } from './definitions/invalid.ts'
import { definitionLifeCases } from './definitions/lifecycle.ts'
import { definitionPublishCases } from './definitions/publish.ts'
import { schemaMistakeCases } from './definitions/schema-mistakes.ts'
import { definitionVersionCases } from './definitions/versions.ts'
import { deleteCollectionCases } from './delete/collection.ts'
import { deleteCases } from './delete/delete.ts'
import { gracefulCases } from './delete/graceful.ts'
import { defaultCases } from './kinds/defaults.ts'
import { namespaceCases } from './kinds/namespaces.ts'
import { contentCases } from './kinds/validation.ts'
import { formCases } from './read/forms.ts'
import { listCases } from './read/list.ts'
import { pagingCases } from './read/paging.ts'
import { tableCases } from './read/tables.ts'
import { versionCases } from './read/versions.ts'
import { ruleLibraryCases } from './rules/libraries.ts'
import { ruleMistakeCases } from './rules/mistakes.ts'
import { ruleCases } from './rules/rules.ts'
import { transitionCases } from './rules/transitions.ts'
import { contentTypeCases } from './shell/content.ts'
import { discoveryCases } from './shell/discovery.ts'
import { inputCases } from './shell/input.ts'
import { operationCases } from './shell/operations.ts'
import { routeCases } from './shell/routes.ts'
import { watchEdgeCases } from './watch/edges.ts'
import { watchCases } from './watch/stream.ts'
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
  ...createCases, ...nameCases, ...fieldValidationCases, ...dryRunCases, ...updateCases, ...patchCases, ...strategicCases, ...moreStrategicCases, ...subresourceCases, ...deleteCases,
  ...deleteCollectionCases, ...gracefulCases, ...listCases, ...versionCases, ...pagingCases,
  ...formCases, ...tableCases, ...watchCases, ...watchEdgeCases,
  ...defaultCases, ...contentCases, ...namespaceCases,
  ...contentTypeCases, ...inputCases, ...routeCases, ...discoveryCases, ...operationCases,
  ...definitionMistakeCases, ...schemaMistakeCases, ...definitionLifeCases, ...definitionVersionCases, ...conversionCases, ...customValueCases, ...customShapeCases, ...customObjectCases, ...customPartCases,
  ...ruleCases, ...transitionCases, ...ruleLibraryCases, ...ruleMistakeCases,
  ...sequenceCases, ...applyRequestCases, ...managedCases, ...builtInApplyCases,
  ...customViewCases, ...definitionPublishCases,
]
