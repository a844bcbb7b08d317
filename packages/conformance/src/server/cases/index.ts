/**
 * Every promise of the API, as cases.
 */
import type { ServerCase } from '../target.ts'
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
import { strategicCases } from './write/strategic.ts'
import { subresourceCases } from './write/subresources.ts'
import { updateCases } from './write/update.ts'

export const serverSuite: readonly ServerCase[] = [
  ...createCases, ...nameCases, ...fieldValidationCases, ...dryRunCases, ...updateCases, ...patchCases, ...strategicCases, ...subresourceCases, ...deleteCases,
  ...deleteCollectionCases, ...gracefulCases, ...listCases, ...versionCases, ...pagingCases,
  ...formCases, ...tableCases, ...watchCases, ...watchEdgeCases,
  ...defaultCases, ...contentCases, ...namespaceCases,
  ...contentTypeCases, ...inputCases, ...routeCases, ...discoveryCases, ...operationCases,
]
